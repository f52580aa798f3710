"""A deck put into the device during a round, in place of the rest of the deck in play: the effect on later statuses.

The status describes the deck in the device. The waiting deck holds none of the 52 cards of the round, so it puts
nothing in doubt. Cards of it that leave unreported do, and so do cards of a deck whose loading was not reported.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.inputs import ReportsMissing
from controller.table.model import Pile
from controller.table.phases import Phase, Service
from firmware_bridge.cards import DECK, Concealed
from firmware_bridge.commands import UnloadStub
from firmware_bridge.observations import (
    CardDrawn,
    CardsDrawnTogether,
    DeckLoaded,
    SetDispensed,
    SetRemoved,
    ShuffleAborted,
    ShuffleStarted,
    StubUnloaded,
)
from tests.table.deck_hands import OTHER, load_beside, next_deck
from tests.table.harness import TableHarness

UNITS = pytest.mark.parametrize("unit", Unit)


def dealing(unit: Unit, taken: int = 2) -> TableHarness:
    table = TableHarness(unit).start().to_dealing()
    table.take(taken)
    return table


def account(table: TableHarness) -> int:
    ledger = ledger_of(table.state)
    assert ledger is not None
    return ledger.total


def reconnect(table: TableHarness) -> None:
    table.lose_link()
    table.connect()


def start_daemon_again(table: TableHarness) -> None:
    table.start_daemon_again()
    table.connect()


def reset(table: TableHarness) -> None:
    """Restart the device without a loss of power, so that it still knows its decks."""
    table.lose_link()
    table.device.reboot("watchdog")
    table.device.exit_held = True
    table.connect()


AGAIN = (TableHarness.heartbeat, reconnect, start_daemon_again, reset)


@UNITS
@pytest.mark.parametrize("happens", AGAIN)
def test_a_status_of_the_new_deck_puts_nothing_in_doubt(unit: Unit, happens: Callable[[TableHarness], None]) -> None:
    table = dealing(unit)
    before = table.state
    table.device.put_in_another()
    assert table.device.status.dispensed == 0
    for _ in range(2):
        happens(table)
        assert not table.state.open
    if unit is Unit.SETS:
        table.device.shuffle_another()
        happens(table)
        assert not table.state.open
    after = table.state
    assert account(table) == 52
    assert after.decks.in_play.dispensed == before.decks.in_play.dispensed
    assert after.decks.in_play.shuffle == before.decks.in_play.shuffle
    assert (after.decks.tray, after.round.hands) == (before.decks.tray, before.round.hands)
    assert not table.events_of(events.StatusDiffers)


@UNITS
def test_it_is_put_in_while_the_link_is_lost(unit: Unit) -> None:
    table = dealing(unit)
    table.lose_link()
    table.device.put_in_another()
    table.connect()
    assert not table.state.open
    assert next_deck(table).deck == OTHER


@UNITS
def test_from_its_status_on_the_exit_is_held_and_the_stub_is_dealt_by_hand(unit: Unit) -> None:
    """The device would deal from the other deck. Its rest is not unloaded either: people count the stub by hand."""
    table = dealing(unit)
    table.device.put_in_another()
    table.heartbeat()
    if unit is Unit.SETS:
        table.device.lift()  # the set that had been formed before
    assert table.exit_is_held()
    assert table.state.decks.in_play.stub_out
    left = len(table.state.round.places) - table.state.round.dealt
    before = len(table.device.received)
    table.do(operations.DealByHand(left, "another deck lies in the device"), Role.PIT_SUPERVISOR)
    assert table.at(Phase.EXAMINING)
    assert not [command for _, command in table.device.received[before:] if isinstance(command, UnloadStub)]
    assert account(table) == 52
    table.count(40)
    assert not table.state.open
    assert account(table) == 52


@UNITS
def test_the_new_deck_is_in_play_from_the_next_round(unit: Unit) -> None:
    table = dealing(unit, 0).deal()
    table.device.put_in_another()
    table.heartbeat()
    for place in ("D", "B1", "B3", "B6"):
        table.expose(place)
    if table.state.decks.in_play.stub is None:
        table.count(40)
    table.do(operations.RecordSettled())
    table.conclude()
    table.heartbeat()
    if unit is Unit.SINGLES:
        table.do(operations.ShuffledOutside("batch shuffler"))
    table.do(operations.PlaceYourBets())
    table.heartbeat()
    assert table.state.round.deck == OTHER
    assert table.at(Service.IN_SERVICE)
    assert not table.state.open
    assert not table.events_of(events.StatusDiffers)


@UNITS
def test_a_deck_that_is_put_in_its_place_after_the_round_is_dealt_from(unit: Unit) -> None:
    table = dealing(unit, 0).deal()
    table.device.put_in_another()
    table.heartbeat()
    table.expose_all()
    if table.state.decks.in_play.stub is None:
        table.count(40)
    table.do(operations.RecordSettled())
    table.conclude()
    table.device.put_in_another()
    table.heartbeat()
    if unit is Unit.SINGLES:
        table.do(operations.ShuffledOutside("batch shuffler"))
    table.do(operations.PlaceYourBets())
    table.heartbeat()
    assert table.state.round.deck == OTHER + 1
    assert not table.events_of(events.StatusDiffers)


@UNITS
def test_a_start_whose_deck_was_replaced_is_cancelled_and_begins_with_the_other(unit: Unit) -> None:
    table = TableHarness(unit).start().to_betting()
    table.device.put_in_another()
    table.heartbeat()
    assert not table.state.open
    table.do(operations.CancelStart(announced=True))
    if unit is Unit.SINGLES:
        table.do(operations.ShuffledOutside("batch shuffler"))
    table.do(operations.PlaceYourBets())
    assert table.state.round.deck == OTHER


def test_an_aborted_shuffle_of_the_new_deck_puts_nothing_in_doubt() -> None:
    table = dealing(Unit.SETS)
    table.device.put_in_another()
    table.device.shuffle_another()
    table.device.report(ShuffleStarted(table.device.deck))
    table.device.report(ShuffleAborted(table.device.deck, 20))
    table.device.shuffle = 0
    table.heartbeat()
    reconnect(table)
    assert not table.state.open


@UNITS
def test_a_new_deck_taken_out_again_puts_nothing_in_doubt(unit: Unit) -> None:
    table = dealing(unit)
    table.device.put_in_another()
    table.device.report(StubUnloaded(table.device.deck, 52))
    table.device.shuffle = 0  # the device is empty
    table.heartbeat()
    reconnect(table)
    assert not table.state.open
    assert account(table) == 52


@UNITS
def test_a_third_deck_in_its_place_puts_nothing_in_doubt(unit: Unit) -> None:
    table = dealing(unit)
    for _ in range(2):
        table.device.put_in_another()
        table.heartbeat()
    assert next_deck(table).deck == OTHER + 1
    assert not table.state.open


@UNITS
def test_a_second_compartment_leaves_the_status_with_the_deck_in_play(unit: Unit) -> None:
    table = dealing(unit)
    load_beside(table)
    table.heartbeat()
    assert not table.state.decks.in_play.stub_out
    table.deal()
    assert not table.state.open


# -- doubts


@UNITS
def test_a_set_that_vanished_from_the_tray_is_a_doubt_also_with_another_deck_in(unit: Unit) -> None:
    table = dealing(unit)
    table.device.put_in_another()
    table.device.tray = []
    table.heartbeat()
    assert bool(table.state.open) is (unit is Unit.SETS)


def test_a_set_of_the_deck_in_play_that_was_not_reported_is_a_doubt_and_counts_once() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.device.put_in_another()
    table.device.tray = list(DECK[:3])
    table.heartbeat()
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    shuffle, dispensed = table.state.decks.in_play.shuffle, table.state.decks.in_play.dispensed
    assert [card.id for card in table.state.decks.tray] == [(shuffle, dispensed + n) for n in (1, 2, 3)]
    assert account(table) == 52


@UNITS
def test_unreported_cards_of_the_waiting_deck_are_a_doubt_but_change_no_count(unit: Unit) -> None:
    table = dealing(unit)
    table.device.put_in_another()
    dispensed = table.state.decks.in_play.dispensed
    if unit is Unit.SETS:
        table.device.shuffle_another()
    table.device.skip_count(1)
    table.heartbeat()
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert "next deck" in str(table.open.note)
    assert (table.state.decks.in_play.dispensed, account(table)) == (dispensed, 52)
    table.heartbeat()
    assert len(table.events_of(events.StatusDiffers)) == 1, "the device's number is compared from then on"


@UNITS
def test_a_status_without_a_shuffle_is_a_doubt_where_no_deck_was_put_in(unit: Unit) -> None:
    table = dealing(unit)
    table.device.shuffle = table.device.dispensed = 0
    table.heartbeat()
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert account(table) == 52


@UNITS
def test_a_deck_whose_report_is_lost_is_a_doubt(unit: Unit) -> None:
    table = dealing(unit)
    table.lose_link()
    first = table.device.last_report + 1
    table.device.put_in_another()
    table.device.forget_waiting()
    table.connect()
    table.give(ReportsMissing(table.device.boot, first, first))
    table.heartbeat()
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert account(table) == 52


@UNITS
def test_a_deck_under_the_number_of_the_one_in_play_is_a_doubt(unit: Unit) -> None:
    table = dealing(unit)
    table.device.report(DeckLoaded(table.state.round.deck, 52, 99))
    assert table.open.kind is Kind.COUNT_IN_DOUBT


# -- a stray set


def test_a_set_of_the_waiting_deck_in_the_tray_is_not_a_set_of_the_round() -> None:
    """It is I01; the occupied tray does not show that cards of the deck in play passed unseen."""
    table = dealing(Unit.SETS)
    table.device.lift()
    table.device.put_in_another()
    table.device.tray = []
    table.device.shuffle_another()
    before = len(table.state.decks.tray)
    table.device.tray = []
    table.device.form_set(3)
    table.heartbeat()
    assert "I01" in [found.row.id for found in table.state.open]
    assert len(table.state.decks.tray) == before
    assert account(table) == 52


# -- a deck without a report

UNKNOWN = 9


def faces(shuffle: int, first: int, count: int) -> tuple[Concealed, ...]:
    return tuple(Concealed(DECK[-1 - n], shuffle, first + n) for n in range(count))


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("same_shuffle", [False, True])
@pytest.mark.parametrize("form", ["drawn", "together", "set"])
def test_cards_of_an_unknown_deck_are_a_doubt_and_are_not_dealt(form: str, *, same_shuffle: bool, waits: bool) -> None:
    table = dealing(Unit.SETS if form == "set" else Unit.SINGLES)
    if form == "set":
        table.device.lift()
    if waits:
        load_beside(table)
    device, before = table.device, table.state
    shuffle = device.shuffle if same_shuffle else 4711
    first, left = device.dispensed + 1, device.loaded - device.dispensed
    if form == "drawn":
        device.report(CardDrawn(shuffle, first, left - 1, UNKNOWN, faces(shuffle, first, 1)[0]))
    elif form == "together":
        device.report(CardsDrawnTogether(shuffle, first, left - 2, UNKNOWN, True, faces(shuffle, first, 2)))
    else:
        device.report(SetDispensed(shuffle, first, left - 3, UNKNOWN, faces(shuffle, first, 3)))
        device.report(SetRemoved(shuffle, first))
    doubts = [found for found in table.state.open if found.kind is Kind.COUNT_IN_DOUBT]
    assert len(doubts) == 1
    assert f"deck {UNKNOWN}" in str(doubts[0].note)
    assert table.state.round.hands == before.round.hands
    assert bool(table.state.round.piles.get(Pile.STRAYS)) is not same_shuffle
    assert account(table) == 52
    if waits:
        assert not next_deck(table).used, "they are none of the deck that waits"


def test_cards_without_a_deck_number_are_of_the_deck_in_play() -> None:
    table = dealing(Unit.SINGLES)
    device, dealt = table.device, table.state.round.dealt
    first = device.dispensed + 1
    device.report(CardDrawn(device.shuffle, first, device.loaded - first, 0, faces(device.shuffle, first, 1)[0]))
    assert table.state.round.dealt == dealt + 1
    assert not [found for found in table.state.open if found.kind is Kind.COUNT_IN_DOUBT]
