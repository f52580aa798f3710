"""The course of a round."""

from __future__ import annotations

from controller.games.specification import Order, Unit
from controller.rules.dealing_order import Place
from controller.rules.hands import Outcome
from controller.table.events.base import Event
from controller.table.phases import Phase
from firmware_bridge.cards import Card, Exposed


class PhaseEntered(Event, frozen=True, tag="phase_entered"):
    """`cancels`: the start of the round is taken back, and it counts as none."""

    phase: Phase
    clause: str = ""
    cancels: bool = False


class RoundBegan(Event, frozen=True, tag="round_began"):
    """`deck`: the device's name for the deck in play; `label`: the table's record of it, where it keeps one.

    `earlier`: the round before, 0 for none; a round whose start was cancelled is none. None: the number before.
    """

    round: int
    deck: int = 0
    label: str = ""
    earlier: int | None = None


class BoxesOccupied(Event, frozen=True, tag="boxes_occupied"):
    boxes: tuple[int, ...]


class DealBegan(Event, frozen=True, tag="deal_began"):
    """The order of the whole deal: the place of each card, first to last."""

    unit: Unit
    order: Order
    clause: str
    places: tuple[Place, ...]


class CardsHandled(Event, frozen=True, tag="cards_handled"):
    """The Player at a place touched cards; `viewed`: and looked at them. `bettor`: who did; empty: not said."""

    place: Place
    viewed: bool = False
    bettor: str = ""


class HandCounted(Event, frozen=True, tag="hand_counted"):
    """So many cards lie at a place, whatever was assumed to have been dealt there; some came from those set aside."""

    place: Place
    count: int
    from_aside: int = 0


class HandExposed(Event, frozen=True, tag="hand_exposed"):
    """A hand lies open. `revealed` opens the commitments to the cards that the device had read."""

    place: Place
    cards: tuple[Card, ...]
    revealed: tuple[Exposed | None, ...] = ()


class HandTakenBack(Event, frozen=True, tag="hand_taken_back"):
    """The hand was entered wrongly: it is to be entered again."""

    place: Place


class HandJudged(Event, frozen=True, tag="hand_judged"):
    """The box against the Dealer. `half`: the win pays half (six points)."""

    place: Place
    outcome: Outcome
    hand: str
    dealer_hand: str
    half: bool
    clause: str


class HandRemoved(Event, frozen=True, tag="hand_removed"):
    """Out of play, its bets returned; it keeps taking cards so that every other hand gets its own."""

    place: Place
    clause: str
    irregularity: int
    authority: str = ""


class ChipsPaid(Event, frozen=True, tag="chips_paid"):
    pass


class ConclusionAsked(Event, frozen=True, tag="conclusion_asked"):
    pass


class AbandonAsked(Event, frozen=True, tag="abandon_asked"):
    """Somebody wants the round abandoned; asked once more with the same words, it is."""

    person: str
    authority: str
    text: str


class RoundVoided(Event, frozen=True, tag="round_voided"):
    """A round has no result; all bets are returned. `of_round` 0: the one in progress.

    `irregularity` 0: it was abandoned, for no irregularity.

    `authority`: who ruled so, or whose house rule it is, where no clause of the document says it.
    """

    clause: str
    irregularity: int
    text: str
    authority: str = ""
    of_round: int = 0


class TablePaused(Event, frozen=True, tag="table_paused"):
    reason: str


class TableResumed(Event, frozen=True, tag="table_resumed"):
    pass
