"""Processes that a demonstration starts in a folder of its own, and ends, whatever happens."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

ENDS_WITHIN: Final = 60.0  # seconds until a process that does not end is killed


class StageError(Exception):
    """A process of the demonstration failed; the sentence ends with its last line."""


class Processes:
    """What they write to their error output is in `folder`, a file for each name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._running: list[asyncio.subprocess.Process] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.end()

    async def start(self, name: str, *command: str) -> asyncio.subprocess.Process:
        with (self.folder / f"{name}.err").open("w") as errors:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=errors
            )
        self._running.append(process)
        return process

    async def start_own(self, name: str, arguments: Sequence[str]) -> asyncio.subprocess.Process:
        """A command of `cardshoe`."""
        return await self.start(name, sys.executable, "-m", "controller", *arguments)

    def last_line(self, name: str) -> str:
        """Of its errors; empty: it printed none."""
        lines = (self.folder / f"{name}.err").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def fail(self, name: str) -> NoReturn:
        """Raises `StageError` with the last line of the process's errors."""
        raise StageError(f"`cardshoe {name}` failed: {self.last_line(name) or 'it printed no error'}")

    async def end(self) -> None:
        """The newest first: what the others serve."""
        for process in reversed(self._running):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(ENDS_WITHIN):
                    await process.communicate()
            except TimeoutError:
                process.kill()
                await process.communicate()
        self._running.clear()
