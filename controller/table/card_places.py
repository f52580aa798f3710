"""People enter where cards really lie: at another place than the order of the deal says, on the floor, discarded."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.rules.law import find_row
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.irregularities.raising import already_open, known_facts, raise_irregularity
from controller.table.irregularities.reporting import places_of
from controller.table.model import Hand, HeldCard, Pile, Stage
from controller.table.state import TableState

COME_BACK: Final = (Pile.DROPPED, Pile.DISCARDS)  # piles from which a card may return to a place


def _lying(state: TableState) -> dict[int, tuple[str, HeldCard]]:
    """Where each dealt card lies, by its ordinal."""
    hands = {card.ordinal: (place, card) for place, hand in state.round.hands.items() for card in hand.cards}
    piles = {card.ordinal: (str(pile), card) for pile in COME_BACK for card in state.round.piles.get(pile, ())}
    return hands | piles


def verify_place_cards(state: TableState, given: PersonActed, operation: operations.PlaceCards) -> None:
    lying = _lying(state)
    ordinals = [card.ordinal for card in operation.cards]
    if not ordinals or len(set(ordinals)) != len(ordinals):
        raise RefusedError("cards", "Name each card that lies elsewhere once, by its number in the order of the deal.")
    for card in operation.cards:
        if card.ordinal not in lying:
            raise RefusedError("cards", f"Card {card.ordinal} was not dealt in this round; name one that was.")
        if card.place not in (*places_of(state), *COME_BACK):
            raise RefusedError("place", f"No cards go to {card.place} in this round; name another place.")
        place, _ = lying[card.ordinal]
        if place == card.place:
            raise RefusedError(
                "place", f"Card {card.ordinal} lies at {card.place} already; name the place where it lies now."
            )
        if card.place in COME_BACK and state.round.hands.get(place, Hand()).shown:
            raise RefusedError("shown", f"The hand at {place} lies open; its cards stay as they were seen.")
        if card.place == Pile.DISCARDS:
            _verify_dead(state, card.ordinal, place)


def _verify_dead(state: TableState, ordinal: int, place: str) -> None:
    """Only cards of hands out of play are discarded before the round is over."""
    dead = {at for at, hand in state.round.hands.items() if hand.dead}
    belongs = {card[1]: at for card, at in state.round.intended.items()}
    if (place if place not in COME_BACK else belongs.get(ordinal)) not in dead:
        raise RefusedError("in-play", f"Card {ordinal} is of a hand that is in play; it stays on the table.")


def place_cards(decision: Decision, given: PersonActed, operation: operations.PlaceCards) -> None:
    """Record the places, which were assumed from the order of the deal; wrong ones are a wrong distribution.

    A card on the floor lies at no place: it is misplaced only once it is found at another one.
    """
    lying = _lying(decision.state)
    moves = []
    for at in operation.cards:
        place, card = lying[at.ordinal]
        moves.append(events.CardMoved(card.shuffle, card.ordinal, place, at.place))
    decision.emit(events.CardsFoundElsewhere(tuple(moves)))
    _judge_again(decision)
    being_put_right = any(found.stage is Stage.MOVING for found in decision.state.open)
    if decision.state.round.misplaced and not being_put_right and not already_open(decision, Kind.WRONG_DISTRIBUTION):
        ordinals = tuple(ordinal for _, ordinal in sorted(decision.state.round.misplaced))
        raise_irregularity(decision, Kind.WRONG_DISTRIBUTION, noticed_by=given.person, ordinals=ordinals)


def _judge_again(decision: Decision) -> None:
    """Whether moving complete hands puts it right may have changed, where that is not decided yet."""
    state = decision.state
    known = known_facts(state)
    for found in state.open:
        waits = found.stage is Stage.CLAIMED and found.round == state.round.number and found.facts.misplaced
        if waits and known.misplaced and found.facts.curable is not known.curable:
            facts = replace(found.facts, curable=known.curable)
            row, asks = find_row(state.law, found.kind, facts)
            decision.emit(events.FactStated(found.id, facts, row, asks))
