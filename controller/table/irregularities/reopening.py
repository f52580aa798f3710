"""What was decided is decided anew, because an entry on which it rested was corrected.

A decision rests on an entry when the law would now find another row for it, or would ask. Then its effects are undone
by events that name them: hands play again, bets lie again, a void is lifted; and people decide once more.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Row
from controller.rules.law import find_row
from controller.table import events
from controller.table.betting import take_back_settlement
from controller.table.decision import Decision, RefusedError
from controller.table.irregularities.raising import first_stage, known_facts_of
from controller.table.model import DENIED, Closed, Hand, Irregularity, Stage
from controller.table.phases import CARDS_LEAVE, Phase
from controller.table.state import TableState

CORRECTED: Final = "corrected"
OVERTAKEN: Final = "overtaken"
NO_MATTER: Final = frozenset({CORRECTED, OVERTAKEN})  # what ended so is over, or comes back with the round
PAID: Final = frozenset({Phase.SETTLING, Phase.CONCLUDED})

Choices = tuple[tuple[str, str, Choice], ...]


def re_evaluate(decision: Decision, names: frozenset[str], because_of: int, counted_wrong: bool | None = None) -> None:
    """Judge every irregularity of the round anew whose row rested on one of these facts.

    `counted_wrong`: what a corrected count says; nothing else tells that fact. What was denied rests on none of them:
    it was not so at all.
    """
    state = decision.state
    now_open = [Closed(found, "") for found in state.open if concerns_round(state, found)]
    ended = [one for one in state.round.closed if one.outcome not in NO_MATTER | {DENIED} and not one.found.waiting]
    voiding_first = sorted(ended, key=lambda one: one.found.id != state.round.voided_by)
    for found, outcome in [(one.found, one.outcome) for one in (*now_open, *voiding_first)]:
        if all(getattr(found.facts, name) is None for name in names):
            continue
        if outcome and not may_stand_again(decision.state, found):
            continue
        facts = _facts_anew(decision.state, found, names, counted_wrong)
        row, asks = find_row(decision.state.law, found.kind, facts)
        if (row, asks) == (found.row, () if outcome else found.asks):
            continue
        if not outcome and found.stage is Stage.CLAIMED:
            decision.emit(events.FactStated(found.id, facts, row, asks))
        else:
            reopen(decision, Closed(found, outcome), facts, because_of)


def concerns_round(state: TableState, found: Irregularity) -> bool:
    """Whether it is about the round in progress or concluded last, not the one before or the deck that waits."""
    return found.round == state.round.number and not found.waiting


def may_stand_again(state: TableState, found: Irregularity) -> bool:
    """In a void round nothing is decided anew but what made it void: there is no result left that it could change."""
    return state.phase is not Phase.VOIDED or state.round.voided_by == found.id or found.waiting


def _facts_anew(state: TableState, found: Irregularity, names: frozenset[str], counted_wrong: bool | None) -> Facts:
    """What was stated, but for what the corrected entry had told: that is as the table knows it now."""
    known = known_facts_of(state, found.place)
    anew = {name: getattr(known, name) for name in names if name != "counted_wrong"}
    if "counted_wrong" in names:
        anew["counted_wrong"] = counted_wrong
    return replace(found.facts, **anew)


def reopen(
    decision: Decision,
    ended: Closed,
    facts: Facts,
    because_of: int,
    *,
    stage: Stage | None = None,
    row: Row | None = None,
    choices: Choices = (),
) -> None:
    """It waits for people again, from its beginning unless a stage is named; all that it had brought about is undone.

    Raises `RefusedError` where the round is void by it and cannot be taken up again.
    """
    found = ended.found
    lifted = decision.state.phase is Phase.VOIDED and decision.state.round.voided_by == found.id
    if lifted:
        _verify_cards_lie(decision.state)
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
        )
    )
    _uncount(decision, found)
    if lifted:
        _lift_void(decision, found, because_of)
    elif concerns_round(decision.state, found):
        take_up(decision, found.id)


def _uncount(decision: Decision, found: Irregularity) -> None:
    """The number of cards that it was about is not the number that lies there, until it is confirmed again."""
    hand = decision.state.round.hands.get(found.place or "", Hand())
    if found.place is not None and found.counted is not None and hand.surplus:
        decision.emit(events.HandCounted(found.place, len(hand.cards)))


def _verify_cards_lie(state: TableState) -> None:
    """A void round can be taken up as long as its cards are where they were."""
    deck_changed = state.decks.in_play.deck != state.round.deck or not state.decks.in_play.used
    undealt = not state.round.places and state.round.voided_from is not Phase.FIRST_CARD
    if deck_changed or undealt or state.round.voided_from is Phase.BETTING:
        raise RefusedError(
            "gone",
            "The round is void and its cards have been taken away: it cannot be taken up again. Begin the next round, "
            "and report what was wrong for this one; a ruling decides of its bets.",
        )


def _lift_void(decision: Decision, found: Irregularity, because_of: int) -> None:
    """The round stands where it stood; whatever else was open then is open again. What was paid is judged anew."""
    reached = decision.state.round.voided_from
    assert reached is not None, "a void round was not void before"
    take_back_settlement(decision, found.id, "")
    decision.emit(events.VoidLifted(found.id, because_of))
    deck = decision.state.decks.in_play
    if reached in CARDS_LEAVE and deck.stub is not None:  # what is dealt from now on is no longer in it
        counted = events.StubCounted(deck.stub, decision.state.stub_due, "", not deck.stub_out, midway=True)
        decision.emit(counted)
    decision.enter_phase(f"take_up_{Phase.EXPOSING if reached in PAID else reached}")
    for other, outcome in [(one.found, one.outcome) for one in decision.state.round.closed]:
        if outcome == OVERTAKEN:
            again = Closed(other, outcome)
            reopen(decision, again, other.facts, because_of, stage=other.stage, row=other.row, choices=other.choices)


def take_up(decision: Decision, irregularity: int = 0) -> None:
    """A round that is settled goes back to where its hands are judged; what was settled and paid is taken back."""
    if decision.state.phase in PAID:
        take_back_settlement(decision, irregularity, "")
        decision.emit(events.ClosingTakenBack(chips=True))
        decision.enter_phase("take_up_exposing")
