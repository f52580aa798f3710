"""Pausing holds the exit, two requests conclude a round, and the table opens and closes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, RulingAction, Unit
from controller.table import events, operations
from controller.table.phases import Phase
from firmware_bridge.commands import Dispense, HoldExit, ReleaseExit
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


@BOTH
def test_a_pause_holds_the_exit_and_a_resume_releases_it(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take()
    table.do(operations.PauseTable("drop"))
    assert table.exit_is_held()
    assert table.device.received[-1][1] == HoldExit()
    table.do(operations.ResumeTable())
    assert not table.exit_is_held()
    assert ReleaseExit() in [command for _, command in table.device.received[-2:]]
    table.finish()


def test_a_set_may_be_lifted_in_a_pause_and_no_other_is_formed() -> None:
    table = TableHarness().start().to_dealing()
    table.do(operations.PauseTable("drop"))
    ordered = [command for _, command in table.device.received].count(Dispense(3))
    table.take()
    assert [command for _, command in table.device.received].count(Dispense(3)) == ordered


def test_a_pause_has_a_reason_which_may_be_replaced() -> None:
    table = TableHarness().start()
    assert table.refused(operations.PauseTable(" "))[0] == "reason"
    assert table.refused(operations.ResumeTable())[0] == "not-paused"
    table.do(operations.PauseTable("dispute"))
    assert table.refused(operations.PauseTable("dispute"))[0] == "paused"
    table.do(operations.PauseTable("fill"))
    assert table.refused(operations.OpenTable()) == (
        "held",
        "Cannot open the table while the table is paused (fill). Resume first.",
    )


def test_a_pause_does_not_hide_irregularities() -> None:
    table = TableHarness().start().to_dealing()
    table.do(operations.PauseTable("dispute"))
    table.report(Kind.EXPOSED_CARD)
    table.do(operations.ResumeTable())
    assert table.is_held()
    table.deny()
    assert not table.is_held()


def test_a_round_is_concluded_at_the_second_request() -> None:
    table = TableHarness().start().to_dealing().deal().expose_all()
    assert table.refused(operations.ConcludeRound())[0] == "not-settled"
    table.settle()
    table.do(operations.ConcludeRound())
    assert table.at(Phase.SETTLING)
    table.do(operations.ConcludeRound())
    assert table.at(Phase.CONCLUDED)


def test_chips_are_recorded_as_paid_once() -> None:
    table = TableHarness().start().to_dealing().deal().expose_all().settle()
    assert table.refused(operations.RecordSettled())[0] == "settled"


def test_the_next_round_needs_two_new_requests_to_conclude() -> None:
    table = TableHarness().start().to_dealing().finish().to_dealing().deal().expose_all()
    assert table.refused(operations.ConcludeRound())[0] == "not-settled"
    table.settle()
    table.do(operations.ConcludeRound())
    assert table.at(Phase.SETTLING)


def test_house_procedure_may_do_without_a_count_where_the_device_cannot_count() -> None:
    table = TableHarness(Unit.SINGLES, count_by_hand=False).start().to_dealing().deal().expose_all()
    table.do(operations.RecordSettled())
    assert not table.events_of(events.StubCounted)


def test_a_table_closes_between_rounds_only() -> None:
    table = TableHarness().start().to_betting()
    assert table.refused(operations.CloseTable())[0] == "phase"
    table.do(operations.NoMoreBets())
    table.finish()
    table.do(operations.CloseTable())
    assert table.at(Phase.CLOSED)
    table.to_dealing().finish()


def test_a_shuffle_is_entered_for_a_shoe_and_not_for_a_shuffler() -> None:
    shoe = TableHarness(Unit.SINGLES).start()
    shoe.do(operations.OpenTable())
    assert shoe.refused(operations.ShuffledOutside("by hand"))[0] == "no-deck"
    assert shoe.refused(operations.PlaceYourBets())[0] == "no-deck"
    shoe.device.load()
    assert shoe.refused(operations.PlaceYourBets())[0] == "not-shuffled"
    shoe.do(operations.ShuffledOutside("by hand"))
    shoe.do(operations.PlaceYourBets())
    shuffler = TableHarness().start()
    assert shuffler.refused(operations.ShuffledOutside("by hand"))[0] == "shuffler"


def test_a_shoe_that_counts_a_short_deck_is_not_declared_shuffled() -> None:
    table = TableHarness(Unit.SINGLES).start()
    table.do(operations.OpenTable())
    table.device.load(table.device.order[:51])
    assert table.refused(operations.ShuffledOutside("by hand"))[0] == "deck-count"


@BOTH
def test_a_start_by_mistake_is_cancelled_and_bets_can_be_opened_again(unit: Unit) -> None:
    table = TableHarness(unit).start().to_betting()
    table.do(operations.CancelStart())
    assert table.at(Phase.IDLE)
    table.do(operations.PlaceYourBets())
    table.do(operations.OccupyBoxes((1, 3)))
    table.do(operations.NoMoreBets())
    assert table.refused(operations.CancelStart())[0] == "phase"
    table.finish()


def test_a_start_is_not_cancelled_once_cards_have_left_the_device() -> None:
    table = TableHarness(Unit.SINGLES).start().to_betting()
    table.take()
    assert table.refused(operations.CancelStart())[0] == "held"
    table.rule(RulingAction.CONTINUE)
    assert table.refused(operations.CancelStart())[0] == "cards-out"


def test_a_set_waiting_at_a_cancelled_start_spoils_its_deck_for_the_next_round() -> None:
    table = TableHarness()
    table.device.capabilities = replace(table.device.capabilities, stages=True)
    table.start().to_betting()
    table.do(operations.CancelStart())
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()
