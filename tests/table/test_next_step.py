"""The next step is a sentence in every state, and the table permits what it names."""

from __future__ import annotations

import pytest

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import operations
from controller.table.counts import ledger_of
from controller.table.inputs import DeviceGone
from controller.table.next_step import BY_PHASE, next_step
from controller.table.phases import Phase
from firmware_bridge.observations import Jammed
from tests.table.every_state import every_state, to_phase
from tests.table.harness import TableHarness


def test_every_phase_has_one() -> None:
    assert set(BY_PHASE) == set(Phase)


def test_there_is_one_sentence_in_every_state() -> None:
    for name, state in every_state():
        if state.settings is not None:
            said = next_step(state)
            assert said.endswith((".", "?")), f"{name}: {said}"


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        (Phase.CLOSED, "Open the table."),
        (Phase.IDLE, 'Announce "Place your bets".'),
        (Phase.DEALING_SETS, "Deal 3 cards to box 6."),
        (Phase.EXAMINING, "When the players have looked at their hands, turn over the Dealer's hand."),
        (Phase.CONCLUDED, "Round over. Collect the cards. Put a full deck into the shuffler."),
        (Phase.MAINTENANCE, "Under maintenance: instruct the device, or end the maintenance."),
    ],
)
def test_it_is_what_the_phase_waits_for(phase: Phase, said: str) -> None:
    assert next_step(to_phase(Unit.SETS, phase).state) == said


def test_settling_goes_step_by_step() -> None:
    table = TableHarness().start().to_dealing().deal().expose_all()
    assert next_step(table.state) == "Pay the chips, then record it."
    table.do(operations.RecordSettled())
    assert next_step(table.state) == "Conclude the round."
    table.do(operations.ConcludeRound())
    assert next_step(table.state).startswith("Press Conclude again")


def test_what_is_open_comes_before_the_deal() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1")
    assert next_step(table.state) == "Call the pit supervisor. Was a card of box 1 exposed?"
    table.confirm()
    assert next_step(table.state) == "Ask boxes 1, 3 and 6: continue or withdraw the bets?"


def test_a_void_that_was_asked_for_is_asked_for_again() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    found = table.open
    table.do(operations.ConfirmIrregularity(found.id, found.revision), Role.PIT_SUPERVISOR)
    assert next_step(table.state) == (
        "A card that is not of this deck was found: the round becomes void. Repeat to confirm, or decide otherwise."
    )


def test_a_foreign_cards_deck_is_not_to_be_loaded_again() -> None:
    table = TableHarness().start().to_dealing()
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    table.do(operations.RecordSettled())
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
    assert "deal by hand" in next_step(table.state)
    table.connect()
    assert next_step(table.state).endswith("compare the table with the screen, then continue the round.")


def test_a_deck_that_has_still_to_be_counted_has_no_account() -> None:
    """The hands of the round before do not count."""
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


def test_while_something_is_open_a_device_that_is_gone_or_stands_is_named_too() -> None:
    table = TableHarness().start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1")
    asked = "Call the pit supervisor. Was a card of box 1 exposed?"
    table.lose_link()
    assert next_step(table.state).startswith(f"{asked} The shuffler is not connected (")
    table.connect()
    assert next_step(table.state).startswith(f"{asked} The shuffler is back")
    table.do(operations.ContinueRound())
    assert next_step(table.state) == asked


def test_next_step_does_not_wait_for_a_shuffle_of_a_shoe() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take()
    for _ in range(2):
        table.do(operations.AbandonRound("the shift manager", "fire"), Role.SHIFT_MANAGER)
    table.do(operations.RecordSettled())
    assert next_step(table.state).endswith("Shuffle a full deck, put it into the shoe, and record the shuffle.")


def test_what_was_noticed_is_said_and_not_its_kind() -> None:
    table = TableHarness().start().to_dealing().deal()
    hands = table.state.round.hands
    other = tuple(card.face.expose() for card in hands["B1"].cards if card.face)
    table.do(operations.ExposeHand("D", other))
    assert next_step(table.state).startswith("The cards shown at the Dealer are not the ones that the shuffler read.")


def test_a_device_that_is_refused_is_no_matter_of_its_cable() -> None:
    table = TableHarness().start()
    table.give(DeviceGone("device-proof", "The device could not prove its key: check `key_file`.", refused=True))
    said = next_step(table.state)
    assert said.startswith("The shuffler cannot be used. The device could not prove its key")
    assert said.endswith("Call the pit supervisor.")
    table.do(operations.ReturnToService(), Role.PIT_SUPERVISOR)
    assert next_step(table.state) == "Wait until the shuffler is connected."


def test_a_jam_is_named_once() -> None:
    table = TableHarness().start().to_dealing()
    table.device.report(Jammed("exit"))
    assert next_step(table.state).count("jam") == 1
    assert next_step(table.state).endswith("Clear the shuffler.")
