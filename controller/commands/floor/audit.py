"""`cardshoe floor audit`: compares a table's journal with the store's copy of it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from controller.api.in_language import in_language
from controller.commands.floor.floor_options import database_option, open_database, problems
from controller.commands.table_options import CONFIGURATION
from controller.commands.text import write_out
from controller.floor.topics import NAME, TablePlace
from controller.journal import JournalError
from controller.problems import BadInputError, JournalProblemError
from firmware_bridge.messages import Message, counted, message

if TYPE_CHECKING:
    from controller.floor.store.audit import Audited

FAILED: Final = 4  # the exit code if journal and store differ
ON_ITS_WAY_NS: Final = 60 * 10**9  # younger entries may not have arrived yet


@click.command()
@click.argument("table", metavar="SITE/PIT/TABLE")
@database_option
@click.option("--journal", "folder", type=click.Path(path_type=Path), help="The journal's folder.")
@click.option("--config", type=CONFIGURATION, help="The table's configuration, which names it.")
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
            raise JournalProblemError(error) from error
        except OtherTableError as error:
            raise BadInputError(
                message(
                    "{path} is a journal of the table {other}, not of {table}.",
                    path=str(path),
                    other=error.of,
                    table=place.table,
                ),
                message("Name that table, or its folder."),
            ) from error
        finally:
            opened.close()
    if not found.journal:
        raise JournalProblemError(
            message("{path} does not hold a journal that is sent to the floor.", path=str(path)),
            message("Name the folder with its files."),
        )
    if as_json:
        write_out(msgspec.json.encode(in_language(found, None)).decode())
    for line in () if as_json else _summary(found):
        write_out(line)
    if found.findings:
        sys.exit(FAILED)


def _place(table: str) -> TablePlace:
    parts = table.split("/")
    if len(parts) != len(TablePlace._fields) or not all(re.fullmatch(NAME, part) for part in parts):
        raise BadInputError(
            message("{table} is not a table of the floor.", table=repr(table)),
            message("Write it as in its topics: SITE/PIT/TABLE."),
        )
    return TablePlace(*parts)


def _folder(folder: Path | None, config: Path | None) -> Path:
    if (folder is None) == (config is None):
        raise BadInputError(
            message("Name the journal either by its folder or by a configuration."),
            message("Write its folder after --journal, or a table's --config."),
        )
    if config is not None:
        from controller.commands.journal.journal_options import configuration_of

        folder = configuration_of(config).journal.folder
    assert folder is not None
    if not folder.is_dir():
        raise BadInputError(
            message("There is no journal at {folder}.", folder=str(folder)),
            message("Name the folder with its files after --journal."),
        )
    return folder


def _summary(found: Audited) -> Iterator[Message]:
    yield message(
        "{table}, journal {journal}: {counts:list}; entries {first} to {last}",
        table=found.table,
        journal=found.journal,
        counts=(
            counted("1 file", "{number} files", found.files, number=f"{found.files:,}"),
            counted("1 decision", "{number} decisions", found.decisions, number=f"{found.decisions:,}"),
            counted("1 signed head", "{number} signed heads", found.heads, number=f"{found.heads:,}"),
        ),
        first=f"{found.first:,}",
        last=f"{found.last:,}",
    )
    if found.verified_up_to >= 0:
        yield message("the store has all of it up to entry {entry}", entry=f"{found.verified_up_to:,}")
    else:
        yield message("the store has no complete part of it")
    if found.pruned_up_to >= 0:
        yield message(
            "not compared: entries up to {entry}, which the store has deleted by age", entry=f"{found.pruned_up_to:,}"
        )
    filled, waiting = found.filled, found.waiting
    if filled:
        yield counted(
            "1 record sent into the store", "{number} records sent into the store", filled, number=f"{filled:,}"
        )
    if waiting:
        yield counted(
            "1 record of the last minute may be on the way",
            "{number} records of the last minute may be on the way",
            waiting,
            number=f"{waiting:,}",
        )
    if found.alarms:
        yield counted("1 alarm of it open in the store", "{count} alarms of it open in the store", found.alarms)
    for one in found.findings:
        yield message("FOUND {code}: {what}", code=one.code, what=one.sentence)
    if not found.findings:
        yield message("The store and the journal are the same.")
