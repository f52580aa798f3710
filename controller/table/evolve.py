"""The fold: applies events one after the other. Each event's `apply` sets its part of the state.

A screen sends with an operation the entry of the state from which its button was drawn. After an event that gives the
buttons another meaning (`Event.outdates`) the operation is refused, since the person decided on outdated information.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from controller.table import events
from controller.table.events import AnyEvent
from controller.table.events.base import Event
from controller.table.model import Turn
from controller.table.state import TableState


def applied(state: TableState, event: Event, entry: int, *, first: bool) -> TableState:
    """Return the state after an event. `first`: the event is the first one that followed from its input."""
    acting = state.acting
    if first and not isinstance(event, events.OperationRefused):  # after which nothing follows
        acting = entry if isinstance(event, events.OperationTaken) else 0
    after = event.apply(state, entry)
    if event.outdates is not None:
        return replace(after, acting=acting, turn=Turn(entry, str(event.__struct_config__.tag), acting))
    return after if acting == after.acting else replace(after, acting=acting)


def evolve(state: TableState, event: AnyEvent, entry: int) -> TableState:
    """Return the state after one event with entry number `entry`. An input has the number before its first event."""
    return replace(applied(state, event, entry, first=entry != state.entry + 1), entry=entry)


def fold(state: TableState, numbered: Iterable[tuple[int, AnyEvent]]) -> TableState:
    """Return the state after a sequence of events with their entry numbers."""
    for entry, event in numbered:
        state = evolve(state, event, entry)
    return state
