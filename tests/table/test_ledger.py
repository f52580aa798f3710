"""The account of the 52 cards: their places, counts of piles, and dropped cards."""

from __future__ import annotations

import pytest
from rich.console import Console

from controller.api.view import LinkView, view_of
from controller.commands.screen import render
from controller.games.specification import Choice, Kind, RulingAction, Unit
from controller.table import events, operations
from controller.table.counts import Ledger, ledger_of
from controller.table.model import Pile
from controller.table.phases import Phase
from tests.table.harness import TableHarness

UNITS = tuple(Unit)


def account(table: TableHarness) -> Ledger:
    ledger = ledger_of(table.state)
    assert ledger is not None
    return ledger


def lie(table: TableHarness, *cards: tuple[int, str]) -> operations.PlaceCards:
    return operations.PlaceCards(tuple(operations.CardAt(*card) for card in cards))


def count(pile: str, number: int) -> operations.CountCards:
    return operations.CountCards(pile, number, "a witness")


def screen(table: TableHarness) -> str:
    console = Console(width=140, record=True, file=None, quiet=False, force_terminal=False)
    with console.capture() as shown:
        console.print(render(view_of(table.state, LinkView()), ()))
    return shown.get()


# -- the account


def test_without_a_deck_the_account_is_empty() -> None:
    assert ledger_of(TableHarness().start().state) is None


@pytest.mark.parametrize("unit", UNITS)
def test_the_account_is_52_throughout_a_round(unit: Unit) -> None:
    table = TableHarness(unit).start().to_dealing()
    assert account(table).total == 52
    for _ in range(len(table.state.round.places)):
        if table.state.phase in (Phase.DEALING_SETS, Phase.DEALING_SINGLES):
            table.take()
            assert account(table).whole
    table.deal()
    assert (account(table).in_hands, account(table).stub) == (12, 40)
    table.expose_all().settle()
    assert account(table).whole
    table.conclude().fresh_deck()
    assert account(table) == Ledger(stub=52)


def test_a_set_in_the_tray_and_a_first_card_have_their_places() -> None:
    sets = TableHarness().start().to_dealing()
    assert (account(sets).tray, account(sets).stub) == (3, 49)
    shown = TableHarness(game_id="F3").start().to_dealing()
    assert (account(shown).first_card, account(shown).whole) == (1, True)


def test_cards_that_were_set_aside_are_in_the_account() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.device.draw()
    assert (account(table).aside, account(table).total) == (1, 52)


def test_a_card_that_was_drawn_after_the_stub_was_counted_is_counted_once() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.count(40)
    table.device.draw()
    assert (account(table).stub, account(table).aside) == (39, 1)


def test_a_card_that_left_unseen_is_missing_once_the_stub_is_counted() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.device.pass_unseen(1)
    table.deal()
    assert account(table).whole, "nothing was counted yet"
    table.count(39)
    assert account(table).total == 51


def test_the_cards_of_a_dead_hand_stay_in_the_account() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B3")
    table.confirm()
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    table.deal()
    assert account(table).whole
    assert dict(account(table).hands)["B3"] == 3


# -- the screen


def test_the_screen_shows_the_account_only_when_cards_are_beside_the_hands() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing()
    table.take(2)
    assert "cards:" not in screen(table)
    table.do(lie(table, (2, "dropped")))
    assert "cards: 50 in shoe · 0 in tray · 1 dealt · 1 dropped = 52" in screen(table)


def test_the_screen_shows_when_the_account_is_not_52() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.count(39)
    assert "= 51" in screen(table)


# -- cards on the floor


def test_a_card_on_the_floor_is_not_misplaced_and_its_hand_stays_hidden() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.do(lie(table, (5, "dropped")))
    assert not table.state.open
    assert not table.state.round.misplaced
    assert account(table).dropped == 1
    assert account(table).whole
    table.expose("D")
    code, sentence = table.refused(operations.ExposeHand("B3"))
    assert (code, "A card from box 3" in sentence) == ("dropped", True)
    table.do(lie(table, (5, "B3")))
    table.expose("B3")
    assert not table.state.round.piles


def test_tp_5_3_a_card_that_is_found_at_another_hand_is_misplaced() -> None:
    table = TableHarness(game_id="TP").start().to_dealing().deal()
    table.do(lie(table, (5, "dropped")))
    table.do(lie(table, (5, "B6")))
    assert table.open.kind is Kind.WRONG_DISTRIBUTION
    assert table.state.round.misplaced == {(table.state.decks.in_play.shuffle, 5): ("B6", "B3")}


def test_a_card_on_the_floor_does_not_hinder_moving_complete_hands() -> None:
    table = TableHarness().start().to_dealing()
    table.take(3)
    table.do(lie(table, (5, "dropped")))
    table.swap("B1", "B6")
    assert table.state.round.curable


def test_a_card_cannot_be_moved_to_its_own_place() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.do(lie(table, (5, "dropped")))
    assert table.refused(lie(table, (5, "dropped")))[0] == "place"
    assert table.refused(lie(table, (5, "burnt")))[0] == "place"
    table.expose("D")
    assert table.refused(lie(table, (10, "dropped")))[0] == "shown"


def test_the_next_round_starts_with_no_card_on_the_floor() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.do(lie(table, (5, "dropped")))
    table.report(Kind.UNSHUFFLED)
    table.confirm()
    table.fresh_deck()
    assert not table.state.round.piles
    assert account(table) == Ledger(stub=52)


# -- the discards


def test_only_the_cards_of_a_dead_hand_go_to_the_discards_and_the_52_stay() -> None:
    table = TableHarness().start().to_dealing()
    table.take(2)
    table.report(Kind.EXPOSED_CARD, "B3")
    table.confirm()
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.CONTINUE)
    table.deal()
    assert table.refused(lie(table, (1, "discards")))[0] == "in-play"
    table.do(lie(table, (4, "discards"), (5, "discards"), (6, "discards")))
    assert (account(table).discards, account(table).whole, table.state.stub_due) == (3, True, 40)
    assert not table.state.open
    table.expose_all().settle().conclude()


def test_a_dropped_card_of_a_hand_in_play_cannot_go_to_the_discards() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.do(lie(table, (5, "dropped")))
    assert table.refused(lie(table, (5, "discards")))[0] == "in-play"


# -- counts


@pytest.mark.parametrize("pile", ["nowhere", "", "B2", "strays"])
def test_an_unknown_pile_cannot_be_counted(pile: str) -> None:
    table = TableHarness().start().to_dealing().deal()
    assert table.refused(count(pile, 3))[0] == "pile"


def test_a_count_of_a_hand_that_agrees_is_only_kept() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.do(count("B3", 3))
    assert not table.state.open
    assert table.last(events.CardsCounted).pile == "B3"


def test_nc_5_5_4_a_count_of_a_hand_that_differs_is_a_wrong_count_as_reported() -> None:
    counted, reported = (TableHarness().start().to_dealing().deal() for _ in range(2))
    counted.do(count("B3", 4))
    reported.report(Kind.WRONG_COUNT, "B3", counted=4)
    assert (counted.open.row, counted.open.place, counted.open.counted) == (reported.open.row, "B3", 4)
    counted.confirm(handled=False)
    assert counted.at(Phase.VOIDED)


def test_the_last_count_of_a_hand_applies() -> None:
    table = TableHarness().start().to_dealing().deal()
    table.do(count("B3", 5))
    table.do(count("B3", 4))
    assert table.open.counted == 4
    assert len(table.events_of(events.IrregularityRaised)) == 1


def test_a_hand_is_counted_only_while_there_is_a_round() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    assert table.refused(count("D", 3))[0] == "no-round"


def test_a_count_of_the_floor_is_in_the_account_and_leaves_a_doubt_about_the_rest() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.do(count("dropped", 1))
    assert table.open.kind is Kind.COUNT_IN_DOUBT
    assert (account(table).dropped, table.state.stub_due) == (1, 39)
    table.count(39)
    table.confirm()
    assert not table.state.open, "the account makes 52: the deck is complete"
    assert account(table).whole


def test_the_last_count_of_the_floor_applies() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.do(count("dropped", 2))
    table.do(count("dropped", 0))
    assert table.state.round.pile_size(Pile.DROPPED) == 0
    assert table.state.stub_due == 40


def test_cards_set_aside_are_counted_too() -> None:
    table = TableHarness(Unit.SINGLES).start().to_dealing().deal()
    table.device.draw()
    table.do(count("aside", 2))
    assert (account(table).aside, table.state.stub_due) == (2, 38)


def test_a_different_count_of_the_tray_is_a_set_of_the_wrong_size() -> None:
    table = TableHarness().start().to_dealing()
    table.do(count("tray", 3))
    assert not table.state.open
    table.do(count("tray", 4))
    assert table.open.kind is Kind.SIMULTANEOUS


def test_the_whole_deck_is_counted_between_rounds_only() -> None:
    table = TableHarness().start().to_dealing()
    assert table.refused(count("deck", 52))[0] == "in-round"


def test_a_whole_deck_that_is_not_52_cannot_begin_a_round() -> None:
    table = TableHarness().start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(count("deck", 52))
    assert not table.state.open
    table.do(count("deck", 51))
    assert (table.open.row.id, table.open.facts.counted_wrong) == ("I02", True)
    assert table.state.decks.in_play.used
    table.deny()
    assert table.refused(operations.PlaceYourBets())[0] == "deck-used"


def test_nc_5_5_2_a_deck_counted_short_after_the_round_reaches_that_round() -> None:
    table = TableHarness().start().to_dealing().finish()
    table.do(count("deck", 51))
    table.confirm()
    assert table.at(Phase.VOIDED)
    assert table.last(events.RoundVoided).clause == "NC 5.5.2"


def test_a_ruling_about_a_doubt_that_a_count_denied_leaves_the_deck_in_use() -> None:
    table = TableHarness(game_id="F3").start().to_dealing()
    table.report(Kind.COUNT_IN_DOUBT)
    table.count(table.state.stub_due)
    if table.state.open and table.open.asks == () and table.open.stage == "claimed":
        table.confirm()
    else:
        table.rule(RulingAction.CONTINUE)
    assert not table.events_of(events.DeckQuarantined)
