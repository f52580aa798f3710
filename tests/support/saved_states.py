"""A fold that continues from the saved state after every decision, next to a fold that is never saved."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from controller.journal.codec import CHECKPOINT
from controller.table.events import AnyEvent
from controller.table.evolve import fold
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState, remember
from firmware_bridge.drivers.memory import LinkMemory
from tests.support.journal_codec import table_codec


class SavedFold:
    """`saved` is the last state as the journal's codec returned it; `largest` is the size of the largest one."""

    def __init__(self) -> None:
        self.saved = SavedState()
        self.largest = 0
        self._memory = LinkMemory()  # never saved
        self._codec = table_codec()

    def take(self, given: AnyInput, numbered: Iterable[tuple[int, AnyEvent]]) -> SavedState:
        """Fold one decision onto the saved state, save the result and read it back: it must be equal, and in the same
        order.
        """
        memory = LinkMemory(self.saved.link)
        for each in (memory, self._memory):
            remember(each, given)
        folded = SavedState(fold(self.saved.table, numbered), memory.journaled())
        assert folded.link == self._memory.journaled()
        written = self._codec.save(folded.table.entry, folded, CHECKPOINT)
        self.saved = self._codec.restore(folded.table.entry, written, CHECKPOINT)
        assert self.saved == folded
        assert _in_order(self.saved) == _in_order(folded)
        self.largest = max(self.largest, len(written.state) + len(written.sealed))
        return self.saved


def _in_order(value: Any) -> Any:
    """Return the value with all types and the order of dictionaries, which `==` does not compare.

    An enum's value may be a plain text in a state that was decided in memory.
    """
    if isinstance(value, msgspec.Struct):
        return type(value), [_in_order(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, dict):
        return dict, [(_in_order(name), _in_order(one)) for name, one in value.items()]
    if isinstance(value, tuple):
        return tuple, [_in_order(one) for one in value]
    return str if isinstance(value, str) else type(value), value
