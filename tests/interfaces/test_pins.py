"""PINs: valid PINs and hashes, locks by a given clock, and the order in which users are served."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_mock

from controller.api import pins
from controller.api.callers import Caller
from controller.api.people import MOST_UID, Person, Reader, mistakes_of_all, mistakes_of_each
from controller.api.pins import (
    SALT,
    WAITING,
    PinDesk,
    PinRefusedError,
    hash_pin,
    mistake_of_hash,
    mistake_of_pin,
    pin_matches,
)
from controller.journal.codec import Moment
from controller.roles import Role
from controller.table.decide import decide
from controller.table.inputs import PinTried
from controller.table.model import PinLock
from controller.table.state import TableState

MINUTE, HOUR = 60 * 10**9, 3600 * 10**9
CONSOLE, OFFICE, LOUNGE = 1001, 1002, 1003
RIGHT, WRONG = "527190", "527191"
KEPT = hash_pin(RIGHT, bytes(SALT), 2)
GOOD = hash_pin(RIGHT, bytes(SALT))


class Record:
    """Locks as the table folds them, and a clock. `compared` lists the PINs that were checked."""

    def __init__(self) -> None:
        self.state = TableState()
        self.utc_ns, self.boottime_ns = 10**18, 5 * HOUR
        self.tried = 0

    def now(self) -> Moment:
        return Moment(self.utc_ns, self.boottime_ns)

    def pass_ns(self, span: int) -> None:
        self.utc_ns, self.boottime_ns = self.utc_ns + span, self.boottime_ns + span

    def pin_lock(self, person: str, caller: Caller) -> PinLock:
        return self.state.pin_lock(person, *caller)

    async def pin_tried(self, person: str, caller: Caller, *, right: bool) -> None:
        self.tried += 1
        await asyncio.sleep(0)  # a commit lets others run
        self.state = decide(self.state, PinTried(person, caller.uid, right, self.utc_ns, caller.screen)).state


@pytest.fixture
def record() -> Record:
    return Record()


@pytest.fixture
async def desk(record: Record) -> AsyncIterator[PinDesk]:
    made = PinDesk(record, record.now)
    yield made
    made.close()


async def outcome(desk: PinDesk, pin: str, uid: int = CONSOLE) -> str:
    """Return the code of the refusal, or "" if the PIN was accepted."""
    try:
        await desk.prove("sam", "Sam", pin, KEPT, Caller(uid))
    except PinRefusedError as refused:
        return refused.code
    return ""


async def locked(desk: PinDesk) -> None:
    assert [await outcome(desk, WRONG) for _ in range(5)] == ["pin"] * 4 + ["pin-locked"]


async def test_ten_thousand_guesses_are_five(desk: PinDesk, record: Record) -> None:
    await locked(desk)
    for guess in range(10_000):
        assert await outcome(desk, f"{guess:06}") == "pin-locked"
    assert await outcome(desk, RIGHT) == "pin-locked"
    assert record.tried == 5


async def test_parallel_guesses_do_not_raise_the_limit(desk: PinDesk, record: Record) -> None:
    """Each guess is compared only after the previous guess is recorded. Few guesses wait; the others are refused with a
    reason.
    """
    codes: list[str] = []
    for _ in range(3):
        codes += await asyncio.gather(*(outcome(desk, WRONG) for _ in range(20)))
    assert record.tried == 5
    assert codes.count("pin") == 4
    assert codes.count("pin-busy") == 20 - WAITING + 20 - WAITING


async def test_a_lock_shows_when_it_ends(desk: PinDesk, record: Record) -> None:
    await locked(desk)
    with pytest.raises(PinRefusedError, match=re.escape("another 60 s. Wait, use another screen, or call")):
        await desk.prove("sam", "Sam", RIGHT, KEPT, Caller(CONSOLE))
    record.pass_ns(MINUTE - 1)
    assert await outcome(desk, RIGHT) == "pin-locked"
    record.pass_ns(1)
    assert await outcome(desk, RIGHT) == ""
    assert record.pin_lock("sam", Caller(CONSOLE)) == PinLock("sam", CONSOLE)


async def test_a_stranger_elsewhere_locks_nobody_out_of_this_screen(desk: PinDesk) -> None:
    assert await outcome(desk, RIGHT, OFFICE) == ""
    await locked(desk)
    assert await outcome(desk, RIGHT, OFFICE) == ""


@pytest.mark.parametrize("step", [-1000 * HOUR, -MINUTE, MINUTE, 1000 * HOUR])
async def test_a_clock_that_is_set_neither_lengthens_nor_ends_a_lock(desk: PinDesk, record: Record, step: int) -> None:
    await locked(desk)
    record.utc_ns += step
    assert await outcome(desk, RIGHT) == "pin-locked"
    record.pass_ns(MINUTE)
    assert await outcome(desk, RIGHT) == ""


async def test_after_a_restart_with_a_clock_set_back_a_lock_has_its_length_at_most(
    desk: PinDesk, record: Record
) -> None:
    await locked(desk)
    desk.close()
    record.utc_ns -= 1000 * HOUR
    again = PinDesk(record, record.now)
    assert await outcome(again, RIGHT) == "pin-locked"
    record.pass_ns(MINUTE)
    assert await outcome(again, RIGHT) == ""
    again.close()


async def test_a_user_who_sends_many_does_not_delay_others(record: Record, mocker: pytest_mock.MockerFixture) -> None:
    """One PIN from the first user is compared while the user's others wait; the second user's PIN is compared at the
    same time.
    """
    may_end = asyncio.Event()
    loop = asyncio.get_running_loop()

    def slowly(pin: str, kept: str) -> bool:
        if pin == WRONG:
            asyncio.run_coroutine_threadsafe(may_end.wait(), loop).result()
        return pin == RIGHT

    mocker.patch.object(pins, "pin_matches", slowly)
    desk = PinDesk(record, record.now)
    flood = [asyncio.create_task(outcome(desk, WRONG)) for _ in range(50)]
    assert await outcome(desk, RIGHT, LOUNGE) == ""
    assert sum(task.done() for task in flood) == 50 - WAITING
    may_end.set()
    assert sorted(await asyncio.gather(*flood)) == ["pin"] * WAITING + ["pin-busy"] * (50 - WAITING)
    desk.close()


# -- PINs and hashes


@pytest.mark.parametrize("pin", ["527190", "904713", "112233", "123457", "987654321087"])
def test_a_pin_that_is_taken(pin: str) -> None:
    assert mistake_of_pin(pin) is None


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("", "consists of digits"),
        ("12a456", "consists of digits"),
        ("\uff15\uff12\uff17\uff11\uff19\uff10", "consists of digits"),
        ("52719", "6 to 12 digits"),
        ("5271905271905", "6 to 12 digits"),
        ("000000", "easy to guess"),
        ("123456", "easy to guess"),
        ("789012", "easy to guess"),
        ("654321", "easy to guess"),
    ],
)
def test_an_invalid_pin(pin: str, why: str) -> None:
    assert why in str(mistake_of_pin(pin))


def test_a_hash_is_of_one_pin() -> None:
    assert pin_matches(RIGHT, GOOD)
    assert not pin_matches(WRONG, GOOD)
    assert mistake_of_hash(GOOD, simulated=False) is None


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        ("x", "is not the hash of a PIN"),
        ("527190", "is not the hash of a PIN"),
        ("bcrypt" + GOOD[6:], "is not the hash of a PIN"),
        (GOOD + "$00", "is not the hash of a PIN"),
        (GOOD + "0", "is not whole"),
        (GOOD.replace("$16384$", "$16385$"), "is not the hash of a PIN"),
        (GOOD.replace("$16384$", "$-16384$"), "is not the hash of a PIN"),
        (GOOD.replace("$8$", "$0$"), "is not the hash of a PIN"),
        (GOOD.replace("$16384$", f"${2**30}$"), "more memory or time"),
        (GOOD.replace("$8$", "$800$"), "more memory or time"),
        (GOOD.replace("$8$1$", f"$8${2**40}$"), "more memory or time"),
        (GOOD.replace("$16384$", f"${10**4000}$"), "is not the hash of a PIN"),
        (hash_pin(RIGHT, bytes(SALT), 2**13), "too weak"),
        (hash_pin(RIGHT, bytes(SALT - 1)), "too weak"),
        (GOOD[:-66], "is not whole"),
        (GOOD[:-1], "is not whole"),
        (GOOD[:40], "is not whole"),
        (GOOD.replace("$8$", "$4$"), "too weak"),
    ],
)
def test_an_invalid_hash(kept: str, why: str) -> None:
    assert why in str(mistake_of_hash(kept, simulated=False))
    assert (mistake_of_hash(kept, simulated=True) is None) is (why == "too weak")


def test_all_mistakes_in_people_and_readings_are_reported_together() -> None:
    people = (
        Person("dana", "Dana", Role.DEALER, uids=(7, -1)),
        Person("dana", "Dana", Role.DEALER, uids=(7,)),
        Person("kim", "Kim", Role.DEALER),
        Person("sam", "Sam", Role.PIT_SUPERVISOR),
        Person("lee", "Lee", Role.PIT_MANAGER, "527190"),
        Person("", "Nobody", Role.DEALER, uids=(2**40,)),
    )
    readers = (Reader("monitor", (7, MOST_UID)), Reader("wall", ()))
    told = [*mistakes_of_each(people, readers, simulated=False), *mistakes_of_all(people)]
    assert [str(one) for one in told] == [
        "Two people are called dana.",
        "One of [[people]] has an empty id.",
        "Uid 7 belongs to a person and to a reader.",
        "-1 is not a valid uid; `id -u NAME` prints a user's.",
        f"{2**40} is not a valid uid; `id -u NAME` prints a user's.",
        "The reader wall has no uids.",
        "[[people]] kim has neither a pin_hash nor uids, and could do nothing.",
        "[[people]] sam has no pin_hash; every rank above the dealer's needs one.",
        "[[people]] lee: the pin_hash is not the hash of a PIN; `cardshoe pin` creates one.",
        "There is no shift_manager, who decides what the rules leave open.",
    ]


def test_people_and_readers_without_a_mistake() -> None:
    people = (Person("max", "Max", Role.SHIFT_MANAGER, GOOD, (7,)), Person("kim", "Kim", Role.DEALER, GOOD))
    assert mistakes_of_each(people, (Reader("wall", (8, 9)),), simulated=False) == []
    assert list(mistakes_of_all(people)) == []
