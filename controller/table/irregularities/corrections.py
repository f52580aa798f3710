"""Corrections of wrong entries: nothing is erased, and decisions that rested on the entry are reopened.

A correction names the entry and what it should have been. `CORRECTIONS` has a row for each operation that can be
corrected. The person needs at least the rank of the one who made the entry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from controller.games.specification import Choice, Kind
from controller.roles import Role
from controller.rules.dealing_order import DEALER, Place, dealing_order, order_after_first_card, served_boxes
from controller.table import events, exposing, operations
from controller.table.decision import Decision, RefusedError
from controller.table.exposing import resume_play
from controller.table.feature import ALWAYS, WORDS, Group, OperationRow, group, untried
from controller.table.first_card import compare_first_card
from controller.table.inputs import PersonActed
from controller.table.irregularities import reporting
from controller.table.irregularities.count_corrections import correct_count
from controller.table.irregularities.dispositions import (
    asks_no_more,
    close_choices,
    concerns_all_wagers,
    option_clause,
    withdraw,
    withdrew_wholly,
)
from controller.table.irregularities.questions import place_word
from controller.table.irregularities.raising import already_open, known_facts, raise_irregularity
from controller.table.irregularities.reopening import (
    NO_MATTER,
    ask_as_first_error,
    concerns_round,
    end_open,
    may_be_reopened,
    re_evaluate,
    reopen,
    return_to_exposing,
    take_closing_back,
)
from controller.table.model import CORRECTED, DENIED, Closed, Entered, Hand, HeldCard, Irregularity, Stage
from controller.table.operations import Operation
from controller.table.phases import AFTER_DEAL, BETWEEN_ROUNDS, CARDS_LEAVE, DEALING, WINDOW_OPEN, Phase
from controller.table.power_failures import INTERRUPTIONS, as_it_was
from controller.table.starting import verify_occupy_boxes
from controller.table.state import TableState
from firmware_bridge.messages import Message, counted, message


class Correction(NamedTuple):
    """The correction of a kind of operation. `act` makes it. `rests`: recorded facts on which decisions may rest.

    `struck`: it may be struck out; `otherwise`: it may be replaced.
    """

    act: Callable[[Decision, PersonActed, Entered, Any], None]
    rests: frozenset[str] = frozenset()
    struck: bool = True
    otherwise: bool = True


DEAL_STAYS: Final = message(
    "The deal is complete: the First Card stays as entered. Report cards in the wrong place instead."
)
BOXES_STAY: Final = message("Hands are turned over: the boxes stay as marked. Report cards in the wrong place instead.")
BOXES_CORRECTED: Final = CARDS_LEAVE | {Phase.EXAMINING}


def too_late(state: TableState, entered: Operation) -> Message | None:
    """Return why such an entry can no longer be corrected in this phase; None: it can be."""
    if isinstance(entered, operations.ShowFirstCard) and state.phase not in DEALING | AFTER_DEAL:
        return DEAL_STAYS
    if isinstance(entered, operations.OccupyBoxes) and state.phase not in BOXES_CORRECTED | {Phase.BETTING}:
        return BOXES_STAY
    return None


# -- an entry ----------------------------------------------------------------------------------------------------------


def verify_correct_entry(state: TableState, given: PersonActed, operation: operations.CorrectEntry) -> None:
    """Try the correction in a separate decision, since other modules may refuse its consequences."""
    correct_entry(Decision(state), given, operation)


def correct_entry(decision: Decision, given: PersonActed, operation: operations.CorrectEntry) -> None:
    _correct(decision, given, _find_entry(decision.state, given, operation), operation.instead, operation.reason)


def _correct(
    decision: Decision, given: PersonActed, entered: Entered, instead: operations.Replaceable | None, reason: str
) -> None:
    correction = CORRECTIONS[type(entered.operation)]
    corrected = events.EntryCorrected(entered.entry, entered.operation, instead, reason, given.person, given.role)
    decision.origin = decision.emit(corrected)  # the number under which the replacement may be corrected again
    _withdraw_irregularities_of(decision, given, entered)
    correction.act(decision, given, entered, instead)
    re_evaluate(decision, correction.rests, entered.entry, corrected=entered.entry)
    judge_again(decision, given)


def _find_entry(state: TableState, given: PersonActed, operation: operations.CorrectEntry) -> Entered:
    entered = next((one for one in state.round.entered if one.entry == operation.entry), None)
    if entered is None:
        raise RefusedError(
            "entry",
            "Entry {entry} cannot be corrected; choose one of this round's entries, or report what is wrong as an "
            "irregularity.",
            entry=operation.entry,
        )
    _verify_rank(given, entered)
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why it was wrong.")
    correction = CORRECTIONS[type(entered.operation)]
    if operation.instead is None and not correction.struck:
        raise RefusedError("instead", "Enter what should have been entered instead.")
    if operation.instead is not None and not correction.otherwise:
        raise RefusedError("instead", "This can only be struck out; then decide again.")
    if operation.instead is not None and type(operation.instead) is not type(entered.operation):
        raise RefusedError("instead", "Enter a correction of the same kind, or strike the entry out.")
    if operation.instead == entered.operation:
        raise RefusedError("instead", "That is the same as what was entered; enter what should stand instead.")
    return entered


def _verify_rank(given: PersonActed, entered: Entered) -> None:
    if not given.role.reaches(entered.role):
        raise RefusedError("role", "A {role} entered this; call the {role} to correct it.", role=entered.role.named)


def _withdraw_irregularities_of(decision: Decision, given: PersonActed, entered: Entered) -> None:
    """End open irregularities that were noticed with the entry, and reopen those that were decided."""
    for found in decision.state.open:
        if found.origin == entered.entry:
            decision.emit(events.IrregularityResolved(found.id, CORRECTED, found.row.clause, given.person, given.role))
    for ended in decision.state.round.closed:
        rested_on_it = ended.found.origin == entered.entry and ended.outcome not in NO_MATTER | {DENIED}
        if rested_on_it and may_be_reopened(decision.state, ended.found):
            reopen(decision, ended, ended.found.first_facts, entered.entry)
            if isinstance(entered.operation, operations.ExposeHand):  # only the entry differed
                found = ended.found
                withdrawn = events.IrregularityResolved(found.id, CORRECTED, found.row.clause, given.person, given.role)
                decision.emit(withdrawn)


def last_count(state: TableState) -> Entered | None:
    """Return the last entry of this round if it is a count by hand; nothing can have been decided on it yet."""
    entered = state.round.entered[-1] if state.round.entered else None
    return entered if entered is not None and isinstance(entered.operation, operations.CountCards) else None


def verify_count_again(state: TableState, given: PersonActed, operation: operations.CountAgain) -> None:
    """Try the count in a separate decision, since other modules may refuse its consequences."""
    count_again(Decision(state), given, operation)


def count_again(decision: Decision, given: PersonActed, operation: operations.CountAgain) -> None:
    """Correct the last entry; its own role suffices, since nothing rests on the count yet."""
    entered = last_count(decision.state)
    if entered is None:
        raise RefusedError(
            "not-last", "The last entry is not a count. Call a pit supervisor to correct an older count."
        )
    instead = operations.CountCards(operation.pile, operation.number, operation.witness)
    _verify_rank(given, entered)
    if instead == entered.operation:
        raise RefusedError("instead", "That is the same as what was entered; enter what should stand instead.")
    _correct(decision, given, entered, instead, "")


def judge_again(decision: Decision, given: PersonActed) -> None:
    """Continue with what waited for the correction."""
    ask_overlooked(decision)
    ask_as_first_error(decision)
    if decision.state.phase not in BETWEEN_ROUNDS:
        resume_play(decision)
    close_choices(decision, given)


def ask_overlooked(decision: Decision) -> None:
    """If all Players had to be asked (NC 5.7, 5.11; RTP 5.7, 5.13), ask the bettors who were missed; choices already
    made remain.

    A further wager of a bettor who withdraws all or none of his wagers follows that choice (RTP 5.13.1).
    """
    before = decision.state
    if before.phase is Phase.BETTING:
        return  # bets are free
    for one in (*(Closed(found, "") for found in before.open), *before.round.closed):
        found = one.found
        asked = found.row.options and found.stage in (Stage.CHOOSING, Stage.MOVING) and one.outcome not in NO_MATTER
        if not asked or one.outcome == DENIED or not concerns_round(decision.state, found):
            continue
        missing = _not_asked(decision.state, found)
        if asks_no_more(decision.state, found, [place for place, _ in missing]):
            continue
        if concerns_all_wagers(found):
            missing = _follow_choices(decision, one, missing)
        if missing and (one.outcome or found.stage is Stage.MOVING):
            facts, row = found.facts, found.row
            reopen(decision, one, facts, decision.origin, stage=Stage.CHOOSING, row=row, choices=found.choices)


def _not_asked(state: TableState, found: Irregularity) -> list[tuple[Place, str]]:
    """Return the place and bettor of each missing choice; hands that other choices ended may be in play again."""
    out = [f"B{box}" for box, _, irregularity in state.round.removed if irregularity == found.id]
    asked = {(place, bettor) for place, bettor, _ in found.choices}
    places = {place for place, _ in asked}
    return [
        (place, bettor)
        for place in dict.fromkeys((*state.round.live_places, *out))
        for bettor in state.round.bettors_at(place)
        if not {(place, bettor), (place, "")} & asked and not (place in places and not bettor)
    ]


def _follow_choices(decision: Decision, one: Closed, missing: list[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """Apply a bettor's choice for all wagers to these wagers too, and return the choices that are still missing."""
    found = one.found
    chose = {bettor: choice for _, bettor, choice in found.choices if bettor}
    chose |= {bettor: Choice.WITHDRAW for bettor in chose if withdrew_wholly(found, bettor)}
    live = decision.state.round.live_places
    decided = bool(one.outcome)
    if decided and any(chose.get(bettor) is Choice.CONTINUE and place not in live for place, bettor in missing):
        stage, row, choices = (
            Stage.CHOOSING,
            found.row,
            found.choices,
        )  # his hand is in play again
        reopen(decision, one, found.facts, decision.origin, stage=stage, row=row, choices=choices)
        decided = False
    for bet in decision.state.round.bets:
        if decided and chose.get(bet.bettor) is Choice.WITHDRAW:
            withdraw(decision, found, f"B{bet.box}", bet.bettor)
    for place, bettor in missing:
        if bettor in chose and not decided:
            clause = option_clause(decision.state, found, chose[bettor])
            decision.emit(events.OptionChosen(found.id, place, chose[bettor], clause, bettor=bettor))
    return [(place, bettor) for place, bettor in missing if bettor not in chose]


# -- cards and hands ---------------------------------------------------------------------------------------------------


def _correct_handling(
    decision: Decision, given: PersonActed, entered: Entered, instead: operations.HandleCards | None
) -> None:
    """Correct one entry; others about the same hand stay."""
    assert isinstance(entered.operation, operations.HandleCards)
    place = entered.operation.place
    said = [one.operation for one in decision.state.round.entered if one.operation is not instead]
    handlings = [one for one in said if isinstance(one, operations.HandleCards)]
    recorded = [one for one in handlings if one.place == place]
    looks = [(one.bettor, int(one.place[1:])) for one in handlings if one.viewed and one.bettor]
    viewing = tuple(dict.fromkeys(looks))
    decision.emit(events.HandlingCorrected(place, bool(recorded), any(one.viewed for one in recorded), viewing))
    if instead is not None:
        exposing.verify_handle_cards(decision.state, given, instead)
        exposing.handle_cards(decision, given, instead)


def _correct_exposure(
    decision: Decision, given: PersonActed, entered: Entered, instead: operations.ExposeHand | None
) -> None:
    """Have the hand entered again: its outcomes are withdrawn, and a settlement is reversed."""
    assert isinstance(entered.operation, operations.ExposeHand)
    state, place = decision.state, entered.operation.place
    if state.round.hands.get(place, Hand()).dead:
        at = place_word(state, place)
        raise RefusedError("dead", "The hand at {place} is out of play; there is nothing to correct.", place=at)
    if instead is not None and instead.place != place:
        was, will = place_word(state, place), place_word(state, instead.place)
        raise RefusedError("place", "Strike out what was entered for {was}, then enter {will}.", was=was, will=will)
    if state.phase is Phase.VOIDED:
        raise RefusedError("voided", "The round is void; there is nothing to correct in its hands.")
    return_to_exposing(decision)
    decision.emit(events.HandTakenBack(place))
    judged = decision.state.round.live_places if place == DEALER else (place,)
    decision.emit(events.JudgementTakenBack(tuple(one for one in judged if decision.state.round.hands[one].outcome)))
    if instead is not None:
        exposing.verify_expose_hand(decision.state, given, instead)
        exposing.expose_hand(decision, given, instead)


def _correct_first_card(
    decision: Decision, given: PersonActed, entered: Entered, instead: operations.ShowFirstCard
) -> None:
    """Correct the order of the deal by the right rank, which says where the deal should have begun."""
    state = decision.state
    rules = state.game.first_card
    if rules is None or instead.card is None:
        raise RefusedError("card", "Enter which card the First Card is.")
    if late := too_late(state, instead):
        raise RefusedError("late", late)
    was = state.round.first_card_shown
    decision.emit(events.FirstCardShown(instead.card, rules.clause))
    compare_first_card(decision, given, _drawn_first(state), instead.card)
    if was is None or was.rank != instead.card.rank:
        _reorder(decision, given, order_after_first_card(rules, state.grammar, instead.card.rank), rules.clause)


def _drawn_first(state: TableState) -> HeldCard | None:
    """Return the First Card as it left the device, whether it lies next to the hands or was dealt
    as their first card.
    """
    if state.round.first_card is not None:
        return state.round.first_card
    dealt = (card for hand in state.round.hands.values() for card in hand.cards)
    return next((card for card in dealt if card.id in state.round.dealt_cards[:1]), None)


def _correct_boxes(decision: Decision, given: PersonActed, entered: Entered, instead: operations.OccupyBoxes) -> None:
    state = decision.state
    said = [one.operation for one in state.round.entered if isinstance(one.operation, operations.OccupyBoxes)]
    if state.phase is Phase.BETTING or (said and said[-1] is not instead) or state.game.every_hand:
        raise RefusedError(
            "boxes",
            "Only the last entry before bets closed can be corrected; while bets are open, enter the boxes again.",
        )
    verify_occupy_boxes(state, given, instead)
    if not instead.boxes:
        raise RefusedError("no-boxes", "A round is dealt to at least one box; if no one bet, report that.")
    occupy(decision, given, tuple(sorted(instead.boxes)))


def occupy(decision: Decision, given: PersonActed, boxes: tuple[int, ...]) -> None:
    """Correct which boxes had a wager when bets were closed, and with them the order of the deal."""
    state = decision.state
    if state.phase not in BOXES_CORRECTED:
        raise RefusedError("late", BOXES_STAY)
    served = served_boxes(state.game, boxes)
    decision.emit(events.BoxesOccupied(served))
    if state.phase is not Phase.FIRST_CARD:
        _reorder(decision, given, dealing_order(state.grammar, served), state.grammar.clause)


def _reorder(decision: Decision, given: PersonActed, places: tuple[Place, ...], clause: str) -> None:
    """Correct the order of the deal: cards already dealt may be misplaced, the rest is dealt in this order."""
    decision.emit(events.OrderCorrected(places, clause))
    state = decision.state
    if not state.round.misplaced:
        end_open(decision, given, Kind.WRONG_DISTRIBUTION)
    elif not already_open(decision, Kind.WRONG_DISTRIBUTION):
        ordinals = tuple(ordinal for _, ordinal in sorted(state.round.misplaced))
        raise_irregularity(
            decision,
            Kind.WRONG_DISTRIBUTION,
            noticed_by=given.person,
            ordinals=ordinals,
            note=_what_lies_wrong(state),
        )
    too_many = state.round.dealt > len(places)
    if too_many:
        facts = known_facts(decision.state, misplaced=True, curable=False, wrong_number=False)
        note = counted(
            "1 more card was dealt than the corrected order has",
            "{count} more cards were dealt than the corrected order has",
            state.round.dealt - len(places),
        )
        raise_irregularity(decision, Kind.OTHER_DEALING_ERROR, noticed_by=given.person, facts=facts, note=note)
    state = decision.state
    if state.round.next_place is None and state.phase in DEALING:
        decision.enter_phase("dealt")
    elif state.round.next_place is not None and state.phase is Phase.EXAMINING:
        assert state.settings is not None
        decision.enter_phase(f"take_up_dealing_{state.settings.unit}")


def _what_lies_wrong(state: TableState) -> Message:
    """Return the boxes that have cards but no bet, and those that have a bet but no cards, as seen at the table."""
    dealt_to, lies = state.round.dealt_to, {place for place, hand in state.round.hands.items() if hand.size}
    awaited = set(state.round.intended.values())
    word = state.game.words.of
    no_bet = [message("{place} has cards and no bet", place=word(place)) for place in sorted(lies - {*dealt_to})]
    no_cards = [
        message("{place} has a bet and no cards", place=word(place))
        for place in dealt_to
        if place in awaited - lies - {DEALER}
    ]
    found = (*no_bet, *no_cards)
    return message("{found:clauses}", found=found) if found else message("the order of the deal was corrected")


# -- reports and decisions of irregularities ---------------------------------------------------------------------------


def _correct_report(
    decision: Decision, given: PersonActed, entered: Entered, instead: operations.ReportIrregularity | None
) -> None:
    if instead is not None:
        reporting.verify_report(decision.state, given, instead)
        reporting.report(decision, given, instead)


def _find_decided(state: TableState, irregularity: int) -> Closed:
    """Return the irregularity that a decision was about, open (without an outcome) or ended."""
    found = state.find_open(irregularity)
    if found is not None:
        return Closed(found, "")
    for ended in state.round.closed:
        if ended.found.id == irregularity and ended.outcome not in NO_MATTER:
            if not may_be_reopened(state, ended.found):
                raise RefusedError("voided", _how_void(state))
            return ended
    raise RefusedError(
        "closed", "Irregularity {irregularity} cannot be decided again: its round is over.", irregularity=irregularity
    )


def _how_void(state: TableState) -> Message:
    if state.round.voided_by:
        return message("The round is void for another reason; correct the entry that made it void first.")
    return message("The round is void for another reason: a person ruled so, and its bets are returned.")


def _strike_out_answer(decision: Decision, given: PersonActed, entered: Entered, instead: None) -> None:
    """Reopen the irregularity with the facts known when it was raised: it is neither confirmed nor denied."""
    assert isinstance(entered.operation, operations.ConfirmIrregularity | operations.DenyIrregularity)
    ended = _find_decided(decision.state, entered.operation.irregularity)
    facts = ended.found.first_facts
    if ended.found.kind in INTERRUPTIONS:
        known = known_facts(as_it_was(decision.state, ended.found, ended.found.revision))
        facts = replace(facts, established=known.established, cannot_tell=known.cannot_tell)
    reopen(decision, ended, facts, entered.entry)


def _strike_out_ruling(decision: Decision, given: PersonActed, entered: Entered, instead: None) -> None:
    assert isinstance(entered.operation, operations.Rule)
    ended = _find_decided(decision.state, entered.operation.irregularity)
    reopen(decision, ended, ended.found.facts, entered.entry, stage=Stage.RULING, row=ended.found.row)


def _strike_out_choice(decision: Decision, given: PersonActed, entered: Entered, instead: None) -> None:
    """Strike out a bettor's choice, so that the bettor chooses again; the choices of the others remain."""
    said = entered.operation
    assert isinstance(said, operations.ChooseOption)
    ended = _find_decided(decision.state, said.irregularity)
    found = ended.found
    if (said.place, said.bettor, said.choice) not in found.choices:
        raise RefusedError("chosen", "This choice no longer stands; correct the one that was entered after it.")
    wholly = said.bettor and withdrew_wholly(found, said.bettor)
    left = tuple(
        chosen
        for chosen in found.choices
        if chosen[1] != said.bettor or not (wholly or chosen[0] == said.place)
    )  # fmt: skip
    reopen(decision, ended, found.facts, entered.entry, stage=Stage.CHOOSING, row=found.row, choices=left)


# -- closing the round -------------------------------------------------------------------------------------------------


def _strike_out_payment(decision: Decision, given: PersonActed, entered: Entered, instead: None) -> None:
    """Strike out the last payment, or in a void round the recorded return of the bets."""
    state = decision.state
    said = [one.entry for one in state.round.entered if isinstance(one.operation, operations.RecordSettled)]
    if not state.round.chips_paid or any(entry > entered.entry for entry in said):
        raise RefusedError("not-settled", "The chips are no longer recorded as paid; there is nothing to correct.")
    if state.phase is Phase.VOIDED:
        decision.emit(events.ClosingTakenBack(chips=True, returned=True))
    else:
        take_closing_back(decision, chips=True)


def _strike_out_conclusion(decision: Decision, given: PersonActed, entered: Entered, instead: None) -> None:
    if decision.state.phase is not Phase.CONCLUDED and not decision.state.round.conclusion_asked:
        raise RefusedError("not-concluded", "The round is not concluded; there is nothing to correct.")
    take_closing_back(decision, chips=False)


HANDS: Final = frozenset({"handled", "viewed"})
PLACES: Final = frozenset({"misplaced", "curable"})


CORRECTIONS: Final[dict[type[Operation], Correction]] = {
    operations.HandleCards: Correction(_correct_handling, HANDS),
    operations.ExposeHand: Correction(_correct_exposure, frozenset({"established"})),
    operations.ShowFirstCard: Correction(_correct_first_card, PLACES, struck=False),
    operations.OccupyBoxes: Correction(_correct_boxes, PLACES, struck=False),
    operations.CountCards: Correction(correct_count),
    operations.ReportIrregularity: Correction(_correct_report),
    operations.ConfirmIrregularity: Correction(_strike_out_answer, otherwise=False),
    operations.DenyIrregularity: Correction(_strike_out_answer, otherwise=False),
    operations.ChooseOption: Correction(_strike_out_choice, otherwise=False),
    operations.Rule: Correction(_strike_out_ruling, otherwise=False),
    operations.RecordSettled: Correction(_strike_out_payment, otherwise=False),
    operations.ConcludeRound: Correction(_strike_out_conclusion, otherwise=False),
}


# -- permissions and offers


def _counted_again(state: TableState) -> Iterator[Group]:
    entered = last_count(state)
    if entered is not None and isinstance(entered.operation, operations.CountCards):
        pile, number = entered.operation.pile, entered.operation.number
        yield group(*(operations.CountAgain(pile, other, WORDS) for other in (number + 1, number - 1)), known=("pile",))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.CorrectEntry, message("correct an entry"), message("{who} corrected an entry."),
        verify_correct_entry, correct_entry, WINDOW_OPEN, ALWAYS, Role.PIT_SUPERVISOR,
        offers=untried(operations.CorrectEntry(0, WORDS)), where=lambda state: bool(state.round.entered)),
    OperationRow(
        operations.CountAgain, message("count again"), message("{who} counted again."), verify_count_again, count_again,
        WINDOW_OPEN, ALWAYS, offers=_counted_again, where=lambda state: last_count(state) is not None),
)
# fmt: on
"""The permissions and offers of this feature."""
