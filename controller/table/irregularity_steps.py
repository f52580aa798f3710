"""How people bring an irregularity to its end: report, confirm or deny, name an order, choose, rule, count.

claimed -> confirmed: what the clause says takes effect
        -> ordering -> choosing -> resolved      (simultaneous cards)
        -> choosing -> resolved                  (every bettor's options)
        -> ruling -> resolved                    (referred, or the document is silent)
        -> denied
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controller.games.specification import (
    ASSUMED_NOT,
    FACT_QUESTIONS,
    Choice,
    Disposition,
    Facts,
    Kind,
    Role,
    Row,
    RulingAction,
)
from controller.rules.irregularities import STATED, find_row
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.phases import BETWEEN_ROUNDS, DEALING, WINDOW_OPEN, Phase
from controller.table.raising import already_open, known_facts, raise_irregularity
from controller.table.rounds import go_on
from controller.table.state import Hand, Irregularity, Stage, TableState

COUNT_KINDS: Final = frozenset({Kind.DECK_COUNT, Kind.COUNT_IN_DOUBT})
# What the table knows no answer may turn round.
KNOWN_FACTS: Final = ("dealer_hand", "handled", "before_close", "manual", *sorted(ASSUMED_NOT))
DECK_KINDS: Final = COUNT_KINDS | {Kind.FOREIGN_CARD, Kind.UNSHUFFLED}
OPENS_STAGE: Final = {
    Disposition.OPTIONS: Stage.CHOOSING,
    Disposition.NAME_ORDER: Stage.ORDERING,
    Disposition.REFER: Stage.RULING,
    Disposition.RECONSTRUCT: Stage.RULING,
    Disposition.SILENT: Stage.RULING,
}


def verify_report(state: TableState, given: PersonActed, operation: operations.ReportIrregularity) -> None:
    if operation.place is not None and operation.place not in state.hands and operation.place not in _places(state):
        raise RefusedError("place", f"Nothing was dealt to {operation.place} in this round.")
    if operation.kind is Kind.WRONG_COUNT and (operation.place is None or operation.counted is None):
        raise RefusedError("count", "Say at which place the number of cards is wrong, and how many lie there.")
    if operation.kind is Kind.WRONG_COUNT and operation.counted == state.hands.get(operation.place or "", Hand()).size:
        raise RefusedError("count", f"{operation.counted} cards is what was dealt to {operation.place} so far.")
    if operation.counted is not None and not 0 <= operation.counted <= 52:
        raise RefusedError("count", f"{operation.counted} cards cannot lie at one place.")
    if state.phase is Phase.VOIDED:
        raise RefusedError("voided", "The round is void already; nothing more can follow for it.")


def _places(state: TableState) -> tuple[str, ...]:
    return (*(f"B{number}" for number in state.boxes), "D")


def report(decision: Decision, given: PersonActed, operation: operations.ReportIrregularity) -> None:
    raise_irregularity(
        decision,
        operation.kind,
        noticed_by=given.person,
        place=operation.place,
        card=operation.card,
        counted=operation.counted,
        note=operation.note,
    )


def _find(state: TableState, decision: operations.ConfirmIrregularity | Any, *stages: Stage) -> Irregularity:
    """The open irregularity that an operation names, unchanged since and waiting for this step."""
    found = state.find_open(decision.irregularity)
    if found is None:
        raise RefusedError("closed", f"Irregularity {decision.irregularity} is not open (any more).")
    if found.revision != decision.revision:
        raise RefusedError("changed", "This irregularity has changed since; look at it again and decide then.")
    if found.stage not in stages:
        raise RefusedError("stage", f"This irregularity waits for something else first: {found.stage}.")
    return found


def _require(given: PersonActed, role: Role, clause: str, what: str) -> None:
    if not given.role.reaches(role):
        raise RefusedError("role", f"Only a {role.word} or above may {what} ({clause}); call one.")


def _merged(found: Irregularity, stated: Facts) -> Facts:
    spoken = {name: getattr(stated, name) for name in STATED if getattr(stated, name) is not None}
    return msgspec.structs.replace(found.facts, **spoken)


def verify_confirm(state: TableState, given: PersonActed, operation: operations.ConfirmIrregularity) -> None:
    found = _find(state, operation, Stage.CLAIMED)
    if operation.facts.counted_wrong is not None:
        raise RefusedError("count", "Count the cards by hand and enter the count; it tells whether the deck is whole.")
    for name in KNOWN_FACTS:
        known, stated = getattr(found.facts, name), getattr(operation.facts, name)
        if None not in (known, stated) and known is not stated:
            raise RefusedError("fact", f"The table knows otherwise: {FACT_QUESTIONS[name]} {'Yes' if known else 'No'}.")
    row, asks = find_row(state.law, found.kind, _merged(found, operation.facts))
    if "counted_wrong" in asks:
        raise RefusedError("count", "Count the stub by hand first, with a witness, and enter the count.")
    if asks and not _answers(found, operation.facts):
        raise RefusedError("fact", f"Answer first: {' '.join(FACT_QUESTIONS[name] for name in asks)}")
    _require(given, row.confirms, row.clause, "confirm this")
    if asks:
        return
    if row.disposition is Disposition.CONTINUE and found.kind is Kind.TECHNICAL_STOP and state.device.stopped:
        raise RefusedError(
            "stopped",
            f"The device still stands ({state.device.stopped}); clear it, or say that not every place is certain.",
        )


def _answers(found: Irregularity, stated: Facts) -> bool:
    """Whether something is stated that was asked for."""
    return any(getattr(stated, name) is not None for name in found.asks)


def confirm(decision: Decision, given: PersonActed, operation: operations.ConfirmIrregularity) -> None:
    """The fact is so: the clause takes effect, or the next step of it opens.

    An answer may lead to another question; it is kept, and the confirmation waits for the rest.
    """
    found = _find(decision.state, operation, Stage.CLAIMED)
    facts = _merged(found, operation.facts)
    row, asks = find_row(decision.state.law, found.kind, facts)
    if asks:
        decision.emit(events.FactStated(found.id, facts, row, asks))
        return
    stage = OPENS_STAGE.get(row.disposition)
    decision.emit(events.IrregularityConfirmed(found.id, row, facts, stage))
    if found.counted is not None and found.place is not None:
        more = found.counted - decision.state.hands.get(found.place, Hand()).size
        from_aside = max(0, min(more, len(decision.state.aside)))
        decision.emit(events.HandCounted(found.place, found.counted, from_aside))
    if stage is not None:
        _close_choices(decision, given)
        return
    if row.disposition is Disposition.VOID:
        _void(decision, given, found.id, row, row.because)
    elif row.disposition is Disposition.REMOVE_HAND and found.place is not None:
        decision.emit(events.HandRemoved(found.place, row.clause, found.id))
    _resolve(decision, given, found.id, row.disposition, row.clause)
    _close_choices(decision, given)


def verify_deny(state: TableState, given: PersonActed, operation: operations.DenyIrregularity) -> None:
    found = _find(state, operation, Stage.CLAIMED, Stage.RULING)
    row = found.row
    _require(given, row.confirms, row.clause, "deny this")
    _require(given, row.decides, row.clause, "deny this")
    if not operation.reason.strip():
        raise RefusedError("reason", "Say why it is not so.")
    if found.kind is Kind.TECHNICAL_STOP and state.device.stopped:
        raise RefusedError("stopped", f"The device still stands ({state.device.stopped}); clear it first.")


def deny(decision: Decision, given: PersonActed, operation: operations.DenyIrregularity) -> None:
    found = _find(decision.state, operation, Stage.CLAIMED, Stage.RULING)
    place = found.place
    if found.kind is Kind.OTHER_DEALING_ERROR and place is not None and _waits_to_be_judged(decision.state, place):
        decision.emit(events.HandTakenBack(place))  # it was entered wrongly, and is entered again
    _resolve(decision, given, found.id, "denied", found.row.clause)


def _waits_to_be_judged(state: TableState, place: str) -> bool:
    hand = state.hands.get(place, Hand())
    return bool(hand.shown) and hand.outcome is None


def verify_name_order(state: TableState, given: PersonActed, operation: operations.NameOrder) -> None:
    found = _find(state, operation, Stage.ORDERING)
    _require(given, found.row.decides, found.row.clause, "name the order")
    if sorted(operation.ordinals) != sorted(found.ordinals):
        named = ", ".join(str(ordinal) for ordinal in sorted(found.ordinals)) or "none, for none is known"
        raise RefusedError("order", f"Name each of these cards once, in the order to be received: {named}.")


def name_order(decision: Decision, given: PersonActed, operation: operations.NameOrder) -> None:
    """The simultaneous drawing is a dealing error all the same: every bettor's options follow."""
    decision.emit(events.OrderNamed(operation.irregularity, operation.ordinals, Stage.CHOOSING))
    _close_choices(decision, given)


def verify_choose(state: TableState, given: PersonActed, operation: operations.ChooseOption) -> None:
    found = _find(state, operation, Stage.CHOOSING)
    if operation.place not in state.live_places:
        raise RefusedError("place", f"No hand is in play at {operation.place}.")
    if any(place == operation.place for place, _ in found.choices):
        raise RefusedError("chosen", f"{operation.place} has chosen already.")


def choose(decision: Decision, given: PersonActed, operation: operations.ChooseOption) -> None:
    decision.emit(events.OptionChosen(operation.irregularity, operation.place, operation.choice))
    _close_choices(decision, given)


def _close_choices(decision: Decision, given: PersonActed) -> None:
    """When everybody has chosen, hands that withdrew are dead and the deal goes on.

    Nobody waits for a hand that is out of play, whatever took it out: so every open choice is looked at.
    """
    for found in decision.state.open:
        choices = dict(found.choices)
        live = decision.state.live_places
        if found.stage is not Stage.CHOOSING or not all(place in choices for place in live):
            continue
        for place in live:
            if choices[place] is Choice.WITHDRAW:
                clause = decision.state.game.clauses.option_returns_bet
                decision.emit(events.HandRemoved(place, clause, found.id))
        _resolve(decision, given, found.id, Disposition.OPTIONS, found.row.clause)
        _close_choices(decision, given)  # others may have waited for those hands alone
        return


def verify_rule(state: TableState, given: PersonActed, operation: operations.Rule) -> None:
    found = _find(state, operation, Stage.RULING)
    _require(given, found.row.decides, found.row.clause, "rule on this")
    if not operation.authority.strip() or not operation.text.strip():
        raise RefusedError("ruling", "A ruling names its authority and says what is decided and why.")
    if operation.action is RulingAction.VOID and not state.in_round and state.phase is not Phase.CONCLUDED:
        raise RefusedError("no-round", "There is no round to void.")


def rule(decision: Decision, given: PersonActed, operation: operations.Rule) -> None:
    found = _find(decision.state, operation, Stage.RULING)
    decision.emit(events.Ruled(found.id, operation.action, operation.authority, operation.text))
    if operation.action is RulingAction.VOID:
        _void(decision, given, found.id, found.row, operation.text)
    _resolve(decision, given, found.id, "ruling", found.row.clause)


def count_cards(decision: Decision, given: PersonActed, operation: operations.CountCards) -> None:
    """A count by hand tells whether the deck is whole; it answers what open irregularities ask, or raises one."""
    state = decision.state
    due = state.stub_due
    decision.emit(events.CardsCounted(operation.pile, operation.number, due, given.person, operation.witness))
    if state.deck.used and state.phase not in DEALING and state.phase is not Phase.BETTING:
        decision.emit(events.StubCounted(operation.number, due, given.person, in_device=True))
    wrong = operation.number != due
    for found in decision.state.open:
        if found.kind in COUNT_KINDS and found.stage is Stage.CLAIMED:
            facts = msgspec.structs.replace(found.facts, counted_wrong=wrong)
            row, asks = find_row(decision.state.law, found.kind, facts)
            decision.emit(events.FactStated(found.id, facts, row, asks))
    if wrong and not any(already_open(decision, kind) for kind in COUNT_KINDS):
        note = f"{operation.number} cards were counted, {due} should be left"
        facts = known_facts(decision, counted_wrong=True)
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=given.person, facts=facts, note=note)


def _void(decision: Decision, given: PersonActed, irregularity_id: int, row: Row, text: str) -> None:
    """The round is void and all bets are returned; what else was open in it is overtaken by that."""
    if decision.state.deck.deck and not decision.state.deck.used:
        decision.emit(events.ShuffleFailed(decision.state.deck.deck))  # this deck must not be dealt from
    if decision.state.phase not in WINDOW_OPEN or decision.state.phase is Phase.VOIDED:
        return  # found between rounds: there is nothing to void
    decision.emit(events.RoundVoided(row.clause, irregularity_id, text))
    decision.enter_phase("void", decision.state.game.clauses.void_returns_bets)
    for found in decision.state.open:
        if found.id != irregularity_id and found.round == decision.state.round:
            decision.emit(events.IrregularityResolved(found.id, "overtaken", row.clause, given.person, given.role))


def _resolve(decision: Decision, given: PersonActed, irregularity_id: int, outcome: str, clause: str) -> None:
    decision.emit(events.IrregularityResolved(irregularity_id, str(outcome), clause, given.person, given.role))
    if decision.state.phase not in BETWEEN_ROUNDS:
        go_on(decision)
