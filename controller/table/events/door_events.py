"""Events of the way to the table: wrong PINs, and what was refused before it reached the table."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.events.base import Event
from controller.table.model import PinLock
from controller.table.state import TableState


class PinRefused(Event, frozen=True, tag="pin_refused"):
    """A wrong PIN for this person was entered by this user of the machine.

    `failures`: since the last right PIN or the last lock. `locks`: since the last right PIN. `locked_until_utc_ns`: no
    PIN of the person is taken from the user until then; 0: not locked.
    """

    person: str
    uid: int
    failures: int
    locks: int = 0
    locked_until_utc_ns: int = 0

    def apply(self, state: TableState, entry: int) -> TableState:
        lock = PinLock(self.person, self.uid, self.failures, self.locks, self.locked_until_utc_ns)
        return replace(state, pin_locks=(*_without(state, self.person, self.uid), lock))


class PinAccepted(Event, frozen=True, tag="pin_accepted"):
    """The right PIN after wrong ones: those no longer count."""

    person: str
    uid: int

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, pin_locks=_without(state, self.person, self.uid))


class DoorRefused(Event, frozen=True, tag="door_refused"):
    """So many attempts of one user of the machine were refused before they reached the table.

    `what`: the code of the refusal. `uid` None: users together who are too many to be distinguished, or none is meant.
    """

    what: str
    uid: int | None
    count: int


def _without(state: TableState, person: str, uid: int) -> tuple[PinLock, ...]:
    return tuple(lock for lock in state.pin_locks if (lock.person, lock.uid) != (person, uid))
