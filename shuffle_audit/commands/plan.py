"""`cardshoe audit plan`: how many decks it takes to find a model of a bad shuffle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click
import msgspec

from controller.commands.found_commands import of_extra
from controller.commands.text import page, write_out
from controller.problems import BadInputError
from firmware_bridge.messages import message
from shuffle_audit import MOST_CARDS
from shuffle_audit.commands.options import LEVEL, POWER, progress

if TYPE_CHECKING:
    from shuffle_audit.models.shuffle_model import ShuffleModel

LEVELS: Final = (0.05, 0.01, 0.001)
POWERS: Final = (0.5, 0.8, 0.95, 0.99)
MOST_DRAWN: Final = 2_000_000  # decks, which take about a minute and half a gigabyte
MOST_CELLS: Final = 200_000_000  # cells of cards against places, for all audits: 400 megabytes


class Cell(msgspec.Struct, frozen=True):
    """A cell of the plan. `decks` is the least number that finds the model with `power` at `level`, null if above
    `at_most`. `share` is how often that number finds it, with its standard error.
    """

    level: float
    power: float
    decks: int | None
    share: float | None
    error: float | None


class Plan(msgspec.Struct, frozen=True):
    """A plan from `audits` simulated audits. For each deck the first `known` cards of the order out are known."""

    model: str
    words: str
    cards: int
    audits: int
    at_most: int
    seed: int
    cells: tuple[Cell, ...]
    known: int


@click.command()
@click.argument("model")
@click.option("--level", "levels", type=LEVEL, multiple=True, default=LEVELS, show_default=True,
              help="The chance of a false alarm. May be repeated.")  # fmt: skip
@click.option("--power", "powers", type=POWER, multiple=True, default=POWERS, show_default=True,
              help="How often the model is to be found. May be repeated.")  # fmt: skip
@click.option("--cards", type=click.IntRange(2, MOST_CARDS), default=52, show_default=True, help="Of one deck.")
@click.option("--known", type=int, metavar="CARDS",
              help="The number of first cards of each order out that are known, as at a table.")  # fmt: skip
@click.option("--at-most", type=click.IntRange(1, 10_000), default=512, show_default=True, metavar="DECKS",
              help="The largest number of decks to consider.")  # fmt: skip
@click.option("--audits", type=click.IntRange(100, 20_000), default=1000, show_default=True,
              help="The number of simulated audits.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="The same seed gives the same output."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def plan(
    model: str, levels: tuple[float, ...], powers: tuple[float, ...], cards: int, known: int | None, at_most: int,
    audits: int, seed: int, as_json: bool,
) -> None:  # fmt: skip
    """Count the decks that it takes to find a bad shuffle, as riffle:7, shelves:10x2 or sticking:0.02.

    An unknown MODEL is answered with a list of all forms. The table has a line for each chance of a false alarm, and a
    column for how often the model is to be found.
    """
    with of_extra("audit", message("{name} cannot be used", name="numpy")):
        from shuffle_audit.models.shuffle_model import FirstPlaces
        from shuffle_audit.power import Draws
    bad = _model(model, cards)
    known = _known(known, cards)
    if audits * at_most > MOST_DRAWN:
        sentence = f"{audits:,} audits of {at_most:,} decks are too many: at most {MOST_DRAWN:,} decks are drawn."
        raise BadInputError(sentence, "Use fewer --audits, or a smaller --at-most.")
    if known == cards and audits * cards**2 > MOST_CELLS:
        sentence = f"{audits:,} audits of decks of {cards} cards are too many: the limit is {MOST_CELLS // cards**2:,}."
        raise BadInputError(sentence, "Give fewer with --audits.")
    asked = [(level, power) for level in sorted(set(levels), reverse=True) for power in sorted(set(powers))]
    cells = []
    with progress("simulating audits", None) as advance:
        seen = FirstPlaces(bad, cards) if known < cards else bad
        draws = Draws(seen, known, audits, seed, advance, whole=known == cards)
        for level, power in asked:
            found = draws.least_decks(power, level, at_most)
            cells.append(
                Cell(level, power, found.decks, found.share, found.error)
                if found is not None
                else Cell(level, power, None, None, None)
            )
    planned = Plan(model, bad.words, cards, audits, at_most, seed, tuple(cells), known)
    if as_json:
        write_out(msgspec.json.encode(planned).decode())
    else:
        _show(planned)


def _known(asked: int | None, cards: int) -> int:
    """Return the number of known cards. Raise `BadInputError` if it is out of range."""
    from shuffle_audit.partial_orders import LEAST_KNOWN

    if asked is not None and not min(LEAST_KNOWN, cards) <= asked <= cards:
        sentence = f"With {asked} of {cards} cards known, nothing can be counted."
        raise BadInputError(sentence, f"Name from {min(LEAST_KNOWN, cards)} to {cards} with --known.")
    return cards if asked is None else asked


def _model(text: str, cards: int) -> ShuffleModel:
    """Return the model of that name. Raise `BadInputError` if there is no such model."""
    from shuffle_audit.models.named import ModelNameError, model_named
    from shuffle_audit.models.shuffle_model import UNIFORM

    try:
        found = model_named(text, cards)
    except ModelNameError as error:
        raise BadInputError(str(error), "Write it as one of them, with other numbers.") from error
    if found is UNIFORM:
        raise BadInputError("A uniform shuffle is a good one: no number of decks finds it.", "Name a bad one.")
    return found


def _show(planned: Plan) -> None:
    paper = page()
    seen = "" if planned.known == planned.cards else f", the first {planned.known} of the order out known"
    paper.heading(f"Decks of {planned.cards} cards, order in known{seen}, that find {planned.words} ({planned.model})")
    powers = sorted({cell.power for cell in planned.cells})
    header = ["false alarms", *(f"{power * 100:g} %" for power in powers), ""]
    rows = [
        [f"{level:g}", *(_decks(cell, planned.at_most) for cell in planned.cells if cell.level == level), ""]
        for level in sorted({cell.level for cell in planned.cells}, reverse=True)
    ]
    paper.rows([header, *rows])
    error = max((cell.error for cell in planned.cells if cell.error is not None), default=None)
    exact = "" if error is None else f"; the power at each number is known to ± {error * 100:.1f} % (standard error)"
    paper.entry(f"By {planned.audits:,} simulated audits, seed {planned.seed}{exact}.", indent=0)
    paper.show()


def _decks(cell: Cell, at_most: int) -> str:
    return f"over {at_most:,}" if cell.decks is None else f"{cell.decks:,}"
