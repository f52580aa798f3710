"""Settling: what each bettor is paid, recording that the chips are moved, and concluding the round.

The stub is counted before the chips are paid, if the device or the casino counts it. A round is concluded when that is
entered a second time.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from controller.games.own_words import DEALER
from controller.games.specification import Disposition, Noticed
from controller.games.wager_specification import Wager
from controller.rules.dealing_order import Place
from controller.rules.payouts import Cards, Settled, Verdict, settle
from controller.table import events, operations
from controller.table.betting import verify_nothing_held
from controller.table.decision import Decision, RefusedError
from controller.table.feature import NOT_HELD, SETTLING, TO_PAY, Group, OperationRow, group, just, repeats
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import in_order, question
from controller.table.model import Hand, PaidBox, SettledBet
from controller.table.phases import BETWEEN_ROUNDS, Phase
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, message

BOXES_END: Final = 100
"""The Dealer's spot is paid after all boxes."""


class _Result(NamedTuple):
    """The result of a main wager. `wager` None: all main wagers have the same. `settled` None: the hand is out."""

    wager: Wager | None
    settled: Settled | None

    @property
    def title(self) -> str:
        """Return the wager's English title, by which the journal names it; empty: all main wagers."""
        return str(self.wager.title) if self.wager is not None else ""


class Due(msgspec.Struct, frozen=True):
    """The handling of the bets of one result at a place. `act`: pay, take, return, or hold until a ruling.

    `wager` is empty if the result holds for all main wagers. If bets are entered, there is one for each movement of a
    bet's chips, with `bettor` and `amount`; otherwise a payment has its odds, `won` to `staked`.
    """

    place: Place
    act: str
    wager: AnyText = ""
    bettor: str = ""
    amount: str = ""
    won: int = 0
    staked: int = 0


def dues(state: TableState) -> tuple[Due, ...]:
    """Return what is paid, taken and returned, box by box, until the round ends. Empty while a difference is due."""
    due = state.phase is Phase.SETTLING and not state.round.bets_to_return and not difference_due(state)
    if not due:
        return ()
    return tuple(_of_bets(state)) if state.layout.bets else tuple(_of_boxes(state))


def half_payments(state: TableState) -> tuple[Message, ...]:
    """Return why a won main wager is paid less than even money, for each such payment that is due, once. Where bets are
    entered, the amounts are listed instead.
    """
    dealer = state.round.hands.get(DEALER, Hand()).shown
    if state.layout.bets or not (dealer and dues(state)) or state.round.voided_from is not None:
        return ()
    played = [hand for place, hand in state.round.hands.items() if place != DEALER and not hand.dead]
    shown = [hand.shown for hand in played if hand.shown]
    mains = [wager for wager in state.law.wagers if wager.main]
    results = [settle(state.law, wager, cards, dealer) for cards in shown for wager in mains]
    low = {one.because.id: one for one in results if one.verdict is Verdict.WON and one.net < 1}
    own = state.game.words.own
    return tuple(
        message(
            "{won}:{staked} is paid: {because}.",
            won=one.net.numerator,
            staked=one.net.denominator,
            because=own(one.because),
        )
        for one in low.values()
    )


def _of_bets(state: TableState) -> Iterator[Due]:
    for bet in sorted(state.round.settlement, key=lambda one: (one.box or BOXES_END, one.number)):
        place, wager = f"B{bet.box}" if bet.box else DEALER, state.law.wager(bet.wager).title
        moved = {"pay": bet.paid, "take": bet.collected, "return": bet.returned, "hold": bet.held}
        if bet.verdict == Verdict.WON:
            del moved["return"]  # a won bet stays with its payment
        for act, amount in moved.items():
            if Fraction(amount):
                yield Due(place, act, wager, bet.bettor, amount)


def _of_boxes(state: TableState) -> Iterator[Due]:
    for paid, wager in _paid_now(state):
        title = "" if wager is None else wager.title
        if paid.verdict == Verdict.WON:
            net = Fraction(paid.net)
            yield Due(paid.place, "pay", title, won=net.numerator, staked=net.denominator)
        else:
            yield Due(paid.place, "take" if paid.verdict == Verdict.LOST else "return", title)


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


def returns_due(state: TableState) -> bool:
    """Return whether, between rounds, bets have to be returned or a difference paid."""
    return state.round.bets_to_return or difference_due(state)


def verify_chips_moved(state: TableState) -> None:
    """Verify that the chips of a paid round, or one with entered wagers, were moved first (NC 5.15)."""
    if difference_due(state):
        raise RefusedError("chips", "The settlement has changed: pay or take back the difference, then record it.")
    if state.round.bets_to_return and (state.round.settlement or state.round.paid_boxes):
        raise RefusedError("chips", "Return all bets and record it first.")


def _counted_by_device(state: TableState) -> bool:
    capabilities = state.device.capabilities
    return capabilities is not None and capabilities.unloads_stub


def stub_count_due(state: TableState) -> bool:
    """Return whether the stub has to be counted before the chips are paid."""
    same_deck = state.cards_lie  # the next deck may have come in before the round was reopened
    asked = _counted_by_device(state) or (state.settings is not None and state.settings.count_stub_by_hand)
    return same_deck and state.decks.in_play.stub is None and asked


def stub_comes(state: TableState) -> bool:
    """Return whether the device gives out the stub and counts it."""
    out = state.decks.in_play.stub_out
    return _counted_by_device(state) and state.device.connected and not (state.device.stopped or out)


def returns_bets_after_void(state: TableState) -> bool:
    """Return whether bets go back after a void; an open count of the deck does not affect them."""
    return state.phase in BETWEEN_ROUNDS and state.round.bets_to_return and not state.duty.paused


def verify_settled(state: TableState, given: PersonActed, operation: operations.RecordSettled) -> None:
    """Verify that chips may be recorded; between rounds, also at a closed table, only returned bets or a difference."""
    assert state.settings is not None
    if state.phase in BETWEEN_ROUNDS:
        if difference_due(state):
            verify_nothing_held(state)
            return
        if state.round.voided_from is None and not state.round.returning:
            raise RefusedError("phase", "There is nothing to pay or return. Begin the next round.")
        if not state.round.bets_to_return:
            raise RefusedError("settled", "The bets are recorded as returned already; begin the next round.")
        return
    verify_nothing_held(state)
    if state.round.chips_paid and not difference_due(state):
        raise RefusedError("settled", "The chips are recorded as paid already; conclude the round.")
    if stub_count_due(state):
        comes = message("The stub is not counted yet; wait until the device has given it out.")
        by_hand = message("The stub is not counted yet; count it by hand first.")
        raise RefusedError("stub", comes if stub_comes(state) else by_hand)
    _verify_none_open(state)


def record_settled(decision: Decision, given: PersonActed, operation: operations.RecordSettled) -> None:
    state = decision.state
    decision.emit(events.ChipsPaid(returned=state.round.bets_to_return, boxes=paid_boxes(state)))


def verify_conclude(state: TableState, given: PersonActed, operation: operations.ConcludeRound) -> None:
    if not state.round.chips_paid:
        raise RefusedError("not-settled", "Pay the bets and record it first.")
    if difference_due(state):
        raise RefusedError("chips", "The settlement has changed: pay or take back the difference, then record it.")
    _verify_none_open(state)


def _verify_none_open(state: TableState) -> None:
    """Verify that no irregularity of this round is open: even one that holds nothing (I22, I23) may change payments."""
    undecided = next(
        (found for found in in_order(state) if found.round == state.round.number and not found.waiting), None
    )
    if undecided is not None:
        raise RefusedError(
            "open", "An irregularity of this round is open. {question}", question=question(state, undecided)
        )


def conclude_round(decision: Decision, given: PersonActed, operation: operations.ConcludeRound) -> None:
    """Conclude the round once this is entered twice."""
    before = decision.state.round
    if before.conclusion_asked and repeats(given, before.conclusion_asking):
        decision.enter_phase("conclude", errors_count=errors_count_by(decision.state))
    else:
        decision.emit(events.ConclusionAsked(given.person, given.screen, given.utc_ns))


CHANGES_RESULTS: Final = frozenset({Disposition.VOID, Disposition.REMOVE_HAND})


def errors_count_by(state: TableState) -> tuple[str, ...]:
    """Return the clauses by which an error found between the settlement and the next round changes the result."""
    rows = (row for row in state.law.rows if Noticed.CONCLUDED in row.noticed and row.disposition in CHANGES_RESULTS)
    return tuple(dict.fromkeys(row.clause for row in rows if row.clause))


# -- permissions and offers


def _concluded(state: TableState) -> Iterator[Group]:
    asking = state.round.conclusion_asking if state.round.conclusion_asked else None
    yield group(operations.ConcludeRound(), twice=True, asking=asking)


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.RecordSettled, message("record that the bets are settled"),
        message("{who} recorded that the bets are settled."), verify_settled, record_settled, TO_PAY, NOT_HELD,
        though_held=returns_bets_after_void, offers=just(operations.RecordSettled()),
        where=lambda state: state.phase is Phase.SETTLING or returns_due(state)),
    OperationRow(
        operations.ConcludeRound, message("conclude the round"), message("{who} concluded the round."),
        verify_conclude, conclude_round, SETTLING, NOT_HELD, offers=_concluded),
)
# fmt: on
"""The permissions and offers of this feature."""
