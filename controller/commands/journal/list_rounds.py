"""`cardshoe journal list`: the rounds of a day, one on each line."""

from __future__ import annotations

import click

from controller.commands.journal.data import row_of
from controller.commands.journal.days import lasted
from controller.commands.journal.options import (
    Asked,
    journal_options,
    mark_of,
    opened,
    print_json,
    span_of,
    span_options,
)
from controller.commands.journal.reading import rounds_in
from controller.commands.journal.rounds import Irregularity, Round
from controller.commands.journal.words import cell_of, ending
from controller.commands.text import many, page


@click.command("list")
@journal_options
@span_options
@click.option(
    "--irregularity", "wanted", metavar="WHAT", help="Only with this one: I12, a kind, or a clause as NC 5.7."
)
@click.option("--person", help="Only those in which this person did something.")
@click.option("--void", is_flag=True, help="Only void rounds.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
def list_rounds(asked: Asked, day: str | None, since: str | None, until: str | None, wanted: str | None,
                person: str | None, void: bool, as_json: bool) -> None:  # fmt: skip
    """List rounds: number, when, how long, hands, how it ended, irregularities. By default those of the last day."""
    with opened(asked) as source:
        span = span_of(asked, source, day, since, until)
        found = [
            one
            for one in rounds_in(source, span)
            if (not void or one.void is not None)
            and (person is None or person in one.people)
            and (wanted is None or any(_is(irregularity, wanted) for irregularity in one.irregularities))
        ]
        found.sort(key=lambda one: one.number)
        if as_json:
            for one in found:
                marked = {"changed": True} if source.is_changed(one.first, one.last) else {}
                print_json(row_of(one) | marked)
            return
        output = page()
        if mark := mark_of(source):
            output.heading(mark)
        output.heading(f"Table {source.table_name}, {span.name}: {many(len(found), 'round', 'rounds')}")
        for one in found:
            length = lasted(one.ended_ns - one.began_ns) if one.ended_ns else ""
            cells = (str(one.number), 6), (asked.clock.hour(one.began_ns), 8), (length, 11), (_hands(one), 7)
            changed = "CHANGED " if source.is_changed(one.first, one.last) else ""
            output.entry(f"{changed}{cell_of(one)}", *cells, (ending(one), 13))
        output.show()


def _hands(one: Round) -> str:
    return many(len(one.dealt), "hand", "hands")


def _is(found: Irregularity, wanted: str) -> bool:
    said = wanted.strip().casefold().replace(" ", "_")
    clause = str(found.row["clause"]).casefold().replace(" ", "_")
    return said in (str(found.row["id"]).casefold(), found.kind) or clause == said or clause.startswith(f"{said}.")
