"""The recording is true: it agrees with the files themselves, and with the system calls.

The second test compares apsw's SQLite, the only one that can be recorded, with the standard library's, which the
journal uses.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.journal.power import works
from tests.journal.power.cuts import memory_folder
from tests.journal.power.disk import Disk, read_folder
from tests.journal.power.runs import CHECKPOINTS, Run, record
from tests.journal.power.sqlite import connecting, recording
from tests.journal.power.trace import lines, trace
from tests.journal.power.works import WORKS


@pytest.mark.parametrize("work", WORKS)
def test_the_recording_makes_the_same_files(work: str) -> None:
    with memory_folder() as folder:
        with recording(folder) as recorder:
            WORKS[work](Run(recorder, connecting([CHECKPOINTS]), 0, 0))
        disk = Disk(recorder.found)
        for operation in recorder.operations:
            disk.take(operation)
        assert disk.known() == read_folder(folder)


@pytest.mark.tool("strace")
@pytest.mark.parametrize("work", WORKS)
def test_the_system_sees_the_same_writes_and_syncs(work: str, tmp_path: Path) -> None:
    with memory_folder() as folder:
        traced = trace(folder, [sys.executable, "-m", works.__name__, str(folder), work], tmp_path / "trace")
    recorded = _without_rollback_journals(lines(record(WORKS[work]).operations))
    traced = _without_rollback_journals(traced)
    assert len(recorded) == len(traced) > 50
    assert [pair for pair in zip(recorded, traced, strict=True) if not pair[0].startswith(pair[1])] == []


def _without_rollback_journals(found: list[str]) -> list[str]:
    """Remove the operations of rollback journals: closing a file changes its mode, and SQLite empties that journal
    before removing it.
    """
    return [line for line in found if ".journal-journal" not in line]
