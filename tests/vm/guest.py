"""The system inside the machine, used as root: commands, and waits for conditions."""

from __future__ import annotations

import asyncio
import base64
import json
import shlex
from itertools import count
from typing import NamedTuple


class Done(NamedTuple):
    """A finished command. `out`: standard output and standard error."""

    code: int
    out: str


class CommandFailedError(AssertionError):
    """A command inside the machine ended with an unexpected exit code."""


class Guest:
    """Runs commands in parallel, each in a separate shell."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float) -> None:
        self._writer = writer
        self._patience = patience
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[Done]] = {}
        self._reading = asyncio.create_task(self._read(reader))

    async def run(self, script: str) -> str:
        """Run a script, which must exit with 0, and return its output."""
        done = await self.attempt(script)
        if done.code:
            raise CommandFailedError(f"{script}: {done.code}\n{done.out}")
        return done.out.strip()

    async def attempt(self, script: str) -> Done:
        """Run a script of sh, with any result."""
        number = next(self._numbers)
        answered = self._asked[number] = asyncio.get_running_loop().create_future()
        await self._send(number, script)
        async with asyncio.timeout(2 * self._patience):  # the agent ends it before
            done: Done = await answered
        return done

    async def begin(self, script: str) -> None:
        """Start a script without waiting for its end."""
        await self._send(next(self._numbers), script)

    async def _send(self, number: int, script: str) -> None:
        self._writer.write(json.dumps({"id": number, "script": script, "within": self._patience}).encode() + b"\n")
        await self._writer.drain()

    async def until(self, condition: str) -> None:
        """Wait until a command succeeds in the guest."""
        script = f"until {{ {condition}\n}} >/dev/null 2>&1; do sleep 0.1; done"
        done = await self.attempt(script)
        if done.code:
            told = await self.attempt("journalctl --no-pager --lines 40; systemctl --failed --no-pager --no-legend")
            raise CommandFailedError(f"never so: {condition}\n{told.out}")

    async def write(self, path: str, data: bytes) -> None:
        """Write a file in the guest."""
        await self.run(f"echo {base64.b64encode(data).decode()} | base64 --decode > {shlex.quote(path)}")

    async def read(self, path: str) -> bytes:
        return base64.b64decode(await self.run(f"base64 --wrap=0 {shlex.quote(path)}"))

    def close(self) -> None:
        self._reading.cancel()
        self._writer.close()

    async def wait_closed(self) -> None:
        await asyncio.gather(self._reading, return_exceptions=True)
        await self._writer.wait_closed()

    async def _read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            told = json.loads(line)
            waiting = self._asked.pop(told["id"], None)
            if waiting is not None and not waiting.done():
                waiting.set_result(Done(told["code"], base64.b64decode(told["out"]).decode(errors="replace")))
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_exception(ConnectionError("the machine has ended"))
