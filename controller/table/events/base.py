"""What all events are."""

from __future__ import annotations

import msgspec

from firmware_bridge.words import snake


class Event(msgspec.Struct, frozen=True, tag_field="event", tag=snake):
    """Base of all events."""
