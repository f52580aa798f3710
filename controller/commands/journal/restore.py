"""`cardshoe journal restore`: restores a backup after checking that it is complete."""

from __future__ import annotations

from pathlib import Path

import click

from controller.commands.journal.copies import check
from controller.commands.journal.copies import restore as put_back
from controller.commands.journal.options import problems
from controller.commands.text import many, write_out
from controller.daemon.ownership import give_to, name_of


@click.command()
@click.argument("backup", type=click.Path(path_type=Path))
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--check", "only_check", is_flag=True, help="Only check that BACKUP is whole; FOLDER is left out.")
def restore(backup: Path, folder: Path | None, only_check: bool) -> None:
    """Check BACKUP, and copy it into FOLDER, which must be empty or missing.

    A folder that was copied by other means is refused with the reason: a file that is written to is not whole without
    its log. The daemon must not run on FOLDER meanwhile.
    """
    if only_check == (folder is not None):
        raise click.UsageError("Name the folder to restore to, or --check alone.")
    with problems():
        if folder is None:
            made = check(backup, progress=say)
            write_out(
                f"{backup} is whole: {many(len(made.files), 'file', 'files')} of table {made.table}, head {made.head}."
            )
            return
        made = put_back(backup, folder, progress=say)
    write_out(
        f"{many(len(made.files), 'file', 'files')} of table {made.table} are in {folder}, head {made.head}.\n"
        "What the table recorded after the backup is missing: the daemon finds its pin gone or newer, and waits for a "
        "pit supervisor to return it to service."
    )
    if not made.simulated:
        write_out("\n".join(["As root, with the key from the safe:", *_commands(folder.resolve(), made.table)]))


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


def say(line: str) -> None:
    """Print progress, separately from the command's output."""
    click.echo(line, err=True)
