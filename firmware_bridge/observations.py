"""What a device can report, in a form that is the same for all drivers.

An observation is a claim of the device, never a judgement: the controller decides what it means for the round.
Cards come as `Concealed`, or as None where the device did not recognise one.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from firmware_bridge.cards import Concealed


class Observation(msgspec.Struct, frozen=True, tag_field="observed"):
    """Base of all observations."""


class Started(Observation, frozen=True, tag="started"):
    """The device began to run. `cause` is as the device names it: power, reset, watchdog, brown_out."""

    cause: str


class DeckLoaded(Observation, frozen=True, tag="deck_loaded"):
    """A deck lies in the device, not yet shuffled by it. `count` None: the device does not count at loading."""

    deck: int
    count: int | None
    shuffle: int | None = None  # a shoe names the order of the deck it was given


class ShuffleStarted(Observation, frozen=True, tag="shuffle_started"):
    deck: int


class ShuffleFinished(Observation, frozen=True, tag="shuffle_finished"):
    """A completed shuffle with what the device counted while it read the deck."""

    deck: int
    shuffle: int
    count: int
    missing: int = 0
    extra: int = 0
    duplicate: int = 0
    unreadable: int = 0
    foreign: int = 0
    face_up: int = 0


class ShuffleAborted(Observation, frozen=True, tag="shuffle_aborted"):
    deck: int
    count: int
    missing: int = 0
    extra: int = 0
    duplicate: int = 0
    unreadable: int = 0
    foreign: int = 0
    face_up: int = 0


class SetDispensed(Observation, frozen=True, tag="set_dispensed"):
    """Cards lie together in the tray. `ordinal` is the first card's place in the shuffle, from 1."""

    shuffle: int
    ordinal: int
    remaining: int
    deck: int
    cards: tuple[Concealed | None, ...]
    foreign: int = 0


class SetRemoved(Observation, frozen=True, tag="set_removed"):
    """The tray's sensor saw the tray emptied."""

    shuffle: int
    ordinal: int


class CardDrawn(Observation, frozen=True, tag="card_drawn"):
    """One card left a shoe. `face_up` None: the device has no orientation sensor."""

    shuffle: int
    ordinal: int
    remaining: int
    deck: int
    card: Concealed | None
    face_up: bool | None = None
    foreign: int = 0


class CardsDrawnTogether(Observation, frozen=True, tag="cards_drawn_together"):
    """Two or more cards left at once; `cards` are in the order of the log only if `order_known`."""

    shuffle: int
    ordinal: int
    remaining: int
    deck: int
    order_known: bool
    cards: tuple[Concealed | None, ...]
    foreign: int = 0


class FaceUpFound(Observation, frozen=True, tag="face_up_found"):
    """A card that will leave as number `ordinal` lies face up in the device, where only the sensor sees it."""

    shuffle: int
    ordinal: int
    deck: int
    card: Concealed | None = None
    foreign: int = 0


class StubUnloaded(Observation, frozen=True, tag="stub_unloaded"):
    """What was left after the deal came out and was counted, a set that still lay in the tray included."""

    deck: int
    count: int


class Jammed(Observation, frozen=True, tag="jammed"):
    zone: str


class JamCleared(Observation, frozen=True, tag="jam_cleared"):
    zone: str


class DoorMoved(Observation, frozen=True, tag="door_moved"):
    open: bool


class SelfTestFinished(Observation, frozen=True, tag="self_test_finished"):
    passed: bool
    detail: str = ""


class CheckFailed(Observation, frozen=True, tag="check_failed"):
    """A check that the device makes of itself has failed. `what`: `memory`, `program`, or another word."""

    what: str


class PowerLow(Observation, frozen=True, tag="power_low"):
    pass


class Tampered(Observation, frozen=True, tag="tampered"):
    where: str


class ButtonPressed(Observation, frozen=True, tag="button_pressed"):
    button: str


class ReportsLost(Observation, frozen=True, tag="reports_lost"):
    """The device reports that its memory overflowed: reports `first` to `last` of `boot` are gone."""

    boot: int
    first: int
    last: int


class NotUnderstood(Observation, frozen=True, tag="not_understood"):
    """A whole, undamaged report whose body this driver cannot read. The bytes are in the evidence."""

    reason: str


class GapSuspected(Observation, frozen=True, tag="gap_suspected"):
    """The device's numbering skipped, and how it numbers is only inferred: something may be lost. Never proof."""

    why: str


class Alarmed(Observation, frozen=True, tag="alarmed"):
    """The device raised an alarm. `alarm` is its code, never its text, which may name a card: that is evidence."""

    alarm: str


class Noted(Observation, frozen=True, tag="noted"):
    """The device sent something that does not concern the cards of a game. `what` names it without its content."""

    what: str


AnyObservation: TypeAlias = (
    Started
    | DeckLoaded
    | ShuffleStarted
    | ShuffleFinished
    | ShuffleAborted
    | SetDispensed
    | SetRemoved
    | CardDrawn
    | CardsDrawnTogether
    | FaceUpFound
    | StubUnloaded
    | Jammed
    | JamCleared
    | DoorMoved
    | SelfTestFinished
    | CheckFailed
    | PowerLow
    | Tampered
    | ButtonPressed
    | ReportsLost
    | NotUnderstood
    | GapSuspected
    | Alarmed
    | Noted
)
