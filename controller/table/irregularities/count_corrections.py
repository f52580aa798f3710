"""Corrections of counts by hand: of the account of the cards, and of the irregularities that a count decided.

Only the last count of a pile is valid, so only that one is corrected. What was noticed with it is withdrawn. Questions
that it answered ask for a count again, or are decided by the replacing number. The account is again as before the
count, as long as the cards of the round have not been taken away.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.games.specification import Facts, Kind
from controller.table import counts, events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import pile_word
from controller.table.irregularities.reopening import (
    NO_MATTER,
    PAID,
    ask_for_counts,
    concerns_round,
    may_be_reopened,
    re_evaluate,
    reopen,
    take_closing_back,
)
from controller.table.model import (
    ASIDE,
    CORRECTED,
    DECK,
    DENIED,
    STUB,
    BeforeCount,
    Closed,
    Entered,
    Hand,
    Irregularity,
)
from controller.table.settling import stub_count_due
from controller.table.state import TableState

Count = operations.CountCards


def correct_count(decision: Decision, given: PersonActed, entered: Entered, instead: Count | None) -> None:
    """Replace the count that was entered by another number, or by none."""
    count = entered.operation
    assert isinstance(count, Count)
    if instead is not None and instead.pile != count.pile:
        raise RefusedError(
            "pile",
            "It was entered as a count of {pile}: enter how many cards lie there, then the count of {other}.",
            pile=pile_word(decision.state, count.pile),
            other=pile_word(decision.state, instead.pile),
        )
    _verify_last(decision.state, entered, count, instead)
    _take_back_account(decision, entered, count)
    if instead is None:
        _strike_out(decision, given, entered, count)
        return
    counts.verify_count(decision.state, given, instead)
    if instead.pile == STUB:
        wrong = not decision.state.stub_fits(instead.number)
        re_evaluate(decision, frozenset({"counted_wrong"}), entered.entry, wrong)
    counts.count_cards(decision, given, instead)


def _verify_last(state: TableState, entered: Entered, count: Count, instead: Count | None) -> None:
    later = [one for one in _counts_of(state, count.pile) if one.entry > entered.entry and one.operation is not instead]
    if later:
        raise RefusedError(
            "later",
            "A later count of {pile} stands (entry {entry}); correct that one instead.",
            pile=pile_word(state, count.pile),
            entry=later[-1].entry,
        )


def _counts_of(state: TableState, pile: str) -> list[Entered]:
    return [one for one in state.round.entered if isinstance(one.operation, Count) and one.operation.pile == pile]


def _strike_out(decision: Decision, given: PersonActed, entered: Entered, count: Count) -> None:
    for found in decision.state.open:
        if found.origin == entered.entry:
            decision.emit(events.IrregularityResolved(found.id, CORRECTED, found.row.clause, given.person, given.role))
    if count.pile in (STUB, DECK):
        ask_for_counts(decision, entered.entry)
        if count.pile == STUB and decision.state.phase in PAID and stub_count_due(decision.state):
            take_closing_back(decision, chips=True)
    elif count.pile in counts.BESIDE:
        stub = decision.state.decks.in_play.stub
        if stub is not None:  # it is compared with the account as of now
            wrong = not decision.state.stub_fits(stub)
            re_evaluate(decision, frozenset({"counted_wrong"}), entered.entry, wrong)
    elif count.pile != counts.TRAY:
        _restore_hand(decision, entered, count)


# -- the account of the cards


def _before(state: TableState, entered: Entered) -> BeforeCount | None:
    """Return the account before the count; None: another deck is in play, or an old journal does not record it."""
    of_round = state.decks.in_play.deck == state.round.deck and state.decks.in_play.used and not state.other_deck_in
    found = [before for entry, before in state.round.before_counts if entry == entered.entry]
    return found[-1] if found and of_round else None


def _take_back_account(decision: Decision, entered: Entered, count: Count) -> None:
    """Restore the account; for the stub only if that count is still valid, since the device may have counted later."""
    state = decision.state
    deck, now = state.decks.in_play, state.round.surplus
    before = _before(state, entered)
    if count.pile == DECK:
        kept = [one for entry, one in state.round.before_counts if entry == entered.entry]
        if kept and kept[-1].count_due and not state.decks.count_due:
            same = BeforeCount(deck.stub, deck.by_count, None, state.round.taken_back, count_due=True)
            decision.emit(events.CountTakenBack(count.pile, same))
    elif before is None:
        return
    elif count.pile == STUB and counts.stub_is_kept(state) and deck.stub == count.number:
        shown = before.taken_back > state.round.taken_back and not _counts_of(state, ASIDE)
        aside = before.more if shown else now.get(ASIDE)
        taken_back = before.taken_back if shown else state.round.taken_back
        account = BeforeCount(before.stub, before.size, aside, taken_back, state.decks.count_due)
        decision.emit(events.CountTakenBack(STUB, account))
    elif count.pile in counts.BESIDE:
        taken_back = before.taken_back if count.pile == ASIDE else state.round.taken_back
        account = BeforeCount(deck.stub, deck.by_count, before.more, taken_back, state.decks.count_due)
        decision.emit(events.CountTakenBack(count.pile, account))


# -- a count of a hand


def _restore_hand(decision: Decision, entered: Entered, count: Count) -> None:
    """Restore the previous number of cards in errors that were based on this count of a hand, or ask for a new
    count.
    """
    state = decision.state
    earlier = _earlier_number(state, entered, count.pile)
    ended = [one for one in state.round.closed if one.outcome not in NO_MATTER | {DENIED}]
    for one in (*(Closed(found, "") for found in state.open), *ended):
        found = one.found
        mine = found.place == count.pile and found.counted == count.number and concerns_round(state, found)
        if mine and found.origin != entered.entry and may_be_reopened(decision.state, found):
            facts = found.facts if earlier is not None else _without_number(found)
            reopen(decision, one, facts, entered.entry, recounted=True, counted=earlier)
    before = _before(decision.state, entered)
    undone = any(isinstance(event, events.IrregularityReopened) and event.outcome for event in decision.events)
    now = decision.state
    if undone and before is not None and now.round.hands.get(count.pile, Hand()).surplus != (before.more or 0):
        deck = now.decks.in_play
        account = BeforeCount(deck.stub, deck.by_count, before.more, now.round.taken_back, now.decks.count_due)
        decision.emit(events.CountTakenBack(count.pile, account))


def _without_number(found: Irregularity) -> Facts:
    """Return the facts without those that the count of a hand stated."""
    if found.kind is Kind.WRONG_COUNT:
        return found.facts
    first = found.first_facts
    return replace(
        found.facts, wrong_number=first.wrong_number, misplaced=first.misplaced, dealer_hand=first.dealer_hand
    )


def _earlier_number(state: TableState, entered: Entered, place: str) -> int | None:
    """Return how many cards the hand had by the previous entry: a count, or a report of a wrong count."""
    numbers = [
        one.operation.number if isinstance(one.operation, Count) else one.operation.counted
        for one in state.round.entered
        if one.entry < entered.entry
        and (
            (isinstance(one.operation, Count) and one.operation.pile == place)
            or (isinstance(one.operation, operations.ReportIrregularity) and one.operation.place == place)
        )
    ]
    return next((number for number in reversed(numbers) if number is not None), None)
