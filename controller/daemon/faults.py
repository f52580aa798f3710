"""Why a table's daemon cannot decide or record anything."""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.roles import Role


class Fault(NamedTuple):
    """Why nothing can be decided or recorded."""

    code: str
    sentence: str
    hint: str
    returned_by: Role = Role.PIT_SUPERVISOR  # or a person of a higher rank


NO_ROOM: Final = Fault(
    "journal-full",
    "The disk with the journal has no room left for another round.",
    "Make room on that disk, then return the table to service.",
)
