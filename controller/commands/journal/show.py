"""`cardshoe journal show`: one round in words."""

from __future__ import annotations

import click

from controller.commands.journal.data import changed_in, whole
from controller.commands.journal.options import Asked, journal_options, mark_of, opened, print_json
from controller.commands.journal.reading import find_round
from controller.commands.journal.words import tell_round
from controller.commands.text import page
from controller.problems import BadInputError


@click.command()
@click.argument("number", type=click.IntRange(1), metavar="ROUND")
@journal_options
@click.option("--short", is_flag=True, help="Without the course of the round.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(number: int, asked: Asked, short: bool, as_json: bool) -> None:
    """Tell round ROUND: how it ended, hands and bets, irregularities with clause and who decided, its course.

    Cards are shown as far as they were exposed: ?? lies face down.
    """
    with opened(asked) as source:
        found = find_round(source, number)
        if found is None:
            raise BadInputError(f"The journal has no round {number}.", "`cardshoe journal list` lists those of a day.")
        if as_json:
            print_json(whole(found) | changed_in(source))
            return
        output = page()
        if mark := mark_of(source):
            output.heading(mark)
        tell_round(found, asked.clock, output, simulated=source.simulated, short=short)
        output.show()
