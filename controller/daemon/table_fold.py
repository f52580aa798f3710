"""The fold of a table's journal, for a deep check."""

from __future__ import annotations

from collections.abc import Sequence

from controller.table.events import AnyEvent
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState, remember
from firmware_bridge.drivers.memory import LinkMemory


class TableFold:
    """Implements `controller.journal.deep_check.Fold`."""

    def __init__(self) -> None:
        self.begin(None)

    def begin(self, state: SavedState | None) -> None:
        saved = state or SavedState()
        self._table, self._memory = saved.table, LinkMemory(saved.link)

    def take(self, number: int, given: AnyInput, events: Sequence[AnyEvent]) -> None:
        for entry, event in enumerate(events, number + 1):
            self._table = evolve(self._table, event, entry)
        remember(self._memory, given)

    def is_at(self, state: SavedState) -> bool:
        return SavedState(self._table, self._memory.journaled()) == state
