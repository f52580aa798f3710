"""What people asked for, and the answers."""

from __future__ import annotations

from controller.games.specification import Role
from controller.table.events.base import Event


class OperationTaken(Event, frozen=True):
    operation_id: str
    operation: str
    person: str
    role: Role


class OperationRefused(Event, frozen=True):
    """Changes nothing but the answers kept."""

    operation_id: str
    operation: str
    person: str
    code: str
    sentence: str
