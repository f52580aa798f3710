"""The base of all events."""

from __future__ import annotations

import msgspec

from controller.table.state import TableState


class Event(msgspec.Struct, frozen=True, tag_field="event"):
    """Base class of all events. The tag is the event's name in journals and in the API: it never changes."""

    def apply(self, state: TableState, entry: int) -> TableState:
        """Return the state after the event, without judging it; `entry` is the event's number in the journal."""
        return state
