"""`cardshoe floor audit`: compares a table's journal with the store's copy of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from controller.commands.floor.floor_options import database_option, open_database, problems
from controller.commands.text import many, write_out
from controller.floor.topics import NAME, TablePlace
from controller.journal import JournalError
from controller.problems import BadInputError, JournalProblemError

if TYPE_CHECKING:
    from controller.floor.store.audit import Audited

FAILED: Final = 4  # the exit code if journal and store differ
ON_ITS_WAY_NS: Final = 60 * 10**9  # younger entries may not have arrived yet


@click.command()
@click.argument("table", metavar="SITE/PIT/TABLE")
@database_option
@click.option("--journal", "folder", type=click.Path(path_type=Path), help="The journal's folder.")
@click.option("--config", type=click.Path(path_type=Path), help="The table's configuration, which names it.")
@click.option("--fill", is_flag=True, help="Send what the store lacks, from the journal's files.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def audit(table: str, database: str, folder: Path | None, config: Path | None, fill: bool, as_json: bool) -> None:
    """Compare a table's journal with the store's copy: every decision, its events, every file and signed head.

    The table may be running. Exit code 0: they are the same, or --fill made them so; 4: something was found.
    """
    from controller.daemon.host import HostClock

    place = _place(table)
    path = _folder(folder, config)
    with problems():
        opened = open_database(database, "cardshoe floor audit")
        from controller.floor.store.audit import Audit, OtherTableError
        from controller.floor.store.writing import Writer

        since = HostClock().now().utc_ns - ON_ITS_WAY_NS
        try:
            found = Audit(path, place, opened, since, Writer(opened) if fill else None).run()
        except JournalError as error:
            raise JournalProblemError(str(error), error.hint) from error
        except OtherTableError as error:
            raise BadInputError(
                f"{path} is a journal of the table {error.of}, not of {place.table}.", "Name that table, or its folder."
            ) from error
        finally:
            opened.close()
    if not found.journal:
        raise JournalProblemError(
            f"{path} does not hold a journal that is sent to the floor.", "Name the folder with its files."
        )
    write_out(msgspec.json.encode(found).decode() if as_json else "\n".join(_summary(found)))
    if found.findings:
        sys.exit(FAILED)


def _place(table: str) -> TablePlace:
    parts = table.split("/")
    if len(parts) != len(TablePlace._fields) or not all(re.fullmatch(NAME, part) for part in parts):
        raise BadInputError(f"{table!r} is not a table of the floor.", "Write it as in its topics: SITE/PIT/TABLE.")
    return TablePlace(*parts)


def _folder(folder: Path | None, config: Path | None) -> Path:
    if (folder is None) == (config is None):
        raise BadInputError(
            "Name the journal either by its folder or by a configuration.",
            "Write its folder after --journal, or a table's --config.",
        )
    if config is not None:
        from controller.commands.journal.journal_options import configuration_of

        folder = configuration_of(config).journal.folder
    assert folder is not None
    if not folder.is_dir():
        raise BadInputError(f"There is no journal at {folder}.", "Name the folder with its files after --journal.")
    return folder


def _summary(found: Audited) -> list[str]:
    counts = ", ".join(
        (
            many(found.files, "file", "files"),
            many(found.decisions, "decision", "decisions"),
            many(found.heads, "signed head", "signed heads"),
        )
    )
    lines = [
        f"{found.table}, journal {found.journal}: {counts}; entries {found.first:,} to {found.last:,}",
        f"the store has all of it up to entry {found.verified_up_to:,}"
        if found.verified_up_to >= 0
        else "the store has no complete part of it",
    ]
    if found.pruned_up_to >= 0:
        lines.append(f"not compared: entries up to {found.pruned_up_to:,}, which the store has deleted by age")
    if found.filled:
        lines.append(f"{many(found.filled, 'record', 'records')} sent into the store")
    if found.waiting:
        lines.append(f"{many(found.waiting, 'record', 'records')} of the last minute may be on the way")
    if found.alarms:
        lines.append(f"{many(found.alarms, 'alarm', 'alarms')} of it open in the store")
    lines += [f"FOUND {one.code}: {one.sentence}" for one in found.findings]
    if not found.findings:
        lines.append("The store and the journal are the same.")
    return lines
