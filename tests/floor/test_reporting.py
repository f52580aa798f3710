"""The newest state is sent immediately, but not too often, and again each minute. In virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from controller.api.view import LinkView, TableView, view_of
from controller.floor.reporting import KEPT_FOR, LEAST_BETWEEN, RENEWED_EVERY, ReportedTable, Reporting
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.codec import Moment
from controller.table.state import TableState
from tests.support.virtual_time import VirtualTimeLoop

PLACE = TablePlace("vienna", "p1", "nc-07")
MINUTES = 10
VIEW = view_of(TableState(), LinkView())


class Clock:
    def now(self) -> Moment:
        nanoseconds = round(asyncio.get_running_loop().time() * 1e9)
        return Moment(nanoseconds, nanoseconds)


class Desk:
    """The table and the broker. `sent`: when, under which topic, what, and how it is kept."""

    def __init__(self) -> None:
        self.view: TableView = VIEW
        self.sent: list[tuple[float, str, dict[str, Any], dict[str, Any]]] = []
        table = ReportedTable(lambda: self.view, lambda: self.view, lambda: {"dana": "Dana"})
        self.reporting = Reporting(PLACE, table, Clock(), "1")

    async def publish(self, topic: str, payload: bytes, **kept: Any) -> None:
        self.sent.append((asyncio.get_running_loop().time(), topic, msgspec.json.decode(payload), kept))

    def change(self, **fields: Any) -> None:
        self.view = msgspec.structs.replace(self.view, **fields)

    async def wait(self, seconds: float) -> None:
        """Wait as the publisher does."""
        until = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < until:
            await self.reporting.send_state(self)  # type: ignore[arg-type]  # it publishes
            await asyncio.sleep(0.05)

    def of(self, subject: TopicSubject) -> list[tuple[float, dict[str, Any]]]:
        return [(at, report) for at, topic, report, _ in self.sent if topic == PLACE.topic(subject)]


def play(test: Callable[[Desk], Coroutine[Any, Any, None]]) -> None:
    async def with_desk() -> None:
        desk = Desk()
        desk.reporting.begin()
        await test(desk)

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(with_desk())


def test_a_state_that_stays_is_sent_each_minute() -> None:
    async def test(desk: Desk) -> None:
        await desk.wait(MINUTES * RENEWED_EVERY)
        for subject in (TopicSubject.TABLE, TopicSubject.DEVICE):
            times = [at for at, _ in desk.of(subject)]
            assert len(times) == MINUTES
            assert all(RENEWED_EVERY <= after - before < RENEWED_EVERY + 1 for before, after in pairwise(times))
        assert all(kept == {"retained": True, "expiry": KEPT_FOR} for *_, kept in desk.sent)

    play(test)


def test_of_states_in_quick_succession_the_newest_is_sent() -> None:
    async def test(desk: Desk) -> None:
        for entry in range(200):
            desk.change(entry=entry, dealer="dana")
            await desk.wait(0.03)
        await desk.wait(2 * LEAST_BETWEEN)
        found = desk.of(TopicSubject.TABLE)
        assert all(after - before >= LEAST_BETWEEN for (before, _), (after, _) in pairwise(found))
        assert 5 < len(found) < 100
        assert (found[-1][1]["entry"], found[-1][1]["dealer"]) == (199, "Dana")
        assert len(desk.of(TopicSubject.DEVICE)) == 1, "it has not changed"

    play(test)


def test_a_new_connection_gets_the_whole_state() -> None:
    async def test(desk: Desk) -> None:
        await desk.wait(1.0)
        count = len(desk.sent)
        was_due = desk.reporting.is_due
        desk.reporting.begin()
        assert (was_due, desk.reporting.is_due) == (False, True)
        await desk.wait(1.0)
        assert len(desk.sent) == 2 * count

    play(test)


@pytest.mark.parametrize("seen", [False, True])
def test_since_when_a_phase_lasts_is_known_where_its_beginning_was_seen(seen: bool) -> None:
    async def test(desk: Desk) -> None:
        if seen:
            await desk.wait(5.0)
        desk.change(phase="betting", entry=9)
        await desk.wait(90.0)
        phase = [report for _, report in desk.of(TopicSubject.TABLE) if report["phase"] == "betting"]
        assert len(phase) > 1
        assert {report["since_utc_ns"] for report in phase} == {phase[0]["utc_ns"] if seen else 0}
        assert phase[-1]["utc_ns"] > phase[0]["utc_ns"]

    play(test)
