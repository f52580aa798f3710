"""A card that people report as exposed is public, as is its face once they have named it."""

from __future__ import annotations

from controller.api.irregularity_view import MoveView
from controller.api.view import HandView, LinkView, view_of
from controller.games.specification import Kind, RulingAction, Unit
from controller.table import operations
from controller.table.settings import ChosenReading, Settings
from firmware_bridge.cards import Card
from tests.table.harness import TableHarness


def at_box_1(table: TableHarness) -> HandView:
    return next(hand for hand in view_of(table.state, LinkView()).hands if hand.place == "B1")


def reported(card: int | None, *readings: ChosenReading) -> TableHarness:
    settings = Settings("NC", Unit.SETS, 7, count_stub_by_hand=True, readings=readings)
    table = TableHarness(hands={"B1": "9S KD JC"}, settings=settings).start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1", card=card)
    return table


def test_which_card_it_is_is_shown_and_no_face_that_nobody_named() -> None:
    shown = at_box_1(reported(2))
    assert (shown.cards, shown.exposed) == (("??", "??", "??"), (2,))


def test_a_named_face_is_shown_at_the_place_of_the_card() -> None:
    table = reported(2)
    table.do(operations.NameExposed("B1", (Card.parse("KD"),)))
    assert at_box_1(table).cards == ("??", "KD", "??")


def test_a_face_without_a_known_place_is_shown_before_the_others() -> None:
    table = reported(None)
    table.do(operations.NameExposed("B1", (Card.parse("KD"),)))
    assert (at_box_1(table).cards, at_box_1(table).exposed) == (("KD", "??", "??"), ())


def test_a_card_reported_in_error_is_no_longer_shown() -> None:
    table = reported(2)
    table.deny()
    assert at_box_1(table).exposed == ()


def test_an_exposed_card_lies_open_after_the_decision_until_it_is_moved() -> None:
    """NC 5.7, reading 55: where the casino lets it lie face up, nobody turns it down."""
    table = reported(2, ChosenReading("exposed_card", "up"))
    table.confirm()
    table.all_continue()
    assert not table.state.open
    assert at_box_1(table).exposed == (2,)
    table.deal()
    table.report(Kind.WRONG_DISTRIBUTION)
    table.swap("B1", "B3")
    assert at_box_1(table).exposed == ()


def test_a_face_that_was_named_is_a_back_again_once_the_card_was_turned_down() -> None:
    table = reported(2)
    table.do(operations.NameExposed("B1", (Card.parse("KD"),)))
    table.confirm()
    table.all_continue()
    assert (at_box_1(table).cards, at_box_1(table).exposed) == (("??", "KD", "??"), (2,))
    table.move_cards()
    assert (at_box_1(table).cards, at_box_1(table).exposed) == (("??", "??", "??"), ())


def test_rtp_5_8_the_card_is_turned_down_when_play_continues() -> None:
    table = TableHarness(game_id="RTP").start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1", card=2)
    assert at_box_1(table).exposed == (2,)
    table.confirm()
    assert not table.state.open
    assert at_box_1(table).exposed == (2,)
    assert view_of(table.state, LinkView()).moves == (MoveView(0, "B1", "B1", 2),)
    table.move_cards()
    assert at_box_1(table).exposed == ()


def test_cards_set_aside_hold_the_deal_until_they_are_moved() -> None:
    table = TableHarness().start().to_betting()
    table.device.exit_held = False
    table.device.form_set(3)
    table.device.lift()
    table.rule(RulingAction.CONTINUE)
    table.do(operations.NoMoreBets())
    shown = view_of(table.state, LinkView())
    assert shown.held
    assert shown.moves == tuple(MoveView(ordinal, "aside", "B1") for ordinal in (1, 2, 3))
    table.do(operations.Reconstruct())
    shown = view_of(table.state, LinkView())
    assert (shown.held, shown.moves) == (False, ())
    assert shown.hands[0].ordinals == (1, 2, 3)


def test_a_card_that_was_turned_down_stays_so_while_the_hands_are_turned_over() -> None:
    table = reported(2)
    table.confirm()
    table.all_continue()
    table.do(operations.Reconstruct())
    table.deal()
    assert at_box_1(table).exposed == ()
    table.expose("D")
    assert at_box_1(table).exposed == ()
