"""A card counts once, however often the device reports it: reports never raise the account above 52."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events
from controller.table.counts import ledger_of
from controller.table.inputs import DeviceReported
from firmware_bridge.cards import DECK, Concealed, Evidence
from firmware_bridge.observations import CardDrawn, CardsDrawnTogether, FaceUpFound, SetDispensed, SetRemoved
from tests.table.harness import TableHarness

Seen = Callable[[TableHarness, int], None]


def account(table: TableHarness) -> int:
    ledger = ledger_of(table.state)
    assert ledger is not None
    return ledger.total


def faces(table: TableHarness, first: int, count: int) -> tuple[Concealed, ...]:
    """Return the faces that the device read. The harness deals a known order."""
    held = {card.ordinal: card.face for card in table.state.round.read}
    return tuple(held.get(first + n) or Concealed(DECK[0], table.device.shuffle, first + n) for n in range(count))


def as_set(table: TableHarness, first: int) -> None:
    device = table.device
    device.report(SetDispensed(device.shuffle, first, 50 - first, device.deck, faces(table, first, 3)))


def as_card(table: TableHarness, first: int) -> None:
    device = table.device
    device.report(CardDrawn(device.shuffle, first, 52 - first, device.deck, faces(table, first, 1)[0]))


def as_two(table: TableHarness, first: int) -> None:
    device = table.device
    device.report(CardsDrawnTogether(device.shuffle, first, 51 - first, device.deck, True, faces(table, first, 2)))


def as_removal(table: TableHarness, first: int) -> None:
    table.device.report(SetRemoved(table.device.shuffle, first))


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("seen", [as_set, as_card, as_two, as_removal])
@pytest.mark.parametrize("first", [1, 4])
def test_a_second_report_is_a_doubt_and_moves_no_card(unit: Unit, seen: Seen, first: int) -> None:
    """The second report may have another form: first as a set, then as a drawn card."""
    table = TableHarness(unit).start().to_dealing()
    table.take(2 if unit is Unit.SETS else 6)
    before = table.state
    seen(table, first)
    assert [found.kind for found in table.state.open] == [Kind.COUNT_IN_DOUBT]
    assert "again" in str(table.open.note)
    after = table.state
    assert (after.round.hands, after.decks.tray, after.decks.aside) == (
        before.round.hands,
        before.decks.tray,
        before.decks.aside,
    )
    assert after.decks.in_play.dispensed == before.decks.in_play.dispensed
    assert account(table) == 52
    seen(table, first)
    assert account(table) == 52


def test_a_set_in_the_tray_that_is_reported_again_is_one_set() -> None:
    table = TableHarness().start().to_dealing()
    as_set(table, 1)
    assert (len(table.state.decks.tray), account(table)) == (3, 52)
    assert table.open.kind is Kind.COUNT_IN_DOUBT


def test_of_a_report_that_names_old_cards_and_new_ones_the_new_ones_count() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(3)
    table.device.report(
        CardsDrawnTogether(table.device.shuffle, 3, 48, 1, True, (*faces(table, 3, 1), *faces(table, 4, 1)))
    )
    assert [card.ordinal for card in table.state.decks.aside] == [4]
    assert account(table) == 52
    assert Kind.COUNT_IN_DOUBT in {found.kind for found in table.state.open}


@pytest.mark.parametrize("unit", Unit)
def test_the_round_continues_after_the_doubt(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take(2)
    (as_set if unit is Unit.SETS else as_card)(table, 1)
    table.count(table.state.stub_due)
    table.confirm()
    assert not table.state.open
    table.finish()


def test_a_card_found_face_up_and_then_drawn_counts_once() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    table.device.find_face_up(3)
    table.deny()
    table.take(1)
    assert account(table) == 52


@pytest.mark.parametrize("count", [0, 2, 40])
@pytest.mark.parametrize("unit", Unit)
def test_a_decreasing_device_count_does_not_refill_the_stub(unit: Unit, count: int) -> None:
    table = TableHarness(unit).start().to_dealing()
    table.take(3)
    table.device.dispensed = min(count, table.device.dispensed)
    table.heartbeat()
    assert account(table) <= 52
    table.count(min(60, table.state.stub_due))
    assert account(table) == 52
    table.device.dispensed = 1
    table.heartbeat()
    assert account(table) == 52


def test_a_tray_that_is_occupied_by_cards_known_elsewhere_does_not_count_them_twice() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.device.tray = [DECK[0]]
    table.heartbeat()
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert (account(table), table.state.stub_due) == (52, 40)


# -- two draws or a repeated report


def shoe() -> TableHarness:
    """Return a table with a shoe without a double-draw sensor: only the times of two draws show whether they left
    together.
    """
    table = TableHarness(Unit.SINGLES).start()
    table.device.capabilities = replace(table.device.capabilities, senses_double_draw=False)
    table.connect()
    table.to_dealing()
    table.take(3)
    return table


def report_after(table: TableHarness, milliseconds: int, ordinal: int, deck: int = 1) -> None:
    device = table.device
    assert table.state.device.uptime_ms is not None
    device.last_report += 1
    drawn = CardDrawn(device.shuffle, ordinal, 52 - ordinal, deck, Concealed(DECK[-1], device.shuffle, ordinal))
    at = table.state.device.uptime_ms + milliseconds
    table.give(DeviceReported(device.boot, device.last_report, at, drawn, Evidence(b"x")))


def test_a_repeated_ordinal_is_not_a_second_draw() -> None:
    table = shoe()
    report_after(table, 0, 3)
    assert [found.kind for found in table.state.open] == [Kind.COUNT_IN_DOUBT]
    assert "card 3 again" in str(table.open.note)
    assert not [raised for raised in table.events_of(events.IrregularityRaised) if "ms apart" in str(raised.note)]


def test_a_card_of_an_unknown_deck_is_not_a_second_draw() -> None:
    table = shoe()
    report_after(table, 0, 4, deck=9)
    assert [found.kind for found in table.state.open] == [Kind.COUNT_IN_DOUBT]


def test_the_next_card_too_close_is_an_irregularity() -> None:
    table = shoe()
    report_after(table, 0, 4)
    assert [found.kind for found in table.state.open] == [Kind.SIMULTANEOUS]
    assert "0 ms apart" in str(table.open.note)


# -- one face twice


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize("second", [3, 8, 12])
def test_a_face_read_twice_raises_i02_at_the_second_reading(unit: Unit, second: int) -> None:
    """The shuffle had counted a whole deck without duplicates."""
    table = TableHarness(unit).start()
    table.device.order[second - 1] = table.device.order[0]
    table.to_dealing()
    while not table.state.open:
        table.take()
    assert table.open.kind is Kind.DECK_COUNT
    assert table.open.ordinals == (second,)
    assert table.state.decks.in_play.dispensed == (second if unit is Unit.SINGLES else -(-second // 3) * 3)


def test_a_face_found_face_up_and_drawn_as_another_card_is_i02() -> None:
    table = TableHarness(Unit.SINGLES).start()
    table.device.order[2] = table.device.order[6]
    table.to_dealing()
    table.device.find_face_up(7)
    table.confirm(Role.DEALER)
    table.take(3)
    assert (table.open.kind, table.open.ordinals) == (Kind.DECK_COUNT, (3,))


def test_a_face_that_was_drawn_and_is_found_face_up_in_the_device_is_i02() -> None:
    table = TableHarness(Unit.SINGLES).start()
    table.device.order[6] = table.device.order[0]
    table.to_dealing()
    table.take(2)
    table.device.find_face_up(7)
    assert {found.kind for found in table.state.open} == {Kind.DECK_COUNT, Kind.FACE_UP_IN_DEVICE}


def test_a_card_that_is_read_as_two_faces_is_a_doubt() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    device = table.device
    device.report(FaceUpFound(device.shuffle, 1, device.deck, Concealed(DECK[30], device.shuffle, 1)))
    table.confirm(Role.DEALER)
    device.inside[0] = DECK[31]
    table.take()
    assert (table.open.kind, table.open.ordinals) == (Kind.COUNT_IN_DOUBT, (1,))
