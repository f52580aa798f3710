"""Rounds of F3 at a table: the First Card, and the causes of a void."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import Kind, RulingAction, Unit
from controller.rules.dealing_order import DEALER
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Service
from controller.table.settings import ChosenReading, Settings
from firmware_bridge.cards import DECK, RANKS
from firmware_bridge.commands import Dispense
from tests.table.harness import TableHarness

by_unit = pytest.mark.parametrize("unit", Unit)


def table_of(unit: Unit = Unit.SETS, **more: object) -> TableHarness:
    return TableHarness(unit, game_id="F3", **more).start()  # type: ignore[arg-type]  # options of the harness


@by_unit
@pytest.mark.parametrize("rank", range(1, 14))
def test_f3_pm5_the_first_card_says_where_the_deal_begins(unit: Unit, rank: int) -> None:
    """The deal starts at a different place for each of the 13 ranks; the First Card does not belong to a hand."""
    first = f"{RANKS[rank - 1]}H"
    begins = {0: "B3", 1: DEALER, 2: "B1", 3: "B2"}[rank % 4]  # A 5 9 K; 2 6 10; 3 7 J; 4 8 Q
    table = table_of(unit, hands={"F": first}).to_dealing()
    shown = table.last(events.FirstCardShown)
    assert (shown.card.code, shown.clause) == (first, "F3 PM5")
    assert table.state.round.places[0] == begins
    circle = [DEALER, "B1", "B2", "B3"] * 2
    start = circle.index(begins)
    assert list(dict.fromkeys(table.state.round.places)) == circle[start : start + 4]
    table.deal()
    assert table.state.round.first_card is not None
    table.expose_all().settle().conclude()
    assert table.last(events.StubCounted).due == 39


@by_unit
def test_reading_18_the_first_card_may_be_the_first_of_the_first_hand(unit: Unit) -> None:
    chosen = (ChosenReading("first_card", "in_hand"),)
    settings = Settings("F3", unit, 3, count_stub_by_hand=True, readings=chosen)
    table = TableHarness(unit, hands={"F": "2H"}, settings=settings, game_id="F3").start().to_dealing()
    assert table.state.round.first_card is None
    assert [held.ordinal for held in table.state.round.hands["B1"].cards] == [1]
    table.deal().expose_all().settle().conclude()
    assert table.last(events.StubCounted).due == 40


def test_f3_pm2_a_shuffler_forms_a_set_of_one_for_the_first_card() -> None:
    table = table_of().to_dealing()
    assert [listed for _, listed in table.device.received if isinstance(listed, Dispense)][:2] == [
        Dispense(1),
        Dispense(3),
    ]


def test_f3_pm2_a_device_that_cannot_yield_one_card_is_refused() -> None:
    table = TableHarness(Unit.SETS, game_id="F3")
    table.device.capabilities = replace(table.device.capabilities, dispenses="on_removal")
    table.start()
    assert table.at(Service.OUT_OF_SERVICE)
    assert "cannot yield one" in str(table.state.service_cause)


def test_f3_pm5_a_first_card_that_was_not_read_is_named_by_the_dealer() -> None:
    table = table_of(Unit.SINGLES, hands={"F": "4H"}).to_betting()
    table.do(operations.NoMoreBets())
    assert table.refused(operations.ShowFirstCard())[0] == "no-card"
    table.device.capabilities = replace(table.device.capabilities, recognises_cards=False)
    table.take()
    assert table.refused(operations.ShowFirstCard())[0] == "unread"
    table.do(operations.ShowFirstCard(DECK[3]))
    assert table.state.round.places[0] == "B3"


def test_f3_pm5_the_card_on_the_table_counts_and_a_difference_is_reported() -> None:
    table = table_of(Unit.SINGLES, hands={"F": "4H"}).to_betting()
    table.do(operations.NoMoreBets())
    table.take()
    table.do(operations.ShowFirstCard(DECK[1]))
    assert table.state.round.places[0] == "B1"
    assert table.open.kind is Kind.OTHER_DEALING_ERROR


def test_f3_pm5_a_card_taken_before_the_first_card_is_shown_waits_and_is_reported() -> None:
    table = table_of(Unit.SINGLES, hands={"F": "2H"}).to_betting()
    table.do(operations.NoMoreBets())
    table.take(2)
    assert table.open.kind is Kind.OTHER_DEALING_ERROR
    assert len(table.state.decks.aside) == 1
    assert (table.open.row.clause, table.open.asks) == ("F3 X2", ("misplaced",)), "people say whether it is an error"
    table.confirm(misplaced=False)
    assert table.open.stage is Stage.RULING, "only the moment was wrong, and F3 says nothing of it"
    table.rule(RulingAction.CONTINUE)
    table.do(operations.ShowFirstCard())
    table.move_cards()
    assert table.state.round.hands["B1"].size == 1, "it is dealt where it belongs"
    table.finish()


def test_f3_x2_a_wrong_placement_voids_however_cards_were_handled() -> None:
    table = table_of().to_dealing().deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    assert not table.open.asks
    table.confirm()
    assert table.last(events.RoundVoided).clause == "F3 X2"
