"""Runs the processes of a demonstration in a temporary folder, and always ends them."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NoReturn, Self, TypeVar

from firmware_bridge.messages import MessageError, message

Result = TypeVar("Result")

ENDS_WITHIN: Final = 60.0  # seconds until a process that does not end is killed


class StageError(MessageError):
    """Raised when a process of the demonstration failed. The sentence ends with its last line."""


class Processes:
    """Child processes. Their error output goes to `folder`, in a file for each name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: list[asyncio.subprocess.Process] = []
        self._serving: dict[str, asyncio.subprocess.Process] = {}
        self._own: set[str] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end()

    async def start(self, name: str, *command: str, serves: bool = False) -> asyncio.subprocess.Process:
        """Start a process. With `serves` it must run until the end."""
        with (self.folder / f"{name}.err").open("w") as errors:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=errors
            )
        self._running.append(process)
        if serves:
            self._serving[name] = process
        return process

    async def start_own(
        self, name: str, arguments: Sequence[str], *, serves: bool = False
    ) -> asyncio.subprocess.Process:
        """Start a command of `cardshoe`."""
        self._own.add(name)
        return await self.start(name, sys.executable, "-m", "controller", *arguments, serves=serves)

    async def until_one_fails(self) -> NoReturn:
        """Wait until a serving process has ended, and raise `StageError`."""
        waiting = {asyncio.ensure_future(one.wait()): name for name, one in self._serving.items()}
        try:
            ended, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waiting:
                one.cancel()
        self.fail(waiting[ended.pop()])

    def last_line(self, name: str) -> str:
        """Return the last line of a process's errors, or ""."""
        lines = (self.folder / f"{name}.err").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def fail(self, name: str) -> NoReturn:
        """Raise `StageError` with the last line of a process's errors."""
        program = f"`cardshoe {name}`" if name in self._own else name
        why = self.last_line(name) or message("it printed no error")
        raise StageError(message("{program} failed: {why}", program=program, why=why))

    async def end(self) -> None:
        """End all processes, newest first: the others serve it."""
        for process in reversed(self._running):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            ending = asyncio.ensure_future(process.communicate())
            await asyncio.wait({ending}, timeout=ENDS_WITHIN)
            if not ending.done():
                process.kill()
            await ending
        self._running.clear()


async def unless_one_fails(work: Coroutine[Any, Any, Result], *failures: Awaitable[NoReturn]) -> Result:
    """Return what `work` returns, or raise what one of `failures` raises first."""
    working = asyncio.ensure_future(work)
    failing: list[asyncio.Future[NoReturn]] = [asyncio.ensure_future(one) for one in failures]
    try:
        every: set[asyncio.Future[Any]] = {working, *failing}
        await asyncio.wait(every, return_when=asyncio.FIRST_COMPLETED)
        for one in failing:
            if one.done():
                one.result()
        return working.result()
    finally:
        working.cancel()
        for one in failing:
            one.cancel()
