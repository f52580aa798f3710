"""The types in the journal of a table, and the fold of its entries for a deep check.

It is short because the types are defined by the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from controller.journal.codec import StateForm, Types
from controller.table.events import AnyEvent
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.saved_state import VERSION, SavedState, digest, remember, upgrade
from firmware_bridge.drivers.memory import LinkMemory

WORDS: Final = Path(__file__).with_name("journal_words.txt")
"""Decisions as a table makes them, the most frequent last, written by `python -m tools.journal_words`. Each file of a
journal has its own copy, so these may change.
"""

JOURNAL_TYPES: Final = Types(AnyInput, AnyEvent, StateForm(SavedState, VERSION, digest(), upgrade), WORDS.read_bytes())


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
