"""`cardshoe audit run`: the verdict of decks in files, and what so many decks would have found."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from controller.commands.extras import of_extra
from controller.commands.text import page, write_out
from controller.problems import BadInputError
from shuffle_audit.commands.options import LEVEL
from shuffle_audit.commands.progress import progress

if TYPE_CHECKING:
    from shuffle_audit.commands.report import Found
    from shuffle_audit.order_files import FileDeck

BAD: Final = 1  # exit codes; 0: nothing found
NO_VERDICT: Final = 2  # as with bad input: nobody takes it for a machine that passed
COMPARED: Final = ("shelves:10", "shelves:20", "riffle:7")
MOST_DECKS: Final = 1000  # of a simulated audit; more find a machine no less often
AUDITS: Final = (100, 1000)  # at least and at most, for each model
DRAWN: Final = 50_000  # about so many decks for each model


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILES...",
                type=click.Path(path_type=Path, dir_okay=False))  # fmt: skip
@click.option("--level", type=LEVEL, default=0.01, show_default=True,
              help="The chance of a false alarm, over everything that is examined.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True,
              help="Of the simulated audits; the same seed prints the same.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead.")
def run(files: tuple[Path, ...], level: float, seed: int, as_json: bool) -> None:
    """Say whether decks were shuffled well: JSON Lines ({"before": [...], "after": [...]}) or CSV (deck,before,after).

    Exit code 0: nothing was found; 1: bad; 2: the files cannot be used, or allow no verdict.
    """
    with of_extra("audit", "numpy cannot be used"):
        from shuffle_audit.commands.report import Report, write
        from shuffle_audit.verdict import judge
    decks = _read(files)
    verdict = judge([one.deck for one in decks], level)
    found = _found(verdict.decks, verdict.cards, level, seed) if verdict.verdict != "no verdict" else ()
    report = Report(verdict, found, tuple(map(click.format_filename, files)), seed)
    if as_json:
        write_out(msgspec.json.encode(report).decode())
    else:
        paper = page()
        write(paper, report)
        paper.show()
    if code := {"bad": BAD, "no verdict": NO_VERDICT}.get(verdict.verdict):
        sys.exit(code)


def _read(files: tuple[Path, ...]) -> list[FileDeck]:
    """Raises `BadInputError`."""
    from shuffle_audit.order_files import OrderFileError, read_decks

    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise BadInputError(f"{click.format_filename(file)} is named twice.", "Each deck counts once.")
        seen.add(file.resolve())
    try:
        return read_decks(files)
    except OrderFileError as error:
        raise BadInputError(str(error), "Nothing was concluded. Put that right, or take those decks out.") from error


def _found(decks: int, cards: int, level: float, seed: int) -> tuple[Found, ...]:
    """What as many decks, at most `MOST_DECKS`, find of machines that are known to be bad."""
    from shuffle_audit.commands.report import Found
    from shuffle_audit.models.named import model_named
    from shuffle_audit.power import Draws

    simulated = min(decks, MOST_DECKS)
    audits = max(AUDITS[0], min(AUDITS[1], DRAWN // simulated))
    found = []
    with progress("simulating audits", len(COMPARED) * audits * simulated) as advance:
        for name in COMPARED:
            model = model_named(name, cards)
            power = Draws(model, cards, audits, seed, advance).power(simulated, level)
            found.append(Found(name, model.words, simulated, power.found, audits, power.share))
    return tuple(found)
