"""The First Card of a game that deals by its rank: showing it, and comparing it with what the device read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.games.specification import Kind
from controller.rules.dealing_order import order_after_first_card
from controller.table import events, operations
from controller.table.dealing import begin_deal
from controller.table.decision import Decision, RefusedError
from controller.table.exposing import ENTER_CARDS, entered_and_read
from controller.table.feature import FIRST_CARD, NOT_HELD, Group, OperationRow, group
from controller.table.inputs import PersonActed
from controller.table.irregularities.raising import INFERENCE, known_facts, raise_irregularity
from controller.table.model import HeldCard
from controller.table.state import TableState
from firmware_bridge.cards import DECK as CARDS
from firmware_bridge.cards import Card, Exposed
from firmware_bridge.messages import message


def verify_show_first_card(state: TableState, given: PersonActed, operation: operations.ShowFirstCard) -> None:
    if state.round.first_card is None or state.game.first_card is None:
        raise RefusedError("no-card", "The First Card has not left the device; draw it first.")
    if operation.card is None and state.round.first_card.face is None:
        raise RefusedError("unread", "The device did not read the First Card; enter which card it is.")
    if operation.card is None and not (state.settings is not None and state.settings.hands_by_device):
        raise RefusedError(ENTER_CARDS, "Turn the First Card over and enter which card it is.")


def show_first_card(decision: Decision, given: PersonActed, operation: operations.ShowFirstCard) -> None:
    """Show the First Card, whose rank says where the deal begins."""
    state = decision.state
    drawn, rules = state.round.first_card, state.game.first_card
    assert drawn is not None
    assert rules is not None
    read = drawn.face.expose() if drawn.face else None
    card = operation.card or read
    assert card is not None
    revealed = Exposed(read, drawn.shuffle, drawn.ordinal) if read is card else None  # only the card that was shown
    decision.emit(events.FirstCardShown(card, rules.clause, revealed))
    places = order_after_first_card(rules, state.grammar, card.rank)
    decision.enter_phase("first_card_shown", rules.clause)
    begin_deal(decision, places)
    if state.law.option(rules.setting) == "in_hand":
        decision.emit(events.CardsDealt(places[:1], (drawn,), "first_card"))
    compare_first_card(decision, given, drawn, card)


def compare_first_card(decision: Decision, given: PersonActed, drawn: HeldCard | None, card: Card) -> None:
    """Compare the First Card: the card on the table counts; a different card read by the device is reported (I16)."""
    if drawn is not None and drawn.face is not None and drawn.face.expose() is not card:
        by_device = decision.state.settings is not None and decision.state.settings.hands_by_device
        note = entered_and_read(decision.state, (card,), drawn.face.expose() if by_device else None)
        facts = known_facts(decision.state, misplaced=False)
        kind = Kind.OTHER_DEALING_ERROR
        raise_irregularity(decision, kind, noticed_by=INFERENCE, facts=facts, note=note, entered=True)


# -- permissions and offers


def _first_card(state: TableState) -> Iterator[Group]:
    by_device = state.settings is not None and state.settings.hands_by_device
    yield group(operations.ShowFirstCard(CARDS[0]), needs=() if by_device else ("card",))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.ShowFirstCard, message("show the First Card"), message("{who} showed the First Card."),
        verify_show_first_card, show_first_card, FIRST_CARD, NOT_HELD, offers=_first_card),
)
# fmt: on
"""The permissions and offers of this feature."""
