"""What is armed to go wrong in a mechanism: a plan's mishap of this deal, and faults that somebody armed by name."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import msgspec

from firmware_bridge.cards import Card


class ArmedFaults(msgspec.Struct):
    """Ordinals count from 1 within the shuffle; 0: not armed.

    `double_feed_at`: the set (or draw) that begins at or covers this card brings one card more, and the sensor sees it.
    `unseen_extra_at`: the same, and the sensor does not see it. `face_up_at`: this card lies face up. `jam_at`: the
    mechanism jams before this card; `jam_zone` says where, if it is not where it
    then moves cards, `jam_clears` that it frees itself and goes on. `door_opens`:
    the door stands open until that jam is cleared. `stuck`: so many cards stay inside when the stub comes out.
    `miscount`: so many more (or fewer) than there are does the stub's counter say. `slip_at`: the exit's lock lets one
    go after this card. `unreadable_at`: this card is not recognised. `foreign_at`: it is taken for another deck's.
    `drop_at`: this card falls to the floor, counted and not reported. `slow_at`: the motion that brings this card takes
    ten times as long. `reset_at`: the device starts anew when this card has left. `brown_out_at`: then it says that
    its power is low, and starts anew after its next motion.

    Of the next deck that is loaded, as it lies before it is shuffled: `missing_at`: this card is not in it. `extra_at`:
    the next one's double lies here besides. `duplicate_at`: here lies the next one's double instead.
    """

    double_feed_at: int = 0
    unseen_extra_at: int = 0
    face_up_at: int = 0
    jam_at: int = 0
    jam_zone: str = ""
    jam_clears: bool = False
    door_opens: bool = False
    stuck: int = 0
    miscount: int = 0
    slip_at: int = 0
    unreadable_at: int = 0
    foreign_at: int = 0
    drop_at: int = 0
    slow_at: int = 0
    reset_at: int = 0
    brown_out_at: int = 0
    missing_at: int = 0
    extra_at: int = 0
    duplicate_at: int = 0

    @property
    def spent(self) -> bool:
        """Whether nothing of it is still to come."""
        return not any(getattr(self, name) for name in self.__struct_fields__ if name.endswith("_at"))


class Arms:
    """All that is armed. `planned` is replaced at every deal; what was armed by name waits until it happens."""

    def __init__(self) -> None:
        self.planned = ArmedFaults()
        self.named: list[ArmedFaults] = []

    def pending(self, name: str, ordinals: range) -> int:
        """The first of these cards at which it will happen; 0: at none."""
        return min(self.places(name, ordinals), default=0)

    def places(self, name: str, ordinals: range) -> set[int]:
        """All of these cards at which it will happen."""
        return {place for one in self._all() if (place := getattr(one, name)) in ordinals}

    def strike(self, name: str, ordinals: range) -> ArmedFaults | None:
        """The fault that happens at one of these cards, as it was armed, if there is one. It happens once."""
        place = self.pending(name, ordinals)
        for one in self._all():
            if place and getattr(one, name) == place:
                struck = copy(one)
                setattr(one, name, 0)
                self.named = [left for left in self.named if not left.spent]
                return struck
        return None

    def spoil(self, cards: Sequence[Card]) -> list[Card]:
        """The deck that is loaded when these cards should be."""
        spoilt = list(cards)
        whole = range(1, len(spoilt) + 1)
        while struck := self.strike("duplicate_at", whole):
            spoilt[struck.duplicate_at - 1] = spoilt[struck.duplicate_at % len(spoilt)]
        while struck := self.strike("extra_at", whole):
            spoilt.insert(struck.extra_at - 1, spoilt[struck.extra_at % len(spoilt)])
        while struck := self.strike("missing_at", whole):
            del spoilt[struck.missing_at - 1]
        return spoilt

    def _all(self) -> list[ArmedFaults]:
        return [self.planned, *self.named]
