"""Checks the whole journal while the table runs, in a separate process with the lowest priority.

    python -m controller.daemon.checking FOLDER

It needs no key, writes nothing, and prints its finding as one line of JSON. It ends with the daemon: while it rests it
watches for the end of its standard input.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal import JournalError
from controller.journal.verification import OF_DOUBTS, Verified, verify_journal
from firmware_bridge.messages import AnyText, message, sentences

SHARE: Final = 0.2  # the share of one core
LONGEST_REST: Final = 2.0  # seconds
NICEST: Final = 19
GONE: Final = "journal-io"  # the code for a file that cannot be opened
_HINT: Final = message(
    "Keep the files for an audit; `cardshoe journal verify` lists what is wrong, and a backup may have them complete."
)


class JournalCheck(msgspec.Struct, frozen=True):
    """A finding about the journal; `code` is empty if nothing is wrong."""

    code: str = ""
    sentence: AnyText = ""
    hint: AnyText = ""


class Pace:
    """Rests after each step, to use only a share of a core. `clock` returns seconds; `rest` waits a number of
    seconds.
    """

    def __init__(self, clock: Callable[[], float], rest: Callable[[float], None], share: float = SHARE) -> None:
        self._clock = clock
        self._rest = rest
        self._share = share
        self._since = clock()

    def step(self) -> None:
        """Note that a step is done, then sleep."""
        worked = max(0.0, self._clock() - self._since)
        self._rest(min(LONGEST_REST, worked * (1 - self._share) / self._share))
        self._since = self._clock()


def find_damage(folder: Path, verify: Callable[[], Verified]) -> JournalCheck:
    """Return the finding of the check. A folder without a journal, or an unreadable one, counts as damage.

    A missing file may have been deleted by age meanwhile: then the whole check is repeated. Findings that a person
    decides on at a start, or accepted when files were moved away, are not damage.
    """
    try:
        found = verify().findings
        if any(one.code == GONE for one in found):
            found = verify().findings
    except JournalError as error:
        said = message("The journal in {folder} cannot be checked: {why}.", folder=str(folder), why=error.message)
        return JournalCheck("journal-damaged", said, _HINT)
    found = tuple(one for one in found if one.code not in OF_DOUBTS)
    if not found:
        return JournalCheck()
    first = found[0]
    said = message("The journal {path} is damaged: {what}.", path=str(folder / first.file), what=first.sentence)
    more = message("This is the first of {count} findings.", count=len(found)) if len(found) > 1 else None
    return JournalCheck("journal-damaged", sentences(said, more), _HINT)


async def check_beside(folder: Path, log: Any) -> JournalCheck:
    """Start the process and wait for its finding. A check that fails is reported in the log and does not have a
    finding.
    """
    environment = {name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"}
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, str(folder), env=environment,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        log.error("journal.check_failed", error=error.strerror)
        return JournalCheck()
    assert process.stdout is not None
    try:
        said = await process.stdout.read()
        code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    try:
        return msgspec.json.decode(said, type=JournalCheck)
    except msgspec.MsgspecError:
        if -code in (signal.SIGTERM, signal.SIGINT):  # systemd, or a terminal, sends it to every process at a stop
            return JournalCheck()
        log.error("journal.check_failed", exit_code=code)
        return JournalCheck()


def _rest(seconds: float) -> None:
    """Wait until the time is up, or end the process if the daemon has ended."""
    if select.select([sys.stdin], [], [], seconds)[0]:
        raise SystemExit(0)


def main(folder: Path) -> None:
    if not folder.is_dir():
        raise SystemExit(1)
    with suppress(OSError):  # a service may lack permission
        os.nice(NICEST)
    pace = Pace(time.perf_counter, _rest)
    found = find_damage(folder, lambda: verify_journal(folder, thorough=False, reached=lambda entry: pace.step()))
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
