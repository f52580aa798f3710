"""A command at a separate terminal, 100 by 30, with its output."""

from __future__ import annotations

import asyncio
import ctypes
import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

from tests.end_to_end.processes import PATIENCE

ROOT = Path(__file__).parents[2]
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x1b\][^\x07]*\x07|\r")


class CommandTerminal:
    """A terminal for typing and reading. `shown`: all output so far, without control sequences."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        environment = {**os.environ, "TERM": "xterm", "XDG_STATE_HOME": str(folder), "PYTHONPATH": str(ROOT)}
        for size in ("COLUMNS", "LINES"):  # those of the person who runs the tests
            environment.pop(size, None)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "controller", *arguments],
            stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # no thread runs here
        )  # fmt: skip
        os.close(slave)
        os.set_blocking(self._master, False)
        self.raw = b""
        self.seen = 0  # characters of the output that were already waited for
        self._news = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._master, self._read)

    @property
    def shown(self) -> str:
        return _CONTROL.sub("", self.raw.decode(errors="replace"))

    def press(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def enter(self, line: str) -> None:
        self.press(f"{line}\r")

    def interrupt_another_thread(self) -> None:
        """Send SIGINT to a thread other than the first: a system may choose any for a terminal's key."""
        pid = self.process.pid
        threads = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]
        assert ctypes.CDLL(None).tgkill(pid, max(threads), signal.SIGINT) == 0

    async def until(self, wanted: str) -> str:
        """Wait for this text after the last one waited for, and return the output up to it."""
        async with asyncio.timeout(PATIENCE):
            while (at := self.shown.find(wanted, self.seen)) < 0:
                assert not self._over, f"it ended and showed {self.shown}"
                self._news.clear()
                await self._news.wait()
        before, self.seen = self.shown[self.seen : at + len(wanted)], at + len(wanted)
        return before

    async def ended(self) -> int:
        async with asyncio.timeout(PATIENCE):
            while not self._over:
                self._news.clear()
                await self._news.wait()
        return self.process.wait(timeout=PATIENCE)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=PATIENCE)
        if not self._over:
            asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)

    _over = False

    def _read(self) -> None:
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the last process has ended
            data = b""
        if b"\x1b[6n" in data:
            self.press("\x1b[1;1R")  # a terminal reports its cursor's position
        self.raw += data
        if not data:
            self._over = True
            asyncio.get_running_loop().remove_reader(self._master)
        self._news.set()


class OperateTerminal(CommandTerminal):
    """`cardshoe operate`."""

    def __init__(self, socket: Path, folder: Path, *options: str) -> None:
        super().__init__(folder, "operate", "--socket", str(socket), *options)
