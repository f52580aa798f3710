"""Dispositions: the effects of a confirmed irregularity or a ruling, and how an irregularity is resolved.

The caller has checked that it is permitted. Each effect is an event with the clause, or with the authority of a ruling.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from controller.games.specification import Choice, Disposition, Facts, Kind, Row
from controller.rules.dealing_order import DEALER, Place
from controller.rules.law import find_row, silent_row
from controller.table import events
from controller.table.betting import hand_back, return_wagers, settle_again, take_off
from controller.table.decision import Decision
from controller.table.decks import quarantine_for
from controller.table.exposing import resume_play
from controller.table.feature import repeats
from controller.table.inputs import PersonActed
from controller.table.irregularities.put_down import card_put_down
from controller.table.irregularities.raising import COUNT_KINDS
from controller.table.irregularities.reopening import ask_as_first_error, take_hands_back
from controller.table.model import DENIED, NOT_SO, Hand, Irregularity, Stage
from controller.table.operations import ChooseOption
from controller.table.phases import BEFORE_CLOSE, BETWEEN_ROUNDS, IN_ROUND, WINDOW_OPEN, Phase
from controller.table.power_failures import re_evaluate_interruption
from controller.table.state import TableState
from firmware_bridge.messages import Message, message

OPENS_STAGE: Final = {
    Disposition.OPTIONS: Stage.CHOOSING,
    Disposition.WITHDRAWALS: Stage.CHOOSING,
    Disposition.NAME_ORDER: Stage.ORDERING,
    Disposition.RECONSTRUCT: Stage.MOVING,
    Disposition.REFER: Stage.RULING,
    Disposition.SILENT: Stage.RULING,
}


def next_stage(state: TableState, found: Irregularity, row: Row) -> Stage | None:
    """Return the stage of a confirmed irregularity; None: the clause takes effect, and the irregularity is resolved.

    If a clause takes effect and also lets bettors withdraw (RTP 5.7), it waits for their choices as long as a card may
    still be exposed (reading 26). An irregularity about the next round's deck concerns no bettor.
    """
    stage = OPENS_STAGE.get(row.disposition)
    if stage is Stage.MOVING and found.round != state.round.number:
        return None  # the cards of an earlier round are off the table
    if row.disposition is Disposition.RESHUFFLE and state.phase not in BEFORE_CLOSE | BETWEEN_ROUNDS:
        return Stage.RULING  # cards were dealt: a reshuffle does not decide the round
    chooses = row.options and not found.waiting and state.round.live_places
    if stage is None and chooses and state.phase in IN_ROUND - {Phase.SETTLING}:  # cards can no longer be exposed
        return Stage.CHOOSING
    return stage


def row_in_effect(state: TableState, found: Irregularity, row: Row, facts: Facts) -> Row:
    """Return the confirmed row; if it cannot be carried out, the row for cases that no clause covers.

    A round is not finished without the Dealer's hand, and cards that cannot be moved are not moved.
    """
    cannot = found.stage is Stage.MOVING and row == found.row
    return silent_row(state.game, found.kind, facts) if cannot or _lacks_dealer(state, found, row) else row


def _lacks_dealer(state: TableState, found: Irregularity, row: Row) -> bool:
    """Return whether cards are left where they are and the Dealer's hand gets too few of them."""
    if found.kind is not Kind.WRONG_DISTRIBUTION or found.round != state.round.number:
        return False
    moved = any(option.reconstructs for option in row.options)
    plays = row.disposition in (Disposition.CONTINUE, Disposition.OPTIONS, Disposition.WITHDRAWALS)
    return plays and not moved and DEALER in state.round.left_short


def asks_no_more(state: TableState, found: Irregularity, places: Iterable[Place]) -> bool:
    """Return whether its options, open until the last card is exposed, have ended (RTP 5.7, reading 26).

    `places`: where a bettor was not asked. A hand that is out of play might still be exposed for that bettor.
    """
    live = state.round.live_places
    hands = [state.round.hands.get(place, Hand()) for place in (*live, DEALER)]
    exposed = all(hand.shown for hand in hands) and set(places) <= set(live)
    return exposed and found.row.disposition not in OPENS_STAGE


def enter_count(decision: Decision, found: Irregularity, *, put_right: bool = False) -> None:
    """Record the reported number of cards of a hand; the count of the stub takes it into account.

    It is not entered once chips were paid and the stub shows a complete deck: then the surplus card belongs to another
    hand. `put_right`: the hand gets its right number of cards next, so it is entered all the same.
    """
    if found.counted is None or found.place is None or found.round != decision.state.round.number:
        return
    stub = decision.state.decks.in_play.stub
    if stub is not None and decision.state.stub_fits(stub) and decision.state.round.chips_paid and not put_right:
        return
    more = found.counted - decision.state.round.hands.get(found.place, Hand()).size
    from_aside = max(0, min(more, len(decision.state.decks.aside)))
    decision.emit(events.HandCounted(found.place, found.counted, from_aside))
    compare_stub(decision)


def compare_stub(decision: Decision) -> None:
    """Compare the count of the stub after the deal with the account, which has changed since then."""
    stub = decision.state.decks.in_play.stub
    if stub is None:
        return
    wrong = not decision.state.stub_fits(stub)
    for found in decision.state.open:
        of_count = found.kind in COUNT_KINDS and not found.waiting and found.round == decision.state.round.number
        if of_count and found.facts.counted_wrong not in (None, wrong):
            state_count(decision, found, wrong)


def state_count(decision: Decision, found: Irregularity, wrong: bool) -> None:
    """Answer an irregularity with a count; if no row follows from it, the person who rules still sees the count."""
    facts = replace(found.facts, counted_wrong=wrong)
    row, asks = find_row(decision.state.law, found.kind, facts) if found.stage is Stage.CLAIMED else (found.row, ())
    decision.emit(events.FactStated(found.id, facts, row, asks, counted_by=decision.origin))


def take_effect(decision: Decision, given: PersonActed, found: Irregularity, row: Row) -> None:
    """Carry out the clause immediately. A waiting deck is only taken out of use."""
    if found.waiting:
        return
    if row.disposition is Disposition.VOID:
        void(decision, given, found, row.clause, decision.state.game.words.own(row.because), row.authority)
    elif row.disposition is Disposition.REMOVE_HAND and found.place is not None:
        remove_hand(decision, found, found.place, row.clause, row.authority)
    elif row.disposition is Disposition.RESHUFFLE:
        _require_reshuffle(decision, row.clause)


def remove_hand(decision: Decision, found: Irregularity, place: str, clause: str, authority: str = "") -> None:
    """Take a hand out of play and return its bets. Nothing happens to a dead hand, or to a hand of an earlier round.

    While bets are open there is no hand: the bets go back, and the box may be bet on again.
    """
    if found.round == decision.state.round.number and decision.state.phase is Phase.BETTING:
        box = int(place[1:])
        bets = [bet for bet in decision.state.round.bets if bet.box == box]
        take_off(decision, bets, clause or authority, message("the box was taken out of play"))
        if box in decision.state.round.boxes:
            decision.emit(events.BoxesOccupied(tuple(other for other in decision.state.round.boxes if other != box)))
        return
    if found.round == decision.state.round.number and not decision.state.round.hands.get(place, Hand()).dead:
        decision.emit(events.HandRemoved(place, clause, found.id, authority))
        settle_again(decision, found.id, clause or authority)


def void(
    decision: Decision, given: PersonActed, found: Irregularity, clause: str, text: str | Message, authority: str = ""
) -> None:
    """Make the round void: all bets are returned, and its other open irregularities end as overtaken.

    For an earlier round only the result is void.
    """
    if found.round != decision.state.round.number:
        decision.emit(events.RoundVoided(clause, found.id, text, authority, found.round))
        return
    if decision.state.phase in WINDOW_OPEN and decision.state.phase is not Phase.VOIDED:
        declare_void(decision, given, clause, text, authority, found.id)
    elif not decision.state.other_deck_in:
        _bar_fresh_deck(decision)  # between rounds there is nothing to void


def declare_void(
    decision: Decision, given: PersonActed, clause: str, text: str | Message, authority: str, irregularity: int = 0
) -> None:
    """Declare that the round in progress, or the one concluded last, has no result.

    `irregularity`: the one for which it is void, 0 where the round is abandoned. The caller resolves that one; the
    others end here.
    """
    if not decision.state.other_deck_in:
        _bar_fresh_deck(decision)
    was_paid = decision.state.round.chips_paid
    decision.emit(events.RoundVoided(clause, irregularity, text, authority, was_paid=was_paid))
    return_wagers(decision, clause or authority)
    decision.enter_phase("void", decision.state.game.clauses.void_returns_bets)
    for other in decision.state.open:
        if other.id != irregularity and other.round == decision.state.round.number and not other.waiting:
            quarantine_for(decision, given, other)  # nobody decided whether it occurred
            decision.emit(events.IrregularityResolved(other.id, "overtaken", clause, given.person, given.role))


def void_needs_repeat(
    decision: Decision,
    given: PersonActed,
    found: Irregularity,
    because: str | Message,
    *,
    clause: str,
    facts: Facts,
    authority: str,
) -> bool:
    """Return whether a void is requested for the first time: that is recorded, and the request has to be repeated.

    `facts`: those stated in the request. `authority`: the one by which the void is ruled.
    """
    asked = decision.state.find_open(found.id)
    first = asked.asking if asked is not None and asked.void_asked else None
    if not voids_a_round(decision.state, found) or (asked is not None and asked.void_asked and repeats(given, first)):
        return False
    by = (given.person, given.screen, given.utc_ns)
    decision.emit(events.VoidAsked(found.id, clause, because, *by, facts, authority))
    return True


def voids_a_round(state: TableState, found: Irregularity) -> bool:
    """Return whether there is a round that a void for this irregularity would make void."""
    if found.waiting:
        return False
    return found.round != state.round.number or (state.phase in WINDOW_OPEN and state.phase is not Phase.VOIDED)


def _bar_fresh_deck(decision: Decision) -> None:
    """Bar an unused deck: it must not be dealt from."""
    if decision.state.decks.in_play.deck and not decision.state.decks.in_play.used:
        decision.emit(events.DeckMadeUnusable(decision.state.decks.in_play.deck))


def _require_reshuffle(decision: Decision, clause: str) -> None:
    """Bar the deck. A round without a dealt card ends: its start is cancelled, and its bets go back."""
    _bar_fresh_deck(decision)
    if decision.state.phase is Phase.BETTING:
        lie = bool(decision.state.layout.bets or decision.state.round.boxes)
        hand_back(decision, "", message("house procedure: the deck is shuffled again before a round begins"))
        decision.enter_phase("cancel_start", clause, returns_bets=lie)


def reconstruct(decision: Decision, found: Irregularity, clause: str) -> None:
    """Move every misplaced card to its place in the order of the deal, as the screen showed.

    A surplus card is taken out of its hand: set aside, or returned to the stub.
    """
    state = decision.state
    moves = tuple(
        events.CardMoved(*card, source, place) for card, (source, place) in sorted(state.round.out_of_place.items())
    )
    wrong_number = found.place if found.counted is not None else None
    surplus = state.round.hands.get(wrong_number or "", Hand()).surplus
    changed = {place for move in moves for place in (move.source, move.place)} | {wrong_number}
    take_hands_back(decision, [place for place in state.round.hands if place in changed], found.id)
    decision.emit(events.CardsReconstructed(moves, clause, found.id, state.round.curable, wrong_number, surplus))


def resolve_moves(decision: Decision, given: PersonActed) -> None:
    """Resolve every other irregularity that waited only for the moves: the cards are where they belong."""
    for found in decision.state.open:
        if found.stage is Stage.MOVING and found.counted is None and found.round == decision.state.round.number:
            resolve(decision, given, found.id, found.row.disposition, found.row.clause)


def resolve(decision: Decision, given: PersonActed, irregularity_id: int, outcome: str, clause: str) -> None:
    """Resolve an irregularity, whether denied or not. Take its deck out of use if that follows, and resume play."""
    found = decision.state.find_open(irregularity_id)
    if found is not None and outcome != DENIED:
        quarantine_for(decision, given, found)
    if found is not None and outcome not in NOT_SO and (due := card_put_down(decision.state, found)) is not None:
        decision.emit(due)
    decision.emit(events.IrregularityResolved(irregularity_id, str(outcome), clause, given.person, given.role))
    ask_as_first_error(decision)
    re_evaluate_interruption(decision)  # a card was exposed, or a bet returned
    if decision.state.phase not in BETWEEN_ROUNDS:
        resume_play(decision)


def close_choices(decision: Decision, given: PersonActed) -> None:
    """End the choices of each irregularity for which every bettor has chosen: withdrawn hands are dead.

    If the others continue with the Reconstructed Hand, the cards are moved before it is resolved. This runs after every
    change, because an open choice may have waited for a hand that was taken out of play.
    """
    for found in decision.state.open:
        choices = {(place, bettor): choice for place, bettor, choice in found.choices}
        choosers = decision.state.round.choosers
        if found.stage is not Stage.CHOOSING or not all(chooser in choices for chooser in choosers):
            continue
        for place, bettor in choosers:
            if choices[place, bettor] is Choice.WITHDRAW:
                withdraw(decision, found, place, bettor)
        if _must_be_moved(decision.state, found):
            decision.emit(events.AllChosen(found.id, Stage.MOVING))
        elif _lacks_dealer(decision.state, found, found.row):
            row = silent_row(decision.state.game, found.kind, found.facts)
            decision.emit(events.IrregularityConfirmed(found.id, row, found.facts, Stage.RULING))
        else:
            resolve(decision, given, found.id, found.row.disposition, found.row.clause)
        close_choices(decision, given)  # other choices may have waited only for those hands
        return


def _must_be_moved(state: TableState, found: Irregularity) -> bool:
    """Return whether cards have to be moved for those who continue with them in their intended order (NC 5.7.2).

    No move is needed if every card is in place: cards that came out together may have been dealt in the order of the
    log. The Dealer's hand needs its cards whichever bettors withdrew.
    """
    chosen = any(option.reconstructs for option in found.row.options)
    needed = bool(state.round.live_places) or DEALER in state.round.left_short
    wrong = found.kind is Kind.WRONG_DISTRIBUTION or found.facts.misplaced or state.round.out_of_place
    return chosen and needed and bool(wrong)


def withdraw(decision: Decision, found: Irregularity, place: str, bettor: str) -> None:
    """Return a bettor's wagers on a box, or all wagers (RTP 5.13.1), including a side wager on a box without cards.

    A hand stays in play for other bettors; without any it is dead.
    """
    clause = _clause_of_withdrawal(decision.state, found, bettor)
    if not bettor:
        remove_hand(decision, found, place, clause)
        return
    bets = [bet for bet in decision.state.round.bets if bet.bettor == bettor]
    boxes = {bet.box for bet in bets} if concerns_all_wagers(found) else {int(place[1:])}
    if decision.state.phase is Phase.BETTING:  # normally a returned bet leaves the layout and may be placed again
        take_off(decision, [bet for bet in bets if bet.box in boxes], clause, message("the bettor withdrew"))
        return
    for box in sorted(boxes):
        if (bettor, box) not in decision.state.round.withdrawals:
            decision.emit(events.BettorWithdrew(bettor, box, clause, found.id))
            settle_again(decision, found.id, clause)
        at = f"B{box}"
        if at in decision.state.round.live_places and not decision.state.round.bettors_at(at):
            remove_hand(decision, found, at, clause)


def _clause_of_withdrawal(state: TableState, found: Irregularity, bettor: str) -> str:
    """Return the clause by which a bettor withdraws, or was withdrawn by a decision while absent (RTP 6.1)."""
    entered = (one.operation for one in reversed(state.round.entered) if isinstance(one.operation, ChooseOption))
    last = next((one for one in entered if (one.irregularity, one.bettor) == (found.id, bettor)), None)
    if bettor and last is not None and last.absent and not state.game.betting.walked_away:
        return state.game.silent_clause
    return option_clause(state, found, Choice.WITHDRAW)


def concerns_all_wagers(found: Irregularity) -> bool:
    """Return whether a bettor withdraws all wagers or none (RTP 5.13.1)."""
    return any(option.all_wagers for option in found.row.options)


def withdrew_wholly(found: Irregularity, bettor: str) -> bool:
    """Return whether the bettor chose to withdraw all wagers."""
    return concerns_all_wagers(found) and any(
        chosen == bettor and choice is Choice.WITHDRAW for _, chosen, choice in found.choices
    )


def option_clause(state: TableState, found: Irregularity, choice: Choice) -> str:
    """Return the clause that gives a choice. Rows in old journals have no options; for them it is the game's clause."""
    given = (option.clause for option in found.row.options if option.choice is choice)
    return next(given, state.game.clauses.option_returns_bet)
