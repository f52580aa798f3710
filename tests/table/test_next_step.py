"""What comes next stands in one sentence, at every moment, and it is what the table would allow."""

from __future__ import annotations

import pytest

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import operations
from controller.table.counts import ledger_of
from controller.table.next_step import BY_PHASE, next_step
from controller.table.phases import Phase
from tests.table.every_state import every_state, to_phase
from tests.table.harness import TableHarness


def test_every_phase_has_one() -> None:
    assert set(BY_PHASE) == set(Phase)


def test_there_is_one_sentence_in_every_state() -> None:
    for name, state in every_state():
        if state.settings is not None:
            said = next_step(state)
            assert said.endswith("."), f"{name}: {said}"


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (Phase.CLOSED, "Open the table."),
        (Phase.IDLE, 'Announce "Place your bets".'),
        (Phase.DEALING_SETS, "3 cards to B6."),
        (Phase.EXAMINING, "Players look at their hands; then expose the Dealer's hand."),
        (Phase.CONCLUDED, "This deck has been dealt from; load it again and let it be shuffled first."),
        (Phase.MAINTENANCE, "A pit supervisor instructs the device, or ends the maintenance."),
    ],
)
def test_it_is_what_the_phase_waits_for(phase: Phase, said: str) -> None:
    assert next_step(to_phase(Unit.SETS, phase).state) == said


def test_settling_goes_step_by_step() -> None:
    table = TableHarness().start().to_dealing().deal().expose_all()
    assert next_step(table.state) == "Pay the chips and record it."
    table.do(operations.RecordSettled())
    assert next_step(table.state) == "Conclude the round (asked twice)."
    table.do(operations.ConcludeRound())
    assert next_step(table.state).startswith("Say it once more")


def test_what_is_open_comes_before_the_deal() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.EXPOSED_CARD, "B1")
    assert next_step(table.state) == "I12 waits for the fact to be confirmed or denied: pit supervisor or above."
    table.confirm()
    assert next_step(table.state) == "I12 waits for every bettor's choice: dealer."


def test_a_void_that_was_asked_for_is_asked_for_again() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    found = table.open
    table.do(operations.ConfirmIrregularity(found.id, found.revision), Role.PIT_SUPERVISOR)
    assert next_step(table.state) == "I01 makes the round void: say it once more to do it."


def test_a_foreign_cards_deck_is_not_to_be_loaded_again() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    assert next_step(table.state).startswith("The deck is out of use (a card that is not of this deck was found)")


def test_after_a_lifted_void_the_stub_is_dealt_by_hand() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    entry = table.state.round.entered[-1].entry
    table.do(operations.CorrectEntry(entry, "it is ours"), Role.PIT_SUPERVISOR)
    table.deny()
    assert " by hand from the stub" in next_step(table.state)
    table.do(operations.DealByHand(3, "the stub is out"), Role.PIT_SUPERVISOR)


def test_without_its_device_a_round_is_dealt_by_hand_or_waits() -> None:
    table = TableHarness().start().to_dealing()
    table.lose_link()
    assert "dealt by hand" in next_step(table.state)
    table.connect()
    assert next_step(table.state).startswith("Compare the table with this screen")


def test_a_deck_that_has_still_to_be_counted_has_no_account() -> None:
    """The hands of the round before are none of it."""
    table = TableHarness().start().to_dealing()
    table.take()
    table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    table.do(operations.BeginMaintenance("a new belt"), Role.PIT_SUPERVISOR)
    assert ledger_of(table.state) is None
    table.do(operations.EndMaintenance(), Role.PIT_SUPERVISOR)
    assert ledger_of(table.state) is None
    table.fresh_deck()
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert ledger.whole
