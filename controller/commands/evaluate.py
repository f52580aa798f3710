"""`cardshoe evaluate`: the classes of hands, the winner, and the result of every wager."""

from __future__ import annotations

from collections.abc import Sequence

import click

from controller.commands.evaluation import (
    HELD,
    Evaluation,
    HandResult,
    WagerResult,
    evaluate_layout,
    read_layout,
)
from controller.commands.game_options import find_law, in_units, law_options, odds_text, print_json
from controller.commands.text import Page, longest, many, page
from controller.commands.vocabulary import words_of
from controller.games.wager_specification import Setting
from controller.rules.law import Law, find_setting
from controller.rules.payouts import Verdict
from firmware_bridge.messages import message


@click.command()
@law_options
@click.option(
    "--player",
    "players",
    multiple=True,
    required=True,
    metavar="CARDS",
    help='A hand of three cards, as in "KD 10C 2H"; "3: KD 10C 2H" names its box. One for each box.',
)
@click.option(
    "--dealer",
    "--banker",
    "dealers",
    multiple=True,
    required=True,
    metavar="CARDS",
    help="The Dealer's or Banker's hand; name it once.",
)
@click.option(
    "--wager",
    "wagers",
    multiple=True,
    metavar="WAGER=STAKE",
    help="A stake in the smallest unit, as in tie=5 (on every box), "
    '"3: tie=5" (on box 3) or "3: ann: tie=5" (by the bettor ann there). By default each wager is shown for one unit.',
)
def evaluate(
    game_id: str,
    readings: tuple[str, ...],
    as_json: bool,
    players: tuple[str, ...],
    dealers: tuple[str, ...],
    wagers: tuple[str, ...],
) -> None:
    """Show the class of each hand, the outcome of each box and the result of each wager.

    A hand without a number belongs to the box after the one before it; the first to box 1.
    """
    law = find_law(game_id, readings)
    evaluation = evaluate_layout(law, read_layout(law, players, dealers, wagers))
    if as_json:
        print_json(evaluation)
        return
    paper = page()
    write(paper, law, evaluation)
    paper.show()


def write(paper: Page, law: Law, evaluation: Evaluation) -> None:
    """Write the whole evaluation, in lines."""
    words = words_of(evaluation.game)
    hands = [evaluation.dealer, *(box.hand for box in evaluation.boxes)]
    name_width = longest([hand.name for hand in hands])
    results = [*evaluation.on_dealer, *(result for box in evaluation.boxes for result in box.wagers)]
    widths = longest([_title(result) for result in results]), longest([_gain(result) for result in results]) + 1
    place_width = longest([str(words.dealer), *(str(words.box(box.box)) for box in evaluation.boxes)]) + 2
    paper.heading(f"{law.game.title} ({law.game.id})")
    if evaluation.readings:
        used = (f"{s.id}={option} ({s.clause})" for s, option in _readings(law, evaluation))
        paper.entry(f"Readings: {', '.join(used)}", indent=0)
    paper.heading(f"{words.dealer!s:<{place_width}}{_hand(evaluation.dealer, name_width)}")
    _write_wagers(paper, evaluation.on_dealer, widths)
    for box in evaluation.boxes:
        place = str(words.box(box.box))
        place = place[:1].upper() + place[1:]
        paper.heading(f"{place:<{place_width}}{_hand(box.hand, name_width)}   {box.word.upper()}")
        _write_wagers(paper, box.wagers, widths)
    if evaluation.staked:
        paper.heading(
            message("Staked {staked}, net {net}", staked=f"{evaluation.staked:,}", net=in_units(evaluation.gain))
        )
        for bettor, gain in evaluation.gains.items():
            paper.entry(message("net {net}", net=in_units(gain)), (bettor, longest(list(evaluation.gains))))


def _readings(law: Law, evaluation: Evaluation) -> list[tuple[Setting, str]]:
    return [(find_setting(law.game, setting), option) for setting, option in evaluation.readings.items()]


def _hand(hand: HandResult, name_width: int) -> str:
    figures = f"{many(hand.points, 'point', 'points')}, {many(hand.pictures, 'picture', 'pictures')}"
    return f"{' '.join(hand.cards)}   {hand.name:<{name_width}}   {figures:<20}".rstrip()


def _write_wagers(paper: Page, results: Sequence[WagerResult], widths: tuple[int, int]) -> None:
    """Write the results. `widths` are those of the titles and of the gains."""
    for result in results:
        paper.entry(
            f"{result.because} ({result.clause})",
            (_title(result), widths[0]),
            (result.verdict, longest([HELD, *Verdict])),
            (odds_text(result.odds) if result.odds is not None else "", len("400 to 1")),
            (_gain(result), widths[1]),
        )


def _title(result: WagerResult) -> str:
    return f"{result.title} of {result.bettor}" if result.bettor else result.title


def _gain(result: WagerResult) -> str:
    return f"{in_units(result.gain)} on {result.stake:,}" if result.stake else f"{in_units(result.net)} a unit"
