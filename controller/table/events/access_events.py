"""Events of access control: wrong PINs, refusals before the table, and screens."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table.events.base import Event
from controller.table.model import PinLock, Screen
from controller.table.state import TableState


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


class PinAccepted(Event, frozen=True, tag="pin_accepted"):
    """The correct PIN was entered after wrong ones, which no longer count."""

    person: str
    uid: int | None
    screen: str = ""

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, pin_locks=_without(state, self.person, self.uid, self.screen))


class DoorRefused(Event, frozen=True, tag="door_refused"):
    """Attempts of one user of the machine, or of one screen, were refused before they reached the table.

    `what`: the code of the refusal. `uid` None and no `screen`: several users, too many to be distinguished, or no
    user.
    """

    what: str
    uid: int | None
    count: int
    screen: str = ""


class ScreenEnrolled(Event, frozen=True, tag="screen_enrolled"):
    """A browser became a screen of the table. `token_hash`: SHA-256 of its cookie's value, in hex."""

    screen: str
    name: str
    token_hash: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(state, screens=(*state.screens, Screen(self.screen, self.name, self.token_hash)))


class ScreenRemoved(Event, frozen=True, tag="screen_removed"):
    """A screen was removed. Its cookie is no longer valid, and wrong PINs entered there no longer count."""

    screen: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return replace(
            state,
            screens=tuple(screen for screen in state.screens if screen.id != self.screen),
            pin_locks=tuple(lock for lock in state.pin_locks if lock.screen != self.screen),
        )


class SignedOn(Event, frozen=True, tag="signed_on"):
    """A dealer signed on at the screen. Until then, entries there without a name are this dealer's."""

    screen: str
    dealer: str
    until_utc_ns: int

    def apply(self, state: TableState, entry: int) -> TableState:
        return _signed(state, self.screen, self.dealer, self.until_utc_ns, entry, state.host_boot)


class SignedOff(Event, frozen=True, tag="signed_off"):
    """No dealer is signed on at the screen any more. `why`: `locked`, `handed_over` or `off_duty`."""

    screen: str
    dealer: str
    why: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return _signed(state, self.screen)


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
