"""A simulated person at a shuffler, for `cardshoe bench --shuffles`: the only simulated person who needs neither a
table nor a daemon.
"""

from __future__ import annotations

from collections.abc import Callable

from firmware_bridge.cards import Card
from simulators.devices.base import LoggedReport
from simulators.devices.mechanism import Mechanism


class BenchPerson:
    """Lifts each set immediately, and puts the deck in again when all of it has come out.

    Each set goes under the earlier ones, and unloaded cards go under all: the deck goes in in the order in which it
    came out. `soon` calls a function when the device has finished its present action.
    """

    def __init__(self, mechanism: Mechanism, soon: Callable[[Callable[[], None]], object]) -> None:
        self._mechanism = mechanism
        self._soon = soon
        self._came: list[Card] = []

    def see(self, report: LoggedReport) -> None:
        """Act on a report from the device."""
        if report.report == "SetDispensed":
            self._soon(self._lift)
        elif report.report == "StubUnloaded":
            self._soon(self._take_the_rest)

    def _lift(self) -> None:
        self._came += self._mechanism.lift_set()
        if not self._mechanism.inside and not self._mechanism.tray:
            self._put_in()

    def _take_the_rest(self) -> None:
        self._came += self._mechanism.inside
        self._put_in()

    def _put_in(self) -> None:
        deck, self._came = self._came, []
        if deck:
            self._mechanism.load(deck)
