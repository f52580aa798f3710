"""`cardshoe journal backup`: makes a complete copy, also while the table deals. `restore`: checks and restores one."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import click

from controller.commands.journal.copies import MANIFEST, Manifest, back_up, check
from controller.commands.journal.copies import restore as put_back
from controller.commands.journal.journal_options import JournalRequest, journal_options, opened, problems
from controller.commands.text import say, write_out
from controller.daemon.host import HostClock
from controller.daemon.journal_files import give_to, name_of
from controller.problems import BadInputError
from firmware_bridge.messages import Message, counted, message


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@journal_options
def backup(folder: Path, asked: JournalRequest) -> None:
    """Copy the journal into FOLDER, which must be empty or missing, also while the table deals.

    The copy holds everything up to one moment, except the keys: keep journal.key and signing.key separately.
    """
    with opened(asked) as source:
        now = HostClock().now().utc_ns
        made = back_up(source, folder, program=version("cardshoe"), utc_ns=now, progress=say)
    number, _, _ = made.head.partition(":")
    write_out(
        message(
            "{files}, to entry {entry}: {folder}. {manifest} says how they are checked.",
            files=_files(made),
            entry=number,
            folder=str(folder),
            manifest=MANIFEST,
        )
    )
    write_out(message("head {head}", head=made.head))
    if folder.stat().st_dev == asked.path.stat().st_dev:
        say(
            message(
                "warning: {folder} is on the same disk as the journal and would be lost with it. Check that the other "
                "disk is mounted (findmnt).",
                folder=str(folder),
            )
        )


@click.command()
@click.argument("backup", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--check", "only_check", is_flag=True, help="Only check that BACKUP is complete; leave FOLDER out.")
def restore(backup: Path, folder: Path | None, only_check: bool) -> None:
    """Check BACKUP, and copy it into FOLDER, which must be empty or missing.

    A folder that was copied by other means is refused with the reason: a file in use is not complete without its log.
    No daemon may use FOLDER meanwhile.
    """
    if only_check == (folder is not None):
        raise click.UsageError("Name the folder to restore to, or --check alone.")
    if not backup.is_dir():
        raise BadInputError(
            message("There is no backup at {path}.", path=str(backup)),
            message("Name the folder that `cardshoe journal backup` made; is its disk mounted?"),
        )
    with problems():
        if folder is None:
            made = check(backup, progress=say)
            write_out(
                message(
                    "{path} is complete: {files} of table {table}, head {head}.",
                    path=str(backup),
                    files=_files(made),
                    table=made.table,
                    head=made.head,
                )
            )
            return
        made = put_back(backup, folder, progress=say)
    write_out(
        message(
            "{files} of table {table} are in {folder}, head {head}.",
            files=_files(made),
            table=made.table,
            folder=str(folder),
            head=made.head,
        )
    )
    write_out(
        message(
            "What the table recorded after the backup is missing: the daemon finds its pin missing or newer, and waits "
            "for a pit supervisor to return it to service."
        )
    )
    if not made.simulated:
        write_out(message("As root, with the key from the safe:"))
        write_out("\n".join(_commands(folder.resolve(), made.table)))


def _files(made: Manifest) -> Message:
    return counted("1 file", "{count} files", len(made.files))


def _commands(folder: Path, table: str) -> list[str]:
    """Return the remaining commands for the table's PC. The owner of the state's folder owns its content."""
    owner = folder.parent.stat().st_uid
    given = [give_to(name_of(owner), folder)] if owner else []  # systemd changes the owner from root at the start
    return [
        f"install -m 0600 /mnt/safe/{table}/signing.key {folder}/",
        *given,
        f"systemctl start cardshoe@{table}",
        "# and as a user of the table, where the prompt takes: return to service by NAME",
        f"cardshoe operate --socket /run/cardshoe/{table}/api.sock",
    ]
