"""Kills real processes at any operation of a run, one run for each line on standard input.

    FOLDER RUN OPERATIONS     a child does the run there, and kills itself before that operation

Each answer is the child's exit status and the last decision that it acknowledged. One process forks many children,
which saves the start of Python.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.journal.power.disk import Operation
from tests.journal.power.recording import Recorder
from tests.journal.power.runs import CHECKPOINTS, Run, make_log_small
from tests.journal.power.sqlite import connecting, recording
from tests.journal.power.works import WORKS


class _Dies:
    def __init__(self, recorder: Recorder, after: int) -> None:
        self._recorder = recorder
        self._after = after

    def __call__(self, operation: Operation) -> int | None:
        if len(self._recorder.operations) >= self._after:
            os.kill(os.getpid(), signal.SIGKILL)
        return None


def _work(folder: Path, work: str, after: int, said: int) -> None:
    with recording(folder) as recorder:
        recorder.fails = _Dies(recorder, after)
        recorder.heard = lambda least: os.write(said, b"%d\n" % least)
        WORKS[work](Run(recorder, connecting([CHECKPOINTS]), 0, 0))


def _ask(folder: Path, work: str, after: int) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(folder, work, after, writing)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said:
        least = [line for line in said.read().split("\n") if line]
    _, status = os.waitpid(child, 0)
    return f"{os.waitstatus_to_exitcode(status)} {least[-1] if least else 0}"


def main() -> None:
    make_log_small(setattr)
    for line in sys.stdin:
        folder, work, after = line.split()
        print(_ask(Path(folder), work, int(after)), flush=True)  # noqa: T201  # the answer


if __name__ == "__main__":
    main()
