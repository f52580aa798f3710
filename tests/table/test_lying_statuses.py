"""Untrue statuses of a device, even with a dealer's help, do not hide that cards leave."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.inputs import ReportsMissing, StatusReceived
from controller.table.reconciliation import MOST_DIFFERENCES
from firmware_bridge.commands import HoldExit, Shuffle
from tests.table.harness import TableHarness
from tests.table.way_out import deal_with

pytestmark = pytest.mark.parametrize("unit", Unit)
SKIPPED = 5  # cards that leave and are counted but not reported


def status(table: TableHarness, times: int = 1, *, too_long: bool = False, **says: Any) -> None:
    for _ in range(times):
        late = tuple(one.id for one in table.state.device.open_commands)
        table.give(StatusReceived(replace(table.device.status, **says), late, too_long))


def in_deal(unit: Unit) -> TableHarness:
    table = TableHarness(unit).start().to_dealing()
    table.take()
    return table


# -- endless motion ----------------------------------------------------------------------------------------------------


def test_cards_that_move_for_ever_do_not_hide_a_count(unit: Unit) -> None:
    table = in_deal(unit)
    table.device.skip_count(SKIPPED)
    status(table, 10, moving=True)
    assert not table.state.open
    status(table, moving=True, too_long=True)
    assert table.open.kind is Kind.COUNT_IN_DOUBT


def test_constant_motion_hides_neither_the_exit_nor_an_unanswered_order(unit: Unit) -> None:
    table = in_deal(unit)
    table.do(operations.PauseTable("drop"))
    status(table, 4, moving=True, too_long=True, exit_held=False)
    assert "cards can leave" in str(table.open.note)
    other = in_deal(unit)
    other.device.ignores_commands = True
    other.do(operations.PauseTable("drop"))
    status(other, moving=True, too_long=True)
    assert 'does not answer the order "lock the exit"' in str(other.open.note)


def test_a_shuffle_may_take_any_time(unit: Unit) -> None:
    if unit is Unit.SINGLES:
        return  # a shoe does not shuffle
    table = TableHarness(unit).start()
    table.do(operations.OpenTable())
    table.device.ignores_commands = True
    table.device.load()
    assert [one.command for one in table.state.device.open_commands] == [Shuffle()]
    status(table, 50, moving=True, too_long=True)
    assert not table.state.device.stops
    assert not table.events_of(events.CommandUnanswered)


# -- between rounds ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("link_lost", [False, True])
def test_no_round_begins_with_a_deck_whose_cards_have_left(unit: Unit, link_lost: bool) -> None:
    table = TableHarness(unit).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    if link_lost:
        table.lose_link()
        table.device.skip_count(SKIPPED)
        table.connect()
    else:
        table.device.skip_count(SKIPPED)
        status(table)
    code, sentence = table.refused(operations.PlaceYourBets())
    assert code == "deck-used"
    assert sentence.startswith("Cards have left this deck. Collect the cards.")
    table.to_dealing().finish()
    assert not table.events_of(events.IrregularityRaised)


def test_an_exit_that_stays_open_is_raised_again_with_every_fresh_deck(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing().finish()
    for _ in range(3):
        status(table, 4, exit_held=False)
        assert "cards can leave" in str(table.state.device.stopped)
        table.fresh_deck()
        assert not table.state.device.stopped
    table.do(operations.PlaceYourBets())
    status(table, 4, exit_held=True)
    table.do(operations.OccupyBoxes(table.boxes))
    table.close_bets()
    table.finish()
    assert not table.events_of(events.IrregularityRaised)


def test_an_exit_that_refused_is_ordered_again_with_the_next_deck(unit: Unit) -> None:
    table = in_deal(unit)
    table.device.exit_stuck = True
    table.do(operations.PauseTable("drop"))
    table.do(operations.ResumeTable())
    table.confirm(Role.DEALER, places_certain=True)
    table.finish()
    orders = len([one for one in table.device.received if one[1] == HoldExit()])
    table.fresh_deck()
    assert len([one for one in table.device.received if one[1] == HoldExit()]) == orders + 1
    assert "refused to move its exit" in str(table.state.device.stopped)
    code, sentence = table.refused(operations.PlaceYourBets())
    assert code == "stopped"
    assert sentence.endswith("; have it repaired and put the deck in again.")
    table.device.exit_stuck = False
    table.to_dealing().finish()
    assert len(table.events_of(events.IrregularityRaised)) == 1


# -- in a round --------------------------------------------------------------------------------------------------------


def test_a_doubt_about_the_last_round_does_not_hide_one_about_this_round(unit: Unit) -> None:
    """A dealer can report that doubt and leave it open: it does not hold play."""
    table = TableHarness(unit).start().to_dealing().finish().to_dealing()
    table.take()
    for kind in (Kind.COUNT_IN_DOUBT, Kind.TECHNICAL_STOP):
        table.report(kind, earlier=True)
    assert not [found for found in table.state.open if found.blocks]
    table.device.skip_count(SKIPPED)
    status(table, 3)
    table.do(operations.PauseTable("drop"))
    status(table, 4, exit_held=False)
    raised = [one.kind for one in table.events_of(events.IrregularityRaised) if not one.of_round]
    assert raised == [Kind.COUNT_IN_DOUBT, Kind.TECHNICAL_STOP]


def test_a_count_that_changes_with_every_status_does_not_fill_the_journal(unit: Unit) -> None:
    table = in_deal(unit)
    for second in range(200):
        status(table, dispensed=table.device.dispensed + second % 2)
    assert len(table.events_of(events.StatusDiffers)) == MOST_DIFFERENCES
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    table.count(table.device.left)
    table.deny()
    status(table, dispensed=table.device.dispensed + 1)
    status(table, dispensed=table.device.dispensed)
    assert table.open.kind is Kind.COUNT_IN_DOUBT, "what changes after it was decided is told"


def test_between_rounds_it_does_not_either_and_the_next_deck_is_watched(unit: Unit) -> None:
    table = in_deal(unit).finish()
    for second in range(200):
        status(table, dispensed=table.device.dispensed + second % 2)
    assert len(table.events_of(events.StatusDiffers)) == MOST_DIFFERENCES
    table.fresh_deck()
    table.device.skip_count(SKIPPED)
    status(table)
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_a_shuffle_that_changes_with_every_status_is_not_ordered_again_for_ever(unit: Unit) -> None:
    table = TableHarness(unit).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    for second in range(200):
        status(table, shuffle=table.device.shuffle + second % 2)
    assert len(table.events_of(events.StatusDiffers)) == MOST_DIFFERENCES
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()
    assert not table.events_of(events.IrregularityRaised)


def test_a_device_back_with_fewer_sensors_puts_the_count_in_doubt(unit: Unit) -> None:
    table = in_deal(unit)
    table.lose_link()
    table.device.capabilities = replace(table.device.capabilities, holds_exit=False, senses_double_draw=False)
    table.connect()
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert "its exit lock and its sensor for cards drawn together" in str(table.open.note)
    table.count(table.device.left)
    table.deny()
    table.lose_link()
    table.connect()
    assert not table.state.open, "once"
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert ledger.whole


# -- withheld reports --------------------------------------------------------------------------------------------------


def decided(table: TableHarness) -> None:
    """Decide everything that is open."""
    while table.state.open:
        deal_with(table, table.state.open[0])


def test_after_a_withheld_report_was_decided_later_cards_do_not_pass_unseen(unit: Unit) -> None:
    table = in_deal(unit)
    newest = table.state.device.last_report + 1
    table.give(ReportsMissing(table.device.boot, newest, None, withheld=True, newest=newest))
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    decided(table)
    status(table, 5, last_report=newest)
    assert not table.state.open, "nothing more has left"
    table.device.skip_count(SKIPPED)
    status(table, last_report=newest)
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert "differs from the journal" in str(table.open.note)


def test_a_late_report_counts_like_any_other(unit: Unit) -> None:
    table = in_deal(unit)
    newest = table.state.device.last_report + 1
    table.give(ReportsMissing(table.device.boot, newest, None, withheld=True, newest=newest))
    decided(table)
    table.take()
    status(table, 2)
    assert not table.state.open
