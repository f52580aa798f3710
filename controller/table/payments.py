"""Describes the chips that people move: by the results, and again if a settlement changed after it was paid.

If no bets are entered, these are the main bets at each box.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from controller.games.own_words import DEALER
from controller.games.wager_specification import Wager
from controller.rules.dealing_order import Place
from controller.rules.payouts import Cards, Settled, Verdict, settle
from controller.table.model import Hand, PaidBox, SettledBet
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.messages import Message, message


class _Result(NamedTuple):
    """The result of a main wager. `wager` None: all main wagers have the same. `settled` None: the hand is out."""

    wager: Wager | None
    settled: Settled | None

    @property
    def title(self) -> str:
        """Return the wager's English title, by which the journal names it; empty: all main wagers."""
        return str(self.wager.title) if self.wager is not None else ""


def payments(state: TableState) -> tuple[Message, ...]:
    """Return a sentence for the boxes of each result until the round ends; none if every bet is entered."""
    due = state.phase is Phase.SETTLING and not state.round.bets_to_return
    dealer = state.round.hands.get(DEALER, Hand()).shown
    if not due or not dealer or state.layout.bets:
        return ()
    found: dict[tuple[str, Settled | None], tuple[_Result, list[Place]]] = {}
    for place, hand in sorted(state.round.hands.items()):
        if place != DEALER and (hand.size or hand.dead):
            for result in _results(state, hand, dealer):
                found.setdefault((result.title, result.settled), (result, []))[1].append(place)
    order = sorted(found, key=lambda result: (_rank(result[1]), result[0]))
    return tuple(_sentence(found[one][0], state.game.words.of_all(found[one][1])) for one in order)


def _results(state: TableState, hand: Hand, dealer: Cards) -> tuple[_Result, ...]:
    """Return the result of each main wager; one result if all are the same."""
    if hand.dead:
        return (_Result(None, None),)
    if not hand.shown:
        return ()
    mains = [wager for wager in state.law.wagers if wager.main]
    results = [_Result(wager, _plain(settle(state.law, wager, hand.shown, dealer))) for wager in mains]
    if len({result.settled for result in results}) == 1:
        return (_Result(None, results[0].settled),)
    return tuple(results)


def _plain(settled: Settled) -> Settled:
    """Return the result without clause and fact: only the action counts."""
    return Settled(settled.verdict, settled.net, "", message(""))


def _rank(settled: Settled | None) -> Fraction:
    """Return the order of payment: the highest payment first."""
    return Fraction(2) if settled is None else -settled.net


def _sentence(result: _Result, boxes: Message) -> Message:
    wager, settled = result
    if settled is None:
        return message("Out of play; return every bet: {boxes}.", boxes=boxes)
    if settled.verdict is Verdict.RETURNED:
        return message("Tie; return the bets: {boxes}.", boxes=boxes)
    if settled.verdict is Verdict.LOST:
        if wager is None:
            return message("Take the bets: {boxes}.", boxes=boxes)
        return message("Take {wager}: {boxes}.", wager=wager.title, boxes=boxes)
    won, staked = settled.net.numerator, settled.net.denominator
    if wager is None:
        return message("Pay {won} to {staked}: {boxes}.", won=won, staked=staked, boxes=boxes)
    return message("Pay {wager} {won} to {staked}: {boxes}.", wager=wager.title, won=won, staked=staked, boxes=boxes)


def paid_boxes(state: TableState) -> tuple[PaidBox, ...]:
    """Return how the main bets at each box are paid now if no bets are entered."""
    return tuple(paid for paid, _ in _paid_now(state))


def _paid_now(state: TableState) -> Iterator[tuple[PaidBox, Wager | None]]:
    """Yield how each main wager at each box is paid now; None: all are paid alike."""
    dealer = state.round.hands.get(DEALER, Hand()).shown
    if state.layout.bets or not dealer:
        return
    void = state.round.voided_from is not None
    for place, hand in sorted(state.round.hands.items()):
        if place != DEALER and (hand.size or hand.dead):
            for result in _results(state, hand, dealer):
                verdict, net = ("returned", "0") if void else _verdict(result.settled)
                yield PaidBox(place, result.title, verdict, net), result.wager


def _verdict(settled: Settled | None) -> tuple[str, str]:
    return ("out", "0") if settled is None else (str(settled.verdict), str(settled.net))


def difference_due(state: TableState) -> bool:
    """Return whether the round's result differs from what was paid, and the difference is not recorded yet."""
    if state.round.bets_to_return or state.phase not in (Phase.SETTLING, Phase.CONCLUDED):
        return False
    return state.round.difference_due or (bool(state.round.paid_boxes) and bool(differences(state)))


def differences(state: TableState) -> tuple[Message, ...]:
    """Return each bet that moves because the result differs from what was paid: where, whose, in which direction."""
    if state.layout.bets:
        return tuple(_bets_moved(state)) if state.round.paid_as and state.round.settlement else ()
    return tuple(_boxes_moved(state)) if state.round.paid_boxes else ()


def _bets_moved(state: TableState) -> Iterator[Message]:
    was, now = ({one.number: one for one in settled} for settled in (state.round.paid_as, state.round.settlement))
    every = sorted({**was, **now}.values(), key=lambda one: (one.box, one.number))
    for bet in every:
        before, after = was.get(bet.number), now.get(bet.number)
        at, wager = state.game.words.spot(bet.box), state.law.wager(bet.wager).title
        paid = _part(after, "paid") - _part(before, "paid")
        taken = _part(after, "collected") - _part(before, "collected")
        if paid:
            yield message(
                "{place}: pay {amount} to {bettor} ({wager})."
                if paid > 0
                else "{place}: take back {amount} from {bettor} ({wager}).",
                place=at, amount=str(abs(paid)), bettor=bet.bettor, wager=wager,
            )  # fmt: skip
        if taken:
            yield message(
                "{place}: take {amount} from {bettor} ({wager})."
                if taken > 0
                else "{place}: return {amount} to {bettor} ({wager}).",
                place=at, amount=str(abs(taken)), bettor=bet.bettor, wager=wager,
            )  # fmt: skip


def _part(settled: SettledBet | None, name: str) -> Fraction:
    return Fraction(0) if settled is None else Fraction(getattr(settled, name))


def _boxes_moved(state: TableState) -> Iterator[Message]:
    was = {(one.place, one.title): one for one in state.round.paid_boxes}
    for after, wager in _paid_now(state):
        before = was.get((after.place, after.title)) or was.get((after.place, ""))
        if before is None or (before.verdict, before.net) == (after.verdict, after.net):
            continue
        at = state.game.words.of(after.place)
        if wager is not None:
            at = message("{place}, {wager}", place=at, wager=wager.title)
        if before.verdict == "won":
            yield message("{place}: take back what was paid.", place=at)
        if after.verdict == "won":
            won = Fraction(after.net)
            yield message("{place}: pay {won} to {staked}.", place=at, won=won.numerator, staked=won.denominator)
        if after.verdict == "lost":
            yield message("{place}: take the bet.", place=at)
        elif before.verdict == "lost":
            yield message("{place}: return the bet.", place=at)
        if after.verdict == "out":
            yield message("{place}: out of play; return every bet.", place=at)
