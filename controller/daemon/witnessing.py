"""The witness of a running journal, written by a separate process that nothing waits for.

    python -m controller.daemon.witnessing FOLDER WITNESS
    python -m controller.daemon.witnessing --others TABLE WITNESS

It copies heads as they are signed, and prints a line of JSON after each check; the last check comes when its standard
input ends, with the daemon. It may hang if the folder of another machine does: the daemon measures the time since the
witness had all heads, and shows an alarm after ten minutes. The second form prints, before a journal is begun, which
journals of the table have heads at the witness.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from asyncio.subprocess import Process
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal import JournalError
from controller.journal.pinning import Doubt
from controller.journal.witness import Witness, others_at
from firmware_bridge.messages import AnyText, Message, message, sentences

LOOK_EVERY: Final = 5.0  # seconds
ALARM_AFTER: Final = 600.0
ENDS_WITHIN: Final = 3.0
LAST_WITHIN: Final = 5.0  # seconds at a stop; after that the next start copies the rest
AGAIN_AFTER: Final = 60.0  # seconds until a process that ended is started again
STOPPED: Final = (-signal.SIGTERM, -signal.SIGINT)  # a stop reaches it before it can ignore signals
NICEST: Final = 10  # the niceness of the copying thread; with 19 it would not end in time on a busy machine
KNOWN_WITHIN: Final = 10.0  # seconds


class Said(msgspec.Struct, frozen=True):
    """A line of the process. `why` says why not every head could be copied; it is empty if the witness has them all.

    `differs` is the entry of a head that the witness holds and the journal does not, or 0. `others` are the ids of the
    table's other journals whose heads the witness holds.
    """

    why: AnyText = ""
    differs: int = 0
    others: tuple[str, ...] = ()


async def _at_most(seconds: float, work: Coroutine[Any, Any, object]) -> None:
    """Wait for the work for at most `seconds`; then cancel it."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=seconds)
    if done:
        task.result()
    else:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Witnessing:
    """Runs the witness's process while `run` runs. `clock` returns seconds since an arbitrary time."""

    def __init__(self, folder: Path, witness: Path, clock: Callable[[], float], log: Any) -> None:
        self._folder = folder
        self._witness = witness
        self._clock = clock
        self._log = log
        self._last = clock()
        self._why: AnyText = ""
        self._differs = 0
        self._others: tuple[str, ...] = ()
        self._alarmed = False
        self.heard = asyncio.Event()
        """The witness had every head at least once."""
        self.failed = asyncio.Event()
        """The folder could not be written to at least once."""

    @property
    def warning(self) -> Message | None:
        """Return a warning for people, or None if the witness has received every head within the last ten minutes."""
        found = []
        witness = str(self._witness)
        if self._is_late:
            found.append(self._late(witness, int((self._clock() - self._last) // 60)))
        if self._differs:
            found.append(
                message(
                    "The witness {witness} holds a head of entry {entry} that the journal does not hold. Compare them "
                    "with `cardshoe journal verify --witness`.",
                    witness=witness,
                    entry=self._differs,
                )
            )
        if self._others:
            found.append(
                message(
                    "The witness {witness} holds heads of another journal of this table, {journals:list}. Find out why "
                    "this one was begun, then move that file away.",
                    witness=witness,
                    journals=self._others,
                )
            )
        return sentences(*found) if found else None

    def _late(self, witness: str, minutes: int) -> Message:
        if self._why:
            return message(
                "The witness {witness} has received nothing for {minutes} minutes ({why}). Check its folder.",
                witness=witness,
                minutes=minutes,
                why=self._why,
            )
        return message(
            "The witness {witness} has received nothing for {minutes} minutes. Check its folder.",
            witness=witness,
            minutes=minutes,
        )

    async def run(self) -> None:
        """Run the process and watch it. Its failure never ends the daemon."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._copy())
            both.create_task(self._watch())

    def look(self) -> None:
        """Log once each time that heads become late."""
        if self._is_late and not self._alarmed:
            self._log.error("journal.witness_late", witness=str(self._witness), why=str(self._why))
        self._alarmed = self._is_late

    @property
    def _is_late(self) -> bool:
        return self._clock() - self._last >= ALARM_AFTER

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_AFTER)
            self.look()

    async def _copy(self) -> None:
        while True:
            try:
                code = await self._run_once()
            except OSError as error:  # no process can be started
                code = None
                self._fail(error.strerror or str(error))
            if code not in STOPPED:
                self._log.warning("journal.witness_ended", witness=str(self._witness), why=str(self._why))
            await asyncio.sleep(AGAIN_AFTER)

    async def _run_once(self) -> int | None:
        environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, str(self._folder), str(self._witness), env=environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await self._listen(process)
        finally:
            # Not `asyncio.timeout`: before Python 3.11.3 it does not end in `TimeoutError` while the task is cancelled.
            await _at_most(LAST_WITHIN, self._take_leave(process))
            if process.returncode is None:
                process.kill()
                await _at_most(ENDS_WITHIN, process.wait())  # it may hang in a system call, and ends when the call does
        return process.returncode

    async def _listen(self, process: Process) -> None:
        assert process.stdout is not None
        with suppress(msgspec.MsgspecError):  # an incomplete line from a process that was ended
            while line := await process.stdout.readline():
                self._hear(msgspec.json.decode(line, type=Said))

    async def _take_leave(self, process: Process) -> None:
        """Stop the process after it has copied the heads signed since, at a stop of the daemon."""
        assert process.stdin is not None
        process.stdin.close()
        await self._listen(process)
        await process.wait()

    def _hear(self, said: Said) -> None:
        if said.differs and not self._differs:
            self._differs = said.differs
            self._log.error("journal.witness_differs", witness=str(self._witness), entry=said.differs)
        if said.others and not self._others:
            self._log.error("journal.witness_others", witness=str(self._witness), journals=said.others)
        self._others = said.others
        if said.why:
            self._fail(said.why)
            return
        if self._alarmed or not self.heard.is_set():
            self._log.info("journal.witness_whole", witness=str(self._witness))
        self._why, self._last, self._alarmed = "", self._clock(), False
        self.heard.set()

    def _fail(self, why: AnyText) -> None:
        self._why = why
        self.failed.set()


def known_elsewhere(witness: Path, table: str) -> Doubt | None:
    """Return a doubt if a journal is begun although the witness holds heads of another one of the table. A separate
    process is asked, for a limited time. None means that the witness does not hold any, or did not answer.
    """
    command = [sys.executable, "-m", __name__, "--others", table, str(witness)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=KNOWN_WITHIN, check=True)  # noqa: S603  # this program
        others = msgspec.json.decode(done.stdout, type=Said).others
    except (OSError, subprocess.SubprocessError, msgspec.MsgspecError):
        return None
    if not others:
        return None
    said = message(
        "The witness {witness} holds heads of the journal {journals:list} of this table, which is gone.",
        witness=str(witness),
        journals=others,
    )
    return Doubt("journal-gone", said)


class _Copying:
    """The part that runs in the process. A failed step is tried again; the daemon counts the time."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self._folder, self._beside = folder, beside
        self._witness: Witness | None = None

    def once(self) -> Said:
        try:
            witness = self._witness = self._witness or Witness(self._folder, self._beside)
            witness.copy()
            others = others_at(self._beside, witness.identity.table, witness.identity.id)
            return Said("", witness.differs, tuple(others))
        except JournalError as error:
            return Said(error.message)
        except OSError as error:
            return Said(error.strerror or str(error))


def _give_way() -> None:
    """Linux counts the niceness for each thread."""
    with suppress(OSError):  # a service may not be allowed to
        os.nice(NICEST)


def _say(said: Said) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(said) + b"\n")
    sys.stdout.buffer.flush()


def main(folder: Path, beside: Path) -> None:
    """Copy until the daemon has ended, in a thread that gives way to everything else; then copy once more, while the
    daemon waits. systemd and a terminal send the signal for a stop to every process: the last copy comes after it.
    """
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    copying = _Copying(folder, beside)
    gently = ThreadPoolExecutor(1, initializer=_give_way)
    _say(gently.submit(copying.once).result())
    while not select.select([sys.stdin], [], [], LOOK_EVERY)[0]:
        _say(gently.submit(copying.once).result())
    _say(copying.once())
    os._exit(0)  # exiting normally would wait for the thread


if __name__ == "__main__":
    if sys.argv[1] == "--others":
        sys.stdout.buffer.write(msgspec.json.encode(Said(others=tuple(others_at(Path(sys.argv[3]), sys.argv[2], "")))))
    else:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
