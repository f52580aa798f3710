"""Observations: the reports of devices, in the same form for all drivers.

An observation is a device's claim, not a judgement: the controller decides what it means for the round. Cards come as
`Concealed`, or as None where the device did not recognise one.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from firmware_bridge.cards import Concealed


class Observation(msgspec.Struct, frozen=True, tag_field="observed"):
    """The base class of all observations."""


class Started(Observation, frozen=True, tag="started"):
    """The device began to run. `cause` is the device's word: power, reset, watchdog, brown_out."""

    cause: str


class DeckLoaded(Observation, frozen=True, tag="deck_loaded"):
    """A deck is in the device, not yet shuffled by it. `count` is None if the device does not count at loading."""

    deck: int
    count: int | None
    shuffle: int | None = None  # a shoe names the order of the deck that it was given


class ShuffleStarted(Observation, frozen=True, tag="shuffle_started"):
    deck: int


class ShuffleFinished(Observation, frozen=True, tag="shuffle_finished"):
    """A completed shuffle, with what the device counted while reading the deck."""

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
    """Cards are together in the tray. `ordinal` is the place of the first card in the shuffle, from 1."""

    shuffle: int
    ordinal: int
    remaining: int
    deck: int
    cards: tuple[Concealed | None, ...]
    foreign: int = 0


class SetRemoved(Observation, frozen=True, tag="set_removed"):
    """The tray's sensor found the tray emptied."""

    shuffle: int
    ordinal: int


class CardDrawn(Observation, frozen=True, tag="card_drawn"):
    """One card left a shoe. `face_up` is None if the device does not have an orientation sensor."""

    shuffle: int
    ordinal: int
    remaining: int
    deck: int
    card: Concealed | None
    face_up: bool | None = None
    foreign: int = 0


class CardsDrawnTogether(Observation, frozen=True, tag="cards_drawn_together"):
    """Two or more cards left the device together; `cards` are in their order in the shuffle only if `order_known`."""

    shuffle: int
    ordinal: int
    remaining: int
    deck: int
    order_known: bool
    cards: tuple[Concealed | None, ...]
    foreign: int = 0


class FaceUpFound(Observation, frozen=True, tag="face_up_found"):
    """The card that will leave as number `ordinal` lies face up in the device, where only the sensor sees it."""

    shuffle: int
    ordinal: int
    deck: int
    card: Concealed | None = None
    foreign: int = 0


class StubUnloaded(Observation, frozen=True, tag="stub_unloaded"):
    """The remaining cards came out and were counted, including a set that was still in the tray."""

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
    """A self-check of the device failed. `what` is `memory`, `program` or another word."""

    what: str


class PowerLow(Observation, frozen=True, tag="power_low"):
    pass


class Tampered(Observation, frozen=True, tag="tampered"):
    where: str


class ButtonPressed(Observation, frozen=True, tag="button_pressed"):
    button: str


class ReportsLost(Observation, frozen=True, tag="reports_lost"):
    """The device's memory overflowed: reports `first` to `last` of `boot` are gone."""

    boot: int
    first: int
    last: int


class NotUnderstood(Observation, frozen=True, tag="not_understood"):
    """Something from the device that may be a report and cannot be read: damaged, cut off, or unknown to this driver.
    The bytes are in the evidence."""

    reason: str


class GapSuspected(Observation, frozen=True, tag="gap_suspected"):
    """The device's numbering, which is only inferred, skipped: something may be lost. Never proof."""

    why: str


class Alarmed(Observation, frozen=True, tag="alarmed"):
    """The device raised an alarm. `alarm` is its code. Its text may name a card, so it is evidence."""

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
