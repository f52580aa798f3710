"""`cardshoe journal export`: events as they are published, for other programs. `follow`: as they are recorded.

`follow` reads the files, without the daemon's socket.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from typing import Any, Final

import click
import msgspec

from controller.api.narration import line_of as line_of_event
from controller.commands.journal.decisions import DecisionInRound, line_of, read, telling
from controller.commands.journal.journal_options import (
    ALL,
    JournalRequest,
    journal_options,
    mark_of,
    opened,
    span_of,
    span_options,
)
from controller.commands.journal.reading import decided_in
from controller.commands.journal.source import Source
from controller.commands.journal.table import Table
from controller.commands.journal.words import step
from controller.commands.text import write_out
from controller.problems import BadInputError
from firmware_bridge.messages import Message, message

COLUMNS: Final = ("entry", "time", "round", "event", "by", "role", "irregularity", "clause", "place", "words", "json")
FORMULAS: Final = ("=", "+", "-", "@")


@click.command()
@journal_options
@span_options
@click.option("--entries", metavar="FIRST-LAST", help="Only entries with these numbers.")
@click.option("--format", "form", type=click.Choice(["jsonl", "csv"]), default="jsonl", show_default=True)
def export(asked: JournalRequest, day: str | None, since: str | None, until: str | None, entries: str | None,
           form: str) -> None:  # fmt: skip
    """Write events: all of them, or those of a time or of a range of entries.

    jsonl: one JSON object on each line, as the API publishes them. csv: one line for each event, with words for people.
    Neither contains a concealed card.
    """
    first, last = _range(entries)
    with opened(asked) as source:
        wanted = ALL if (day, since, until) == (None, None, None) else span_of(asked, source, day, since, until)
        table = source.opening(source.file(0))
        if form == "csv":
            write_out(_row(COLUMNS))
        for decided in decided_in(source, wanted, after=first - 1):
            if decided.entry > last:
                break
            for happened in decided.events:
                table.take(decided, happened)
                if first <= happened.entry <= last:
                    with telling(happened.entry):
                        write_out(LINES[form](decided, happened.event, table, asked))


def _range(entries: str | None) -> tuple[int, int]:
    first, separator, last = (entries or "").partition("-")
    try:
        found = int(first or 1), int(last) if last else int(first) if first and not separator else 2**63 - 1
    except ValueError:
        found = (1, 0)
    if not 1 <= found[0] <= found[1]:
        raise BadInputError(
            message("--entries {text} is not a range.", text=entries or ""), message("Write 812-901, 812- or 812.")
        )
    return found


def _json_line(decided: DecisionInRound, event: dict[str, Any], table: Table, asked: JournalRequest) -> str:
    return msgspec.json.encode(event).decode()


def _csv_line(decided: DecisionInRound, event: dict[str, Any], table: Table, asked: JournalRequest) -> str:
    row = event.get("row")
    clause = row["clause"] if isinstance(row, dict) else event.get("clause", "")
    irregularity = event["entry"] if event["event"] == "irregularity_raised" else event.get("irregularity") or ""
    return _row(
        (
            event["entry"], asked.clock.iso(event["utc_ns"]), event["round"], event["event"], decided.by, decided.role,
            irregularity, clause, event.get("place") or "", asked.say(line_of_event(event, table.words) or ""),
            msgspec.json.encode(event).decode(),
        )
    )  # fmt: skip


def _row(cells: tuple[object, ...]) -> str:
    """Return a row in which no spreadsheet takes a person's text for a formula."""
    plain = [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell for cell in cells]
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(plain)
    return written.getvalue()


LINES: Final[dict[str, Callable[[DecisionInRound, dict[str, Any], Table, JournalRequest], str]]] = {
    "jsonl": _json_line,
    "csv": _csv_line,
}


LOOK_EVERY: Final = 0.5  # seconds; nothing signals entries to a reader of files, which keeps none open
MAX_ENTRY: Final = 2**63 - 1


@click.command()
@journal_options
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one per line, as the API publishes them.")
@click.option("--after", type=click.IntRange(0, MAX_ENTRY), help="Begin after this entry; by default with new events.")
def follow(asked: JournalRequest, as_json: bool, after: int | None) -> None:
    """Print events as they are recorded, until interrupted. Continues when the daemon restarts."""
    try:
        with opened(asked) as source:
            last = source.last_entry() if after is None else after
            follow_from(source, last, asked, as_json=as_json, wait=lambda: time.sleep(LOOK_EVERY))
    except KeyboardInterrupt:
        return


def follow_from(
    source: Source, after: int, asked: JournalRequest, *, as_json: bool, wait: Callable[[], object]
) -> None:
    """Print what comes after an entry, and check again after each `wait`, forever."""
    table = source.opening(source.file(-1))
    said: list[Message] = []
    while True:
        for stored in source.decisions(after):
            decided = read(stored)
            for happened in decided.events:
                table.take(decided, happened)
                if happened.entry <= after:
                    continue
                if as_json:
                    write_out(msgspec.json.encode(happened.event).decode())
                elif what := step(line_of(decided, happened), table.words):
                    text = asked.say(what if stored.holds else message("CHANGED {what}", what=what))
                    write_out(f"{asked.clock.hour(decided.utc_ns)} {happened.entry} {text}")
            after = stored.last
        if source.misplaced != said:
            said = source.misplaced
            click.echo(asked.say(mark_of(source) or ""), err=True)
        wait()
        source.look_again()
