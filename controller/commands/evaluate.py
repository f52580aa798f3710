"""`cardshoe evaluate`: the classes of hands, the winner, and the result of every wager."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from controller.api.in_language import in_language
from controller.commands.evaluation import (
    HELD,
    Evaluation,
    HandResult,
    WagerResult,
    evaluate_layout,
    read_layout,
)
from controller.commands.game_options import find_law, in_units, law_options, odds_text, print_json
from controller.commands.text import Page, longest, padded, page
from controller.commands.vocabulary import words_of
from controller.language import Speaker
from controller.rules.law import Law, find_setting
from controller.rules.payouts import Verdict
from controller.table.events.lines import under
from firmware_bridge.messages import Message, counted, message

VERDICTS: Final = {
    Verdict.WON: message("won"),
    Verdict.LOST: message("lost"),
    Verdict.RETURNED: message("returned"),
    HELD: message("held"),
}


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
        print_json(in_language(evaluation, None))
        return
    paper = page()
    write(paper, law, evaluation)
    paper.show()


def write(paper: Page, law: Law, evaluation: Evaluation) -> None:
    """Write the whole evaluation, in lines."""
    say, words = paper.say, words_of(evaluation.game)
    hands = [evaluation.dealer, *(box.hand for box in evaluation.boxes)]
    name_width = longest([say(hand.name) for hand in hands])
    places = [say(words.dealer), *(_capital(say(words.box(box.box))) for box in evaluation.boxes)]
    heads = [
        padded(place, longest(places) + 2) + _hand(say, hand, name_width)
        for place, hand in zip(places, hands, strict=True)
    ]
    results = [*evaluation.on_dealer, *(result for box in evaluation.boxes for result in box.wagers)]
    widths = longest([say(_title(one)) for one in results]), longest([say(_gain(one)) for one in results]) + 1
    paper.heading(message("{title} ({id})", title=law.game.title, id=law.game.id))
    if evaluation.readings:
        paper.entry(message("Readings: {readings:list}", readings=_readings(law, evaluation)), indent=0)
    paper.heading(heads[0])
    _write_wagers(paper, evaluation.on_dealer, widths)
    for box, head in zip(evaluation.boxes, heads[1:], strict=True):
        paper.heading(f"{head}   {say(box.word).upper()}")
        _write_wagers(paper, box.wagers, widths)
    if evaluation.staked:
        paper.heading(
            message("Staked {staked}, net {net}", staked=f"{evaluation.staked:,}", net=in_units(evaluation.gain))
        )
        for bettor, gain in evaluation.gains.items():
            paper.entry(message("net {net}", net=in_units(gain)), (bettor, longest(list(evaluation.gains))))


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _readings(law: Law, evaluation: Evaluation) -> tuple[Message, ...]:
    return tuple(
        message(
            "{setting}={option} ({clause})",
            setting=setting,
            option=option,
            clause=find_setting(law.game, setting).clause,
        )
        for setting, option in evaluation.readings.items()
    )


def _hand(say: Speaker, hand: HandResult, name_width: int) -> str:
    figures = message(
        "{points}, {pictures}",
        points=counted("1 point", "{count} points", hand.points),
        pictures=counted("1 picture", "{count} pictures", hand.pictures),
    )
    return f"{' '.join(hand.cards)}   {padded(say(hand.name), name_width)}   {say(figures)}"


def _write_wagers(paper: Page, results: Sequence[WagerResult], widths: tuple[int, int]) -> None:
    """Write the results. `widths` are those of the titles and of the gains."""
    verdicts = longest([paper.say(word) for word in VERDICTS.values()])
    for result in results:
        paper.entry(
            under(result.because, result.clause),
            (_title(result), widths[0]),
            (VERDICTS[result.verdict], verdicts),
            (odds_text(result.odds) if result.odds is not None else "", len("400 to 1")),
            (_gain(result), widths[1]),
        )


def _title(result: WagerResult) -> Message:
    return message("{title} by {bettor}", title=result.title, bettor=result.bettor) if result.bettor else result.title


def _gain(result: WagerResult) -> Message:
    if result.stake:
        return message("{gain} on {stake}", gain=in_units(result.gain), stake=f"{result.stake:,}")
    return message("{net} a unit", net=in_units(result.net))
