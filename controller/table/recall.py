"""Recall of concealed cards: tells the person who asks what the device read, for a lawful reconstruction.

A request is first recorded as an event, which says who, why and which cards, but has no face. Then the faces are taken
from the journal up to that entry (`cards_recalled`) for the answer to the request. They are not part of any state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.events import AnyEvent
from controller.table.feature import ALWAYS, ANY_PHASE, WORDS, Group, OperationRow, group
from controller.table.inputs import PersonActed
from controller.table.irregularities.reopening import concerns_round, may_be_lifted
from controller.table.model import ASIDE, CardId, HeldCard, Irregularity, Stage
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.messages import message

TRAY: Final = "tray"
RECONSTRUCTS: Final = frozenset({Stage.MOVING, Stage.ORDERING})
"""Stages in which a card of the round in progress may be shown. A mere claim is not enough: play may go on."""


def verify_recall(state: TableState, given: PersonActed, operation: operations.RecallCards) -> None:
    """Verify that the round is over for good, or that an irregularity requires reconstruction and a hand is named."""
    number = operation.of_round
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the cards are recalled.")
    if not 0 < number <= state.rounds_numbered:
        raise RefusedError("unknown-round", "Round {number} was not dealt; name one that was.", number=number)
    if not _may_be_played(state, number):
        return
    if reconstructing(state) is None or number != state.round.number:
        raise RefusedError(
            "round",
            "Round {number} is not over, and none of its cards are being put right. Finish it and begin the next one.",
            number=number,
        )
    if operation.place not in (*state.round.hands, TRAY, ASIDE):
        raise RefusedError("place", "The round is not over: name the one hand whose cards are needed.")


def _may_be_played(state: TableState, number: int) -> bool:
    """Return whether play may go on in that round: it is in progress, or its void or the next start may be undone."""
    if number == state.round.number:
        return state.in_round or (state.phase is Phase.VOIDED and may_be_lifted(state))
    earlier = state.earlier
    void = earlier is not None and earlier.number == number and earlier.voided_from is not None
    return void and state.phase is Phase.BETTING


def reconstructing(state: TableState) -> Irregularity | None:
    """Return the round's open irregularity for which cards are put where they belong, or in their order."""
    found = (one for one in state.open if one.stage in RECONSTRUCTS and concerns_round(state, one))
    return next(found, None)


def recall_cards(decision: Decision, given: PersonActed, operation: operations.RecallCards) -> None:
    """Record the request; the answer follows from the event."""
    state, number = decision.state, operation.of_round
    found = reconstructing(state) if _may_be_played(state, number) else None
    irregularity = 0 if found is None else found.id
    decision.emit(
        events.CardsRecalled(number, operation.place, operation.reason, given.person, given.role, irregularity)
    )


class Recalled(NamedTuple):
    """A card and the place where it lay. `face` is empty if the device did not read it."""

    place: Place
    ordinal: int
    face: str


def cards_recalled(recall: events.CardsRecalled, of_round: Iterable[AnyEvent]) -> tuple[Recalled, ...]:
    """Return the cards that a journaled request names. `of_round`: the events of its round, up to the request."""
    lying: dict[CardId, tuple[Place, HeldCard]] = {}
    for event in of_round:
        for place, card in _put(event):
            lying[card.id] = (place, card)
        if isinstance(event, events.CardsFoundElsewhere | events.CardsReconstructed):
            for move in event.cards:
                if (found := lying.get((move.shuffle, move.ordinal))) is not None:
                    lying[found[1].id] = (move.place, found[1])
    return tuple(
        Recalled(place, card.ordinal, card.face.expose().code if card.face is not None else "")
        for place, card in sorted(lying.values(), key=lambda one: one[1].id)
        if recall.place in ("", place)
    )


def _put(event: AnyEvent) -> Iterable[tuple[Place, HeldCard]]:
    """Return the cards that an event names, with the place to which they went."""
    match event:
        case events.CardsDealt(places=places, cards=cards):
            return zip(places, cards, strict=True)
        case events.FirstCardDrawn(card=card):
            return [("first_card", card)]
        case events.SetInTray(cards=cards) | events.StatusDiffers(tray=cards):
            place = TRAY
        case events.CardsSetAside(cards=cards):
            place = ASIDE
        case events.CardsBurnt(cards=cards):
            place = "burnt"
        case events.CardsStrayed(cards=cards):
            place = "strays"
        case _:
            return []
    return [(place, card) for card in cards]


# -- permissions and offers


def _recalled(state: TableState) -> Iterator[Group]:
    number, places = state.round.number, (*state.round.hands, TRAY, ASIDE)
    rounds = [operations.RecallCards(one, WORDS) for one in (number, number - 1)]
    yield group(*rounds, *(operations.RecallCards(number, WORDS, place) for place in places))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.RecallCards, message("recall concealed cards"), message("{who} recalled concealed cards."),
        verify_recall, recall_cards, ANY_PHASE, ALWAYS, Role.PIT_MANAGER, offers=_recalled,
        where=lambda state: state.rounds_numbered > 0),
)
# fmt: on
"""The permissions and offers of this feature."""
