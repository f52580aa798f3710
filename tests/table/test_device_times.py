"""The device's clock: cards too close together to be single draws, and a clock that runs backwards."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Choice, Facts, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import DeviceReported
from controller.table.phases import Phase
from firmware_bridge.cards import Evidence
from firmware_bridge.observations import ButtonPressed, CardDrawn
from tests.table.harness import TableHarness


def timed(*, senses: bool = False, least: int | None = None, game_id: str = "NC") -> TableHarness:
    """Return a table at the beginning of the deal, with a shoe that cannot sense two cards drawn together."""
    table = TableHarness(Unit.SINGLES, game_id=game_id)
    if least is not None:
        table.settings = replace(table.settings, least_ms_between_draws=least)
    table.device.capabilities = replace(table.device.capabilities, senses_double_draw=senses)
    return table.start().to_dealing()


def draw_at(table: TableHarness, uptime_ms: int | None, boot: int = 0) -> None:
    """Draw the next card at that time of the device's clock."""
    device = table.device
    device.dispensed += 1
    card = device.inside.pop(0)
    device.last_report += 1
    seen = CardDrawn(device.shuffle, device.dispensed, len(device.inside), device.deck, None)
    device.lifted.append(card)
    table.give(DeviceReported(boot or device.boot, device.last_report, uptime_ms, seen, Evidence(b"")))


def raised(table: TableHarness) -> list[str]:
    return [event.row.id for event in table.events_of(events.IrregularityRaised)]


def test_nc_5_11_1_two_cards_49_ms_apart_left_together_and_their_order_is_known() -> None:
    table = timed()
    draw_at(table, 10_000)
    draw_at(table, 10_700)
    draw_at(table, 10_749)
    event = table.last(events.IrregularityRaised)
    assert (event.row.id, event.row.clause, event.ordinals) == ("I15", "NC 5.11.1", (2, 3))
    assert (event.noticed_by, event.facts.order_known, event.device_ms, event.place) == (
        "inference",
        True,
        10_749,
        "B3",
    )
    assert "49 ms" in str(event.note)
    assert "10700" in str(event.note)
    assert "10749" in str(event.note)


def test_the_cards_stay_where_they_were_dealt_and_the_deal_waits() -> None:
    table = timed()
    draw_at(table, 10_000)
    draw_at(table, 10_001)
    assert (table.state.round.dealt, table.state.decks.aside) == (2, ())
    assert [held.ordinal for held in table.state.round.hands["B3"].cards] == [2]
    assert table.exit_is_held()
    table.confirm()
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    assert [held.ordinal for held in table.state.round.hands["B3"].cards] == [2]
    draw_at(table, 20_000)
    assert [held.ordinal for held in table.state.round.hands["B6"].cards] == [3]


def test_the_order_of_cards_dealt_one_by_one_cannot_be_entered_as_unknown() -> None:
    table = timed()
    draw_at(table, 10_000)
    draw_at(table, 10_001)
    unknown = Facts(order_known=False)
    confirm = operations.ConfirmIrregularity(table.open.id, table.open.revision, unknown)
    assert table.refused(confirm, Role.PIT_SUPERVISOR)[0] == "fact"


@pytest.mark.parametrize("apart", [50, 51, 650])
def test_cards_at_the_minimum_distance_are_not_an_irregularity(apart: int) -> None:
    table = timed()
    draw_at(table, 10_000)
    draw_at(table, 10_000 + apart)
    assert not raised(table)


def test_the_casino_sets_the_least_time_or_turns_it_off() -> None:
    wide = timed(least=200)
    draw_at(wide, 10_000)
    draw_at(wide, 10_199)
    assert raised(wide) == ["I15"]
    off = timed(least=0)
    draw_at(off, 10_000)
    draw_at(off, 10_000)
    assert not raised(off)


def test_a_device_that_feels_two_cards_itself_is_believed() -> None:
    table = timed(senses=True)
    draw_at(table, 10_000)
    draw_at(table, 10_001)
    assert not raised(table)


def test_without_a_device_clock_nothing_is_inferred() -> None:
    table = timed()
    for uptime_ms in (None, None, 10_000, None, 10_001):
        draw_at(table, uptime_ms)
    assert not raised(table)


def test_times_of_two_starts_of_the_device_are_not_compared() -> None:
    table = timed()
    draw_at(table, 10_000)
    table.device.last_report = 0
    draw_at(table, 10_001, boot=2)
    draw_at(table, 10_101, boot=2)
    draw_at(table, 10_102, boot=2)
    assert [event.ordinals for event in table.events_of(events.IrregularityRaised)] == [(3, 4)]


def test_the_time_of_the_last_deck_does_not_count_for_this_one() -> None:
    table = timed(least=60_000)
    draw_at(table, 100_000)
    assert not raised(table), "the deck was loaded a moment ago, and no card of it had left"


def test_a_card_too_many_drawn_with_the_last_one_is_raised_once() -> None:
    table = timed()
    for card in range(12):
        draw_at(table, 10_000 + 700 * card)
    draw_at(table, 10_000 + 700 * 11 + 9)
    assert table.at(Phase.EXAMINING)
    event = table.last(events.IrregularityRaised)
    assert (raised(table), event.ordinals, event.facts.curable) == (["I15"], (12, 13), False)
    assert [held.ordinal for held in table.state.decks.aside] == [13]


def test_a_third_card_drawn_with_them_is_set_aside_and_raised() -> None:
    table = timed()
    for uptime_ms in (10_000, 10_010, 10_020):
        draw_at(table, uptime_ms)
    assert raised(table) == ["I15", "I16"]
    assert [held.ordinal for held in table.state.decks.aside] == [3]


@pytest.mark.parametrize(("game_id", "row"), [("TP", ""), ("RTP", "RTP 6.1")])
def test_in_other_games_it_counts_as_simultaneous_cards(game_id: str, row: str) -> None:
    table = timed(game_id=game_id)
    draw_at(table, 10_000)
    draw_at(table, 10_001)
    table.confirm(misplaced=False)
    assert (table.open.row.id, table.open.row.clause, table.open.stage) == ("I15", row, "ruling")


def test_a_clock_that_runs_backwards_in_a_round_is_a_doubt_and_the_card_is_dealt() -> None:
    table = timed(senses=True)
    draw_at(table, 10_000)
    draw_at(table, 9_999)
    assert (raised(table), table.state.round.dealt) == (["I04"], 2)
    event = table.last(events.IrregularityRaised)
    assert (event.noticed_by, "10000 to 9999" in str(event.note)) == ("inference", True)
    table.count(len(table.device.inside))
    table.confirm()
    draw_at(table, 9_000)
    assert raised(table) == ["I04"], "once a round is enough"
    assert [(event.before_ms, event.after_ms) for event in table.events_of(events.ClockRanBackwards)] == [
        (10_000, 9_999),
        (9_999, 9_000),
    ]


def test_a_clock_that_runs_backwards_between_rounds_is_noted() -> None:
    table = TableHarness().start()
    for number, uptime_ms in ((1, 500), (2, 400)):
        table.give(DeviceReported(1, number, uptime_ms, ButtonPressed("green"), Evidence(b"")))
    assert table.last(events.ClockRanBackwards) == events.ClockRanBackwards(1, 500, 400)
    assert not table.state.open


@pytest.mark.parametrize("second", [(1, 500), (1, None), (2, 3)])
def test_a_clock_that_stops_restarts_or_is_missing_raises_no_doubt(second: tuple[int, int | None]) -> None:
    table = timed(senses=True)
    number = table.device.last_report
    boot, uptime_ms = second
    base = 1000 * number
    table.give(DeviceReported(1, number + 1, base + 500, ButtonPressed("green"), Evidence(b"")))
    later = None if uptime_ms is None else uptime_ms + (base if boot == 1 else 0)
    table.give(DeviceReported(boot, number + 2 if boot == 1 else 1, later, ButtonPressed("green"), Evidence(b"")))
    assert not table.events_of(events.ClockRanBackwards)
    assert not table.state.open
