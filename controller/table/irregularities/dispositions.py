"""What a disposition brings about, once a person has confirmed the fact or ruled: and how an irregularity is closed.

Whoever calls has judged that it is lawful. Each effect is an event with the clause, or with the authority of a ruling.
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import Choice, Disposition, Row
from controller.table import events
from controller.table.betting import return_wagers, settle_anew
from controller.table.decision import Decision
from controller.table.decks import quarantine_for
from controller.table.inputs import PersonActed
from controller.table.model import DENIED, Hand, Irregularity, Stage
from controller.table.phases import BEFORE_CLOSE, BETWEEN_ROUNDS, WINDOW_OPEN, Phase
from controller.table.rounds import resume_play
from controller.table.state import TableState

OPENS_STAGE: Final = {
    Disposition.OPTIONS: Stage.CHOOSING,
    Disposition.WITHDRAWALS: Stage.CHOOSING,
    Disposition.NAME_ORDER: Stage.ORDERING,
    Disposition.RECONSTRUCT: Stage.MOVING,
    Disposition.REFER: Stage.RULING,
    Disposition.SILENT: Stage.RULING,
}


def next_stage(state: TableState, found: Irregularity, row: Row) -> Stage | None:
    """What a confirmed irregularity waits for; None: nothing, the clause takes effect and it is over.

    One about the deck that waits for the next round concerns no bettor of this one.

    Where a clause takes effect and lets bettors withdraw besides (RTP 5.7), it waits for their choices.
    """
    stage = OPENS_STAGE.get(row.disposition)
    if stage is Stage.MOVING and found.round != state.round.number:
        return None  # the cards of an earlier round lie nowhere any more
    if row.disposition is Disposition.RESHUFFLE and state.phase not in BEFORE_CLOSE | BETWEEN_ROUNDS:
        return Stage.RULING  # cards are out: a new shuffle alone does not say what becomes of the round
    chooses = row.options and not found.waiting and state.round.live_places
    if stage is None and chooses and state.phase in WINDOW_OPEN - BETWEEN_ROUNDS:
        return Stage.CHOOSING
    return stage


def enter_count(decision: Decision, found: Irregularity) -> None:
    """So many cards lie there as was reported, whatever was assumed; from now on the end count knows of it."""
    if found.counted is None or found.place is None or found.round != decision.state.round.number:
        return
    more = found.counted - decision.state.round.hands.get(found.place, Hand()).size
    from_aside = max(0, min(more, len(decision.state.decks.aside)))
    decision.emit(events.HandCounted(found.place, found.counted, from_aside))


def take_effect(decision: Decision, given: PersonActed, found: Irregularity, row: Row) -> None:
    """What the clause says is done at once. A deck that waits is out of use, and no round is concerned."""
    if found.waiting:
        return
    if row.disposition is Disposition.VOID:
        void(decision, given, found, row.clause, row.because, row.authority)
    elif row.disposition is Disposition.REMOVE_HAND and found.place is not None:
        remove_hand(decision, found, found.place, row.clause, row.authority)
    elif row.disposition is Disposition.RESHUFFLE:
        _shuffle_anew(decision)


def remove_hand(decision: Decision, found: Irregularity, place: str, clause: str, authority: str = "") -> None:
    """Out of play with its bets returned; a hand that is out already stays so. Those of an earlier round are gone."""
    if found.round == decision.state.round.number and not decision.state.round.hands.get(place, Hand()).dead:
        decision.emit(events.HandRemoved(place, clause, found.id, authority))
        settle_anew(decision, found.id, clause or authority)


def void(
    decision: Decision, given: PersonActed, found: Irregularity, clause: str, text: str, authority: str = ""
) -> None:
    """The round is void and all bets are returned; what else was open in it is overtaken by that.

    Of an earlier round nothing but its result is concerned.
    """
    if found.round != decision.state.round.number:
        decision.emit(events.RoundVoided(clause, found.id, text, authority, found.round))
        return
    if decision.state.phase in WINDOW_OPEN and decision.state.phase is not Phase.VOIDED:
        declare_void(decision, given, clause, text, authority, found.id)
    else:
        _spoil_deck(decision)  # found between rounds: there is nothing to void


def declare_void(
    decision: Decision, given: PersonActed, clause: str, text: str, authority: str, irregularity: int = 0
) -> None:
    """The round in progress, or the one that was concluded last, has no result.

    `irregularity`: for which it is void, 0 where it was abandoned. That one is left to whoever calls; the others end.
    """
    if not decision.state.other_deck_in:
        _spoil_deck(decision)
    decision.emit(events.RoundVoided(clause, irregularity, text, authority))
    return_wagers(decision, clause or f"ruling of {authority}")
    decision.enter_phase("void", decision.state.game.clauses.void_returns_bets)
    for other in decision.state.open:
        if other.id != irregularity and other.round == decision.state.round.number and not other.waiting:
            quarantine_for(decision, given, other)  # nobody looked any more whether it was so
            decision.emit(events.IrregularityResolved(other.id, "overtaken", clause, given.person, given.role))


def asks_back(decision: Decision, found: Irregularity, clause: str) -> bool:
    """Whether a void is asked for the first time: then it only asks back. Where no round is void, nothing is asked."""
    state = decision.state
    asked = state.find_open(found.id)
    if found.waiting:
        return False
    voids = found.round != state.round.number or (state.phase in WINDOW_OPEN and state.phase is not Phase.VOIDED)
    if not voids or (asked is not None and asked.void_asked):
        return False
    decision.emit(events.VoidAsked(found.id, clause))
    return True


def _spoil_deck(decision: Decision) -> None:
    """A fresh deck must not be dealt from any more."""
    if decision.state.decks.in_play.deck and not decision.state.decks.in_play.used:
        decision.emit(events.ShuffleFailed(decision.state.decks.in_play.deck))


def _shuffle_anew(decision: Decision) -> None:
    """The deck must not be dealt from. A round of which no card has left goes back to where bets are placed."""
    _spoil_deck(decision)
    if decision.state.phase is Phase.BETTING:
        decision.enter_phase("cancel_start")


def reconstruct(decision: Decision, found: Irregularity, clause: str) -> None:
    """Every card goes where the order of the deal has it; the screen showed which ones."""
    state = decision.state
    moves = tuple(
        events.CardMoved(*card, source, place) for card, (source, place) in sorted(state.round.misplaced.items())
    )
    wrong_number = found.place if found.counted is not None else None
    decision.emit(events.CardsReconstructed(moves, clause, found.id, state.round.curable, wrong_number))


def resolve(decision: Decision, given: PersonActed, irregularity_id: int, outcome: str, clause: str) -> None:
    """It is over, denied or not. What made the deck doubtful takes it out of use besides."""
    found = decision.state.find_open(irregularity_id)
    if found is not None and outcome != DENIED:
        quarantine_for(decision, given, found)
    decision.emit(events.IrregularityResolved(irregularity_id, str(outcome), clause, given.person, given.role))
    if decision.state.phase not in BETWEEN_ROUNDS:
        resume_play(decision)


def close_choices(decision: Decision, given: PersonActed) -> None:
    """When everybody has chosen, hands that withdrew are dead and the deal goes on.

    Nobody waits for a hand that is out of play, whatever took it out: so every open choice is looked at.
    """
    for found in decision.state.open:
        choices = {(place, bettor): choice for place, bettor, choice in found.choices}
        choosers = decision.state.round.choosers
        if found.stage is not Stage.CHOOSING or not all(chooser in choices for chooser in choosers):
            continue
        clause = option_clause(decision.state, found, Choice.WITHDRAW)
        for place, bettor in choosers:
            if choices[place, bettor] is Choice.WITHDRAW:
                _withdraw(decision, found, place, bettor, clause)
        resolve(decision, given, found.id, found.row.disposition, found.row.clause)
        close_choices(decision, given)  # others may have waited for those hands alone
        return


def _withdraw(decision: Decision, found: Irregularity, place: str, bettor: str, clause: str) -> None:
    """A bettor's wagers on a box are returned; the hand plays on for the rest and is dead when nobody is left."""
    if bettor:
        decision.emit(events.BettorWithdrew(bettor, int(place[1:]), clause, found.id))
    if not bettor or not decision.state.round.bettors_at(place):
        remove_hand(decision, found, place, clause)


def option_clause(state: TableState, found: Irregularity, choice: Choice) -> str:
    """The clause that gives a choice. Rows of journals before options were kept name none: then it is the game's."""
    given = (option.clause for option in found.row.options if option.choice is choice)
    return next(given, state.game.clauses.option_returns_bet)
