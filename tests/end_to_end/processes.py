"""Child processes of a test: their output as it comes, and their end in every case. No threads, no sleeping."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from tests.end_to_end import fork_server

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0  # seconds of real time until a test that waits in vain fails: a guard against a hang
T = TypeVar("T")


class Child:
    """A running process. `out` and `err` are the lines written so far. `listens`: lines can be sent to it.

    `module` is a module or the file of a program. `folder` is the working directory.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        environment: dict[str, str] | None = None,
        listens: bool = False,
        folder: Path = ROOT,
    ) -> None:
        self._process = fork_server.start(module, arguments, os.environ | (environment or {}), folder, listens)
        self.pid = self._process.pid
        self.out: list[str] = []
        self.err: list[str] = []
        self._open = 2
        self._news = asyncio.Event()
        self._listen(self._process.stdout, self.out)
        self._listen(self._process.stderr, self.err)

    async def until(self, condition: Callable[[], T]) -> T:
        """Wait until output from the process makes the condition true. Fail if the process ends first."""
        async with asyncio.timeout(PATIENCE):
            while not (found := condition()):
                assert self._open, f"the process ended and said {self.out + self.err}"
                self._news.clear()
                await self._news.wait()
        return found

    def tell(self, *lines: str) -> None:
        """Write lines to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self._process.stdin.flush()

    def close_input(self) -> None:
        """Close its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def ended(self) -> int:
        """Wait for the process to end, and return its exit code."""
        async with asyncio.timeout(PATIENCE):
            while self._open:
                self._news.clear()
                await self._news.wait()
        code: int = self._process.wait(timeout=PATIENCE)
        return code

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    async def end(self) -> int:
        """End the process by SIGTERM, or by SIGKILL if it does not react."""
        with suppress(ProcessLookupError):
            self.signal(signal.SIGTERM)
        try:
            return await self.ended()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Kill the process if it is alive, and close its pipes."""
        if self.running:
            self._process.kill()
            self._process.wait(timeout=PATIENCE)
        if self._process.stdin is not None:
            self._process.stdin.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None and not stream.closed:
                asyncio.get_running_loop().remove_reader(stream.fileno())
                stream.close()

    def logged(self, event: str) -> list[dict[str, Any]]:
        """Return the log lines with that event so far."""
        lines = [msgspec.json.decode(line) for line in self.err if line.startswith("{")]
        return [line for line in lines if line["event"] == event]

    def _listen(self, stream: IO[bytes] | None, lines: list[str]) -> None:
        assert stream is not None
        descriptor = stream.fileno()
        os.set_blocking(descriptor, False)
        rest = bytearray()

        def read() -> None:
            data = os.read(descriptor, 65536)
            rest.extend(data)
            *whole, left = rest.split(b"\n")
            rest[:] = left
            if not data:
                if rest:
                    whole.append(rest)
                asyncio.get_running_loop().remove_reader(descriptor)
                stream.close()
                self._open -= 1
            lines.extend(line.decode() for line in whole)
            self._news.set()

        asyncio.get_running_loop().add_reader(descriptor, read)
