"""Corrections of the bets at "No more bets": they are settled as they actually lay (NC 5.13)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.roles import Role
from controller.rules.law import Law, enters_bettors
from controller.rules.layout import Bet, Layout, as_it_lies, without_main
from controller.table import events, operations
from controller.table.betting import as_refusal, notice_side_without_main, placed_by, undecided_alone
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, WORDS, OperationRow, untried
from controller.table.inputs import PersonActed
from controller.table.irregularities.corrections import judge_again, occupy
from controller.table.irregularities.reopening import end_open, may_be_reopened, re_evaluate, reopen, return_to_exposing
from controller.table.model import Stage
from controller.table.phases import WINDOW_OPEN, Phase
from controller.table.state import TableState
from firmware_bridge.messages import message


def _verify_same_bet(state: TableState, lies: Bet, operation: operations.CorrectBet) -> None:
    """Verify that only its amount and who placed it change: another bettor, wager or box is another bet."""
    named = (operation.bettor or lies.bettor, operation.wager or lies.wager, operation.box or lies.box)
    if named != (lies.bettor, lies.wager, lies.box):
        raise RefusedError(
            "other-bet",
            "Bet {number} is {bettor}'s {wager} bet on {box}; if it did not lie there, enter the other bet as a "
            "new one, then 0 for this one.",
            number=lies.number,
            bettor=lies.bettor,
            wager=lies.wager,
            box=state.game.words.spot(lies.box),
        )


def _marked(state: TableState) -> frozenset[int]:
    """Return the boxes that were marked as having bets although no bet on them is entered."""
    if state.game.every_hand or not any(
        isinstance(one.operation, operations.OccupyBoxes) for one in state.round.entered
    ):
        return frozenset()
    return frozenset(state.round.boxes) - {*_mains(state.law, state.layout)}


def _mains(law: Law, layout: Layout) -> tuple[int, ...]:
    return tuple(sorted({bet.box for bet in layout.bets if law.wager(bet.wager).main}))


def _verify_bets_are_entered(state: TableState) -> None:
    """Refuse a single bet for boxes that were only marked, unless bets have to be entered for choices (reading 38)."""
    if _marked(state) and not state.layout.bets and not enters_bettors(state.law):
        raise RefusedError(
            "no-wagers", "Boxes are marked in this round, and no bets are entered: correct the boxes instead."
        )


def _corrected_layout(state: TableState, operation: operations.CorrectBet) -> Layout:
    """Return the layout as it was at "No more bets", whether or not the rules allowed it (NC 5.13)."""
    layout = state.layout
    if operation.amount < 0 or (not operation.bet and not operation.amount):
        raise RefusedError("amount", "Enter how many units lay there; 0 removes a bet that was entered.")
    staff = placed_by(state, operation)
    if operation.bet:
        lies = as_refusal(lambda: layout.bet(operation.bet))
        _verify_same_bet(state, lies, operation)
        changed = replace(lies, amount=operation.amount, placed_by=staff or lies.placed_by)
    else:
        number = layout.numbered + 1
        changed = Bet(number, operation.bettor, operation.wager, operation.box, operation.amount, staff)
    bets = [bet for bet in layout.bets if bet.number != changed.number]
    lying = [*bets, changed] if changed.amount else bets
    corrected = as_refusal(lambda: as_it_lies(state.law, state.table_rules, layout.bettors, lying))
    return replace(corrected, numbered=max(corrected.numbered, layout.numbered))


def verify_correct_bet(state: TableState, given: PersonActed, operation: operations.CorrectBet) -> None:
    correct_bet(Decision(state), given, operation)


def correct_bet(decision: Decision, given: PersonActed, operation: operations.CorrectBet) -> None:
    """Correct a bet, so that bets are settled as they lay. Added or removed boxes change the order of the deal."""
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why it was wrong.")
    state = decision.state
    _verify_bets_are_entered(state)
    layout = _corrected_layout(state, operation)
    if layout.bets == state.layout.bets:
        raise RefusedError("instead", "That is the same as what was entered; enter what should stand instead.")
    law = state.law
    return_to_exposing(decision)
    decision.emit(
        events.LayoutCorrected(state.layout.bets, layout.bets, layout.numbered, operation.reason, given.person)
    )
    mains = tuple(sorted({*_mains(law, layout), *_marked(state)}))
    if mains != state.round.boxes and not state.game.every_hand and (mains or layout.bets):
        occupy(decision, given, mains)
    _judge_side_wagers_again(decision, given, state)
    re_evaluate(decision, frozenset({"established", "cannot_tell"}), decision.origin)
    judge_again(decision, given)


def _judge_side_wagers_again(decision: Decision, given: PersonActed, before: TableState) -> None:
    """Raise side wagers that the correction leaves without a main wager; one that has it needs no decision (I23)."""
    state, kind = decision.state, Kind.SIDE_WITHOUT_MAIN
    alone, alone_before = (_numbers(without_main(each.law, each.layout)) for each in (state, before))
    waits = _numbers(undecided_alone(state)) - _numbers(undecided_alone(before))
    for ended in state.round.closed:
        ruled = {bet for bet, _, irregularity in state.round.bet_rulings if irregularity == ended.found.id}
        if ended.found.kind is kind and ruled - alone and may_be_reopened(state, ended.found):
            reopen(decision, ended, ended.found.facts, decision.origin, stage=Stage.RULING, row=ended.found.row)
    if not alone:
        end_open(decision, given, kind)
    elif alone - alone_before or waits:
        notice_side_without_main(decision)


def _numbers(bets: Iterable[Bet]) -> set[int]:
    return {bet.number for bet in bets}


# -- permissions and offers


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.CorrectBet, message("correct a bet"), message("{who} corrected a bet."), verify_correct_bet,
        correct_bet, WINDOW_OPEN - {Phase.BETTING, Phase.VOIDED}, ALWAYS, Role.PIT_SUPERVISOR,
        offers=untried(operations.CorrectBet(0, 0, WORDS)), where=lambda state: bool(state.bettors)),
)
# fmt: on
"""The permissions and offers of this feature."""
