"""Cards that leave the device before "No more bets" (house procedure; NC 5.17 states who decides)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games.specification import RulingAction, Unit
from controller.table import events, operations
from controller.table.model import Stage
from controller.table.phases import Phase
from tests.table.harness import TableHarness

BOTH = pytest.mark.parametrize("unit", Unit)


def taken_early(unit: Unit) -> TableHarness:
    """Lift a set, or draw a card, while bets are open."""
    table = TableHarness(unit)
    if unit is Unit.SETS:
        table.device.capabilities = replace(table.device.capabilities, stages=True)
    table.start().to_betting()
    table.take()
    return table


@BOTH
def test_nc_5_17_cards_taken_early_are_set_aside_and_asked_about(unit: Unit) -> None:
    table = taken_early(unit)
    assert (table.open.row.id, table.open.row.clause, table.open.stage) == ("I28", "NC 5.17", Stage.RULING)
    early = [held.ordinal for held in table.state.decks.aside]
    assert early == ([1, 2, 3] if unit is Unit.SETS else [1])
    assert table.refused(operations.NoMoreBets())[0] == "held"


def test_nc_5_17_when_play_continues_they_are_the_first_cards_of_the_deal() -> None:
    table = taken_early(Unit.SETS)
    table.rule(RulingAction.CONTINUE)
    table.do(operations.NoMoreBets())
    table.move_cards()
    assert not table.state.decks.aside
    assert table.state.round.hands["B1"].cards[0].ordinal == 1
    table.finish()
    assert table.last(events.StubCounted).count == 40


@BOTH
def test_nc_5_17_a_void_before_no_more_bets_returns_bets_and_needs_a_fresh_deck(unit: Unit) -> None:
    table = taken_early(unit)
    table.rule(RulingAction.VOID)
    entered = table.last(events.PhaseEntered)
    assert (entered.phase, entered.clause) == (Phase.VOIDED, "NC 5.15")
    assert table.last(events.RoundVoided).clause == "NC 5.17"
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()


@BOTH
def test_cards_taken_early_twice_are_two_irregularities(unit: Unit) -> None:
    table = taken_early(unit)
    if unit is Unit.SETS:
        table.device.form_set(3)
    table.take()
    assert [found.row.id for found in table.state.open] == ["I28", "I28"]
    for found in table.state.open:
        table.rule(RulingAction.CONTINUE, found=found)
    table.do(operations.NoMoreBets())
    table.finish()


@BOTH
def test_between_rounds_cards_may_be_taken_and_the_deck_is_no_longer_whole(unit: Unit) -> None:
    """Clearing the table or testing the device affects no round."""
    table = TableHarness(unit)
    table.device.capabilities = replace(table.device.capabilities, unloads_stub=False)
    table.start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    if unit is Unit.SETS:
        table.device.form_set(3)
    table.take()
    assert not table.state.open
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"
    table.to_dealing().finish()
    assert len(table.events_of(events.CardsSetAside)) == 1


@pytest.mark.parametrize("game_id", ["NC", "F3"])
@pytest.mark.parametrize("unit", Unit)
def test_bets_closed_by_mistake_are_opened_again_until_a_card_has_left(unit: Unit, game_id: str) -> None:
    table = TableHarness(unit, game_id=game_id).start().to_betting()
    table.do(operations.NoMoreBets())
    table.do(operations.ReopenBets())
    assert table.at(Phase.BETTING)
    if game_id == "NC":
        table.do(operations.OccupyBoxes((1, 2)))
    table.do(operations.NoMoreBets())
    table.take()
    assert table.refused(operations.ReopenBets())[0] == "cards-out"
