"""A simulated supervisor for a visitor who deals: when the supervisor comes, and which reports are denied."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from typing import Final

from controller.api.irregularity_view import IrregularityView
from controller.games.specification import Kind
from firmware_bridge.messages import Message, message
from simulators.devices.mechanism import SET_SIZE
from simulators.people.crew import CREW
from simulators.people.physical_table import PhysicalTable

SECOND_NS: Final = 1_000_000_000
PATIENCE: Final = 90.0  # seconds; enough for a newcomer to read and answer a question


class Patience:
    """Measures how long a question has been open. A person has `seconds` to decide; `clock` is in seconds;
    `utc_ns` tells the time of day.
    """

    def __init__(self, clock: Callable[[], float], seconds: float, utc_ns: Callable[[], int]) -> None:
        self._clock = clock
        self._utc_ns = utc_ns
        self.seconds = seconds
        self._asked: Hashable = None
        self._since = 0.0
        self.ends = datetime.fromtimestamp(0, UTC)  # by the time of day when the wait began

    def begins(self, asked: Hashable) -> bool:
        """Return whether this question differs from the last question."""
        if asked == self._asked:
            return False
        self._asked = asked
        self.again()
        return True

    def again(self) -> None:
        """Start the wait anew."""
        self._since = self._clock()
        self.ends = datetime.fromtimestamp(self._utc_ns() // SECOND_NS + self.seconds, UTC)

    @property
    def is_over(self) -> bool:
        return self._clock() - self._since >= self.seconds


def lying_places(table: PhysicalTable) -> set[str]:
    """Return the places with hands."""
    return {place for place, cards in table.hands.items() if cards}


def contradiction(found: IrregularityView, table: PhysicalTable, *, misplaced: bool, exposed: bool) -> Message | None:
    """Return what on the table contradicts a person's report, or None if nothing does.

    `misplaced` means that hands are at each other's places, or away from the bets; `exposed`, that a card lies face up.
    """
    if found.noticed_by not in {member.id for member in CREW}:
        return None
    match Kind(found.kind):
        case Kind.WRONG_COUNT if found.place is not None:
            lying = len(table.hands.get(found.place, ()))
            return message("{count} cards lie there", count=lying) if lying in (SET_SIZE, 0) else None
        case Kind.WRONG_DISTRIBUTION if not misplaced:
            return message("every hand is in its place")
        case Kind.FOREIGN_CARD:
            return message("every card belongs to this deck")
        case Kind.EXPOSED_CARD | Kind.DEALER_EXPOSED_EARLY | Kind.PLAYER_EXPOSED if not exposed:
            return message("no card lies face up")
        case Kind.LATE_BET | Kind.SIDE_WITHOUT_MAIN | Kind.OUTSIDE_LIMITS:
            return message("every bet was placed in time and by the rules")
        case Kind.DROPPED_CARD:
            return message("no card was dropped")
        case Kind.WRONG_VIEWER:
            return message("every Player looked only at his own hand")
        case Kind.TECHNICAL_STOP if not table.mechanism.jammed:
            return message("the device runs")
    return None
