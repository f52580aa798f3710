"""Reopens decided irregularities after the correction of an entry on which the decision rested.

A decision rested on the entry if the law now finds another row, or has a question. Events undo the effects of the
decision: hands play again, bets count again, a void is lifted. Then people decide again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Kind, Row
from controller.rules.dealing_order import DEALER, Place
from controller.rules.law import find_row
from controller.table import events
from controller.table.betting import take_back_settlement
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.irregularities.raising import first_stage, known_facts
from controller.table.model import CORRECTED, DENIED, Closed, Hand, Irregularity, Stage
from controller.table.operations import CountCards
from controller.table.phases import CARDS_LEAVE, Phase
from controller.table.power_failures import as_it_was
from controller.table.state import TableState

OVERTAKEN: Final = "overtaken"
NO_MATTER: Final = frozenset({CORRECTED, OVERTAKEN})  # these outcomes are not reopened automatically
PAID: Final = frozenset({Phase.SETTLING, Phase.CONCLUDED})

Choices = tuple[tuple[str, str, Choice], ...]


def ask_for_counts(decision: Decision, because_of: int) -> None:
    """Ask again for a count if the one that answered is struck out, for the round or the waiting deck.

    An irregularity that the count itself raised is withdrawn instead. An old journal does not say which count answered.
    """
    state = decision.state
    counts = [one.entry for one in state.round.entered if isinstance(one.operation, CountCards)]
    ended = [one for one in state.round.closed if one.outcome not in NO_MATTER | {DENIED}]
    for one in (*(Closed(found, "") for found in state.open), *ended):
        found = one.found
        answered = found.counted_by == because_of or (not found.counted_by and found.origin not in counts)
        mine = answered and (found.round == decision.state.round.number or found.waiting)
        if mine and found.facts.counted_wrong is not None and may_be_reopened(decision.state, found):
            reopen(decision, one, replace(found.facts, counted_wrong=None), because_of)


def re_evaluate(
    decision: Decision,
    names: frozenset[str],
    because_of: int,
    counted_wrong: bool | None = None,
    *,
    corrected: int = 0,
) -> None:
    """Look up the row again for every irregularity of the round that rested on one of these facts (`names`).

    `counted_wrong`: that fact, by a corrected count. `corrected`: the corrected entry of the round, 0 for none: earlier
    decisions did not rest on it. Denied irregularities rest on no fact.
    """
    state = decision.state
    now_open = [Closed(found, "") for found in state.open if concerns_round(state, found)]
    ended = [one for one in state.round.closed if one.outcome not in NO_MATTER | {DENIED} and not one.found.waiting]
    voiding_first = sorted(ended, key=lambda one: one.found.id != state.round.voided_by)
    for found, outcome in [(one.found, one.outcome) for one in (*now_open, *voiding_first)]:
        if all(getattr(found.facts, name) is None for name in names):
            continue
        if outcome and (found.revision < corrected or not may_be_reopened(decision.state, found)):
            continue  # decided before that was entered
        then = as_it_was(decision.state, found, found.revision if outcome else None, decision.origin)
        facts = _facts_now(then, found, names, counted_wrong)
        row, asks = find_row(decision.state.law, found.kind, facts)
        if (row, asks) == (found.row, () if outcome else found.asks):
            continue
        if not outcome and found.stage is Stage.CLAIMED:
            decision.emit(events.FactStated(found.id, facts, row, asks))
        else:
            reopen(decision, Closed(found, outcome), facts, because_of)


def ask_as_first_error(decision: Decision) -> None:
    """Decide again what counted as an error after a choice if no choice before it remains (reading 39).

    It waits until every error that was raised before it is decided.
    """
    before = decision.state
    for one in (*(Closed(found, "") for found in before.open), *before.round.closed):
        state, found = decision.state, one.found
        counted = bool(found.facts.chosen_before) and one.outcome not in NO_MATTER | {DENIED}
        if not counted or not concerns_round(state, found) or state.went_on(before=found.id):
            continue
        if any(other.id < found.id and other.blocks and concerns_round(state, other) for other in state.open):
            continue
        facts = replace(found.facts, chosen_before=False)
        row, asks = find_row(state.law, found.kind, facts)
        if not one.outcome and found.stage is Stage.CLAIMED:
            decision.emit(events.FactStated(found.id, facts, row, asks))
        elif not one.outcome or may_be_reopened(state, found):
            reopen(decision, one, facts, decision.origin)


def end_open(decision: Decision, given: PersonActed, kind: Kind) -> None:
    """End undecided irregularities of this kind: by the corrected entries there are none."""
    for found in decision.state.open:
        if found.kind is kind and concerns_round(decision.state, found):
            decision.emit(events.IrregularityResolved(found.id, CORRECTED, found.row.clause, given.person, given.role))


def concerns_round(state: TableState, found: Irregularity) -> bool:
    """Return whether this concerns the current or the last concluded round, not an earlier one or the waiting deck."""
    return found.round == state.round.number and not found.waiting


def may_be_reopened(state: TableState, found: Irregularity) -> bool:
    """Return whether this may be reopened: in a void round only the cause of the void can change the result."""
    return state.phase is not Phase.VOIDED or state.round.voided_by == found.id or found.waiting


def _facts_now(state: TableState, found: Irregularity, names: frozenset[str], counted_wrong: bool | None) -> Facts:
    """Return the stated facts; those that the corrected entry recorded (`names`) are now taken from the state."""
    known = known_facts(state, found.place)
    now = {name: getattr(known, name) for name in names if name != "counted_wrong"}
    if "counted_wrong" in names:
        now["counted_wrong"] = counted_wrong
    return replace(found.facts, **now)


def reopen(
    decision: Decision,
    ended: Closed,
    facts: Facts,
    because_of: int,
    *,
    stage: Stage | None = None,
    row: Row | None = None,
    choices: Choices = (),
    recounted: bool = False,
    counted: int | None = None,
) -> None:
    """Reopen the irregularity, in its first stage unless `stage` is given, and undo its effects.

    `recounted`: the number of cards of its hand is `counted` again, None before a count. Raises `RefusedError` if it
    made the round void and the round cannot be continued.
    """
    found = ended.found
    lifted = decision.state.phase is Phase.VOIDED and decision.state.round.voided_by == found.id
    if lifted and not may_be_lifted(decision.state):
        raise RefusedError(
            "gone",
            "The round is void and its cards have been taken away: it cannot be continued. Begin the next round, and "
            "report the error for this one; its bets are decided by a ruling.",
        )
    found_row, asks = find_row(decision.state.law, found.kind, facts)
    state = decision.state
    decision.emit(
        events.IrregularityReopened(
            found.id,
            because_of,
            ended.outcome,
            row or found_row,
            facts,
            () if row else asks,
            stage or first_stage(found_row, asks),
            choices,
            tuple(dict.fromkeys(f"B{box}" for box, _, irregularity in state.round.removed if irregularity == found.id)),
            tuple((bettor, box) for bettor, box, _, irregularity in state.round.withdrawn if irregularity == found.id),
            tuple(bet for bet, _, irregularity in state.round.bet_rulings if irregularity == found.id),
            recounted,
            counted,
        )
    )
    _undo_count(decision, found)
    if lifted:
        _lift_void(decision, found, because_of)
    elif concerns_round(decision.state, found):
        return_to_exposing(decision, found.id)


def _undo_count(decision: Decision, found: Irregularity) -> None:
    """Withdraw the counted number of cards until it is confirmed again."""
    hand = decision.state.round.hands.get(found.place or "", Hand())
    if found.place is not None and found.counted is not None and hand.surplus:
        decision.emit(events.HandCounted(found.place, len(hand.cards)))


def may_be_lifted(state: TableState) -> bool:
    """Return whether a void round could be continued, which is possible while its cards are on the table."""
    deck_changed = state.decks.in_play.deck != state.round.deck or not state.decks.in_play.used
    undealt = not state.round.places and state.round.voided_from is not Phase.FIRST_CARD
    return not (deck_changed or undealt or state.round.voided_from is Phase.BETTING)


def _lift_void(decision: Decision, found: Irregularity, because_of: int) -> None:
    """Return the round to its phase before the void, reopen what was open then, and reverse a settlement."""
    reached = decision.state.round.voided_from
    assert reached is not None, "a void round has the phase before it"
    returned = decision.state.round.chips_paid
    take_back_settlement(decision, found.id, "")
    decision.emit(events.VoidLifted(found.id, because_of, returned))
    if reached in PAID:
        decision.emit(events.ClosingTakenBack(chips=True))
    deck = decision.state.decks.in_play
    if reached in CARDS_LEAVE and deck.stub is not None:  # cards dealt afterwards are not part of it
        counted = events.StubCounted(deck.stub, decision.state.stub_due, "", not deck.stub_out, midway=True)
        decision.emit(counted)
    decision.enter_phase(f"take_up_{Phase.EXPOSING if reached in PAID else reached}")
    for other, outcome in [(one.found, one.outcome) for one in decision.state.round.closed]:
        if outcome == OVERTAKEN:
            again = Closed(other, outcome)
            row = None if other.stage is Stage.CLAIMED else other.row  # questions about it are asked again
            reopen(decision, again, other.facts, because_of, stage=other.stage, row=row, choices=other.choices)


def take_closing_back(decision: Decision, *, chips: bool) -> None:
    """Record that the round is not concluded and, with `chips`, that its chips are not paid."""
    decision.emit(events.ClosingTakenBack(chips))
    if decision.state.phase is Phase.CONCLUDED:
        decision.enter_phase("take_up_settling")


def take_hands_back(decision: Decision, places: Sequence[Place], irregularity: int) -> None:
    """Have hands whose cards have changed entered and judged again if they were turned over."""
    shown = [place for place in places if decision.state.round.hands[place].shown]
    if not shown:
        return
    return_to_exposing(decision, irregularity)
    for place in shown:
        decision.emit(events.HandTakenBack(place))
    hands = decision.state.round.hands
    judged = hands if DEALER in shown else shown
    decision.emit(events.JudgementTakenBack(tuple(place for place in judged if hands[place].outcome)))


def return_to_exposing(decision: Decision, irregularity: int = 0) -> None:
    """Return a settled round to the phase in which hands get their outcomes; the settlement is reversed."""
    if decision.state.phase in PAID:
        take_back_settlement(decision, irregularity, "")
        decision.emit(events.ClosingTakenBack(chips=True))
        decision.enter_phase("take_up_exposing")
