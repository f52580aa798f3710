"""What people asked for, and the answers."""

from __future__ import annotations

from controller.roles import Role
from controller.table.events.base import Event
from controller.table.operations.corrections import Correctable
from controller.table.phases import Phase


class OperationTaken(Event, frozen=True, tag="operation_taken"):
    """`given`: the operation itself, where it may be corrected later."""

    operation_id: str
    operation: str
    person: str
    role: Role
    given: Correctable | None = None


class OperationRefused(Event, frozen=True, tag="operation_refused"):
    """Changes nothing but the answers kept."""

    operation_id: str
    operation: str
    person: str
    code: str
    sentence: str


class DealerCame(Event, frozen=True, tag="dealer_came"):
    """This person deals from now on."""

    dealer: str


class DealerLeft(Event, frozen=True, tag="dealer_left"):
    """Nobody is on duty from now on."""

    dealer: str


class HandedOver(Event, frozen=True, tag="handed_over"):
    """The table went from one person to another, with everything that was open; `from_dealer` empty: from nobody."""

    from_dealer: str
    to_dealer: str
    open: tuple[int, ...]
    of_round: int
    phase: Phase
