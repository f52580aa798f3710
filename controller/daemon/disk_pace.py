"""Detects whether the journal's disk is slow, and whether the journal's thread waits for it or hangs.

a call of the thread ── begun or done since the last check ── it is alive
                     └─ neither ── the kernel says that it waits in a sync, or for a device ── it is alive
                                └─ anything else ── it hangs
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

from firmware_bridge.messages import Message, message

SLOW: Final = 1.0  # seconds of a commit from which the disk counts as slow
SAID_FOR: Final = 600.0  # seconds to keep showing the warning after the last slow commit
LEVELS: Final = (60, 30, 10, 5, 2, 1)  # seconds; the steps in which the wait is shown
WAITS_FOR_DEVICE: Final = "D"
SYNCS: Final = {"x86_64": {"74": "fsync", "75": "fdatasync"}, "aarch64": {"82": "fsync", "83": "fdatasync"}}
"""The names of system calls by number, for each machine type."""


class Working(Protocol):
    """The part of the journal's thread that this module needs (`controller.journal.writer.Work`)."""

    @property
    def seconds(self) -> float: ...

    @property
    def turns(self) -> int: ...

    @property
    def thread_id(self) -> int: ...


class DiskPace:
    """The pace of the disk. `clock` returns seconds from any start. `waits` returns what a thread waits for in the
    kernel, or "" if that is not a disk.
    """

    def __init__(self, work: Working, clock: Callable[[], float], waits: Callable[[int], str], log: Any) -> None:
        self._work = work
        self._clock = clock
        self._waits = waits
        self._log = log
        self._turns = -1
        self._slowest = 0.0
        self._slow_at = 0.0
        self._is_logged = False

    def goes_on(self) -> bool:
        """Return whether the thread has made progress since the last call, or waits for the disk."""
        turns, before = self._work.turns, self._turns
        self._turns = turns
        if turns != before:
            return True
        what = self._waits(self._work.thread_id)
        if what and not self._is_logged:
            self._is_logged = True
            self._log.warning("journal.waits_for_disk", what=what, seconds=round(self._work.seconds))
        return bool(what)

    def committed(self, seconds: float) -> None:
        """Note how long a commit took."""
        self._is_logged = False
        if seconds >= SLOW:
            fresh = self._clock() - self._slow_at < SAID_FOR
            self._slowest = max(seconds, self._slowest) if fresh else seconds
            self._slow_at = self._clock()

    @property
    def warning(self) -> Message | None:
        """Return a warning for people, or None if the disk has not been slow for ten minutes."""
        if (at := _level(self._work.seconds)) >= LEVELS[-2]:
            return message(
                "The disk with the journal is slow: a commit has waited for more than {seconds} s. Nothing is lost. "
                "Have the disk checked, and find out what else writes to it.",
                seconds=at,
            )
        if self._slowest and self._clock() - self._slow_at < SAID_FOR:
            return message(
                "The disk with the journal is slow: recording an entry took more than {seconds} s. Nothing is lost. "
                "Have the disk checked, and find out what else writes to it.",
                seconds=_level(self._slowest),
            )
        return None


def _level(seconds: float) -> int:
    """Return the duration in steps, so that the display does not change every second."""
    return next((level for level in LEVELS if seconds >= level), 0)


def waits_in_kernel(thread_id: int, tasks: Path = Path("/proc/self/task")) -> str:
    """Return what a thread of this process waits for: the name of a sync or a device, or "" for anything else."""
    of_thread = tasks / str(thread_id)
    try:
        number = (of_thread / "syscall").read_text().split(" ", 1)[0]
        if name := SYNCS.get(os.uname().machine, {}).get(number):
            return name
    except OSError:  # for a process that is not dumpable, the kernel shows this only to root
        pass
    try:
        state = (of_thread / "stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
    return "a device" if state == WAITS_FOR_DEVICE else ""
