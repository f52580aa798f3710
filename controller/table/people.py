"""People's operations: may this person do this, now? Every refusal is a sentence that says what should come first.

Each operation has one row in `OPERATIONS`: who may, in which phases and services, whether also while the table is held,
a `verify` that judges the rest and an `act` that decides what follows. From the rows come the three questions that a
console asks: `verify` (raises), `can` (answers yes or no), and `person_acted` (does it, or records the refusal).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from controller.games.specification import Role
from controller.table import events, exposing, irregularity_steps, operations, rounds, rulings, wagering
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.operations import Operation
from controller.table.phases import BEGINNING, CARDS_LEAVE, DEALING, IN_ROUND, WINDOW_OPEN, Phase, Service
from controller.table.state import TableState


class Lawful(NamedTuple):
    """One operation's row. `services` and `held` say whether it may be done while the table stands still."""

    verify: Callable[[TableState, PersonActed, Any], None]
    act: Callable[[Decision, PersonActed, Any], None]
    phases: frozenset[Phase]
    role: Role = Role.DEALER
    services: frozenset[Service] = frozenset({Service.IN_SERVICE})
    held: bool = False


ANY_PHASE: Final = frozenset(Phase)
ANY_SERVICE: Final = frozenset(Service)
BETTORS_COME: Final = frozenset(Phase) - {Phase.CLOSED}
BETS_LIE: Final = WINDOW_OPEN - {Phase.VOIDED}
CARDS_ON_TABLE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING}


def _irregular(verify: Any, act: Any, role: Role = Role.DEALER) -> Lawful:
    """Irregularities are dealt with whatever else stands still."""
    return Lawful(verify, act, ANY_PHASE, role, ANY_SERVICE, held=True)


OPERATIONS: Final[dict[type[Operation], Lawful]] = {
    operations.OpenTable: Lawful(rounds.verify_open_table, rounds.open_table, frozenset({Phase.CLOSED})),
    operations.CloseTable: Lawful(rounds.verify_nothing, rounds.close_table, BEGINNING, services=ANY_SERVICE),
    operations.ShuffledOutside: Lawful(
        rounds.verify_shuffled_outside, rounds.shuffled_outside, BEGINNING | {Phase.CLOSED}
    ),
    operations.PlaceYourBets: Lawful(rounds.verify_place_your_bets, rounds.place_your_bets, BEGINNING),
    operations.CancelStart: Lawful(
        rounds.verify_cancel_start, rounds.cancel_start, frozenset({Phase.BETTING}), services=ANY_SERVICE
    ),
    operations.OccupyBoxes: Lawful(
        rounds.verify_occupy_boxes, rounds.occupy_boxes, frozenset({Phase.BETTING}), services=ANY_SERVICE, held=True
    ),
    operations.NoMoreBets: Lawful(rounds.verify_no_more_bets, rounds.no_more_bets, frozenset({Phase.BETTING})),
    operations.ReopenBets: Lawful(rounds.verify_reopen_bets, rounds.reopen_bets, CARDS_LEAVE, services=ANY_SERVICE),
    operations.EnterBettor: Lawful(
        wagering.verify_enter_bettor, wagering.add_bettor, BETTORS_COME, services=ANY_SERVICE, held=True
    ),
    operations.BettorLeaves: Lawful(
        wagering.verify_bettor_leaves, wagering.remove_bettor, BETTORS_COME, services=ANY_SERVICE, held=True
    ),
    **{
        moving: Lawful(wagering.verify_wager, wagering.lay, BETS_LIE, services=ANY_SERVICE, held=True)
        for moving in (
            operations.PlaceWager,
            operations.ChangeWager,
            operations.TakeBackWager,
            operations.RejectExcess,
        )
    },
    operations.RestrictBetting: Lawful(
        wagering.verify_restrict, wagering.restrict, ANY_PHASE, Role.PIT_MANAGER, ANY_SERVICE, held=True
    ),
    operations.ShowFirstCard: Lawful(
        rounds.verify_show_first_card, rounds.show_first_card, frozenset({Phase.FIRST_CARD}), services=ANY_SERVICE
    ),
    operations.HandleCards: Lawful(
        exposing.verify_handle_cards, exposing.handle_cards, CARDS_ON_TABLE, services=ANY_SERVICE, held=True
    ),
    operations.ExposeHand: Lawful(
        exposing.verify_expose_hand,
        exposing.expose_hand,
        frozenset({Phase.EXAMINING, Phase.EXPOSING}),
        services=ANY_SERVICE,
    ),
    operations.RecordSettled: Lawful(
        rounds.verify_settled, rounds.record_settled, frozenset({Phase.SETTLING}), services=ANY_SERVICE
    ),
    operations.ConcludeRound: Lawful(
        rounds.verify_conclude, rounds.conclude_round, frozenset({Phase.SETTLING}), services=ANY_SERVICE
    ),
    operations.PauseTable: Lawful(rounds.verify_pause, rounds.pause_table, ANY_PHASE, services=ANY_SERVICE, held=True),
    operations.ResumeTable: Lawful(
        rounds.verify_resume, rounds.resume_table, ANY_PHASE, services=ANY_SERVICE, held=True
    ),
    operations.ReportIrregularity: Lawful(
        irregularity_steps.verify_report,
        irregularity_steps.report,
        WINDOW_OPEN,
        services=ANY_SERVICE,
        held=True,
    ),
    operations.ConfirmIrregularity: _irregular(irregularity_steps.verify_confirm, irregularity_steps.confirm),
    operations.DenyIrregularity: _irregular(irregularity_steps.verify_deny, irregularity_steps.deny),
    operations.NameOrder: _irregular(irregularity_steps.verify_name_order, irregularity_steps.name_order),
    operations.ChooseOption: _irregular(irregularity_steps.verify_choose, irregularity_steps.choose),
    operations.Reconstruct: _irregular(irregularity_steps.verify_reconstruct, irregularity_steps.put_right),
    operations.Rule: _irregular(rulings.verify_rule, rulings.rule),
    operations.PlaceCards: Lawful(
        irregularity_steps.verify_place_cards,
        irregularity_steps.place_cards,
        CARDS_ON_TABLE,
        services=ANY_SERVICE,
        held=True,
    ),
    operations.DealByHand: Lawful(
        rounds.verify_deal_by_hand, rounds.deal_by_hand, CARDS_LEAVE, Role.PIT_SUPERVISOR, ANY_SERVICE
    ),
    operations.CountCards: Lawful(
        rounds.verify_count, irregularity_steps.count_cards, ANY_PHASE, services=ANY_SERVICE, held=True
    ),
    operations.ContinueRound: Lawful(
        rounds.verify_continue, rounds.continue_round, IN_ROUND, services=frozenset({Service.RECONCILING}), held=True
    ),
    operations.ReturnToService: Lawful(
        rounds.verify_nothing, rounds.return_to_service, ANY_PHASE, Role.PIT_SUPERVISOR, ANY_SERVICE, held=True
    ),
}

FIRST_IN_PHASE: Final[dict[Phase, str]] = {
    Phase.CLOSED: "Open the table first.",
    Phase.IDLE: 'Announce "Place your bets" first.',
    Phase.BETTING: 'Announce "No more bets" first, or cancel the start of the round.',
    Phase.FIRST_CARD: "Show the First Card first.",
    Phase.DEALING_SETS: "Finish the deal first.",
    Phase.DEALING_SINGLES: "Finish the deal first.",
    Phase.EXAMINING: "Expose the Dealer's hand first.",
    Phase.EXPOSING: "Open the hands that are still in play first.",
    Phase.SETTLING: "Settle and conclude the round first.",
    Phase.CONCLUDED: 'Announce "Place your bets" for the next round first.',
    Phase.VOIDED: 'The round is void; announce "Place your bets" for the next one first.',
}


def name_of(operation: Operation) -> str:
    """The operation's name as it stands in the API and in the journal."""
    return str(operation.__struct_config__.tag)


def verify(state: TableState, given: PersonActed) -> None:
    """Raises `RefusedError` when the operation is not lawful now, for this person."""
    operation = given.operation
    lawful = OPERATIONS[type(operation)]
    words = name_of(operation).replace("_", " ")
    if not given.role.reaches(lawful.role):
        raise RefusedError("role", f"Only a {lawful.role.word} or above may {words}; ask one to do it.")
    if state.phase not in lawful.phases:
        raise RefusedError(
            "phase", f"Cannot {words} while the table is {state.phase.replace('_', ' ')}. {FIRST_IN_PHASE[state.phase]}"
        )
    if state.service not in lawful.services:
        raise RefusedError("service", _why_service(state, words))
    if state.held and not lawful.held:
        raise RefusedError("held", _why_held(state, words))
    lawful.verify(state, given, operation)


def can(state: TableState, given: PersonActed) -> bool:
    """Whether `verify` would pass."""
    try:
        verify(state, given)
    except RefusedError:
        return False
    return True


def person_acted(decision: Decision, given: PersonActed) -> None:
    """Do it, or record why not. A repeat of an operation that is answered already changes nothing."""
    state = decision.state
    if any(answer.operation_id == given.operation_id for answer in state.answers):
        return
    try:
        if not state.round - 1 <= given.round <= state.round:
            raise RefusedError("stale", "This was meant for another round; look at the table as it is now.")
        verify(state, given)
        attempt = Decision(state)
        attempt.emit(events.OperationTaken(given.operation_id, name_of(given.operation), given.person, given.role))
        OPERATIONS[type(given.operation)].act(attempt, given, given.operation)
    except RefusedError as refused:
        decision.emit(
            events.OperationRefused(
                given.operation_id, name_of(given.operation), given.person, refused.code, refused.sentence
            )
        )
    else:
        decision.adopt(attempt)


def _why_service(state: TableState, words: str) -> str:
    if state.service is Service.RECONCILING:
        if state.device.connected and state.in_round:
            return f"Cannot {words} yet: compare the table with the screen, then confirm that the round continues."
        return f"Cannot {words} yet: {state.service_cause.rstrip('.')}."
    if state.service is Service.OUT_OF_SERVICE:
        return f"Cannot {words}: the table is out of service ({state.service_cause})."
    return f"Cannot {words}: the table is in service and nothing stands in its way."


def _why_held(state: TableState, words: str) -> str:
    if state.paused:
        return f"Cannot {words} while the table is paused ({state.paused}); resume first."
    blocking = next(found for found in state.open if found.blocks)
    return f"Cannot {words} before the open irregularity is resolved: {blocking.row.because} ({blocking.row.clause})."
