"""What happened at the table, as the journal keeps it and the API publishes it.

An event names its whole effect: `evolve` sets it and judges nothing, so that an old journal folds to the same state
for ever. A field is only ever added, with a default.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from controller.games.specification import Choice, Facts, Kind, Order, Role, Row, RulingAction, Unit
from controller.rules.dealing import Place
from controller.rules.hands import Outcome
from controller.table.phases import Phase, Service
from controller.table.state import HeldCard, Settings, Stage
from firmware_bridge.cards import Card, Concealed, Exposed
from firmware_bridge.commands import AnyCommand
from firmware_bridge.observations import DeviceIdentity
from firmware_bridge.words import snake


class Event(msgspec.Struct, frozen=True, tag_field="event", tag=snake):
    """Base of all events."""


# -- the daemon and the device ---------------------------------------------------------------------------------------


class TableBegan(Event, frozen=True):
    """The daemon started; its link is of the past. `settings_wait`: they change after the round in progress."""

    table: str
    simulated: bool
    start: str
    settings_wait: Settings | None = None


class GameChosen(Event, frozen=True):
    """The rules in force, with what the casino chose."""

    title: str
    version: str
    effective: str
    settings: Settings


class DeviceReady(Event, frozen=True):
    identity: DeviceIdentity
    exit_held: bool


class DeviceLost(Event, frozen=True):
    code: str
    sentence: str


class ServiceChanged(Event, frozen=True):
    service: Service
    cause: str


class StatusAgrees(Event, frozen=True):
    """The device's account of itself and the journal's are the same."""


class StatusDiffers(Event, frozen=True):
    """They are not: what the journal holds against what the device says.

    `tray`: the cards that must lie in the tray by the device's word, for a difference there.
    """

    what: str
    journal: int
    device: int
    tray: tuple[HeldCard, ...] = ()


class ReportsPassed(Event, frozen=True):
    """Reports that will never come: the next one expected follows (`boot`, `number`)."""

    boot: int
    number: int
    note: str


class ReportTaken(Event, frozen=True):
    """A report of the device is held durably from here on, whatever it meant."""

    boot: int
    number: int
    uptime_ms: int | None
    observed: str


class CommandIssued(Event, frozen=True):
    """The device is told something. The command's id is this event's entry number."""

    command: AnyCommand


class CommandDone(Event, frozen=True):
    command_id: int


class CommandRefused(Event, frozen=True):
    command_id: int
    reason: str


class CommandLapsed(Event, frozen=True):
    """The link ended before the device had begun it: it was not carried out and never will be."""

    command_id: int


class DeviceStopped(Event, frozen=True):
    """The device moves no cards until the cause is gone."""

    cause: str


class DeviceFreed(Event, frozen=True):
    cause: str


class DeviceNoted(Event, frozen=True):
    """Something that the device told and that changes nothing: kept for whoever reads the journal."""

    what: str
    detail: str = ""


# -- the deck --------------------------------------------------------------------------------------------------------


class DeckArrived(Event, frozen=True):
    deck: int
    count: int | None
    shuffle: int | None = None


class ShuffleBegan(Event, frozen=True):
    deck: int


class DeckShuffled(Event, frozen=True):
    """A completed shuffle. `by`: the device, or the person who says so."""

    deck: int
    shuffle: int
    count: int
    by: str = "device"


class ShuffleFailed(Event, frozen=True):
    deck: int


class CardFoundFaceUp(Event, frozen=True):
    """The card that will leave as number `ordinal` lies face up in the device; nobody at the table has seen it."""

    ordinal: int
    card: Concealed | None = None


class SetInTray(Event, frozen=True):
    cards: tuple[HeldCard, ...]
    remaining: int


class CardsSetAside(Event, frozen=True):
    """Cards left the device and belong to no place yet."""

    cards: tuple[HeldCard, ...]
    from_tray: bool
    because: str


class CardsDealt(Event, frozen=True):
    """Cards came to their places, as the dealing order assumes. `source`: device, tray, aside."""

    places: tuple[Place, ...]
    cards: tuple[HeldCard, ...]
    source: str


class CardsCounted(Event, frozen=True):
    """A count by hand, whatever it decides."""

    pile: str
    number: int
    due: int
    by: str
    witness: str


class StubCounted(Event, frozen=True):
    """What was left after the deal, a set in the tray included. `by`: device, or the person who counted.

    `in_device`: it was counted where it lies; otherwise it came out, and the tray is empty.
    """

    count: int
    due: int
    by: str
    in_device: bool = False


# -- the round -------------------------------------------------------------------------------------------------------


class PhaseEntered(Event, frozen=True):
    phase: Phase
    clause: str = ""


class RoundBegan(Event, frozen=True):
    round: int
    deck: int = 0


class BoxesOccupied(Event, frozen=True):
    boxes: tuple[int, ...]


class DealBegan(Event, frozen=True):
    """The order of the whole deal: the place of each card, first to last."""

    unit: Unit
    order: Order
    clause: str
    places: tuple[Place, ...]


class CardsHandled(Event, frozen=True):
    place: Place


class HandCounted(Event, frozen=True):
    """So many cards lie at a place, whatever was assumed to have been dealt there; some came from those set aside."""

    place: Place
    count: int
    from_aside: int = 0


class HandExposed(Event, frozen=True):
    """A hand lies open. `revealed` opens the commitments to the cards that the device had read."""

    place: Place
    cards: tuple[Card, ...]
    revealed: tuple[Exposed | None, ...] = ()


class HandTakenBack(Event, frozen=True):
    """The hand was entered wrongly: it is to be entered again."""

    place: Place


class HandJudged(Event, frozen=True):
    """The box against the Dealer. `half`: the win pays half (six points)."""

    place: Place
    outcome: Outcome
    hand: str
    dealer_hand: str
    half: bool
    clause: str


class HandRemoved(Event, frozen=True):
    """Out of play, its bets returned; it keeps taking cards so that every other hand gets its own."""

    place: Place
    clause: str
    irregularity: int


class ChipsPaid(Event, frozen=True):
    pass


class ConclusionAsked(Event, frozen=True):
    pass


class RoundVoided(Event, frozen=True):
    """The round has no result; all bets are returned."""

    clause: str
    irregularity: int
    text: str


class TablePaused(Event, frozen=True):
    reason: str


class TableResumed(Event, frozen=True):
    pass


# -- irregularities --------------------------------------------------------------------------------------------------


class IrregularityRaised(Event, frozen=True):
    """Something that the rules do not allow, with its evidence and what is proposed.

    Its id is this event's entry number. `noticed_by`: device, inference, or a person. `boot` and `report` name
    the device's report and `device_ms` its clock. `faces_seen`: whether any face lies open; None: not stated.
    """

    kind: Kind
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    blocks: bool
    noticed_by: str
    place: Place | None = None
    card: int | None = None
    ordinals: tuple[int, ...] = ()
    cards: int = 0
    counted: int | None = None
    faces_seen: bool | None = None
    boot: int | None = None
    report: int | None = None
    device_ms: int | None = None
    note: str = ""


class IrregularityConfirmed(Event, frozen=True):
    """A person says that it is so, and answers what was asked. The row is final from here on."""

    irregularity: int
    row: Row
    facts: Facts
    stage: Stage | None  # None: it is resolved by the events that follow


class FactStated(Event, frozen=True):
    irregularity: int
    facts: Facts
    row: Row
    asks: tuple[str, ...]


class OrderNamed(Event, frozen=True):
    irregularity: int
    ordinals: tuple[int, ...]
    stage: Stage | None


class OptionChosen(Event, frozen=True):
    irregularity: int
    place: Place
    choice: Choice


class Ruled(Event, frozen=True):
    irregularity: int
    action: RulingAction
    authority: str
    text: str


class IrregularityResolved(Event, frozen=True):
    """Closed, by whom, and with what: a disposition, `denied`, or `ruling`."""

    irregularity: int
    outcome: str
    clause: str
    by: str
    role: Role


# -- people ----------------------------------------------------------------------------------------------------------


class OperationTaken(Event, frozen=True):
    operation_id: str
    operation: str
    person: str
    role: Role


class OperationRefused(Event, frozen=True):
    """Changes nothing but the answers kept."""

    operation_id: str
    operation: str
    person: str
    code: str
    sentence: str


AnyEvent: TypeAlias = (
    TableBegan
    | GameChosen
    | DeviceReady
    | DeviceLost
    | ServiceChanged
    | StatusAgrees
    | StatusDiffers
    | ReportsPassed
    | ReportTaken
    | CommandIssued
    | CommandDone
    | CommandRefused
    | CommandLapsed
    | DeviceStopped
    | DeviceFreed
    | DeviceNoted
    | DeckArrived
    | ShuffleBegan
    | DeckShuffled
    | ShuffleFailed
    | CardFoundFaceUp
    | SetInTray
    | CardsSetAside
    | CardsDealt
    | CardsCounted
    | StubCounted
    | PhaseEntered
    | RoundBegan
    | BoxesOccupied
    | DealBegan
    | CardsHandled
    | HandCounted
    | HandExposed
    | HandTakenBack
    | HandJudged
    | HandRemoved
    | ChipsPaid
    | ConclusionAsked
    | RoundVoided
    | TablePaused
    | TableResumed
    | IrregularityRaised
    | IrregularityConfirmed
    | FactStated
    | OrderNamed
    | OptionChosen
    | Ruled
    | IrregularityResolved
    | OperationTaken
    | OperationRefused
)
