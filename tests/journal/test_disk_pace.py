"""A slow disk is reported at the table; a thread that waits for the disk is not mistaken for a hanging thread."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from structlog.testing import CapturingLogger

from controller.daemon.disk_pace import SAID_FOR, SYNCS, DiskPace, waits_in_kernel
from controller.daemon.meters import Durations
from controller.journal.writer import JournalWriter, Work
from tests.journal.vocabulary import open_journal


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_working_and_disk_bound_threads_are_not_taken_for_hanging() -> None:
    clock, log, said = Clock(), CapturingLogger(), [""]
    work = Work(clock)
    pace = DiskPace(work, clock, lambda thread: said[0], log)
    work.begin()
    assert pace.goes_on()
    assert not pace.goes_on(), "it hangs: neither a call nor the kernel has moved"
    said[0] = "fdatasync"
    for _ in range(5):
        assert pace.goes_on(), "one sync of 45 s"
    assert [call.kwargs["what"] for call in log.calls] == ["fdatasync"], "said once"
    said[0] = ""
    for _ in range(5):  # syncs of 4 s each
        work.end()
        work.begin()
        assert pace.goes_on()
    assert not pace.goes_on()


def test_a_slow_disk_is_reported_while_it_waits_and_for_ten_minutes() -> None:
    clock = Clock()
    work = Work(clock)
    pace = DiskPace(work, clock, lambda thread: "", CapturingLogger())
    pace.committed(0.2)
    assert pace.warning is None
    work.begin()
    clock.now += 6
    assert "a commit has waited for more than 5 s" in str(pace.warning)
    work.end()
    pace.committed(6.5)
    assert "recording an entry took more than 5 s" in str(pace.warning)
    pace.committed(1.2)
    clock.now += SAID_FOR - 1
    assert "recording an entry took more than 5 s" in str(pace.warning)
    clock.now += 2
    assert not pace.warning


def test_the_kernel_names_what_a_thread_waits_for(tmp_path: Path) -> None:
    """It reads a sample of the kernel's text, then that of this process, whose thread waits for no disk."""
    (tmp_path / "7").mkdir()
    machine = SYNCS.get(os.uname().machine, {})
    (tmp_path / "7" / "stat").write_text("7 (jour) nal) S 1 1")
    for number, name in machine.items():
        (tmp_path / "7" / "syscall").write_text(f"{number} 0x5 0x0 0x0 0x0 0x0 0x0 0x7ff 0x7fe\n")
        assert waits_in_kernel(7, tmp_path) == name
    (tmp_path / "7" / "syscall").write_text("running\n")
    assert waits_in_kernel(7, tmp_path) == ""
    (tmp_path / "7" / "syscall").unlink()
    assert waits_in_kernel(7, tmp_path) == ""
    (tmp_path / "7" / "stat").write_text("7 (jour) nal) D 1 1")
    assert waits_in_kernel(7, tmp_path) == "a device"
    assert waits_in_kernel(8, tmp_path) == ""
    assert waits_in_kernel(threading.get_native_id()) == ""


async def test_the_writer_reports_its_current_step(tmp_path: Path) -> None:
    writer = await JournalWriter.start(lambda: open_journal(tmp_path / "journal"))
    before = writer.work.turns
    await writer.answer()
    assert writer.work.turns >= before + 2
    assert writer.work.seconds == 0
    assert writer.work.thread_id in {thread.native_id for thread in threading.enumerate()}
    await writer.close()


@pytest.mark.parametrize(
    ("durations", "expected"),
    [((), 0.0), ((0.0005,), 0.001), ((0.004,) * 99 + (20.0,), 0.005), ((99.0,), float("inf"))],
)
def test_commits_by_their_steps(durations: tuple[float, ...], expected: float) -> None:
    counted = Durations()
    for seconds in durations:
        counted.add(seconds)
    assert counted.at_most(99) == expected
