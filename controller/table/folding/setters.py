"""The table of setters, and what several of them do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from controller.table import events
from controller.table.model import Deck, Hand
from controller.table.state import TableState
from firmware_bridge.commands import Command

Setter: TypeAlias = Callable[[TableState, Any, int], TableState]
SETTERS: Final[dict[type[events.Event], Setter]] = {}


def sets(event_type: type[events.Event]) -> Callable[[Setter], Setter]:
    """Registers what an event of this type sets."""

    def register(setter: Setter) -> Setter:
        SETTERS[event_type] = setter
        return setter

    return register


def with_hand(state: TableState, place: str, **changes: Any) -> TableState:
    hand = replace(state.hands.get(place, Hand()), **changes)
    return replace(state, hands={**state.hands, place: hand})


def with_open(state: TableState, irregularity: int, entry: int, **changes: Any) -> TableState:
    """What changes an irregularity asks back a void that was asked for once."""
    changes = {"void_asked": False, **changes}
    changed = tuple(
        replace(found, revision=entry, **changes) if found.id == irregularity else found for found in state.open
    )
    return replace(state, open=changed)


def with_record(state: TableState, label: str, **changes: Any) -> TableState:
    """A recorded deck is changed; a name that nothing is recorded under changes nothing."""
    decks = tuple(replace(record, **changes) if record.label == label else record for record in state.decks)
    return replace(state, decks=decks)


def with_deck(state: TableState, waiting: bool, **changes: Any) -> TableState:
    """The deck in play is changed, or the one that waits."""
    if not waiting:
        return replace(state, deck=replace(state.deck, **changes))
    return replace(state, next_deck=replace(state.next_deck or Deck(), **changes))


def effect_seen(state: TableState, command: type[Command]) -> TableState:
    """What an open command was to bring about has been reported."""
    opened = tuple(
        replace(one, seen=True) if isinstance(one.command, command) else one for one in state.device.open_commands
    )
    return replace(state, device=replace(state.device, open_commands=opened))


def drawn(state: TableState, count: int) -> Deck:
    return replace(state.deck, used=True, dispensed=state.deck.dispensed + count)
