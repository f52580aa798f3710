"""Records where cards actually are: at a place other than the one that the order of the deal gives, on the floor, or
discarded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.rules.dealing_order import DEALER, Place
from controller.rules.law import find_row
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, CARDS_LIE, Group, OperationRow, group
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import place_word
from controller.table.irregularities.raising import known_facts, raise_irregularity
from controller.table.model import Hand, HeldCard, Irregularity, Pile, Stage
from controller.table.phases import DEALING, Phase
from controller.table.state import TableState
from firmware_bridge.messages import message

MAY_MISPLACE: Final = frozenset({Kind.OTHER_DEALING_ERROR, Kind.SIMULTANEOUS, Kind.DROPPED_CARD})
CARDS_ON_TABLE: Final = DEALING | {Phase.EXAMINING, Phase.EXPOSING}
COME_BACK: Final = (Pile.DROPPED, Pile.DISCARDS)  # piles from which a card may be returned to a place


def _lying(state: TableState) -> dict[int, tuple[str, HeldCard]]:
    """Return the place of each dealt card, by its ordinal."""
    hands = {card.ordinal: (place, card) for place, hand in state.round.hands.items() for card in hand.cards}
    piles = {card.ordinal: (str(pile), card) for pile in COME_BACK for card in state.round.piles.get(pile, ())}
    return hands | piles


def verify_place_cards(state: TableState, given: PersonActed, operation: operations.PlaceCards) -> None:
    _verify_phase(state)
    lying = _lying(state)
    ordinals = [card.ordinal for card in operation.cards]
    beside = {card.ordinal: message("in the tray") for card in state.decks.tray}
    beside |= {card.ordinal: message("among the set-aside cards") for card in state.decks.aside}
    if not ordinals or len(set(ordinals)) != len(ordinals):
        raise RefusedError("cards", "Name each card that lies elsewhere once, by its number in the order of the deal.")
    for card in operation.cards:
        if card.ordinal in beside:
            raise RefusedError(
                "cards",
                "Card {ordinal} is {beside}. It has not been dealt to a place yet.",
                ordinal=card.ordinal,
                beside=beside[card.ordinal],
            )
        if card.ordinal not in lying:
            raise RefusedError(
                "cards", "Card {ordinal} was not dealt in this round; name one that was.", ordinal=card.ordinal
            )
        if card.place not in (*_playing_positions(state), *COME_BACK):
            at = place_word(state, card.place)
            raise RefusedError("place", "No cards are dealt to {place} in this round; name another place.", place=at)
        place, _ = lying[card.ordinal]
        if place == card.place:
            raise RefusedError(
                "place",
                "Card {ordinal} lies at {place} already; name the place where it lies now.",
                ordinal=card.ordinal,
                place=place_word(state, place),
            )
        if card.place in COME_BACK and state.round.hands.get(place, Hand()).shown:
            at = place_word(state, place)
            raise RefusedError("shown", "The hand at {place} is turned over; its cards stay as entered.", place=at)
        if card.place == Pile.DISCARDS:
            _verify_dead(state, card.ordinal, place)


def _verify_dead(state: TableState, ordinal: int, place: str) -> None:
    """Verify that the card belongs to a hand out of play: no other card is discarded before the round is over."""
    dead = {at for at, hand in state.round.hands.items() if hand.dead}
    belongs = {card[1]: at for card, at in state.round.intended.items()}
    if (place if place not in COME_BACK else belongs.get(ordinal)) not in dead:
        raise RefusedError(
            "in-play", "Card {ordinal} belongs to a hand in play; leave it on the table.", ordinal=ordinal
        )


def place_cards(decision: Decision, given: PersonActed, operation: operations.PlaceCards) -> None:
    """Record the actual places of cards; those that differ from the order of the deal are a wrong distribution.

    A card on the floor does not have a place: it counts as misplaced only when it is found in the
    wrong place.
    """
    lying = _lying(decision.state)
    moves = []
    for at in operation.cards:
        place, card = lying[at.ordinal]
        moves.append(events.CardMoved(card.shuffle, card.ordinal, place, at.place))
    decision.emit(events.CardsFoundElsewhere(tuple(moves)))
    _state_places(decision)
    state = decision.state
    if state.round.misplaced and not any(_is_about_places(state, found) for found in state.open):
        ordinals = tuple(ordinal for _, ordinal in sorted(state.round.misplaced))
        raise_irregularity(decision, Kind.WRONG_DISTRIBUTION, noticed_by=given.person, ordinals=ordinals)


def _playing_positions(state: TableState) -> tuple[Place, ...]:
    """Return the places where cards may lie by mistake, including boxes without a wager (RTP 5.4)."""
    assert state.settings is not None
    return (*(f"B{number}" for number in range(1, state.settings.box_count + 1)), DEALER)


def _verify_phase(state: TableState) -> None:
    """Verify the phase: once the hands are settled, only cards that are being put right may be entered."""
    moving = any(found.stage is Stage.MOVING and found.round == state.round.number for found in state.open)
    if state.phase not in CARDS_ON_TABLE and not moving:
        raise RefusedError("phase", "The hands are settled. First report what is wrong with the cards.")


def _is_about_places(state: TableState, found: Irregularity) -> bool:
    """Return whether an open irregularity covers the misplaced cards, so that no second one is raised for them.

    This includes a wrong number of cards that is being put right, if the cards are in that hand or belong to it.
    """
    if found.round != state.round.number:
        return False
    if found.counted is not None:
        touched = all(found.place in where for where in state.round.misplaced.values())
        return found.stage is Stage.MOVING and touched
    if found.kind is Kind.WRONG_DISTRIBUTION:
        return True
    return found.kind in MAY_MISPLACE and (found.stage is Stage.MOVING or found.facts.misplaced is True)


def _state_places(decision: Decision) -> None:
    """State in open dealing errors that cards are misplaced, and whether moving complete hands would cure it."""
    state = decision.state
    known = known_facts(state)
    for found in state.open:
        of_places = found.kind in (Kind.WRONG_DISTRIBUTION, Kind.OTHER_DEALING_ERROR)
        open_yet = of_places and found.facts.misplaced is None
        asked = open_yet or (found.kind in MAY_MISPLACE and "misplaced" in found.asks)
        waits = found.stage is Stage.CLAIMED and found.round == state.round.number and (found.facts.misplaced or asked)
        if waits and known.misplaced and (found.facts.misplaced, found.facts.curable) != (True, known.curable):
            facts = replace(found.facts, misplaced=True, curable=known.curable)
            row, asks = find_row(state.law, found.kind, facts)
            decision.emit(events.FactStated(found.id, facts, row, asks))


# -- permissions and offers


def _placed(state: TableState) -> Iterator[Group]:
    """Offer another place for any card that is at a place."""
    for place, hand in state.round.hands.items():
        if hand.cards:
            other = DEALER if place != DEALER else "B1"
            yield group(operations.PlaceCards((operations.CardAt(hand.cards[0].ordinal, other),)))
            return


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.PlaceCards, message("record where cards lie"), message("{who} recorded where cards lie."),
        verify_place_cards, place_cards, CARDS_LIE, ALWAYS, offers=_placed),
)
# fmt: on
"""The permissions and offers of this feature."""
