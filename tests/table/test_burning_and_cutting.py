"""Cards burnt before the deal, where the casino burns cards, and the cut of a manual shoe's deck."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.api.view import LinkView, view_of
from controller.games.specification import Kind, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.counts import ledger_of
from controller.table.inputs import DeviceConnected
from controller.table.model import Pile
from controller.table.phases import Phase, Service
from controller.table.settings import Settings
from firmware_bridge.commands import Dispense
from tests.table.harness import TableHarness
from tests.table.said import next_step


def burning(unit: Unit, burn: int, game_id: str = "NC") -> TableHarness:
    boxes = 3 if game_id == "F3" else 7
    settings = Settings(game_id, unit, boxes, count_stub_by_hand=True, burn=burn)
    return TableHarness(unit, settings=settings, game_id=game_id).start()


def to_burn(unit: Unit, burn: int, game_id: str = "NC") -> TableHarness:
    table = burning(unit, burn, game_id).to_betting()
    table.do(operations.NoMoreBets())
    return table


def burnt(table: TableHarness) -> list[int]:
    return [card.ordinal for card in table.state.round.piles.get(Pile.BURNT, ())]


# -- the burn


@pytest.mark.parametrize("burn", [1, 2, 5])
def test_single_cards_the_first_ones_are_burnt_and_the_deal_follows(burn: int) -> None:
    table = to_burn(Unit.SINGLES, burn)
    assert view_of(table.state, LinkView()).burn_due == burn
    table.take(burn)
    assert burnt(table) == list(range(1, burn + 1))
    assert not table.state.round.dealt
    table.take()
    assert [card.ordinal for card in table.state.round.hands["B1"].cards] == [burn + 1]
    table.deal()
    assert table.state.stub_due == 40 - burn
    table.expose_all().settle().conclude()


@pytest.mark.parametrize("burn", [1, 2, 4])
def test_a_set_of_the_cards_to_burn_is_dispensed_and_burnt(burn: int) -> None:
    table = to_burn(Unit.SETS, burn)
    assert [command for _, command in table.device.received if isinstance(command, Dispense)] == [Dispense(burn)]
    table.take()
    assert burnt(table) == list(range(1, burn + 1))
    table.take()
    assert len(table.state.round.hands["B1"].cards) == 3
    table.deal().expose_all().settle().conclude()
    assert table.last(events.StubCounted).count == 40 - burn
    table.fresh_deck()
    assert not table.state.round.piles


@pytest.mark.parametrize("unit", Unit)
def test_the_burn_comes_before_the_first_card(unit: Unit) -> None:
    table = to_burn(unit, 1, "F3")
    table.take(2)
    assert burnt(table) == [1]
    assert table.state.round.first_card is not None
    assert table.state.round.first_card.ordinal == 2
    table.do(operations.ShowFirstCard())
    table.deal().expose_all()
    ledger = ledger_of(table.state)
    assert ledger is not None
    assert (ledger.burnt, ledger.first_card, ledger.whole) == (1, 1, True)


def test_without_the_setting_no_card_is_burnt() -> None:
    table = to_burn(Unit.SINGLES, 0)
    table.take()
    assert not table.events_of(events.CardsBurnt)
    assert table.state.round.dealt == 1


def test_with_burnt_cards_no_set_is_formed_before_no_more_bets() -> None:
    table = burning(Unit.SETS, 1)
    table.device.capabilities = replace(table.device.capabilities, stages=True)
    table.connect()
    table.to_betting()
    assert not table.state.decks.tray
    table.do(operations.NoMoreBets())
    assert len(table.state.decks.tray) == 1


def test_once_a_card_is_burnt_bets_stay_closed() -> None:
    table = to_burn(Unit.SINGLES, 1)
    table.take()
    assert table.refused(operations.ReopenBets())[0] == "cards-out"


def test_nc_5_10_a_face_up_burn_card_is_treated_as_one_but_is_in_no_hand() -> None:
    table = to_burn(Unit.SINGLES, 1)
    table.device.draw(face_up=True)
    assert (table.open.row.clause, table.open.place) == ("NC 5.10", None)
    assert burnt(table) == [1]


def test_nc_5_5_1_a_burn_card_of_another_deck_voids_the_round() -> None:
    table = to_burn(Unit.SINGLES, 1)
    table.device.draw(foreign=1)
    table.confirm()
    assert table.last(events.RoundVoided).clause == "NC 5.5.1"


def test_a_burn_set_of_the_wrong_size_is_held_and_the_rest_of_it_is_dealt() -> None:
    table = burning(Unit.SETS, 1).to_betting()
    table.device.next_set = 2
    table.do(operations.NoMoreBets())
    assert (table.open.kind, table.open.place) == (Kind.SIMULTANEOUS, None)
    table.device.lift()
    assert not burnt(table), "nothing is burnt while the table is held"
    table.confirm(order_known=False)
    table.name_order(2, 1)
    table.all_continue()
    assert next_step(table.state).startswith("Burn the set-aside card. Move the set-aside card to box 1. Then")
    table.move_cards()
    assert burnt(table) == [2]
    assert [card.ordinal for card in table.state.round.hands["B1"].cards] == [1]


def test_a_wrong_number_burnt_is_reported_by_people() -> None:
    table = to_burn(Unit.SINGLES, 1)
    table.take(2)
    table.report(Kind.OTHER_DEALING_ERROR, note="two cards were burnt")
    assert table.open.kind is Kind.OTHER_DEALING_ERROR


def test_a_different_count_of_the_burnt_pile_puts_the_count_in_doubt() -> None:
    table = to_burn(Unit.SINGLES, 1)
    table.take(2)
    table.do(operations.CountCards("burnt", 2, "a witness"))
    assert table.open.kind is Kind.COUNT_IN_DOUBT


def test_where_the_device_died_before_the_burn_it_is_done_by_hand() -> None:
    table = to_burn(Unit.SINGLES, 1)
    table.lose_link()
    many = operations.DealByHand(14, "the shoe is dead")
    assert table.refused(many, Role.PIT_SUPERVISOR)[0] == "cards"
    table.do(operations.DealByHand(13, "the shoe is dead"), Role.PIT_SUPERVISOR)
    assert burnt(table) == [1]
    assert table.at(Phase.EXAMINING)


def test_a_device_that_cannot_form_a_set_of_so_few_is_unfit() -> None:
    table = burning(Unit.SETS, 1)
    table.device.capabilities = replace(table.device.capabilities, dispenses="on_removal")
    table.give(DeviceConnected(table.device.identity, table.device.status))
    assert table.at(Service.OUT_OF_SERVICE)
    assert "burns 1" in str(table.state.service_cause)


# -- the cut


def test_the_deck_of_a_shoe_is_cut_before_the_first_card_and_is_52_as_before() -> None:
    table = TableHarness(Unit.SINGLES).start().to_betting()
    table.do(operations.CutDeck())
    assert table.state.decks.in_play.cut
    assert table.last(events.DeckCut).deck == 1
    assert table.state.stub_due == 52
    table.do(operations.NoMoreBets())
    table.take()
    assert table.refused(operations.CutDeck())[0] == "deck-used"
    table.finish()
    table.fresh_deck()
    assert not table.state.decks.in_play.cut


def test_only_a_deck_in_a_shoe_is_cut() -> None:
    shuffler = TableHarness().start().to_betting()
    assert shuffler.refused(operations.CutDeck())[0] == "no-shoe"
    assert TableHarness(Unit.SINGLES).start().refused(operations.CutDeck())[0] == "no-deck"
