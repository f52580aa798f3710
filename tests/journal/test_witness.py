"""Signed heads that stand elsewhere: copied once, whole, and by a process that nobody waits for."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import structlog

from controller.daemon.witnessing import ALARM_AFTER, Witnessing
from controller.journal import JournalError
from controller.journal.signing import is_signed, statement
from controller.journal.witness import Witness, read_witness
from tests.journal.vocabulary import Cards, TestJournal, append, moment


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    path = tmp_path / "beside"
    path.mkdir()
    return path


def test_each_signed_head_is_copied_once(journal: TestJournal, folder: Path, beside: Path) -> None:
    witness = Witness(folder, beside)
    append(journal, 1)
    assert witness.copy() == 0
    journal.sign_head(moment(1))
    assert (witness.copy(), witness.copy()) == (1, 0)
    append(journal, 2)
    journal.begin_file(Cards(), moment(2))
    append(journal, 3)
    journal.sign_head(moment(3))
    assert Witness(folder, beside).copy() == 2, "of the end of a file, and of the next one"
    heads = list(read_witness(witness.path))
    assert [head.number for head in heads] == [4, 8, 12]
    for head in heads:
        said = statement(head.journal, head.file, head.head, head.utc_ns)
        assert is_signed(bytes.fromhex(head.key), bytes.fromhex(head.signature), said)
    assert witness.path.name == f"{journal.identity.table}-{journal.identity.id}.heads".replace("/", "_")


def test_a_line_that_was_written_in_part_hides_none(journal: TestJournal, folder: Path, beside: Path) -> None:
    witness = Witness(folder, beside)
    for step in (1, 2):
        append(journal, step)
        journal.sign_head(moment(step))
    witness.copy()
    whole = witness.path.read_bytes()
    witness.path.write_bytes(whole[:-10])
    assert Witness(folder, beside).copy() == 1
    assert [head.number for head in read_witness(witness.path)] == [4, 8]


def test_what_is_no_witness(tmp_path: Path) -> None:
    path = tmp_path / "a.heads"
    path.write_bytes(b"x\n" * 9)
    with pytest.raises(JournalError, match="is no witness"):
        list(read_witness(path))


async def test_the_process_copies_and_the_daemon_counts_the_time(
    journal: TestJournal, folder: Path, beside: Path
) -> None:
    now = 0.0
    append(journal, 1)
    journal.sign_head(moment(1))
    witnessing = Witnessing(folder, beside, lambda: now, structlog.get_logger())
    running = asyncio.create_task(witnessing.run())
    await witnessing.heard.wait()
    assert [head.number for head in read_witness(Witness(folder, beside).path)] == [4]
    assert witnessing.warning == ""
    now = ALARM_AFTER + 61
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert "has had no head for 11 minutes" in witnessing.warning


def test_a_folder_that_is_missing_is_an_error_of_the_system(journal: TestJournal, folder: Path, tmp_path: Path) -> None:
    """The process tries again."""
    append(journal, 1)
    journal.sign_head(moment(1))
    witness = Witness(folder, tmp_path / "later")
    with pytest.raises(FileNotFoundError):
        witness.copy()
    witness.path.parent.mkdir()
    assert witness.copy() == 1
