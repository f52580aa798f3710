"""What is done with the main bets at each box where no bets are entered: in sentences for the people at the table."""

from __future__ import annotations

from fractions import Fraction

from controller.games.own_words import DEALER
from controller.rules.dealing_order import Place
from controller.rules.payouts import Cards, Settled, Verdict, settle
from controller.table.model import Hand
from controller.table.phases import Phase
from controller.table.state import TableState


def payments(state: TableState) -> tuple[str, ...]:
    """Until the round is ended, a sentence for the boxes of each result; none where every bet is entered."""
    due = state.phase is Phase.SETTLING and not state.round.bets_to_return
    dealer = state.round.hands.get(DEALER, Hand()).shown
    if not due or not dealer or state.layout.bets:
        return ()
    found: dict[tuple[str, Settled | None], list[Place]] = {}
    for place, hand in sorted(state.round.hands.items()):
        if place != DEALER and (hand.size or hand.dead):
            for result in _results(state, hand, dealer):
                found.setdefault(result, []).append(place)
    order = sorted(found, key=lambda result: (_rank(result[1]), result[0]))
    return tuple(_sentence(*result, state.game.words.of_all(found[result])) for result in order)


def _results(state: TableState, hand: Hand, dealer: Cards) -> tuple[tuple[str, Settled | None], ...]:
    """Each main wager's title with what it comes to; once and without, where all come to the same; None: it is out."""
    if hand.dead:
        return (("", None),)
    if not hand.shown:
        return ()
    mains = [wager for wager in state.law.wagers if wager.main]
    results = [(wager.title, _plain(settle(state.law, wager, hand.shown, dealer))) for wager in mains]
    if len({result for _, result in results}) == 1:
        return (("", results[0][1]),)
    return tuple(results)


def _plain(settled: Settled) -> Settled:
    """Without its clause and fact: only what is done counts."""
    return Settled(settled.verdict, settled.net, "", "")


def _rank(settled: Settled | None) -> Fraction:
    """What is paid first, the most before."""
    return Fraction(2) if settled is None else -settled.net


def _sentence(title: str, settled: Settled | None, boxes: str) -> str:
    if settled is None:
        return f"Out of play, give back what still lies there: {boxes}."
    if settled.verdict is Verdict.RETURNED:
        return f"Tie, give back the bets: {boxes}."
    if settled.verdict is Verdict.LOST:
        return f"Take {title}: {boxes}." if title else f"Take the bets: {boxes}."
    won, staked = settled.net.numerator, settled.net.denominator
    return f"Pay {title} {won} to {staked}: {boxes}." if title else f"Pay {won} to {staked}: {boxes}."
