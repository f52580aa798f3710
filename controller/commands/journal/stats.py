"""`cardshoe journal stats`: counts."""

from __future__ import annotations

from collections import Counter
from datetime import date

import click
import msgspec

from controller.commands.journal.data import changed_in
from controller.commands.journal.days import CasinoClock, lasted
from controller.commands.journal.decisions import read
from controller.commands.journal.journal_options import JournalRequest, journal_options, mark_of, opened, print_json
from controller.commands.journal.source import Source
from controller.commands.text import longest, page
from controller.table.events.lines import listed
from firmware_bridge.messages import counted, message

MEGABYTE = 1_000_000


class Stats(msgspec.Struct):
    """The counts. `days` counts rounds begun, by gaming day. `events` and `inputs` count by name."""

    table: str
    journal_id: str
    simulated: bool
    files: int = 0
    bytes: int = 0
    decisions: int = 0
    entries: int = 0
    rounds: int = 0
    first_ns: int = 0
    last_ns: int = 0
    days: dict[str, int] = {}
    inputs: dict[str, int] = {}
    events: dict[str, int] = {}


@click.command()
@journal_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def stats(asked: JournalRequest, as_json: bool) -> None:
    """Count files, bytes, entries, rounds and events of the whole journal, and rounds by day."""
    with opened(asked) as source:
        found = _counted(source, asked.clock)
        _tell(found, source, asked, as_json=as_json)


def _tell(found: Stats, source: Source, asked: JournalRequest, *, as_json: bool) -> None:
    if as_json:
        print_json(msgspec.to_builtins(found) | changed_in(source))
        return
    output = page()
    if mark := mark_of(source):
        output.heading(mark)
    output.heading(
        message(
            "Table {table} (SIMULATED), journal {journal}" if found.simulated else "Table {table}, journal {journal}",
            table=found.table,
            journal=found.journal_id,
        )
    )
    size = listed(
        [counted("1 file", "{count} files", found.files), message("{size} MB", size=f"{found.bytes / MEGABYTE:.1f}")]
    )
    if found.entries:
        each = f"{found.bytes / found.entries:.0f}"
        size = message("{size}, {number} bytes an entry", size=size, number=each)
    output.entry(size)
    entries = message(
        "{entries} in {decisions}, {rounds}",
        entries=counted("1 entry", "{number} entries", found.entries, number=f"{found.entries:,}"),
        decisions=counted("1 decision", "{number} decisions", found.decisions, number=f"{found.decisions:,}"),
        rounds=counted("1 round", "{count} rounds", found.rounds),
    )
    if found.rounds:
        each = f"{found.entries / found.rounds:.0f}"
        entries = message("{entries}; {number} entries a round", entries=entries, number=each)
    output.entry(entries)
    if found.decisions:
        length = lasted(found.last_ns - found.first_ns)
        begin, end = asked.clock.day_and_hour(found.first_ns), asked.clock.day_and_hour(found.last_ns)
        output.entry(message("{begin} to {end} ({length})", begin=begin, end=end, length=length))
    days, inputs, events = message("Rounds by gaming day"), message("Inputs"), message("Events")
    for title, counts in ((days, found.days), (inputs, found.inputs), (events, found.events)):
        output.heading(title)
        for name, count in counts.items():
            output.entry(str(count), (name, longest([*counts])))
    output.show()


def _counted(source: Source, clock: CasinoClock) -> Stats:
    found = Stats(source.table_name, source.journal_id, source.simulated, len(source.paths), source.size)
    days: Counter[date] = Counter()
    inputs: Counter[str] = Counter()
    events: Counter[str] = Counter()
    for stored in source.decisions():
        decided = read(stored)
        found.decisions += 1
        found.entries += 1 + len(decided.events)
        found.first_ns, found.last_ns = found.first_ns or decided.utc_ns, decided.utc_ns
        inputs[str(decided.given.get("input"))] += 1
        for happened in decided.events:
            events[happened.name] += 1
            if happened.name == "round_began":
                days[clock.day_of(decided.utc_ns)] += 1
    found.rounds = events["round_began"]
    found.days = {str(day): count for day, count in sorted(days.items())}
    found.inputs, found.events = dict(inputs.most_common()), dict(events.most_common())
    return found
