"""The witness of a running journal, by a process of its own that nobody waits for.

    python -m controller.daemon.witnessing FOLDER WITNESS

It copies heads as they are signed, and prints a line whenever the witness has them all. It may hang, where the folder
of another machine does: the daemon counts the time since the last line, and shows an alarm after ten minutes.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from controller.journal import JournalError
from controller.journal.witness import Witness

LOOK_EVERY: Final = 5.0  # seconds
ALARM_AFTER: Final = 600.0
ENDS_WITHIN: Final = 1.0
AGAIN_AFTER: Final = 60.0  # seconds, where the process has ended


class Witnessing:
    """`clock`: seconds, from anywhere. `run` works until cancelled."""

    def __init__(self, folder: Path, witness: Path, clock: Callable[[], float], log: Any) -> None:
        self._folder = folder
        self._witness = witness
        self._clock = clock
        self._log = log
        self._last = clock()
        self._alarmed = False
        self.heard = asyncio.Event()
        """The witness had every head at least once."""

    @property
    def warning(self) -> str:
        """For people; empty: the witness has every head, or had it less than ten minutes ago."""
        late = self._clock() - self._last >= ALARM_AFTER
        if late and not self._alarmed:
            self._log.error("journal.witness_late", witness=str(self._witness))
        self._alarmed = late
        minutes = int((self._clock() - self._last) // 60)
        return f"The witness {self._witness} has had no head for {minutes} minutes. Check its folder." if late else ""

    async def run(self) -> None:
        while True:
            with suppress(OSError):  # no process can be started
                await self._run_once()
            self._log.warning("journal.witness_ended", witness=str(self._witness))
            await asyncio.sleep(AGAIN_AFTER)

    async def _run_once(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, str(self._folder), str(self._witness), env=environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            while await process.stdout.readline() == b"all\n":
                self._last = self._clock()
                self.heard.set()
        finally:
            if process.returncode is None:
                process.kill()
                with suppress(TimeoutError):  # it may hang in a system call: then it ends when that does
                    async with asyncio.timeout(ENDS_WITHIN):
                        await process.wait()


def main(folder: Path, witness: Path) -> None:
    """Until the daemon has ended. What fails is tried again: the daemon counts the time."""
    copied: Witness | None = None
    while not select.select([sys.stdin], [], [], 0 if copied is None else LOOK_EVERY)[0]:
        try:
            copied = copied or Witness(folder, witness)
            copied.copy()
        except (JournalError, OSError):
            copied = None
            if select.select([sys.stdin], [], [], LOOK_EVERY)[0]:
                return
            continue
        sys.stdout.write("all\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
