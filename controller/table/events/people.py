"""What people asked for, and the answers."""

from __future__ import annotations

from controller.games.specification import Role
from controller.table.events.base import Event
from controller.table.operations.corrections import Correctable


class OperationTaken(Event, frozen=True):
    """`given`: the operation itself, where it may be corrected later."""

    operation_id: str
    operation: str
    person: str
    role: Role
    given: Correctable | None = None


class OperationRefused(Event, frozen=True):
    """Changes nothing but the answers kept."""

    operation_id: str
    operation: str
    person: str
    code: str
    sentence: str
