"""The feed of events: followers begin anywhere, fall behind, catch up, and get each event once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from random import Random
from typing import Any

import pytest

from controller.api.feed import KEPT, PAGE, SHARE, Batch, EventFeed, FeedFollower, ProcessorShare, Published, measured


class Journal:
    """Decisions with one input and a few events each, as in files."""

    def __init__(self, seed: int, entries: int) -> None:
        random = Random(seed)
        self.decisions: list[list[Published]] = []
        self.reads = 0
        last = 0
        while last < entries:
            events = random.randint(1, 9)
            self.decisions.append([Published(last + 1 + number, b"{}") for number in range(1, events + 1)])
            last += 1 + events
        self.events = [event for decision in self.decisions for event in decision]

    async def read(self, after: int, until: int) -> list[Published]:
        """Return whole decisions that have an entry in the range."""
        self.reads += 1
        found = [one for one in self.decisions if one[-1].entry > after and one[0].entry - 1 <= until]
        return [event for decision in found for event in decision]


async def until(follower: FeedFollower, entry: int) -> list[Published]:
    found: list[Published] = []
    while not found or found[-1].entry < entry:
        found += (await follower.next()).events
    return found


@pytest.mark.parametrize("seed", range(3))
async def test_a_follower_from_anywhere_gets_each_event_once(seed: int) -> None:
    """Some events are only in memory, some only in files, and some are published meanwhile."""
    random = Random(seed)
    journal = Journal(seed, 5 * KEPT)
    at_start = random.randrange(len(journal.decisions) // 4)
    time_passes = iter(range(10**9))
    feed = EventFeed(journal.read, ProcessorShare(clock=lambda: float(next(time_passes)), sleep=asyncio.sleep))
    feed.start_after(journal.decisions[at_start][-1].entry)
    newest = journal.events[-1].entry
    begin = [0, 1, *random.sample(range(newest), 6), newest - 1]
    following = [asyncio.create_task(until(feed.follow(after), newest)) for after in begin]
    for decision in journal.decisions[at_start + 1 :]:
        feed.publish(decision)
        if random.random() < 0.1:
            await asyncio.sleep(0)
    for after, found in zip(begin, await asyncio.gather(*following), strict=True):
        assert found == [event for event in journal.events if event.entry > after]
    late = await until(feed.follow(0), newest)
    assert late == journal.events


async def test_events_during_a_busy_follower_are_not_missed() -> None:
    journal = Journal(1, 0)
    feed = EventFeed(journal.read)
    follower = feed.follow(0)
    waiting = asyncio.create_task(follower.next())
    await asyncio.sleep(0)
    first, second, third = (Published(entry, b"{}") for entry in (2, 3, 4))
    feed.publish([first])
    feed.publish([second])
    assert await waiting == Batch([first, second], late=False)
    feed.publish([third])
    assert await follower.next() == Batch([third], late=False)


async def test_a_follower_that_stops_waiting_misses_nothing() -> None:
    """It stops at the moment of a new event."""
    feed = EventFeed(Journal(1, 0).read)
    follower = feed.follow(0)
    waiting = asyncio.create_task(follower.next())
    await asyncio.sleep(0)
    feed.publish([Published(2, b"{}")])
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await follower.next()).events == [Published(2, b"{}")]


async def test_new_events_wait_for_no_turn_and_missed_ones_do() -> None:
    """Otherwise followers that catch up would take the processor from the deal."""
    turns = 0

    async def counted(seconds: float) -> None:
        nonlocal turns
        turns += 1
        clock.now += seconds

    clock = Clock()
    feed = EventFeed(Journal(1, 0).read, ProcessorShare(clock, counted))
    followed = feed.follow(0)
    for entry in range(1, 2 * KEPT):
        feed.publish([Published(entry, b"{}")])
        assert not (await followed.next()).late
    assert turns == 0
    behind = feed.follow(0)
    batches = [await behind.next() for _ in range(KEPT // PAGE)]
    assert all(batch.late for batch in batches)
    assert turns > 0


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


@pytest.mark.parametrize("seconds", [0.00005, 0.0005, 0.02])
async def test_all_catching_up_followers_share_a_fifth_of_a_core(seconds: float) -> None:
    clock = Clock()
    pace = ProcessorShare(clock, clock.sleep)
    for _ in range(500):  # it learns how long a page takes
        await pace.turn()
        pace.sent(seconds)
    began, used = clock.now, 0.0
    for page in range(2000):
        await pace.turn()
        clock.now += seconds
        used += seconds
        pace.sent(seconds)
        if page % 10 == 0:  # read from the disk
            pace.spent(seconds)
            used += seconds
    assert 0.9 * SHARE < used / (clock.now - began) < 1.05 * SHARE


async def test_turns_are_taken_in_the_order_in_which_they_were_asked_for() -> None:
    clock = Clock()
    pace = ProcessorShare(clock, clock.sleep)
    pace.spent(1.0)  # all of them wait
    taken: list[int] = []

    async def take(number: int) -> None:
        for _ in range(3):
            await pace.turn()
            taken.append(number)

    await asyncio.gather(*(take(number) for number in range(4)))
    assert taken == [0, 1, 2, 3] * 3


async def test_other_work_in_between_does_not_count() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    async def others() -> None:
        end = time.thread_time() + 0.05
        while time.thread_time() < end:
            pass

    (result, seconds), _ = await asyncio.gather(_measured(work()), others())
    assert result == "done"
    assert 0 < seconds < 0.05


async def test_a_measured_task_can_be_cancelled() -> None:
    ended: list[str] = []

    async def work() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("yes")
        return ""

    task = asyncio.create_task(_measured(work()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == ["yes"]


async def _measured(work: Coroutine[Any, Any, str]) -> tuple[str, float]:
    return await measured(work)
