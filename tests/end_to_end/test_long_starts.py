"""A start that takes long: its notifications to the service manager, and its end when the daemon is asked to stop."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from controller.daemon.starting import EXTENDED_BY, REPORT_EVERY, FoldReport, Stop, StoppedError


class Manager:
    """The service manager, as a list of the notifications that it received."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def tell(self, *lines: str) -> None:
        self.heard += lines


def test_a_long_fold_is_reported_once_a_second() -> None:
    manager, now = Manager(), 100.0
    report = FoldReport(manager, lambda: now, lambda: False)
    report.reached(1, 9_000)
    assert manager.heard == [], "most starts are over before"
    for entry in range(1000, 9_000, 1000):
        now += REPORT_EVERY / 2
        report.reached(entry, 9_000)
    assert manager.heard == [
        line
        for entry in ("2,000", "4,000", "6,000", "8,000")
        for line in (f"EXTEND_TIMEOUT_USEC={EXTENDED_BY}", f"STATUS=reading the journal: entry {entry} of 9,000")
    ]


def test_a_fold_ends_when_the_daemon_is_asked_to_stop() -> None:
    report = FoldReport(Manager(), lambda: 0.0, lambda: True)
    with pytest.raises(StoppedError):
        report.reached(1, 2)


async def test_work_is_given_up_when_the_daemon_is_asked_to_stop() -> None:
    stop, given_up = Stop(), asyncio.Event()

    async def work() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            given_up.set()

    with pytest.raises(StoppedError):
        await stop.unless_asked(work())
    assert given_up.is_set()
    with pytest.raises(StoppedError):
        await stop.unless_asked(asyncio.Event().wait())
    await stop.asked()


async def test_results_and_exceptions_of_the_work_are_passed_on() -> None:
    stop = Stop()

    async def work(number: int) -> int:
        if not number:
            raise OSError("no such file")
        return number

    assert await stop.unless_asked(work(7)) == 7
    with pytest.raises(OSError, match="no such file"):
        await stop.unless_asked(work(0))
