"""What all operations are."""

from __future__ import annotations

import msgspec


class Operation(msgspec.Struct, frozen=True, tag_field="operation", forbid_unknown_fields=True):
    """Base of all operations."""
