"""Counts wrong PINs, and records attempts that were refused before they reached the table.

A lock applies to one person at one user of the machine or at one screen. A stranger elsewhere therefore cannot lock
anyone out of this console.
"""

from __future__ import annotations

from typing import Final

from controller.table import events
from controller.table.decision import Decision
from controller.table.inputs import PinTried, RefusedAtDoor
from controller.table.model import PinLock

FAILURES: Final = 5  # wrong PINs that lead to a lock
LOCKS_NS: Final = tuple(minutes * 60 * 10**9 for minutes in (1, 5, 15))  # the first lock, the second, every later one


def lock_length_ns(lock: PinLock) -> int:
    """Return how long the most recent lock lasts; 0 if there was none."""
    return LOCKS_NS[min(lock.locks, len(LOCKS_NS)) - 1] if lock.locks else 0


def pin_tried(decision: Decision, given: PinTried) -> None:
    before = decision.state.pin_lock(given.person, given.uid, given.screen)
    if given.right:
        if before.failures or before.locks:
            decision.emit(events.PinAccepted(given.person, given.uid, given.screen))
        return
    failures, locks, until = before.failures + 1, before.locks, 0
    if failures == FAILURES:
        failures, locks = 0, before.locks + 1
        until = given.utc_ns + LOCKS_NS[min(locks, len(LOCKS_NS)) - 1]
    decision.emit(events.PinRefused(given.person, given.uid, failures, locks, until, given.screen))


def refused_at_door(decision: Decision, given: RefusedAtDoor) -> None:
    decision.emit(events.DoorRefused(given.what, given.uid, given.count, given.screen))
