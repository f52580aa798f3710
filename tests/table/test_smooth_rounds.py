"""A round in which nothing goes wrong, dealt in sets and in single cards."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Unit
from controller.rules.hands import Outcome
from controller.table import events
from controller.table.phases import Phase
from firmware_bridge.commands import Dispense, HoldExit, ReleaseExit, Shuffle, UnloadStub
from tests.table.harness import TableHarness

HANDS = {"B1": "KD QC JS", "B3": "9D 8C KS", "B6": "2D 3C TS", "D": "KH 7S TD"}
BOTH = pytest.mark.parametrize("unit", Unit)


def dealt_in_order(table: TableHarness) -> list[tuple[str, str]]:
    """Return the place and face of every card in the order of the deal."""
    return [
        (place, held.face.expose().code)
        for dealt in table.events_of(events.CardsDealt)
        for place, held in zip(dealt.places, dealt.cards, strict=True)
        if held.face is not None
    ]


def test_nc_3_12_1_a_set_goes_to_each_box_in_turn_and_the_dealer_last() -> None:
    """NC 1.5: the cards of a place are its hand."""
    table = TableHarness(Unit.SETS, hands=HANDS).start().to_dealing().deal()
    assert dealt_in_order(table) == [
        ("B1", "KD"), ("B1", "QC"), ("B1", "JS"), ("B3", "9D"), ("B3", "8C"), ("B3", "KS"),
        ("B6", "2D"), ("B6", "3C"), ("B6", "TS"), ("D", "KH"), ("D", "7S"), ("D", "TD"),
    ]  # fmt: skip
    assert table.last(events.DealBegan).clause == "NC 3.12.1"


def test_nc_3_12_a_card_goes_to_each_box_and_the_dealer_three_times() -> None:
    table = TableHarness(Unit.SINGLES, hands=HANDS).start().to_dealing().deal()
    assert dealt_in_order(table) == [
        ("B1", "KD"), ("B3", "9D"), ("B6", "2D"), ("D", "KH"), ("B1", "QC"), ("B3", "8C"),
        ("B6", "3C"), ("D", "7S"), ("B1", "JS"), ("B3", "KS"), ("B6", "TS"), ("D", "TD"),
    ]  # fmt: skip
    assert table.last(events.DealBegan).clause == "NC 3.12"


@BOTH
def test_nc_3_4_to_3_13_twelve_cards_leave_and_forty_are_left(unit: Unit) -> None:
    table = TableHarness(unit, hands=HANDS).start().to_dealing().finish()
    counted = table.last(events.StubCounted)
    assert (counted.count, counted.due) == (40, 40)
    assert sum(len(dealt.cards) for dealt in table.events_of(events.CardsDealt)) == 12
    assert not table.events_of(events.IrregularityRaised)
    phases = [event.phase for event in table.events_of(events.PhaseEntered)]
    dealing = Phase.DEALING_SETS if unit is Unit.SETS else Phase.DEALING_SINGLES
    assert phases == [
        Phase.IDLE, Phase.BETTING, dealing, Phase.EXAMINING, Phase.EXPOSING, Phase.SETTLING, Phase.CONCLUDED,
    ]  # fmt: skip


@BOTH
def test_nc_3_13_each_box_is_compared_with_the_dealer(unit: Unit) -> None:
    hands = {"B1": "9D 8C KS", "B3": "2D 3C TS", "B6": "KD 7C TH", "D": "QH 7S TD"}
    table = TableHarness(unit, hands=hands).start().to_dealing().deal().expose_all()
    judged = {event.place: event for event in table.events_of(events.HandJudged)}
    assert {place: event.outcome for place, event in judged.items()} == {
        "B1": Outcome.TIE,
        "B3": Outcome.LOSE,
        "B6": Outcome.TIE,
    }
    assert {str(event.dealer_hand) for event in judged.values()} == {"Single Picture Seven"}
    assert str(judged["B3"].hand) == "Plain Five"


def test_nc_4_1_a_win_on_six_points_pays_half_and_no_other() -> None:
    hands = {"B1": "KD QC 6S", "B3": "2D 4C KS", "B6": "9D 8D TS", "D": "5H TD TC"}
    table = TableHarness(hands=hands).start().to_dealing().deal().expose_all()
    assert {event.place: (event.outcome, event.half) for event in table.events_of(events.HandJudged)} == {
        "B1": (Outcome.WIN, True),
        "B3": (Outcome.WIN, True),
        "B6": (Outcome.WIN, False),
    }


def test_nc_4_1_six_points_pay_half_only_when_they_win() -> None:
    hands = {"B1": "KD QC 6S", "B3": "2D 3C AS", "B6": "KS QD JC", "D": "QH JH 6D"}
    table = TableHarness(hands=hands).start().to_dealing().deal().expose_all()
    assert {event.place: (event.outcome, event.half) for event in table.events_of(events.HandJudged)} == {
        "B1": (Outcome.TIE, False),
        "B3": (Outcome.LOSE, False),
        "B6": (Outcome.WIN, False),
    }


def test_the_shuffler_gets_the_commands_of_a_round_and_no_others() -> None:
    table = TableHarness(hands=HANDS).start().to_dealing().finish()
    received = [command for _, command in table.device.received]
    assert received == [Shuffle(), ReleaseExit(), *[Dispense(3)] * 4, HoldExit(), UnloadStub()]


def test_the_shoes_exit_is_open_only_while_cards_are_due() -> None:
    table = TableHarness(Unit.SINGLES, hands=HANDS).start().to_dealing()
    assert not table.exit_is_held()
    table.take(11)
    assert not table.exit_is_held()
    table.take()
    assert table.exit_is_held()
    assert [command for _, command in table.device.received] == [ReleaseExit(), HoldExit()]


@BOTH
def test_the_next_round_needs_a_fresh_deck_and_starts_clean(unit: Unit) -> None:
    table = TableHarness(unit, hands=HANDS).start().to_dealing().finish()
    first = dealt_in_order(table)
    table.to_dealing().finish()
    assert table.state.round.number == 2
    second = dealt_in_order(table)[len(first) :]
    assert [place for place, _ in second] == [place for place, _ in first]
    assert [face for _, face in second] == [card.code for card in table.device.order[: len(second)]]
    assert not table.events_of(events.IrregularityRaised)


def test_a_device_that_stages_has_the_first_set_ready_before_bets_are_closed() -> None:
    table = TableHarness(hands=HANDS)
    table.device.capabilities = replace(table.device.capabilities, stages=True)
    table.start().to_betting()
    assert [held.ordinal for held in table.state.decks.tray] == [1, 2, 3]
    assert table.exit_is_held(), "with the set in the tray no further card may leave"
    assert table.state.round.dealt == 0
