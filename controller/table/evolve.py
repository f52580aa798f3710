"""The fold: applies events one after the other. Each event's `apply` sets its part of the state."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from controller.table.events import AnyEvent
from controller.table.stale_screens import applied
from controller.table.state import TableState


def evolve(state: TableState, event: AnyEvent, entry: int) -> TableState:
    """Return the state after one event with entry number `entry`. An input has the number before its first event."""
    return replace(applied(state, event, entry, first=entry != state.entry + 1), entry=entry)


def fold(state: TableState, numbered: Iterable[tuple[int, AnyEvent]]) -> TableState:
    """Return the state after a sequence of events with their entry numbers."""
    for entry, event in numbered:
        state = evolve(state, event, entry)
    return state
