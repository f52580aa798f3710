"""The identity, status and capabilities of a device, and what it means for people if a capability is missing."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec

from firmware_bridge.messages import Message, message


class Capabilities(msgspec.Struct, frozen=True):
    """The senses and functions of a device. For those it lacks, the controller asks a person, or infers and says so."""

    recognises_cards: bool
    senses_orientation: bool
    senses_double_draw: bool
    senses_tray: bool
    holds_exit: bool
    unloads_stub: bool
    dispenses: Literal["on_command", "on_removal"]
    stages: bool  # a set may wait in the tray before bets are closed
    retains_reports: bool  # through a loss of power
    acknowledges: bool = True  # False: each report is sent at most once, and numbers do not reveal a loss
    counts: bool = True  # False: the device sends no card numbers, deck notices or status; those fields are all 0
    attests: bool = False  # shows on request which program it runs

    @property
    def yields_one_card(self) -> bool:
        """Return whether a device that deals sets can form a set of one card on command."""
        return self.dispenses == "on_command"


KeyUsed: TypeAlias = Literal["", "old", "next"]
"""Which of a device's two keys it has while its key is changed; empty if the host has one key for it, or none."""


class DeviceIdentity(msgspec.Struct, frozen=True):
    """The identity that a device reports. The driver's handshake proves it if the driver has a handshake."""

    kind: Literal["shuffler", "shoe"]
    unit: Literal["sets", "singles", "both"]
    maker: str
    model: str
    serial: str
    firmware: str
    firmware_digest: str
    capabilities: Capabilities
    simulated: bool
    deck_size: int
    boot: int


class DeviceStatus(msgspec.Struct, frozen=True):
    """The state that a device reports; `last_report` is the newest report that it includes."""

    boot: int
    last_report: int
    uptime_ms: int
    shuffle: int
    loaded: int
    dispensed: int
    remaining: int
    sets_dispensed: int
    tray_occupied: bool
    exit_held: bool
    moving: bool
    last_command: int
    faults: tuple[str, ...] = ()


SHORTCOMINGS: Final[tuple[tuple[str, Message], ...]] = (
    ("counts", message("No card counter: the table counts the cards, and people enter each new deck.")),
    (
        "acknowledges",
        message("Reports are sent only once: count the cards if the connection is lost during a round."),
    ),
    ("retains_reports", message("No memory without power: count the cards if the shoe loses power during a round.")),
    ("recognises_cards", message("No card reader: enter every hand as it lies on the table.")),
    ("senses_orientation", message("No face-up sensor: report any card that comes out face up.")),
    (
        "senses_double_draw",
        message("No double-draw sensor: report two cards drawn together; the table can only suspect it."),
    ),
    ("holds_exit", message("No exit lock: a card drawn out of turn is reported, not prevented.")),
    ("unloads_stub", message("No count of the stub: count the cards left after the round and enter the number.")),
)
"""Each capability, with what its absence means for the people at the table."""


def shortcomings(capabilities: Capabilities) -> tuple[Message, ...]:
    """Return a sentence for each capability that this device lacks."""
    return tuple(said for name, said in SHORTCOMINGS if not getattr(capabilities, name))
