"""The base of all events."""

from __future__ import annotations

import msgspec

from controller.table.state import TableState


class Event(msgspec.Struct, frozen=True, tag_field="event"):
    """Base of all events. The tag is the event's name in journals and in the API: it never changes."""

    def apply(self, state: TableState, entry: int) -> TableState:
        """The state after the event; `entry` is its number in the journal. Judges nothing."""
        return state
