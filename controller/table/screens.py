"""Screens: browsers that a supervisor enrolled, and the dealer who is signed on at one.

A screen represents nobody until a dealer signs on there with a PIN. From then on, entries there without a name are that
dealer's, until the table is handed over, the dealer goes off duty, the screen is locked or the shift is over. A person
of a higher rank signs each entry with the PIN, which does not carry over to the next one. No clock is read here: the
end of a shift comes with the input, and access control checks whether it has come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from controller.roles import Role
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, ANY_PHASE, Group, OperationRow, group, untried
from controller.table.inputs import PersonActed, PinTried, RefusedAtDoor
from controller.table.model import PinLock
from controller.table.state import TableState
from firmware_bridge.messages import message

ID_LENGTH: Final = 12  # digits of the hash
MOST_SCREENS: Final = 32
LONGEST_NAME: Final = 40  # characters, to fit in a line of a screen
_HASH: Final = re.compile(r"[0-9a-f]{64}")


def id_of(token_hash: str) -> str:
    return token_hash[:ID_LENGTH]


def verify_screen(state: TableState, given: PersonActed) -> None:
    """Verify the screen, which may have been removed or handed to another dealer since the request was admitted."""
    if not given.screen:
        return
    screen = state.screen(given.screen)
    if screen is None:
        raise RefusedError("not-enrolled", "This screen is not enrolled; let a pit supervisor enrol it.")
    if given.proven == "screen" and screen.dealer != given.person:
        raise RefusedError(
            "not-signed-on", "At this screen {person} is not signed on; sign on with your PIN.", person=given.person
        )


def verify_enrol(state: TableState, given: PersonActed, operation: operations.EnrolScreen) -> None:
    name = operation.name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise RefusedError("name", "Enter a name for the screen, of at most {most} characters.", most=LONGEST_NAME)
    if not _HASH.fullmatch(operation.token_hash):
        raise RefusedError(
            "screen",
            "The screen's token is not a SHA-256 of 64 hexadecimal digits; enrol the screen from its own page.",
        )
    if state.screen(id_of(operation.token_hash)) is not None:
        raise RefusedError("screen", "This screen is already enrolled; there is nothing to enter.")
    if any(screen.name == name for screen in state.screens):
        raise RefusedError(
            "name", "Another screen is called {name}; enter another name, or remove that screen.", name=name
        )
    if len(state.screens) >= MOST_SCREENS:
        raise RefusedError("screen", "The table has {most} screens; remove one that is not used.", most=MOST_SCREENS)


def enrol(decision: Decision, given: PersonActed, operation: operations.EnrolScreen) -> None:
    screen_id = id_of(operation.token_hash)
    decision.emit(events.ScreenEnrolled(screen_id, operation.name.strip(), operation.token_hash))


def verify_remove(state: TableState, given: PersonActed, operation: operations.RemoveScreen) -> None:
    if state.screen(operation.screen) is None:
        if not state.screens:
            raise RefusedError("screen", "No screen is enrolled at this table; enrol one first.")
        known = tuple(message("{id} ({name})", id=screen.id, name=screen.name) for screen in state.screens)
        raise RefusedError("screen", "No screen at this table has that id; name one of {known:list}.", known=known)


def remove(decision: Decision, given: PersonActed, operation: operations.RemoveScreen) -> None:
    decision.emit(events.ScreenRemoved(operation.screen))


def verify_sign_on(state: TableState, given: PersonActed, operation: operations.SignOn) -> None:
    _verify_at_screen(given)
    if given.role is not Role.DEALER:
        raise RefusedError(
            "dealers-only", "Only a dealer signs on; a person of a higher rank signs each entry with the PIN."
        )
    if given.proven != "pin":
        raise RefusedError("not-signed-on", "Enter your name and your PIN to sign on.")
    if state.duty.dealer not in ("", given.person):
        raise RefusedError(
            "on-duty", "The dealer on duty is {dealer}; take the table over first.", dealer=state.duty.dealer
        )


def sign_on(decision: Decision, given: PersonActed, operation: operations.SignOn) -> None:
    decision.emit(events.SignedOn(given.screen, given.person, given.shift_ends_utc_ns))


def verify_lock(state: TableState, given: PersonActed, operation: operations.LockScreen) -> None:
    _verify_at_screen(given)
    screen = state.screen(given.screen)
    if screen is None or not screen.dealer:
        raise RefusedError("not-signed-on", "No dealer is signed on at this screen; there is nothing to enter.")


def lock(decision: Decision, given: PersonActed, operation: operations.LockScreen) -> None:
    _sign_off(decision, given.screen, "locked")


def change_dealer(decision: Decision, given: PersonActed) -> None:
    """Change the dealer: no other dealer stays signed on; the new one is, at this screen, if the PIN was entered."""
    sign_off_all(decision, "handed_over", but=given.person)
    if given.screen and given.role is Role.DEALER and given.proven == "pin":
        decision.emit(events.SignedOn(given.screen, given.person, given.shift_ends_utc_ns))


def sign_off_all(decision: Decision, why: str, but: str = "") -> None:
    for screen in decision.state.screens:
        if screen.dealer not in ("", but):
            _sign_off(decision, screen.id, why)


def _sign_off(decision: Decision, screen_id: str, why: str) -> None:
    screen = decision.state.screen(screen_id)
    assert screen is not None, "verify passed"
    decision.emit(events.SignedOff(screen_id, screen.dealer, why))


def _verify_at_screen(given: PersonActed) -> None:
    if not given.screen:
        raise RefusedError("no-screen", "This can only be entered at a screen of the table; open the page there.")


FAILURES: Final = 5  # wrong PINs that lead to a lock
LOCKS_NS: Final = tuple(minutes * 60 * 10**9 for minutes in (1, 5, 15))  # the first lock, the second, every later one


def lock_length_ns(lock: PinLock) -> int:
    """Return how long the most recent lock lasts, or 0 if there was none."""
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


# -- permissions and offers


def _removed(state: TableState) -> Iterator[Group]:
    yield group(*(operations.RemoveScreen(screen.id) for screen in state.screens))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.EnrolScreen, message("enrol a screen"), message("{who} enrolled a screen."), verify_enrol, enrol,
        ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR),
    OperationRow(
        operations.SignOn, message("sign on at a screen"), message("{who} signed on at a screen."), verify_sign_on,
        sign_on, ANY_PHASE, ALWAYS, off_duty=True, offers=untried(operations.SignOn()),
        where=lambda state: bool(state.screens)),
    OperationRow(
        operations.LockScreen, message("lock a screen"), message("{who} locked a screen."), verify_lock, lock,
        ANY_PHASE, ALWAYS, off_duty=True, offers=untried(operations.LockScreen()),
        where=lambda state: any(one.dealer for one in state.screens)),
    OperationRow(
        operations.RemoveScreen, message("remove a screen"), message("{who} removed a screen."), verify_remove,
        remove, ANY_PHASE, ALWAYS, Role.PIT_SUPERVISOR, offers=_removed, where=lambda state: bool(state.screens)),
)
# fmt: on
"""The permissions and offers of this feature."""
