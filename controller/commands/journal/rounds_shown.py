"""`cardshoe journal list`: the rounds of a day, one on each line. `cardshoe journal show`: one round in words."""

from __future__ import annotations

import click

from controller.commands.journal.data import changed_in, row_of, whole
from controller.commands.journal.days import lasted
from controller.commands.journal.journal_options import (
    JournalRequest,
    journal_options,
    mark_of,
    opened,
    print_json,
    span_of,
    span_options,
)
from controller.commands.journal.reading import find_round, rounds_in
from controller.commands.journal.rounds import JournaledIrregularity, JournaledRound
from controller.commands.journal.words import ENDINGS, cell_of, tell_round
from controller.commands.text import page
from controller.problems import BadInputError
from firmware_bridge.messages import Message, counted, message


@click.command("list")
@journal_options
@span_options
@click.option(
    "--irregularity",
    "wanted",
    metavar="WHAT",
    help="Only with this irregularity: I12, a kind, or a clause such as NC 5.7.",
)
@click.option("--person", help="Only rounds in which this person did something.")
@click.option("--void", is_flag=True, help="Only void rounds.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object a line.")
def list_rounds(
    asked: JournalRequest,
    day: str | None,
    since: str | None,
    until: str | None,
    wanted: str | None,
    person: str | None,
    void: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """List rounds: number, time, duration, hands, end, irregularities. By default the rounds of the last day."""
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
        rounds = counted("1 round", "{count} rounds", len(found))
        output.heading(
            message("Table {table}, {span}: {rounds}", table=source.table_name, span=span.name, rounds=rounds)
        )
        for one in found:
            length = lasted(one.ended_ns - one.began_ns) if one.ended_ns else ""
            cells = (str(one.number), 6), (asked.clock.hour(one.began_ns), 8), (length, 11), (_hands(one), 7)
            what = cell_of(one)
            if source.is_changed(one.first, one.last):
                what = message("CHANGED {what}", what=what)
            output.entry(what, *cells, (ENDINGS[one.ending], 13))
        output.show()


def _hands(one: JournaledRound) -> Message:
    return counted("1 hand", "{count} hands", len(one.dealt))


def _is(found: JournaledIrregularity, wanted: str) -> bool:
    said = wanted.strip().casefold().replace(" ", "_")
    clause = str(found.row["clause"]).casefold().replace(" ", "_")
    return said in (str(found.row["id"]).casefold(), found.kind) or clause == said or clause.startswith(f"{said}.")


@click.command()
@click.argument("number", type=click.IntRange(1), metavar="ROUND")
@journal_options
@click.option("--short", is_flag=True, help="Leave out the course of the round.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(number: int, asked: JournalRequest, short: bool, as_json: bool) -> None:
    """Show round ROUND: how it ended, hands and bets, irregularities with clause and who decided, its course.

    Only exposed cards are shown; ?? is a card that lies face down.
    """
    with opened(asked) as source:
        found = find_round(source, number)
        if found is None:
            raise BadInputError(
                message("The journal has no round {number}.", number=number),
                message("`cardshoe journal list` lists the rounds of a day."),
            )
        if as_json:
            print_json(whole(found) | changed_in(source))
            return
        output = page()
        if mark := mark_of(source):
            output.heading(mark)
        tell_round(found, asked.clock, output, simulated=source.simulated, short=short)
        output.show()
