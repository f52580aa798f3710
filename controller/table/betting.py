"""Wagers: bettors and bets as people enter them, restrictions, and the settlement of a round.

Entering wagers is optional. Without them the table still deals and determines outcomes, and answers "cannot tell" if a
clause depends on wagers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Final, TypeVar

from msgspec.structs import replace

from controller.games.specification import Disposition, Kind
from controller.games.wager_specification import Looks
from controller.roles import Role
from controller.rules import placing
from controller.rules.law import UnknownWagerError, enters_bettors
from controller.rules.layout import (
    Bet,
    BetRefusedError,
    Bettor,
    HandedBack,
    TableRulesError,
    check_rules,
    enter_bettor,
    without_main,
)
from controller.rules.settlement import (
    BetAction,
    BetResult,
    BetRuling,
    Settlement,
    SettlementError,
    return_every_bet,
    settle_round,
)
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.feature import (
    ALWAYS,
    ANY_PHASE,
    BETS_LIE,
    BETTORS_COME,
    MOST_TRIED,
    UNKNOWN,
    Group,
    OperationRow,
    group,
    just,
)
from controller.table.inputs import PersonActed
from controller.table.irregularities.raising import INFERENCE, already_open, raise_irregularity
from controller.table.model import NOT_SO, Irregularity, Restrictions, SettledBet, Stage
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.messages import AnyText, Message, counted, message

MOST_BETTORS: Final = 100  # all of them are part of the state


ResultT = TypeVar("ResultT")


def as_refusal(attempt: Callable[[], ResultT]) -> ResultT:
    """Return the result of `attempt`; turn errors of the wager rules into a `RefusedError` with their clause."""
    try:
        return attempt()
    except BetRefusedError as refused:
        code = refused.code.replace("_", "-")
        if refused.clause:
            raise RefusedError(code, "{why} ({clause}).", why=refused.message, clause=refused.clause) from None
        raise RefusedError(code, "{why}.", why=refused.message) from None
    except UnknownWagerError as unknown:
        raise RefusedError("unknown-wager", "{why}.", why=unknown.message) from None
    except TableRulesError as wrong:
        raise RefusedError("table-rules", "{why}.", why=wrong.message) from None


# -- entering ----------------------------------------------------------------------------------------------------------


def _with_bettor(state: TableState, operation: operations.EnterBettor) -> placing.Laid:
    if not operation.bettor.strip():
        raise RefusedError("bettor", "Enter a name or number for the bettor.")
    entered = enter_bettor(state.table_rules, state.layout, Bettor(operation.bettor, operation.seat))
    if len(entered.bettors) > MOST_BETTORS:
        raise RefusedError(
            "too-many", "{most} bettors are entered; let a bettor without bets leave.", most=MOST_BETTORS
        )
    return placing.Laid(entered)


def verify_enter_bettor(state: TableState, given: PersonActed, operation: operations.EnterBettor) -> None:
    as_refusal(lambda: _with_bettor(state, operation))


def add_bettor(decision: Decision, given: PersonActed, operation: operations.EnterBettor) -> None:
    decision.emit(events.BettorEntered(operation.bettor, operation.seat))


def verify_bettor_leaves(state: TableState, given: PersonActed, operation: operations.BettorLeaves) -> None:
    as_refusal(lambda: (state.layout.bettor(operation.bettor), placing.Laid(state.layout))[1])
    if any(bet.bettor == operation.bettor for bet in state.layout.bets):
        raise RefusedError(
            "bets",
            "Bettor {bettor} still has bets on the layout; settle or take them back first.",
            bettor=operation.bettor,
        )


def remove_bettor(decision: Decision, given: PersonActed, operation: operations.BettorLeaves) -> None:
    decision.emit(events.BettorLeft(operation.bettor))


def _layout_after(state: TableState, operation: operations.Operation) -> placing.Laid:
    """Return the layout after the operation."""
    law, rules, layout = state.law, state.table_rules, state.layout
    betting = state.phase is Phase.BETTING
    match operation:
        case operations.PlaceWager():
            return placing.place(
                law,
                rules,
                layout,
                operation.bettor,
                operation.wager,
                operation.box,
                operation.amount,
                betting_open=betting,
                noticed=not operation.overlooked,
                placed_by=placed_by(state, operation),
            )
        case operations.ChangeWager():
            return placing.change(law, rules, layout, operation.bet, operation.amount, betting_open=betting)
        case operations.TakeBackWager():
            return placing.take_back(law, layout, operation.bet, betting_open=betting)
    return placing.reject_excess(law, rules, layout)


def placed_by(state: TableState, operation: operations.PlaceWager | operations.CorrectBet) -> str:
    """Return which member of staff placed the bet (RTP 3.6, NC 5.16), by a name that no bettor has."""
    name = operation.placed_by.strip()
    if name in {operation.bettor, *(bettor.id for bettor in state.bettors)} - {""}:
        raise RefusedError(
            "placed-by",
            "Enter which member of staff placed the wager, or leave it empty if the Player did; {name} is a bettor "
            "here.",
            name=name,
        )
    return name


def verify_wager(state: TableState, given: PersonActed, operation: operations.Operation) -> None:
    choosing = [found for found in state.open if found.stage is Stage.CHOOSING]
    if choosing and not _enters_chooser(state, choosing, operation):
        raise RefusedError("choosing", "The bettors are choosing; record their choices first.")
    as_refusal(lambda: _layout_after(state, operation))


def _enters_chooser(state: TableState, choosing: Sequence[Irregularity], operation: operations.Operation) -> bool:
    """Return whether the operation enters a main bet whose bettor may then choose.

    If only entered bettors choose, bettors may be entered until the first one has chosen (reading 38).
    """
    if not isinstance(operation, operations.PlaceWager) or not enters_bettors(state.law):
        return False
    main = any(wager.id == operation.wager and wager.main for wager in state.law.wagers)
    return main and state.phase is Phase.BETTING and not any(found.choices for found in choosing)


def lay(decision: Decision, given: PersonActed, operation: operations.Operation) -> None:
    """Place, change or remove bets. The boxes with a main wager become the occupied boxes."""
    laid = _layout_after(decision.state, operation)
    overlooked = isinstance(operation, operations.PlaceWager) and operation.overlooked
    decision.emit(events.LayoutChanged(laid.layout.bets, laid.layout.numbered, laid.handed_back, overlooked))
    _mark_boxes(decision, laid.layout.bets)


def verify_restrict(state: TableState, given: PersonActed, operation: operations.RestrictBetting) -> None:
    restricted = Restrictions(operation.closed_boxes, operation.fewer_wagers, operation.one_box)
    try:
        check_rules(state.law, replace(state, restrictions=restricted).table_rules)
    except TableRulesError as wrong:
        raise RefusedError("table-rules", "{why}.", why=wrong.message) from None


def restrict(decision: Decision, given: PersonActed, operation: operations.RestrictBetting) -> None:
    decision.emit(events.BettingRestricted(operation.closed_boxes, operation.fewer_wagers, operation.one_box))


def notice_side_without_main(decision: Decision, left: Sequence[Bet] | None = None) -> None:
    """Raise an irregularity for side wagers without their required main wager when bets are closed (I23).

    `left`: the bets that a ruling left undecided; None: every bet.
    """
    alone = without_main(decision.state.law, decision.state.layout) if left is None else left
    if alone and not already_open(decision, Kind.SIDE_WITHOUT_MAIN):
        bets = tuple(bet.number for bet in alone)
        note = counted("bet {bets} has no main bet", "bets {bets} have no main bet", len(bets), bets=bets)
        raise_irregularity(decision, Kind.SIDE_WITHOUT_MAIN, noticed_by=INFERENCE, note=note)


# -- settling ----------------------------------------------------------------------------------------------------------


def settle_wagers(decision: Decision) -> None:
    """Settle every bet once every hand in play has its outcome; do nothing if no wagers are entered."""
    state = decision.state
    if not state.layout.bets:
        return
    try:
        settlement = _settlement(state)
    except SettlementError:
        return  # `why_unsettled` tells people what to enter next
    _record(decision, settlement)


def why_unsettled(state: TableState) -> Message | None:
    """Return why bets cannot be settled although every hand has its outcome, and what to do next."""
    if state.phase is not Phase.SETTLING or state.round.settlement or not state.layout.bets:
        return None
    try:
        _settlement(state)
    except SettlementError as error:
        return message(
            "The bets cannot be settled: {why}. Correct the wrong entry, or void the round.", why=error.message
        )
    return None


def _settlement(state: TableState) -> Settlement:
    """Return the settlement of all bets; ignore choices and rulings about bets that were not on the layout.

    Raises `SettlementError` if the entries contradict each other, as in a journal of an earlier version.
    """
    assert state.settings is not None
    layout, shown = state.layout, {place: hand.shown for place, hand in state.round.hands.items() if hand.shown}
    withdrawn = {
        (bettor, box): clause
        for (bettor, box), clause in state.round.withdrawals.items()
        if any(bet.bettor == bettor for bet in layout.on(box))
    }
    return settle_round(
        state.law,
        state.table_rules,
        layout,
        shown,
        removed=state.round.removals,
        withdrawn=withdrawn,
        rulings=rulings_in_effect(state),
        settled_under_minimum=frozenset(state.round.under_minimum),
        rounding=state.settings.rounding,
    )


def rulings_in_effect(state: TableState) -> dict[int, BetRuling]:
    """Return the rulings on bets on the layout, except those that would settle a bet by a hand that was not dealt."""
    now = state.round
    return {
        bet.number: now.rulings[bet.number]
        for bet in state.layout.bets
        if bet.number in now.rulings and (now.rulings[bet.number].action is BetAction.RETURN or has_hand(state, bet))
    }


def has_hand(state: TableState, bet: Bet) -> bool:
    """Return whether the hand that decides a bet was dealt: a box without a main wager has no hand."""
    return state.law.wager(bet.wager).looks is Looks.DEALER or bet.box in state.round.boxes


def undecided_alone(state: TableState) -> tuple[Bet, ...]:
    """Return the side bets without a main bet that neither a clause nor a ruling has decided."""
    now = state.round
    if any(
        one.found.kind is Kind.SIDE_WITHOUT_MAIN
        and one.found.row.disposition is Disposition.RETURN_BET
        and one.outcome not in NOT_SO
        for one in now.closed
    ):
        return ()
    ruled = rulings_in_effect(state)
    return tuple(
        bet
        for bet in without_main(state.law, state.layout)
        if bet.number not in ruled and bet.box not in now.removals and (bet.bettor, bet.box) not in now.withdrawals
    )


def return_wagers(decision: Decision, clause: str) -> None:
    """Return every bet because the round is void; an earlier settlement is reversed first."""
    state = decision.state
    if state.layout.bets:
        take_back_settlement(decision, 0, clause)
        returned = return_every_bet(
            state.law,
            state.layout,
            clause,
            frozenset(state.round.under_minimum),
            removed=state.round.removals,
            withdrawn=state.round.withdrawals,
            rulings=state.round.rulings,
        )
        _record(decision, returned)


def hand_back(decision: Decision, clause: str, because: AnyText) -> None:
    """Return every bet on the layout because the round does not begin."""
    take_off(decision, decision.state.layout.bets, clause, because)
    if decision.state.round.boxes:
        decision.emit(events.BoxesOccupied(()))


def take_off(decision: Decision, bets: Sequence[Bet], clause: str, because: AnyText) -> None:
    """Return bets while betting is open: take their chips off the layout, and free boxes without a main wager."""
    layout = decision.state.layout
    back = tuple(HandedBack(bet.number, bet.bettor, bet.amount, clause, because) for bet in bets)
    if not back:
        return
    left = tuple(bet for bet in layout.bets if bet not in bets)
    decision.emit(events.LayoutChanged(left, layout.numbered, back))
    _mark_boxes(decision, left)


def anything_decided(state: TableState) -> bool:
    """Return whether a choice or ruling about bets was made, or a hand is out of play."""
    now = state.round
    return bool(now.withdrawn or now.removed or now.bet_rulings or any(one.found.choices for one in now.closed))


def take_off_returned(decision: Decision) -> None:
    """Take returned bets off the layout when betting is opened again, and free the boxes whose hand was removed."""
    state = decision.state
    now = state.round
    for bet in state.layout.bets:
        ruling = now.rulings.get(bet.number)
        clause = now.removals.get(bet.box) or now.withdrawals.get((bet.bettor, bet.box), "")
        if not clause and ruling is not None and ruling.action is BetAction.RETURN:
            clause = ruling.authority
        if clause:
            take_off(decision, [bet], clause, message("the bet was returned before bets were opened again"))
    left = tuple(box for box in decision.state.round.boxes if box not in now.removals)
    if left != decision.state.round.boxes and not state.game.every_hand:
        decision.emit(events.BoxesOccupied(left))


def _mark_boxes(decision: Decision, bets: Iterable[Bet]) -> None:
    """Mark the boxes with a main wager as occupied."""
    law = decision.state.law
    boxes = tuple(sorted({bet.box for bet in bets if law.wager(bet.wager).main}))
    if boxes != decision.state.round.boxes:
        decision.emit(events.BoxesOccupied(boxes))


def settle_again(decision: Decision, irregularity: int, clause: str) -> None:
    """Reverse and repeat the settlement, because a hand was removed or a bet ruled on after it.

    Do nothing in a void round, in which every bet is returned, whatever else is decided.
    """
    if decision.state.round.settlement and decision.state.phase is not Phase.VOIDED:
        take_back_settlement(decision, irregularity, clause)
        settle_wagers(decision)


def take_back_settlement(decision: Decision, irregularity: int, clause: str) -> None:
    if decision.state.round.settlement:
        decision.emit(events.SettlementReversed(irregularity, clause, decision.state.round.settlement))


def verify_nothing_held(state: TableState) -> None:
    """Verify before chips are paid that every bet is settled and none waits for a ruling."""
    if why := why_unsettled(state):
        raise RefusedError("unsettled", why)
    for bet in state.round.settlement:
        if Fraction(bet.held):
            raise RefusedError(
                "held",
                "Bet {number} needs a ruling ({clause}): report it as a side bet without a main bet first.",
                number=bet.number,
                clause=bet.clause,
            )


def _record(decision: Decision, settlement: Settlement) -> None:
    bets = tuple(_settled(entry) for entry in settlement.entries)
    under = tuple(sorted(settlement.settled_under_minimum))
    decision.emit(events.WagersSettled(bets, str(settlement.house), under))


def _settled(entry: BetResult) -> SettledBet:
    bet = entry.bet
    return SettledBet(
        number=bet.number,
        bettor=bet.bettor,
        wager=bet.wager,
        box=bet.box,
        amount=bet.amount,
        verdict=entry.verdict or "held",
        clause=entry.clause,
        because=entry.because,
        returned=str(entry.returned),
        collected=str(entry.collected),
        held=str(entry.held),
        paid=str(entry.paid),
    )


# -- permissions and offers


def _leaving(state: TableState) -> Iterator[Group]:
    betting = {bet.bettor for bet in state.layout.bets}
    free = [bettor.id for bettor in state.bettors if bettor.id not in betting]
    ids = free[:1] or [bettor.id for bettor in state.bettors[:1]]
    yield from (group(operations.BettorLeaves(bettor)) for bettor in ids)


def _entering(state: TableState) -> Iterator[Group]:
    """Offer a new bettor; if no more are accepted, an entered one may still move."""
    known = [operations.EnterBettor(bettor.id, bettor.seat) for bettor in state.bettors[:1]]
    yield group(operations.EnterBettor(UNKNOWN), *known, needs=("seat",))


def _wagers(state: TableState) -> Iterator[Group]:
    """Offer a bet that the rules allow, and an overlooked bet that lies on the layout although they do not allow it."""
    assert state.settings is not None
    main = next(wager for wager in state.law.wagers if wager.main)
    limit = state.table_rules.limits.get(main.id)
    amount = max(1, limit.minimum) if limit is not None else 1
    bettors = [bettor.id for bettor in state.bettors[:MOST_TRIED]]
    for overlooked in (False, True):
        samples = (
            operations.PlaceWager(bettor, main.id, box, amount, overlooked)
            for bettor in bettors
            for box in range(1, state.settings.box_count + 1)
        )
        yield group(*samples, known=("overlooked",) if overlooked else ())


def _restricted(state: TableState) -> Iterator[Group]:
    """Offer the restrictions in force as the start; what people remove is lifted."""
    names = ("closed_boxes", "fewer_wagers", "one_box")
    force = operations.RestrictBetting(*(getattr(state.restrictions, name) for name in names))
    bettors = bool(state.bettors or force.one_box)
    yield group(force, operations.RestrictBetting(), known=names, needs=names if bettors else names[:2])


def _changes(state: TableState) -> Iterator[Group]:
    bets = state.layout.bets[:MOST_TRIED]
    yield group(*(operations.ChangeWager(bet.number, bet.amount + more) for bet in bets for more in (0, 1, -1)))


def _taken_back(state: TableState) -> Iterator[Group]:
    yield group(*(operations.TakeBackWager(bet.number) for bet in state.layout.bets[:MOST_TRIED]))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.EnterBettor, message("enter a bettor"), message("{who} entered a bettor."), verify_enter_bettor,
        add_bettor, BETTORS_COME, ALWAYS, offers=_entering),
    OperationRow(
        operations.BettorLeaves, message("let a bettor leave"), message("{who} let a bettor leave."),
        verify_bettor_leaves, remove_bettor, BETTORS_COME, ALWAYS, offers=_leaving,
        where=lambda state: bool(state.bettors)),
    OperationRow(
        operations.PlaceWager, message("place a wager"), message("{who} placed a wager."), verify_wager, lay,
        BETS_LIE, ALWAYS, offers=_wagers, where=lambda state: bool(state.bettors)),
    OperationRow(
        operations.ChangeWager, message("change a wager"), message("{who} changed a wager."), verify_wager, lay,
        BETS_LIE, ALWAYS, offers=_changes, where=lambda state: bool(state.layout.bets)),
    OperationRow(
        operations.TakeBackWager, message("take a wager back"), message("{who} took a wager back."), verify_wager,
        lay, BETS_LIE, ALWAYS, offers=_taken_back, where=lambda state: bool(state.layout.bets)),
    OperationRow(
        operations.RejectExcess, message("hand back what is over the limit"),
        message("{who} handed back what is over the limit."), verify_wager, lay, BETS_LIE, ALWAYS,
        offers=just(operations.RejectExcess()), where=lambda state: bool(state.layout.bets)),
    OperationRow(
        operations.RestrictBetting, message("restrict betting"), message("{who} restricted betting."),
        verify_restrict, restrict, ANY_PHASE, ALWAYS, Role.PIT_MANAGER, offers=_restricted),
)
# fmt: on
"""The permissions and offers of this feature."""
