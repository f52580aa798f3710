"""A real broker: Debian's mosquitto as a process of the test, which can be killed, restarted and made to refuse."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from controller.floor.address import Address, Broker, Credentials
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE

RUNS = "running"


class Mosquitto:
    """A mosquitto process. `lines` are added to its configuration, after the port. It keeps its sessions in `folder`.

    `days`: how far its clock is ahead.
    """

    def __init__(
        self, folder: Path, lines: Sequence[str] = (), credentials: Credentials | None = None, days: int = 0
    ) -> None:
        self.folder = folder
        self.port = free_port()
        self.credentials = credentials
        self.environment = dict(os.environ) | (another_date(days) if days else {})
        self.lines = list(lines)
        self.said: list[str] = []
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    @property
    def broker(self) -> Broker:
        return Broker(Address("localhost", self.port, self.credentials is not None), self.credentials)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        allowed = any("acl_file" in line for line in self.lines)
        own = [
            f"listener {self.port} 127.0.0.1",
            *self.lines,
            *(() if self.credentials else ("allow_anonymous true",)),
            "persistence true",
            f"persistence_location {self.folder}/",
            "log_type all" if allowed else "log_type information",
            "user root",
        ]
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text("\n".join(own) + "\n")
        program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"
        began = len(self.said)
        self._process = await asyncio.create_subprocess_exec(
            program, "-v", "-c", str(configuration), stderr=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
            env=self.environment,
        )  # fmt: skip
        self._reading = asyncio.ensure_future(self._read(self._process))
        await self.until(lambda: any(line.endswith(RUNS) for line in self.said[began:]))

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while line := await process.stderr.readline():
            self.said.append(line.decode().strip())
            self._news.set()
        self._news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the broker's output makes the condition true. Fail if the broker ends first."""
        assert self._reading is not None
        async with asyncio.timeout(PATIENCE):
            while not condition():
                assert not self._reading.done(), self.said
                self._news.clear()
                await self._news.wait()

    async def kill(self) -> None:
        """Kill the broker with SIGKILL: what it had not written to its disk is lost."""
        await self._end(kill=True)

    async def stop(self) -> None:
        """Stop the broker normally, so that it writes its sessions."""
        await self._end(kill=False)

    async def _end(self, *, kill: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            (process.kill if kill else process.terminate)()
        assert self._reading is not None
        async with asyncio.timeout(PATIENCE):
            await process.wait()
            await self._reading
        await asyncio.sleep(0)  # asyncio closes the pipes then


def another_date(days: int) -> dict[str, str]:
    """Return the environment in which a process sees another date (Debian's libfaketime)."""
    (library, *_) = Path("/usr/lib").glob("*/faketime/libfaketime.so.1")
    return {"LD_PRELOAD": str(library), "FAKETIME": f"{days:+}d", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}


@asynccontextmanager
async def mosquitto(
    folder: Path, *lines: str, credentials: Credentials | None = None, days: int = 0
) -> AsyncIterator[Mosquitto]:
    """Run a broker until the test is over."""
    found = Mosquitto(folder, lines, credentials, days)
    await found.start()
    try:
        yield found
    finally:
        await found.kill()
