"""Named mixes of faults: how often the cycles of a machine went wrong."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

import msgspec

from simulators.devices.faults import Side, find_fault
from simulators.devices.mechanism import SET_SIZE

SURE_TO_LEAVE: Final = 2 * SET_SIZE  # cards of a deck that every round deals: one box and the Dealer


class Preset(msgspec.Struct, frozen=True):
    """A mix of independent faults: `counted` says in how many of `cycles` each fault came.

    A cycle is a deck that is loaded. A fault of a card that leaves comes at one of the first six, which every round
    deals.
    """

    name: str
    does: str
    cycles: int
    counted: Mapping[str, int]
    sides: tuple[Side, ...]

    def chance(self, fault: str) -> float:
        return self.counted[fault] / self.cycles

    def plan(self, random: Random, cards: int) -> list[tuple[str, int]]:
        """Return the faults of one cycle, each with its card. `cards` is the number of cards loaded."""
        planned = []
        for name in self.counted:
            happens, place = random.random() < self.chance(name), random.random()
            last = cards if find_fault(name).of == "card of the next deck" else SURE_TO_LEAVE
            if happens:
                planned.append((name, 1 + int(place * last)))
        return planned


PRESETS: Final = {
    preset.name: preset
    for preset in (
        Preset(
            "real-machine",
            "The log of a real machine: how many of 1056 cycles had each kind of fault.",
            1056,
            {"missing-card": 201, "extra-card": 4, "door-jam": 231, "jam-recovery": 2, "platform-fault": 631},
            ("shuffler", "shoe"),
        ),
    )
}
