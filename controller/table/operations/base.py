"""What all operations are."""

from __future__ import annotations

import msgspec

from firmware_bridge.words import snake


class Operation(msgspec.Struct, frozen=True, tag_field="operation", tag=snake, forbid_unknown_fields=True):
    """Base of all operations."""
