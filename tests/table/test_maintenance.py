"""Maintenance: people command the device, its cards enter no round, and the deck is counted before the next round."""

from __future__ import annotations

from functools import partial

import pytest

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.operations import Instruction
from controller.table.phases import Phase, Service
from firmware_bridge import commands, observations
from firmware_bridge.commands import AnyCommand
from tests.table.deck_hands import load_beside, shuffle_beside
from tests.table.every_state import to_phase
from tests.table.harness import TableHarness
from tests.table.way_out import lead_to_next_round

BOTH = pytest.mark.parametrize("unit", Unit)
BEGIN = operations.BeginMaintenance("cleaning")
END = operations.EndMaintenance()


def maintained(unit: Unit = Unit.SETS, start: Phase = Phase.IDLE) -> TableHarness:
    table = to_phase(unit, start)
    table.do(BEGIN, Role.PIT_SUPERVISOR)
    return table


def instruct(table: TableHarness, instruction: Instruction, cards: int = 0) -> None:
    table.do(operations.InstructDevice(instruction, cards), Role.PIT_SUPERVISOR)


def ordered(table: TableHarness) -> list[AnyCommand]:
    return [event.command for event in table.events_of(events.CommandIssued)]


@pytest.mark.parametrize("start", [Phase.CLOSED, Phase.IDLE, Phase.CONCLUDED, Phase.VOIDED])
def test_maintenance_runs_between_rounds_or_at_a_closed_table(start: Phase) -> None:
    table = maintained(start=start)
    assert table.at(Phase.MAINTENANCE)
    assert view_of(table.state, LinkView()).maintenance == "cleaning"
    table.do(END, Role.PIT_SUPERVISOR)
    assert table.at(start if start in (Phase.CLOSED, Phase.CONCLUDED) else Phase.IDLE)
    assert view_of(table.state, LinkView()).maintenance == ""


@pytest.mark.parametrize("phase", [Phase.BETTING, Phase.DEALING_SETS, Phase.EXAMINING, Phase.SETTLING])
def test_it_does_not_begin_in_a_round(phase: Phase) -> None:
    assert to_phase(Unit.SETS, phase).refused(BEGIN, Role.SHIFT_MANAGER)[0] == "phase"


def test_a_pit_supervisor_enters_maintenance_with_a_reason() -> None:
    table = to_phase(Unit.SETS, Phase.IDLE)
    assert table.refused(BEGIN)[0] == "role"
    assert table.refused(operations.BeginMaintenance(" "), Role.PIT_SUPERVISOR)[0] == "reason"
    table.do(BEGIN, Role.PIT_SUPERVISOR)
    assert table.refused(END)[0] == "role"
    assert table.refused(operations.InstructDevice(Instruction.RUN_SELF_TEST))[0] == "role"
    assert table.refused(BEGIN, Role.PIT_SUPERVISOR) == (
        "phase",
        "Cannot begin maintenance while the table is under maintenance. End the maintenance first.",
    )


def test_open_irregularities_are_decided_before_maintenance() -> None:
    table = to_phase(Unit.SETS, Phase.CONCLUDED)
    table.report(Kind.LATE_BET)
    assert not table.is_held()
    assert table.refused(BEGIN, Role.PIT_SUPERVISOR)[0] == "open"
    table.deny(Role.SHIFT_MANAGER)
    table.do(BEGIN, Role.PIT_SUPERVISOR)


def test_only_people_instruct_the_device_and_only_under_maintenance() -> None:
    table = to_phase(Unit.SETS, Phase.CONCLUDED)
    code, sentence = table.refused(operations.InstructDevice(Instruction.SHUFFLE), Role.PIT_SUPERVISOR)
    assert (code, "Begin maintenance" in sentence) == ("phase", True)
    table.do(BEGIN, Role.PIT_SUPERVISOR)
    before = len(ordered(table))
    table.device.load()
    table.heartbeat()
    assert ordered(table)[before:] == [], "nothing is ordered by itself"
    instruct(table, Instruction.SHUFFLE)
    instruct(table, Instruction.RELEASE_EXIT)
    instruct(table, Instruction.DISPENSE, 2)
    instruct(table, Instruction.RUN_SELF_TEST)
    instruct(table, Instruction.HOLD_EXIT)
    instruct(table, Instruction.UNLOAD_STUB)
    assert ordered(table)[before:] == [
        commands.Shuffle(),
        commands.ReleaseExit(),
        commands.Dispense(2),
        commands.RunSelfTest(),
        commands.HoldExit(),
        commands.UnloadStub(),
    ]
    assert not table.state.device.stops
    assert not table.events_of(events.IrregularityRaised)


def test_an_instruction_that_the_device_cannot_carry_out_is_refused() -> None:
    table = maintained()
    refused = partial(table.refused, by=Role.PIT_SUPERVISOR)
    assert refused(operations.InstructDevice(Instruction.DISPENSE, 3))[0] == "exit"
    instruct(table, Instruction.RELEASE_EXIT)
    for count in (0, 6, -1):
        assert refused(operations.InstructDevice(Instruction.DISPENSE, count))[0] == "cards"
    assert refused(operations.InstructDevice(Instruction.SHUFFLE, 1))[0] == "cards"
    table.device.answers = False
    instruct(table, Instruction.DISPENSE, 3)
    assert refused(operations.InstructDevice(Instruction.RUN_SELF_TEST))[0] == "busy"
    assert refused(END)[0] == "moving"
    table.lose_link()
    assert table.refused(operations.InstructDevice(Instruction.SHUFFLE), Role.PIT_SUPERVISOR)[0] == "service"
    shoe = maintained(Unit.SINGLES)
    for instruction in (Instruction.SHUFFLE, Instruction.UNLOAD_STUB):
        assert shoe.refused(operations.InstructDevice(instruction), Role.PIT_SUPERVISOR)[0] == "device"


def test_a_stopped_device_may_only_be_tested() -> None:
    table = maintained()
    table.device.report(observations.DoorMoved(True))
    assert table.refused(operations.InstructDevice(Instruction.SHUFFLE), Role.PIT_SUPERVISOR)[0] == "stopped"
    instruct(table, Instruction.RUN_SELF_TEST)
    table.device.report(observations.DoorMoved(False))
    instruct(table, Instruction.SHUFFLE)


def test_maintenance_clears_the_stop_of_an_aborted_shuffle() -> None:
    table = to_phase(Unit.SETS, Phase.CONCLUDED)
    table.device.report(observations.ShuffleAborted(1, 20))
    assert table.state.device.stopped
    table.do(BEGIN, Role.PIT_SUPERVISOR)
    table.device.report(observations.ShuffleAborted(1, 20))
    assert not table.state.device.stopped
    instruct(table, Instruction.UNLOAD_STUB)


@BOTH
def test_cards_drawn_there_are_set_aside_and_enter_no_round(unit: Unit) -> None:
    table = maintained(unit)
    instruct(table, Instruction.RELEASE_EXIT)
    if unit is Unit.SETS:
        instruct(table, Instruction.DISPENSE, 3)
    table.take()
    drawn = table.last(events.CardsSetAside)
    assert str(drawn.because) == "maintenance"
    assert not table.state.open
    table.do(END, Role.PIT_SUPERVISOR)
    assert table.exit_is_held()
    if unit is Unit.SINGLES:
        table.count(52)
    table.to_dealing().deal()
    dealt = {card.id for hand in table.state.round.hands.values() for card in hand.cards}
    assert not dealt & {card.id for card in drawn.cards}
    table.expose_all().settle().conclude()


def test_nothing_in_maintenance_is_an_irregularity() -> None:
    table = maintained()
    table.device.load(table.device.order[:50])
    instruct(table, Instruction.SHUFFLE)
    table.device.report(observations.Jammed("transport"))
    table.device.report(observations.JamCleared("transport"))
    table.device.report(observations.DoorMoved(True))
    table.device.report(observations.DoorMoved(False))
    table.device.report(observations.Tampered("case"))
    table.device.refuses_next = "motor"
    instruct(table, Instruction.RUN_SELF_TEST)
    table.count(17)
    noted = table.events_of(events.MaintenanceNoted)
    assert [one.kind for one in noted] == [Kind.DECK_COUNT, Kind.DECK_COUNT]
    assert not table.state.open
    assert not table.state.device.stops
    table.do(END, Role.PIT_SUPERVISOR)
    assert lead_to_next_round(table)


def test_a_shufflers_deck_is_counted_by_its_shuffle_before_the_next_round() -> None:
    table = maintained()
    table.do(END, Role.PIT_SUPERVISOR)
    code, sentence = table.refused(operations.PlaceYourBets())
    assert (code, "its shuffle counts it" in sentence) == ("count-due", True)
    table.device.load(table.device.order[:51])
    assert table.refused(operations.PlaceYourBets())[0] == "held"  # a card is missing: I02
    table.deny()
    assert table.refused(operations.PlaceYourBets())[0] == "count-due"
    table.device.load()
    assert table.last(events.DeckCountedWhole).by == "device"
    table.do(operations.PlaceYourBets())


def test_a_shoes_deck_is_shuffled_outside_and_counted_by_hand_before_the_next_round() -> None:
    table = maintained(Unit.SINGLES)
    table.do(END, Role.PIT_SUPERVISOR)
    table.fresh_deck()
    code, sentence = table.refused(operations.PlaceYourBets())
    assert (code, "count its 52 cards by hand" in sentence) == ("count-due", True)
    table.count(52)
    counted = table.last(events.DeckCountedWhole)
    assert (counted.by, counted.witness) == ("dealer", "a witness")
    table.do(operations.PlaceYourBets())


def test_the_deck_may_be_counted_before_loading_with_old_hands_on_the_table() -> None:
    table = maintained(Unit.SINGLES, Phase.CONCLUDED)
    table.do(END, Role.PIT_SUPERVISOR)
    table.count(52)
    assert not table.state.open
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.fresh_deck()
    table.do(operations.PlaceYourBets())


def test_a_deck_shuffled_in_maintenance_is_not_dealt_from() -> None:
    table = maintained()
    table.device.load()
    instruct(table, Instruction.SHUFFLE)
    table.do(END, Role.PIT_SUPERVISOR)
    assert table.refused(operations.PlaceYourBets())[0] == "count-due"
    table.count(52)
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


@BOTH
def test_a_link_lost_in_maintenance_counts_as_between_rounds(unit: Unit) -> None:
    table = maintained(unit)
    table.lose_link()
    assert table.at(Service.OUT_OF_SERVICE)
    table.device.skip_count(3)
    table.connect()
    assert table.at(Service.IN_SERVICE)
    assert table.at(Phase.MAINTENANCE)
    assert not table.state.open
    table.lose_link()
    table.do(END, Role.PIT_SUPERVISOR)
    assert lead_to_next_round(table)


def test_a_set_left_in_the_tray_by_maintenance_is_not_dealt() -> None:
    table = maintained()
    instruct(table, Instruction.RELEASE_EXIT)
    instruct(table, Instruction.DISPENSE, 3)
    table.do(END, Role.PIT_SUPERVISOR)
    assert table.refused(operations.PlaceYourBets())[0] == "count-due"
    table.to_dealing()
    assert not table.state.decks.aside


def test_a_shoes_deck_may_be_counted_as_a_whole() -> None:
    table = maintained(Unit.SINGLES)
    table.do(END, Role.PIT_SUPERVISOR)
    table.fresh_deck()
    table.do(operations.CountCards("deck", 51, "a witness"))
    assert table.state.decks.count_due
    table.deny()
    table.fresh_deck()
    table.do(operations.CountCards("deck", 52, "a witness"))
    table.do(operations.PlaceYourBets())


@BOTH
def test_a_waiting_deck_is_unused_after_maintenance_and_blocks_nothing(unit: Unit) -> None:
    table = to_phase(unit, Phase.IDLE).to_dealing()
    load_beside(table)
    if unit is Unit.SETS:
        shuffle_beside(table)
    else:
        table.device.report(observations.ShuffleFinished(2, 777, 52))
    table.finish()
    table.do(BEGIN, Role.PIT_SUPERVISOR)
    table.do(END, Role.PIT_SUPERVISOR)
    table.fresh_deck()
    if unit is Unit.SINGLES:
        table.count(52)
    table.do(operations.PlaceYourBets())
    assert table.state.decks.in_play.deck == 1


def test_nc_5_5_1_after_maintenance_an_error_of_the_last_round_still_counts() -> None:
    """By NC 5.6 results are final only once the next round has begun."""
    table = maintained(start=Phase.CONCLUDED)
    table.do(END, Role.PIT_SUPERVISOR)
    table.report(Kind.FOREIGN_CARD)
    table.confirm()
    assert table.at(Phase.VOIDED)
