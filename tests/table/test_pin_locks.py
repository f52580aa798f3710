"""Wrong PINs: after five by one person from one user of the machine, none is taken there for a while."""

from __future__ import annotations

from controller.table import events
from controller.table.decide import decide
from controller.table.evolve import fold
from controller.table.inputs import PinTried, RefusedAtDoor
from controller.table.model import PinLock
from controller.table.screens import lock_length_ns
from controller.table.state import TableState

MINUTE = 60 * 10**9
CONSOLE, OFFICE = 1001, 1002


class Desk:
    """A table at which PINs are tried. The state is folded from its decisions."""

    def __init__(self) -> None:
        self.state = TableState()
        self.utc_ns = 10**18
        self.journaled: list[tuple[int, events.AnyEvent]] = []

    def enter(self, *, right: bool = False, person: str = "sam", uid: int = CONSOLE) -> PinLock:
        decided = decide(self.state, PinTried(person, uid, right, self.utc_ns))
        self.journaled += [(self.state.entry + 2 + place, event) for place, event in enumerate(decided.events)]
        self.state = decided.state
        return self.state.pin_lock(person, uid)

    def minutes_after_five(self) -> float:
        for _ in range(4):
            assert self.enter().locked_until_utc_ns == 0
        lock = self.enter()
        assert lock_length_ns(lock) == lock.locked_until_utc_ns - self.utc_ns
        self.utc_ns = lock.locked_until_utc_ns
        return lock_length_ns(lock) / MINUTE


def test_one_minute_five_and_then_fifteen_for_ever() -> None:
    desk = Desk()
    assert [desk.minutes_after_five() for _ in range(5)] == [1, 5, 15, 15, 15]


def test_the_right_pin_begins_again() -> None:
    desk = Desk()
    assert [desk.minutes_after_five() for _ in range(2)] == [1, 5]
    assert desk.enter(right=True) == PinLock("sam", CONSOLE)
    assert desk.minutes_after_five() == 1


def test_a_lock_concerns_one_person_at_one_user() -> None:
    desk = Desk()
    desk.minutes_after_five()
    assert desk.state.pin_lock("sam", OFFICE) == PinLock("sam", OFFICE)
    assert desk.state.pin_lock("max", CONSOLE) == PinLock("max", CONSOLE)
    desk.enter(right=True, uid=OFFICE)
    assert desk.state.pin_lock("sam", CONSOLE).locks == 1


def test_the_right_pin_is_journaled_only_after_a_wrong_one() -> None:
    desk = Desk()
    desk.enter(right=True)
    assert desk.journaled == []
    desk.enter()
    desk.enter(right=True)
    desk.enter(right=True)
    assert [type(event) for _, event in desk.journaled] == [events.PinRefused, events.PinAccepted]


def test_locks_are_folded_from_the_journal() -> None:
    desk = Desk()
    desk.minutes_after_five()
    desk.enter(uid=OFFICE)
    desk.enter(person="max")
    assert fold(TableState(), desk.journaled).pin_locks == desk.state.pin_locks != ()


def test_a_refused_request_is_recorded_and_changes_nothing() -> None:
    state = TableState()
    decided = decide(state, RefusedAtDoor("not-admitted", 4711, 12))
    assert decided.events == (events.DoorRefused("not-admitted", 4711, 12),)
    assert decided.state.pin_locks == ()
