"""Reports about refused callers, which are limited in number, and the turns of callers."""

from __future__ import annotations

import asyncio

import pytest
import pytest_mock

from controller.api import callers as pace
from controller.api.callers import AT_ONCE, OPERATIONS_AT_ONCE, Caller, Turns
from controller.api.refusals import BURST, MOST_USERS, ONE_MORE_EVERY, REPORT_EVERY, Refusals
from controller.journal.codec import Moment


class Told:
    """The reports to the table, and a clock."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int | None, int]] = []
        self.boottime_ns = 0
        self.refusals = Refusals(self.tell, lambda: Moment(0, self.boottime_ns))

    async def tell(self, what: str, caller: Caller, count: int) -> None:
        self.told.append((what, caller.uid, count))

    async def pass_seconds(self, seconds: float) -> None:
        self.boottime_ns += int(seconds * 1e9)
        self.refusals.tell_what_is_due()
        await asyncio.gather(*self.refusals._telling)


async def test_the_first_is_reported_immediately_and_the_others_together() -> None:
    told = Told()
    for _ in range(1000):
        told.refusals.note("not-admitted", Caller(1))
        told.refusals.note("pin-locked", Caller(1))
    await told.pass_seconds(REPORT_EVERY - 1)
    assert told.told == [("not-admitted", 1, 1), ("pin-locked", 1, 1)]
    await told.pass_seconds(1)
    assert told.told[2:] == [("not-admitted", 1, 999), ("pin-locked", 1, 999)]
    for _ in range(2):
        await told.pass_seconds(REPORT_EVERY)
    assert len(told.told) == 4
    told.refusals.note("not-admitted", Caller(1))
    await told.pass_seconds(0)
    assert told.told[4:] == [("not-admitted", 1, 1)]


async def test_a_machine_full_of_users_makes_few_reports() -> None:
    """One user may own 65,536 user ids."""
    told = Told()
    for uid in range(65_536):
        told.refusals.note("not-admitted", Caller(uid))
    await told.pass_seconds(REPORT_EVERY)
    assert len(told.told) == MOST_USERS + 2
    assert sum(count for _, _, count in told.told) == 65_536
    assert told.told[-1] == ("not-admitted", None, 65_536 - MOST_USERS - 1)


async def test_the_rest_is_reported_at_the_end() -> None:
    told = Told()
    for _ in range(3):
        told.refusals.note("connections", Caller(7))
    await told.refusals.close()
    assert told.told == [("connections", 7, 1), ("connections", 7, 2)]


async def test_one_more_is_answered_every_ten_seconds() -> None:
    told = Told()
    assert [told.refusals.take(Caller(1)) for _ in range(BURST + 2)] == [True] * BURST + [False] * 2
    assert told.refusals.take(Caller(2))
    told.boottime_ns += int(ONE_MORE_EVERY * 1e9) - 1
    assert not told.refusals.take(Caller(1))
    told.boottime_ns += int(ONE_MORE_EVERY * 1e9) + 1
    assert [told.refusals.take(Caller(1)) for _ in range(3)] == [True, True, False]
    told.refusals.give_back(Caller(1))
    assert told.refusals.take(Caller(1))


async def test_only_a_caller_who_asks_too_fast_waits() -> None:
    """Callers wait in the order of their requests."""
    turns = Turns()
    order: list[int] = []

    async def ask(number: int) -> None:
        await turns.take(Caller(1))
        order.append(number)

    flood = [asyncio.create_task(ask(number)) for number in range(AT_ONCE + 5)]
    await turns.take(Caller(2))
    assert len(order) <= AT_ONCE
    await asyncio.gather(*flood)
    assert order == list(range(AT_ONCE + 5))


async def test_operations_of_the_table_do_not_wait() -> None:
    turns = Turns()
    await turns.take(Caller(1))
    turns.is_at_work(Caller(1))
    for _ in range(10 * AT_ONCE):
        with pytest.raises(StopIteration):
            turns.take(Caller(1)).send(None)  # ends without waiting


@pytest.mark.parametrize("by_people", [True, False])
async def test_operations_are_accepted_at_the_pace_of_people(
    by_people: bool, mocker: pytest_mock.MockerFixture
) -> None:
    """This holds where people enter them. A program that enters accepted ones in a loop delays only itself."""
    mocker.patch.object(pace, "OPERATION_EVERY", 3600.0)
    turns = Turns(by_people=by_people)
    for _ in range(OPERATIONS_AT_ONCE):
        await turns.begin_operation(Caller(1))
        turns.end_operation(Caller(1))
    one_more = asyncio.create_task(turns.begin_operation(Caller(1)))
    await turns.begin_operation(Caller(2))
    await asyncio.sleep(0)
    assert one_more.done() is not by_people
    one_more.cancel()


async def test_operations_of_one_user_run_one_after_the_other() -> None:
    """The next one follows even if the earlier one was given up."""
    turns = Turns()
    await turns.begin_operation(Caller(1))
    second, third = (asyncio.create_task(turns.begin_operation(Caller(1))) for _ in range(2))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    assert not third.done()
    turns.end_operation(Caller(1))
    await third
