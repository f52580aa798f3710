"""The start of a daemon, which may take long: it reports its progress to the service manager, and obeys signals."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from controller.daemon.logs import LogLines
from controller.program_files import Program

T = TypeVar("T")
REPORT_EVERY: Final = 1.0  # seconds
EXTENDED_BY: Final = 60_000_000  # microseconds from each report until the next: a slow disk reads pages in that time


class StoppedError(Exception):
    """Raised when the daemon was asked to stop before it was ready."""


class Stop:
    """A request to stop, by SIGTERM or SIGINT. Made on the loop that runs the daemon."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(name, self._asked.set)

    @property
    def is_asked(self) -> bool:
        """Return whether the stop was requested. This may be called in any thread."""
        return self._asked.is_set()

    async def asked(self) -> None:
        """Wait until the daemon is asked to stop."""
        await self._asked.wait()

    async def unless_asked(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of work, which is cancelled when the daemon is asked to stop. Raise `StoppedError` in that
        case.
        """
        doing, asked = asyncio.ensure_future(work), asyncio.ensure_future(self.asked())
        try:
            await asyncio.wait({doing, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                raise StoppedError
            return doing.result()
        finally:
            for one in (doing, asked):
                one.cancel()
            await asyncio.gather(doing, asked, return_exceptions=True)


class HangUps:
    """SIGHUPs. Made before the configuration is read, so that none is lost and none ends the process."""

    def __init__(self) -> None:
        self._early = False
        self._asked: asyncio.Event | None = None
        signal.signal(signal.SIGHUP, self._note)

    def _note(self, number: int, frame: object) -> None:
        self._early = True

    def listen(self) -> None:
        """Listen on the loop that runs the daemon."""
        asked = self._asked = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, asked.set)
        if self._early:
            asked.set()

    async def next(self) -> None:
        """Wait for a SIGHUP since the last call. Several signals that arrived meanwhile count as one."""
        assert self._asked is not None
        await self._asked.wait()
        self._asked.clear()


class Origin(NamedTuple):
    """The source of the configuration. A reload reads it from `again` if that file exists.

    `program` is the running program, as its files were found. `logs` writes the log.
    """

    path: Path
    hang_ups: HangUps
    again: Path | None = None
    program: Program | None = None
    logs: LogLines | None = None

    @property
    def newest(self) -> Path:
        return self.again if self.again is not None and self.again.exists() else self.path


class Notifier(Protocol):
    """The service manager (`controller.daemon.host.SystemdNotifier`)."""

    def tell(self, *lines: str) -> None: ...


class FoldReport:
    """Reports from time to time how far the journal is read, so that a slow start is not mistaken for a hang.

    `clock` returns seconds from any start. `is_asked` returns whether the daemon was asked to stop. Used in the
    journal's thread.
    """

    def __init__(self, notifier: Notifier, clock: Callable[[], float], is_asked: Callable[[], bool]) -> None:
        self._notifier = notifier
        self._clock = clock
        self._is_asked = is_asked
        self._due = clock() + REPORT_EVERY

    def reached(self, entry: int, last: int) -> None:
        """Report that everything up to entry `entry` of `last` is read. Raise `StoppedError` when the daemon was asked
        to stop.
        """
        if self._is_asked():
            raise StoppedError
        if self._clock() < self._due:
            return
        self._due = self._clock() + REPORT_EVERY
        self._notifier.tell(
            f"EXTEND_TIMEOUT_USEC={EXTENDED_BY}", f"STATUS=reading the journal: entry {entry:,} of {last:,}"
        )
