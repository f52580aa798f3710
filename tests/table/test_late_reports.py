"""Cards dealt by hand that the device reports when it reconnects: they are not counted twice."""

from __future__ import annotations

from controller.games.specification import Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.dealing import DEALT_BY_HAND
from controller.table.inputs import DeviceReported, ReportsMissing
from controller.table.phases import Phase
from tests.table.harness import TableHarness
from tests.table.watched import WatchedTable


def lying(table: TableHarness) -> list[tuple[int, int]]:
    state = table.state
    cards = [held for hand in state.round.hands.values() for held in hand.cards] + [
        *state.decks.tray,
        *state.decks.aside,
    ]
    return [held.id for held in cards]


def noted(table: TableHarness) -> list[str]:
    return [str(event.detail) for event in table.events_of(events.DeviceNoted) if event.what == DEALT_BY_HAND]


def by_hand(table: TableHarness, cards: int) -> None:
    table.do(operations.DealByHand(cards, "the device is dead"), Role.PIT_SUPERVISOR)


def lost(unit: Unit = Unit.SINGLES) -> TableHarness:
    """Return a table with two turns dealt and the link lost."""
    table = WatchedTable(unit).start().to_dealing()
    table.take(2)
    table.lose_link()
    return table


def test_a_card_that_was_dealt_by_hand_already_is_in_no_second_place() -> None:
    table = lost()
    table.take()
    by_hand(table, 10)
    assert table.at(Phase.EXAMINING)
    before = table.state.round.hands
    table.connect()
    assert table.state.round.hands == before
    assert not table.state.decks.aside
    assert not table.events_of(events.IrregularityRaised)
    assert noted(table) == ["card 3"]


def test_several_of_them_and_the_rest_dealt_one_by_one() -> None:
    table = lost()
    table.take(3)
    by_hand(table, 4)
    table.connect()
    by_hand(table, 6)
    assert noted(table) == ["card 3", "card 4", "card 5"]
    assert not table.state.open
    assert sorted(ordinal for _, ordinal in lying(table)) == list(range(1, 13))


def test_cards_drawn_together_that_were_dealt_by_hand_are_noted_too() -> None:
    table = lost()
    table.device.draw_together(2)
    by_hand(table, 10)
    table.connect()
    assert noted(table) == ["cards 3, 4"]
    assert not table.state.open


def test_a_card_not_dealt_by_hand_is_set_aside_and_raised() -> None:
    table = lost()
    table.take(2)
    by_hand(table, 1)
    table.connect()
    assert noted(table) == ["card 3"]
    assert [held.ordinal for held in table.state.decks.aside] == [4]
    assert [(found.row.id, found.ordinals) for found in table.state.open] == [("I16", (4,))]
    assert "by hand" in str(table.last(events.IrregularityRaised).note)
    assert len(lying(table)) == len(set(lying(table))) == 4


def test_of_cards_drawn_together_only_the_new_one_waits() -> None:
    table = lost()
    table.device.draw_together(2)
    by_hand(table, 1)
    table.connect()
    assert (noted(table), [held.ordinal for held in table.state.decks.aside]) == (["card 3"], [4])
    assert [found.row.id for found in table.state.open] == ["I15"]


def test_late_reports_of_a_set_dealt_by_hand_are_noted() -> None:
    table = WatchedTable(Unit.SETS).start().to_dealing()
    table.take()
    table.lose_link()
    table.device.lift()
    table.device.form_set(3)
    table.device.lift()
    for _ in range(2):
        by_hand(table, 3)
    table.connect()
    assert noted(table) == [
        "the set that began with card 4 was lifted",
        "cards 7, 8, 9",
        "the set that began with card 7 was lifted",
    ]
    assert not table.state.decks.tray
    assert not table.state.open
    by_hand(table, 3)
    assert sorted(ordinal for _, ordinal in lying(table)) == list(range(1, 13))


def test_a_set_in_the_tray_that_was_dealt_by_hand_is_lifted_only_once() -> None:
    table = lost(Unit.SETS)
    assert len(table.state.decks.tray) == 3
    table.device.lift()
    by_hand(table, 3)
    table.connect()
    assert noted(table) == ["the set that began with card 7 was lifted"]
    assert not table.state.open
    by_hand(table, 3)
    assert table.at(Phase.EXAMINING)


def test_a_first_card_that_was_shown_by_hand_is_noted() -> None:
    table = WatchedTable(Unit.SINGLES, "F3").start().to_betting()
    table.do(operations.NoMoreBets())
    table.lose_link()
    table.take()
    by_hand(table, 1)
    table.connect()
    assert noted(table) == ["card 1"]
    assert not table.state.open
    assert table.state.round.first_card is not None


def test_after_lost_reports_no_card_is_counted_twice() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    reports = [given for given, _ in table.steps if isinstance(given, DeviceReported)]
    table.give(ReportsMissing(1, table.state.device.last_report + 1, None))
    assert [found.row.id for found in table.state.open] == ["I04"]
    table.count(len(table.device.inside))
    table.confirm()
    for given in reports:
        table.give(given)
    assert table.state.round.dealt == 2
    table.take()
    assert table.state.round.dealt == 3
    table.finish()


def test_and_those_of_the_start_that_runs_are_taken_in_order() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.lose_link()
    table.device.reboot("watchdog")
    table.give(ReportsMissing(1, table.state.device.last_report + 1, None))
    table.count(len(table.device.inside))
    table.confirm()
    table.take(2)
    table.connect()
    assert (table.state.device.boot, table.state.device.last_report) == (2, 3)
    assert (table.state.round.dealt, table.state.open) == (4, ())
    table.do(operations.ContinueRound())
    table.finish()
