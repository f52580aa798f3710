"""What a device is and can do: its identity, its status, its capabilities, and in sentences what it cannot."""

from __future__ import annotations

from typing import Final, Literal

import msgspec


class Capabilities(msgspec.Struct, frozen=True):
    """What a device can sense and do. Where it cannot, the controller asks a person or infers, and says so."""

    recognises_cards: bool
    senses_orientation: bool
    senses_double_draw: bool
    senses_tray: bool
    holds_exit: bool
    unloads_stub: bool
    dispenses: Literal["on_command", "on_removal"]
    stages: bool  # a set may wait in the tray before bets are closed
    retains_reports: bool  # through a loss of power
    acknowledges: bool = True  # False: at most once, a loss cannot be noticed by numbers
    counts: bool = True  # False: it numbers no cards, tells of no decks and gives no status; those fields are all 0

    @property
    def yields_one_card(self) -> bool:
        """Whether a device of sets can be told to form a set of one."""
        return self.dispenses == "on_command"


class DeviceIdentity(msgspec.Struct, frozen=True):
    """Who the device says it is. Proven by the driver's handshake where the driver has one."""

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
    """A device's own account of itself, `last_report` being the newest report that it takes into account."""

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


SHORTCOMINGS: Final[tuple[tuple[str, str], ...]] = (
    ("counts", "It numbers no cards and tells of no decks: the table counts, and people say when a deck is put in."),
    ("acknowledges", "It tells every card at most once: after each loss of the link in a round a count is asked for."),
    ("retains_reports", "It forgets without power what was not heard: then a count is asked for."),
    ("recognises_cards", "It does not read cards: people enter every hand as it lies on the table."),
    ("senses_orientation", "It does not feel which way up a card lies: people report a card that lies face up."),
    (
        "senses_double_draw",
        "It does not feel two cards at once: the table infers it from its clock, or people say so.",
    ),
    ("holds_exit", "It cannot hold its exit: a card that is taken out of turn is told of, not prevented."),
    ("unloads_stub", "It does not count its stub: people do."),
)
"""The capability that is wanting, and what that means at the table."""


def shortcomings(capabilities: Capabilities) -> tuple[str, ...]:
    """A sentence for each thing that this device cannot."""
    return tuple(sentence for name, sentence in SHORTCOMINGS if not getattr(capabilities, name))
