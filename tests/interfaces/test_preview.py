"""The preview of a decision equals its effect; nothing is recorded, and it does not help to guess a face."""

from __future__ import annotations

import re

import pytest

from controller.api.preview import preview
from controller.api.view import LinkView, view_of
from controller.games.specification import Choice, Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.decide import decide
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import without_calls
from controller.table.next_step import next_step
from controller.table.offers import ANOTHER, decisions
from controller.table.phases import Phase
from controller.table.state import TableState
from tests.table.every_state import every_state, to_phase
from tests.table.harness import TableHarness, cards

CONFIRMS = (operations.ConfirmIrregularity, operations.Rule)


def decided_twice(state: TableState, operation: operations.Operation) -> tuple[str, TableState]:
    """Return the refusal's code and the next state, with the operation repeated until it takes effect."""
    for number in range(2):
        given = PersonActed(str(number), ANOTHER, Role.SHIFT_MANAGER, state.round.number, operation)
        done = decide(state, given)
        refused = [event.code for event in done.events if isinstance(event, events.OperationRefused)]
        state = done.state
        if refused or not any(isinstance(one, events.VoidAsked | events.AbandonAsked) for one in done.events):
            return (refused or [""])[0], state
    return "", state


@pytest.mark.parametrize("some", range(4))
def test_a_preview_equals_the_effect(some: int) -> None:
    tried = 0
    for name, state in every_state()[some::4]:
        if name.startswith("constructed") or state.settings is None:
            continue
        for group in decisions(state):
            if isinstance(group.samples[0], CONFIRMS):
                tried += 1
                code, after = decided_twice(state, group.samples[0])
                said = preview(state, group.samples[0])
                assert (said.accepted, said.code) == (not code, code)
                if said.accepted:
                    assert said.phase_will == after.phase
                    assert said.void is (after.phase is Phase.VOIDED and state.phase is not Phase.VOIDED)
                    assert set(said.closes) == {one.id for one in state.open} - {one.id for one in after.open}
                    assert said.next_step == without_calls(next_step(after), said.role)
                    assert not str(said.next_step).startswith(f"Call the {said.role.word}. "), "who signs is there"
    assert tried > 50


def test_a_void_is_announced_before_it_is_signed() -> None:
    table = to_phase(Unit.SETS, Phase.DEALING_SETS)
    table.report(Kind.UNSHUFFLED)
    before = table.state
    said = preview(before, operations.ConfirmIrregularity(table.open.id, table.open.revision))
    assert said.accepted
    assert said.void
    assert said.twice
    assert said.closes == (before.open[0].id,)
    assert any("void" in str(sentence).lower() for sentence in said.sentences), said.sentences
    assert all(str(sentence).endswith(".") for sentence in said.sentences)
    assert table.state is before


def test_a_pause_does_not_hide_the_effect() -> None:
    table = to_phase(Unit.SETS, Phase.SETTLING)
    table.do(operations.PauseTable("a dispute"))
    entry = next(one.entry for one in table.state.round.entered if isinstance(one.operation, operations.ExposeHand))
    said = preview(table.state, operations.CorrectEntry(entry, "wrong hand"))
    assert str(said.next_step).startswith("Turn over"), said.next_step
    assert "Paused" in str(view_of(table.state, LinkView()).next_step)


def test_a_preview_before_a_signature_names_nobody() -> None:
    """The correction of a box that was left out raises an irregularity."""
    table = to_phase(Unit.SETS, Phase.DEALING_SETS)
    entry = next(one.entry for one in table.state.round.entered if isinstance(one.operation, operations.OccupyBoxes))
    said = preview(table.state, operations.CorrectEntry(entry, "forgotten", operations.OccupyBoxes((1, 2, 3, 6))))
    assert said.accepted
    assert said.opens == 1
    assert not any("rregularity" in str(one) for one in said.sentences), "the next step says it"
    assert not any(ANOTHER in str(one) for one in said.sentences), said.sentences


def test_a_correction_shows_its_effect_on_hands_and_payments() -> None:
    table = to_phase(Unit.SETS, Phase.SETTLING)
    entry = next(one.entry for one in table.state.round.entered if isinstance(one.operation, operations.ExposeHand))
    said = preview(table.state, operations.CorrectEntry(entry, "wrong hand"))
    assert said.accepted
    assert (said.phase_was, said.phase_will) == ("settling", "exposing")
    assert any(change.was is not None and change.was.shown for change in said.hands)
    assert not [one for one in said.sentences if re.search(r"\b(B[1-9]|D)\b", str(one))], "places have their names"
    assert all(change.will is not None and "??" in change.will.cards for change in said.hands if change.place == "D")


def test_returned_bets_are_named() -> None:
    table = TableHarness(boxes=(1,)).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    table.do(operations.EnterBettor("ann", 1))
    main = next(wager.id for wager in table.state.law.wagers if wager.main)
    table.do(operations.PlaceWager("ann", main, 1, 30))
    table.do(operations.NoMoreBets())
    said = preview(table.state, operations.AbandonRound("shift manager", "fire"))
    assert [(change.bet, change.will and change.will.verdict) for change in said.payments] == [(1, "returned")]
    table.report(Kind.EXPOSED_CARD)
    table.confirm()
    said = preview(table.state, operations.CorrectBet(1, 50, "miscounted"))
    assert [(change.was and change.was.amount, change.will and change.will.amount) for change in said.bets] == [
        (30, 50)
    ]


@pytest.mark.parametrize(
    "operation",
    [
        operations.ExposeHand("D"),
        operations.ShowFirstCard(),
        operations.PlaceCards(()),
        operations.NameExposed("D", ()),
        operations.ChooseOption(1, 1, "B1", Choice.CONTINUE),
        operations.RecallCards(1, "the camera"),
        operations.CorrectEntry(1, "wrong", operations.ExposeHand("D", cards("AS KS QS"))),
        operations.CorrectEntry(1, "wrong", operations.ShowFirstCard(cards("AS")[0])),
    ],
    ids=lambda operation: type(operation).__name__,
)
def test_a_preview_that_could_reveal_a_face_is_not_made(operation: operations.Operation) -> None:
    table = to_phase(Unit.SETS, Phase.EXAMINING)
    said = preview(table.state, operation)
    assert (said.accepted, said.code) == (False, "no-preview")


def test_a_preview_of_a_refusal_has_its_reason() -> None:
    table = to_phase(Unit.SETS, Phase.DEALING_SETS)
    said = preview(table.state, operations.ConfirmIrregularity(1, 1))
    assert (said.accepted, said.code) == (False, "closed")
    assert str(said.sentence).endswith(".")
