"""A card that people report as exposed is public: which one it is, and its face once they have named it."""

from __future__ import annotations

from controller.api.view import HandView, LinkView, view_of
from controller.games.specification import Kind
from controller.table import operations
from firmware_bridge.cards import Card
from tests.table.harness import TableHarness


def at_box_1(table: TableHarness) -> HandView:
    return next(hand for hand in view_of(table.state, LinkView()).hands if hand.place == "B1")


def reported(card: int | None) -> TableHarness:
    table = TableHarness(hands={"B1": "9S KD JC"}).start().to_dealing()
    table.take()
    table.report(Kind.EXPOSED_CARD, "B1", card=card)
    return table


def test_which_card_it_is_is_shown_and_no_face_that_nobody_named() -> None:
    shown = at_box_1(reported(2))
    assert (shown.cards, shown.exposed) == (("??", "??", "??"), (2,))


def test_a_face_that_was_named_stands_where_the_card_lies() -> None:
    table = reported(2)
    table.do(operations.NameExposed("B1", (Card.parse("KD"),)))
    assert at_box_1(table).cards == ("??", "KD", "??")


def test_a_face_of_a_card_that_nobody_placed_stands_before_the_others() -> None:
    table = reported(None)
    table.do(operations.NameExposed("B1", (Card.parse("KD"),)))
    assert (at_box_1(table).cards, at_box_1(table).exposed) == (("KD", "??", "??"), ())


def test_it_is_no_longer_shown_once_it_was_not_so() -> None:
    table = reported(2)
    table.deny()
    assert at_box_1(table).exposed == ()
