"""The fold: what each event sets. No judgement, no refusal, no clock; see `controller.table.events`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from controller.table.events import AnyEvent
from controller.table.folding import cards, corrections, decks, device, irregularities, people, rounds, wagers
from controller.table.folding.setters import SETTERS
from controller.table.state import TableState

# Each put its setters into the table when it was imported.
ROOMS = (device, cards, decks, rounds, irregularities, people, wagers, corrections)


def evolve(state: TableState, event: AnyEvent, entry: int) -> TableState:
    """The state after one event that stands in the journal as number `entry`."""
    setter = SETTERS.get(type(event))
    if setter is not None:
        state = setter(state, event, entry)
    return replace(state, entry=entry)


def fold(state: TableState, numbered: Iterable[tuple[int, AnyEvent]]) -> TableState:
    """The state after a run of events with their entry numbers."""
    for entry, event in numbered:
        state = evolve(state, event, entry)
    return state
