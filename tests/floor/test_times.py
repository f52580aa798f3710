"""The publisher's timing of sending, repeating, retrying and warning: in virtual time, to a broker in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from controller.floor import BrokerError
from controller.floor.address import Address, Broker
from controller.floor.broker import Will
from controller.floor.publisher import CURSOR_NAME, WRITTEN_EVERY, Publisher, Sending, SentUpTo, write_cursor
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.codec import Moment
from controller.journal.outbox import Record
from tests.floor.reading import RECORD, identity, journal_of
from tests.journal.conftest import folder, journal  # noqa: F401  # fixtures
from tests.journal.vocabulary import TestJournal, append
from tests.support.virtual_time import VirtualTimeLoop

MINUTE = 60.0
HOUR = 60 * MINUTE
DAY = 24 * HOUR
GONE = BrokerError("floor-unreachable", "It is away.", "Look.")
PLACE = TablePlace("vienna", "p1", "nc-07")


class Hall:
    """A broker. It answers everything with `fails`, or acknowledges it. `tries`: the times of connections."""

    def __init__(self) -> None:
        self.fails: Exception | None = None
        self.sent: list[tuple[float, Record]] = []
        self.tries: list[float] = []
        self._ended: asyncio.Future[Any] | None = None

    @asynccontextmanager
    async def connected(self, broker: Broker, name: str, *, will: Will) -> AsyncIterator[Hall]:
        loop = asyncio.get_running_loop()
        self.tries.append(loop.time())
        if self.fails is not None:
            raise self.fails
        self._ended = loop.create_future()
        yield self

    @property
    def ended(self) -> asyncio.Future[Any]:
        assert self._ended is not None
        return self._ended

    def check(self) -> None:
        if self.ended.done():
            raise self.ended.result()

    def cut(self, fails: Exception | None = None) -> None:
        self.fails = fails
        self.ended.set_result(GONE)

    async def publish(self, topic: str, payload: bytes, *given: Any, **more: Any) -> None:
        self.check()
        if self.fails is not None:
            raise self.fails
        if topic == PLACE.topic(TopicSubject.JOURNAL):
            self.sent.append((asyncio.get_running_loop().time(), RECORD.decode(payload)))

    def since(self, count: int) -> list[Record]:
        return [record for _, record in self.sent[count:]]


class NothingToReport:
    """A table without reports: the state that is due each minute is the matter of another test."""

    will = Will("a", b"", 0)

    def begin(self) -> None:
        self._sent_at = asyncio.get_running_loop().time()

    @property
    def is_due(self) -> bool:
        return asyncio.get_running_loop().time() - self._sent_at >= MINUTE

    async def send_service(self, connection: Hall, status: str) -> None: ...

    async def send_state(self, connection: Hall) -> None:
        if self.is_due:
            self.begin()


class LoopClock:
    def now(self) -> Moment:
        nanoseconds = round(asyncio.get_running_loop().time() * 1e9)
        return Moment(1_700_000_000 * 10**9 + nanoseconds, nanoseconds)


class Log:
    """A log. `events`: the name and the values of each line."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def info(self, event: str, **more: Any) -> None:
        self.events.append((event, more))

    warning = error = info

    def count(self, event: str) -> int:
        return sum(one == event for one, _ in self.events)


class Desk:
    """A journal that grows, its publisher, and the broker."""

    def __init__(self, journal: TestJournal, folder: Path) -> None:  # noqa: F811  # the fixture's type
        self.journal = journal
        self.folder = folder
        self.hall = Hall()
        self.log = Log()
        self.news = asyncio.Event()
        self.steps = 0

    def append(self, count: int = 1) -> None:
        for _ in range(count):
            self.steps += 1
            append(self.journal, self.steps)
        self.news.set()

    async def heard(self) -> None:
        self.news.clear()
        await self.news.wait()

    @asynccontextmanager
    async def publishing(self, *, settles: int = 10, rate: int = 10_000) -> AsyncIterator[Publisher]:
        async def at_once(work: Callable[..., Any], *given: Any) -> Any:
            return work(*given)

        sending = Sending(PLACE, Broker(Address("localhost", 1, False), None), settles, rate)
        reporting: Any = NothingToReport()
        publisher = Publisher(
            sending, self.folder, self.folder / CURSOR_NAME, reporting, self.heard, LoopClock(), Random(3), self.log
        )
        running = asyncio.create_task(publisher.work(at_once))
        try:
            yield publisher
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running

    def whole(self) -> list[Record]:
        return journal_of(self.folder)


Given = Callable[[Desk], Coroutine[Any, Any, None]]


@pytest.fixture
def play(
    monkeypatch: pytest.MonkeyPatch,
    journal: TestJournal,  # noqa: F811  # the fixture
    folder: Path,  # noqa: F811  # the fixture
) -> Callable[[Given], None]:
    """Run a test in virtual time."""

    def run(test: Given) -> None:
        async def with_desk() -> None:
            desk = Desk(journal, folder)
            monkeypatch.setattr("controller.floor.publisher.connected", desk.hall.connected)
            await test(desk)

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(with_desk())

    return run


later: Callable[[float], Awaitable[None]] = asyncio.sleep  # of virtual time


def said_by(publisher: Publisher) -> str:
    return str(publisher.warning or "")


def test_a_backlog_is_sent_at_a_bounded_rate(play: Callable[[Given], None]) -> None:
    async def test(desk: Desk) -> None:
        desk.append(300)
        async with desk.publishing(rate=20):
            await later(HOUR)
        assert desk.hall.since(0) == desk.whole()
        times = [at for at, _ in desk.hall.sent]
        for first, last in zip(times, times[40:], strict=False):
            assert last - first >= 1.0  # a second's worth may come together
        assert times[-1] - times[0] < 300 / 20 + 1

    play(test)


def test_an_absent_broker_is_tried_ever_less_often_and_a_known_one_soon(
    play: Callable[[Given], None],
) -> None:
    async def test(desk: Desk) -> None:
        desk.append()
        desk.hall.fails = GONE
        async with desk.publishing():
            await later(DAY)
            gaps = [after - before for before, after in pairwise(desk.hall.tries)]
            assert 0.5 <= gaps[0] <= 1.0
            assert max(gaps) <= 60.0
            assert all(gap >= 30.0 for gap in gaps[10:])
            assert desk.log.count("floor.away") == 1
            desk.hall.fails = None
            await later(MINUTE)
            assert desk.hall.since(0) == desk.whole()
            assert desk.log.count("floor.whole") == 1
            desk.hall.cut()
            await later(1.0)
            assert desk.hall.tries[-1] - desk.hall.tries[-2] < 2 * MINUTE
            assert len(desk.hall.tries) == len(gaps) + 3

    play(test)


def test_people_are_warned_when_nothing_arrives_for_ten_minutes(play: Callable[[Given], None]) -> None:
    async def test(desk: Desk) -> None:
        desk.append(3000)
        desk.hall.fails = GONE
        async with desk.publishing(rate=1) as publisher:
            await later(9 * MINUTE)
            assert said_by(publisher) == ""
            await later(2 * MINUTE)
            assert said_by(publisher) == "The floor has received nothing from this table for 11 minutes: It is away."
            desk.hall.fails = None
            await later(2 * MINUTE)
            assert said_by(publisher) == ""
            await later(20 * MINUTE)  # a backlog that takes long
            assert publisher.sent_up_to < desk.journal.head.number
            assert said_by(publisher) == ""
            await later(HOUR)
            assert publisher.sent_up_to == desk.journal.head.number
            await later(HOUR)  # nothing to be sent
            assert said_by(publisher) == ""

    play(test)


def test_settled_records_are_not_sent_again(play: Callable[[Given], None]) -> None:
    async def test(desk: Desk) -> None:
        desk.append(5)
        async with desk.publishing(settles=10):
            await later(25 * MINUTE)
            settled = desk.whole()
            desk.append(2)
            await later(MINUTE)
            desk.hall.cut(GONE)
            await later(DAY)
            count = len(desk.hall.sent)
            desk.append(2)
            desk.hall.fails = None
            await later(2 * MINUTE)
            assert desk.hall.since(count) == desk.whole()[len(settled) :]
            assert desk.log.count("floor.cursor_foreign") == 0

    play(test)


def test_unsettled_records_are_repeated_after_days_and_restarts(play: Callable[[Given], None]) -> None:
    """A killed broker loses what it has not written: waiting without a connection does not repair that."""

    async def test(desk: Desk) -> None:
        desk.append(5)
        async with desk.publishing(settles=10):
            await later(9 * MINUTE)
            assert desk.hall.since(0) == desk.whole()
            desk.hall.cut(GONE)
            await later(DAY)
        for _ in range(2):
            count = len(desk.hall.sent)
            desk.hall.fails = None
            async with desk.publishing(settles=10):
                await later(9 * MINUTE)
                assert desk.hall.since(count) == desk.whole()
                desk.hall.cut(GONE)
                await later(DAY)

    play(test)


def test_the_cursor_advances_during_repeats(play: Callable[[Given], None]) -> None:
    async def test(desk: Desk) -> None:
        for minutes in range(1, 30):
            async with desk.publishing(settles=10, rate=10):
                desk.append(5)
                await later(MINUTE)
                assert desk.hall.sent[-1][1] == desk.whole()[-1]
                assert len(desk.whole()) > 5 * minutes
        got = list({identity(one): one for one in desk.hall.since(0)}.values())
        assert got == desk.whole()

    play(test)


def test_the_cursor_is_written_occasionally_and_at_the_end(
    play: Callable[[Given], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is the journal's."""
    written: list[SentUpTo] = []

    def note(path: Path, sent: SentUpTo) -> None:
        written.append(sent)
        write_cursor(path, sent)

    async def test(desk: Desk) -> None:
        async with desk.publishing():
            for _ in range(120):
                desk.append()
                await later(0.5)
            assert 5 < len(written) <= 60 / WRITTEN_EVERY + 1
            desk.append()
            await later(0.1)
            desk.hall.cut(GONE)
            await later(0.1)
        desk.hall.fails = None
        assert written[-1].acknowledged.number == desk.journal.head.number
        count = len(written)
        async with desk.publishing():
            await later(HOUR / 2)
        assert len(written) <= count + 4, "nothing but what settles"

    monkeypatch.setattr("controller.floor.publisher.write_cursor", note)
    play(test)


def test_an_unexpected_exception_does_not_end_it(play: Callable[[Given], None]) -> None:
    async def test(desk: Desk) -> None:
        desk.append()
        desk.hall.fails = ZeroDivisionError()
        async with desk.publishing() as publisher:
            await later(HOUR)
            assert desk.log.count("floor.failed") > 1
            assert said_by(publisher).endswith("The publisher failed. See the log of the daemon.")
            desk.hall.fails = None
            await later(2 * MINUTE)
            assert desk.hall.since(0) == desk.whole()
            assert said_by(publisher) == ""

    play(test)
