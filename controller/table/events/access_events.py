"""Events of access control: wrong PINs, refusals before the table, and screens."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.table.events.base import Event
from controller.table.events.lines import Fields, as_written, at_screen_or_by_user
from controller.table.model import PinLock, Screen
from controller.table.state import TableState
from firmware_bridge.messages import Message, message


class PinRefused(Event, frozen=True, tag="pin_refused"):
    """A wrong PIN for this person was entered by this user of the machine or at this screen. `failures`: since the last
    correct PIN or the last lock. `locks`: since the last correct PIN. `locked_until_utc_ns`: no
    PIN of the person is accepted there before that time; 0: not locked.
    """

    person: str
    uid: int | None
    failures: int
    locks: int = 0
    locked_until_utc_ns: int = 0
    screen: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        lock = PinLock(self.person, self.uid, self.failures, self.locks, self.locked_until_utc_ns, self.screen)
        return replace(state, pin_locks=(*_without(state, self.person, self.uid, self.screen), lock))

    @staticmethod
    def line(event: Fields) -> Message | None:
        said = at_screen_or_by_user(message("wrong PIN for {person}", person=event["person"]), event)
        return message("{said}; no PIN is accepted there for now", said=said) if event["locked_until_utc_ns"] else said


class PinAccepted(Event, frozen=True, tag="pin_accepted"):
    """The correct PIN was entered after wrong ones, which no longer count."""

    line = message("{person} enters the correct PIN after wrong ones")

    person: str
    uid: int | None
    screen: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, pin_locks=_without(state, self.person, self.uid, self.screen))


AT_THE_DOOR: Final = {
    "accept-failed": message("a connection that could not be accepted"),
    "connections": message("too many connections"),
    "content-type": message("a request that is not JSON"),
    "display": message("a request from a display-only screen"),
    "header": message("a request without the header X-Cardshoe"),
    "host": message("a request for another host name"),
    "not-admitted": message("a user who is not admitted"),
    "not-enrolled": message("an operation from a screen that is not enrolled"),
    "not-signed-on": message("an operation from a screen without a dealer signed on"),
    "origin": message("a request from another site's page"),
    "person": message("an unknown person"),
    "pin": message("an operation without the correct PIN"),
    "reader": message("an operation by a user who may only read"),
    "refused-often": message("operations that were refused too often"),
    "role": message("an operation by a person whose rank is too low"),
    "streams": message("too many streams"),
}
"""Refusals before the table, by code."""


class DoorRefused(Event, frozen=True, tag="door_refused"):
    """Attempts of one user of the machine, or of one screen, were refused before they reached the table.

    `what`: the code of the refusal. Without `uid` and `screen`: several users, too
    many to be distinguished, or no user.
    """

    what: str
    uid: int | None
    count: int
    screen: str = ""

    @staticmethod
    def line(event: Fields) -> Message | None:
        what = AT_THE_DOOR.get(event["what"], as_written(event["what"]))
        said = at_screen_or_by_user(message("access refused: {what}", what=what), event)
        return message("{said}, {count} times", said=said, count=event["count"]) if event["count"] > 1 else said


class ScreenEnrolled(Event, frozen=True, tag="screen_enrolled"):
    """A browser became a screen of the table. `token_hash`: SHA-256 of its cookie's value, in hex."""

    line = message("screen enrolled: {name}")

    screen: str
    name: str
    token_hash: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, screens=(*state.screens, Screen(self.screen, self.name, self.token_hash)))


class ScreenRemoved(Event, frozen=True, tag="screen_removed"):
    """A screen was removed. Its cookie is no longer valid, and wrong PINs entered there no longer count."""

    line = message("screen {screen} removed")

    screen: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(
            state,
            screens=tuple(screen for screen in state.screens if screen.id != self.screen),
            pin_locks=tuple(lock for lock in state.pin_locks if lock.screen != self.screen),
        )


class SignedOn(Event, frozen=True, tag="signed_on"):
    """A dealer signed on at the screen. Until then, entries there without a name are this dealer's."""

    line = message("{dealer} signed on at screen {screen}")

    screen: str
    dealer: str
    until_utc_ns: int

    def apply(self, state: TableState, entry: int) -> TableState:
        return _signed(state, self.screen, self.dealer, self.until_utc_ns, entry, state.host_boot)


SIGNED_OFF: Final = {
    "locked": message("the screen was locked"),
    "handed_over": message("another dealer deals"),
    "off_duty": message("off duty"),
}
"""Reasons for the end of a dealer's sign-on at a screen."""


class SignedOff(Event, frozen=True, tag="signed_off"):
    """The dealer is no longer signed on at the screen. `why`: `locked`, `handed_over` or `off_duty`."""

    screen: str
    dealer: str
    why: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return _signed(state, self.screen)

    @staticmethod
    def line(event: Fields) -> Message | None:
        why = SIGNED_OFF.get(event["why"]) or str(event["why"])
        return message(
            "{dealer} signed off at screen {screen}: {why}", dealer=event["dealer"], screen=event["screen"], why=why
        )


def _signed(
    state: TableState, screen_id: str, dealer: str = "", until_utc_ns: int = 0, since: int = 0, host_boot: str = ""
) -> TableState:
    """Return the screens after a dealer signed on at one of them; without a dealer, after a sign-off."""
    screens = (
        replace(screen, dealer=dealer, until_utc_ns=until_utc_ns, since=since, host_boot=host_boot)
        if screen.id == screen_id
        else screen
        for screen in state.screens
    )
    return replace(state, screens=tuple(screens))


def _without(state: TableState, person: str, uid: int | None, screen: str) -> tuple[PinLock, ...]:
    return tuple(lock for lock in state.pin_locks if (lock.person, lock.uid, lock.screen) != (person, uid, screen))
