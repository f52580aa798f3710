"""Signed heads kept elsewhere: copied completely, whatever happens, by a process that nobody waits for."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.witnessing import ALARM_AFTER, Witnessing
from controller.journal import JournalError
from controller.journal import witness as witness_module
from controller.journal.file import connect_reader
from controller.journal.folder import delete_files, files_in
from controller.journal.signing import is_signed, statement
from controller.journal.witness import Witness, WitnessedHead, read_witness
from tests.journal.vocabulary import Cards, TestJournal, append, moment, open_journal, reader_of


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    path = tmp_path / "beside"
    path.mkdir()
    return path


def sign(journal: TestJournal, *steps: int) -> None:
    for step in steps:
        append(journal, step)
        journal.sign_head(moment(step))


def signed(folder: Path) -> list[tuple[str, int]]:
    """Return the heads in the journal's files, as file id and number."""
    found = []
    for path in files_in(folder):
        with closing(reader_of(path)) as reader, closing(connect_reader(path)) as connection:
            numbers = connection.execute("SELECT number FROM head ORDER BY number")
            found += [(reader.header.file_id, number) for (number,) in numbers]
    return found


def witnessed(path: Path) -> list[tuple[str, int]]:
    return [(head.file, head.number) for head in read_witness(path)]


def is_good(head: WitnessedHead) -> bool:
    said = statement(head.journal, head.file, head.head, head.utc_ns)
    return is_signed(bytes.fromhex(head.key), bytes.fromhex(head.signature), said)


def test_each_signed_head_is_copied_once(journal: TestJournal, folder: Path, beside: Path) -> None:
    witness = Witness(folder, beside)
    witness.copy()
    sign(journal, 1)
    assert (witness.copy(), witness.copy()) == (1, 0)
    append(journal, 2)
    journal.begin_file(Cards(), moment(2))
    sign(journal, 3)
    Witness(folder, beside).copy()
    assert witnessed(witness.path) == signed(folder)
    assert [head.number for head in read_witness(witness.path) if head.number][-1] == journal.head.number
    assert all(is_good(head) for head in read_witness(witness.path))
    assert witness.path.name == f"{journal.identity.table}-{journal.identity.id}.heads".replace("/", "_")


def test_a_season_is_copied_page_by_page(
    journal: TestJournal, folder: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness_module, "PAGE", 2)
    for file in range(3):
        sign(journal, *range(5 * file, 5 * file + 5))
        journal.begin_file(Cards(), moment(file))
    witness = Witness(folder, beside)
    assert witness.copy() == len(signed(folder)) >= 15
    assert witnessed(witness.path) == signed(folder)


def test_it_continues_after_its_last_line_of_any_length(
    journal: TestJournal, folder: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness_module, "TAIL", 1000)
    sign(journal, *range(9))
    Witness(folder, beside).copy()
    sign(journal, 9)
    witness = Witness(folder, beside)
    assert (witness.copy(), witness.differs) == (1, 0)
    assert witnessed(witness.path) == signed(folder)


@pytest.mark.parametrize("kept", [0, 1])
def test_a_partial_line_hides_no_other(journal: TestJournal, folder: Path, beside: Path, kept: int) -> None:
    witness = Witness(folder, beside)
    sign(journal, 1, 2)
    witness.copy()
    whole = witness.path.read_bytes().splitlines(keepends=True)
    witness.path.write_bytes(b"".join(whole[:kept]) + whole[kept][:-10])
    Witness(folder, beside).copy()
    assert witnessed(witness.path) == signed(folder)


def test_a_disk_that_accepts_part_of_a_line(journal: TestJournal, folder: Path, beside: Path) -> None:
    witness = Witness(folder, beside)
    sign(journal, 1)
    witness.copy()
    sign(journal, 2, 3)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (witness.path.stat().st_size + 500, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            witness.copy()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert witness.copy() == 2
    assert witnessed(witness.path) == signed(folder)
    assert len(witness.path.read_bytes().splitlines()) == len(signed(folder)), "no part of a line is left"


def test_a_failed_sync_does_not_count_as_a_copy(
    journal: TestJournal, folder: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unsynced data can be read until the power fails, so it is written again."""
    witness = Witness(folder, beside)
    sign(journal, 1)
    with monkeypatch.context() as failing:
        failing.setattr(os, "fsync", fail)
        failing.setattr(os, "ftruncate", fail)
        with pytest.raises(OSError, match="no sync"):
            witness.copy()
    assert witness.copy() == len(signed(folder))


def fail(*given: object) -> None:
    raise OSError("no sync")


def test_an_older_copy_of_the_journal_is_found_and_copied_on(folder: Path, beside: Path, tmp_path: Path) -> None:
    with closing(open_journal(folder)) as journal:
        sign(journal, 1, 2)
    shutil.copytree(folder, tmp_path / "older")
    with closing(open_journal(folder)) as journal:
        sign(journal, 3, 4)
        Witness(folder, beside).copy()
        last = journal.head.number
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "older", folder)
    with closing(open_journal(folder)) as journal:
        sign(journal, 30)
        witness = Witness(folder, beside)
        assert (witness.copy(), witness.differs) == (1, last)
        assert set(signed(folder)) <= set(witnessed(witness.path))
        newest = list(read_witness(witness.path))[-1]
        assert newest.head == journal.head
        assert (Witness(folder, beside).copy(), Witness(folder, beside).differs) == (0, 0)


def test_files_deleted_by_age_are_not_a_difference(journal: TestJournal, folder: Path, beside: Path) -> None:
    sign(journal, 1)
    Witness(folder, beside).copy()
    for step in (2, 3):
        journal.begin_file(Cards(), moment(step))
        sign(journal, step)
    delete_files(folder, ["000001.journal"])
    witness = Witness(folder, beside)
    witness.copy()
    assert witness.differs == 0
    assert set(signed(folder)) <= set(witnessed(witness.path))


def test_a_witness_that_is_gone_or_cut_while_it_runs_is_made_whole(
    journal: TestJournal, folder: Path, beside: Path
) -> None:
    witness = Witness(folder, beside)
    sign(journal, 1, 2, 3)
    witness.copy()
    whole = witness.path.read_bytes()
    witness.path.write_bytes(whole[: len(whole) // 2])
    witness.copy()
    assert witness.path.read_bytes().splitlines()[-1] == whole.splitlines()[-1]
    assert witnessed(witness.path)[-3:] == signed(folder)[-3:]
    witness.path.unlink()
    witness.copy()
    assert witnessed(witness.path) == signed(folder)
    shutil.rmtree(beside)
    with pytest.raises(
        FileNotFoundError
    ):  # a folder that is not mounted is an error, even where nothing is to be copied
        witness.copy()
    beside.mkdir()
    assert witness.copy() == len(signed(folder))


@pytest.fixture
def narrow_mask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_the_owner_of_the_folder_can_read_it(
    journal: TestJournal, folder: Path, beside: Path, narrow_mask: None
) -> None:
    sign(journal, 1)
    witness = Witness(folder, beside)
    witness.copy()
    assert witness.path.stat().st_mode & 0o777 == 0o644


def test_an_invalid_witness(tmp_path: Path) -> None:
    path = tmp_path / "a.heads"
    path.write_bytes(b"x\n" * 9)
    with pytest.raises(JournalError, match="is not a witness"):
        list(read_witness(path))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Log:
    def __init__(self) -> None:
        self.events: list[str] = []

    def error(self, event: str, **fields: Any) -> None:
        self.events.append(event)

    warning = info = error


class Stage:
    """The daemon's part of the witness."""

    def __init__(self, folder: Path, beside: Path) -> None:
        self.clock, self.log = Clock(), Log()
        self.witnessing = Witnessing(folder, beside, self.clock, self.log)

    @asynccontextmanager
    async def running(self) -> Any:
        running = asyncio.create_task(self.witnessing.run())
        try:
            yield running
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_the_process_copies_and_the_daemon_counts_the_time(
    journal: TestJournal, folder: Path, beside: Path
) -> None:
    sign(journal, 1)
    stage = Stage(folder, beside)
    async with stage.running():
        await stage.witnessing.heard.wait()
        assert witnessed(Witness(folder, beside).path) == signed(folder)
        assert stage.witnessing.warning is None
    stage.clock.now = ALARM_AFTER + 61
    for _ in range(3):
        stage.witnessing.look()
    assert "has received nothing for 11 minutes. Check its folder." in str(stage.witnessing.warning)
    assert stage.log.events == ["journal.witness_whole", "journal.witness_late"]


async def test_why_the_witness_has_no_head(journal: TestJournal, folder: Path, tmp_path: Path) -> None:
    stage = Stage(folder, tmp_path / "not mounted")
    async with stage.running():
        await stage.witnessing.failed.wait()
    assert stage.witnessing.warning is None, "for ten minutes"
    stage.clock.now = ALARM_AFTER
    assert "for 10 minutes (No such file or directory). Check its folder." in str(stage.witnessing.warning)


async def test_a_witness_with_other_heads_raises_an_alarm_immediately(
    folder: Path, beside: Path, tmp_path: Path
) -> None:
    with closing(open_journal(folder)) as journal:
        sign(journal, 1)
    shutil.copytree(folder, tmp_path / "older")
    with closing(open_journal(folder)) as journal:
        sign(journal, 2)
    Witness(folder, beside).copy()
    stage = Stage(tmp_path / "older", beside)
    async with stage.running():
        await stage.witnessing.heard.wait()
    assert "holds a head of entry 8 that the journal does not hold" in str(stage.witnessing.warning)
    assert stage.log.events == ["journal.witness_differs", "journal.witness_whole"]


async def test_no_process_can_be_started(
    journal: TestJournal, folder: Path, beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception in a part of the daemon would end the daemon."""
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    stage = Stage(folder, beside)
    async with stage.running() as running:
        await stage.witnessing.failed.wait()
        await asyncio.sleep(0)
        assert not running.done()
    assert stage.log.events == ["journal.witness_ended"]


def children() -> set[int]:
    """Return the processes that this one started, which may include the test run's process server."""
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()))


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
async def test_the_signal_of_a_stop_does_not_lose_the_last_heads(
    journal: TestJournal, folder: Path, beside: Path, sent: signal.Signals
) -> None:
    """systemd sends SIGTERM to every process of a service that stops, a terminal SIGINT."""
    stage = Stage(folder, beside)
    before = children()
    async with stage.running():
        await stage.witnessing.heard.wait()
        (child,) = children() - before
        os.kill(child, sent)
        sign(journal, 1)
    assert witnessed(Witness(folder, beside).path) == signed(folder)
    assert stage.log.events == ["journal.witness_whole"]


async def test_a_stop_while_the_process_starts_is_no_failure(journal: TestJournal, folder: Path, beside: Path) -> None:
    stage = Stage(folder, beside)
    before = children()
    async with stage.running():
        while not (started := children() - before):  # noqa: ASYNC110  # another process
            await asyncio.sleep(0)
        (child,) = started
        os.kill(child, signal.SIGTERM)
        while children() - before:  # noqa: ASYNC110  # another process
            await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert stage.log.events == []


async def test_nobody_waits_for_a_hanging_process(journal: TestJournal, folder: Path, beside: Path) -> None:
    stage = Stage(folder, beside)
    before = children()
    async with stage.running():
        await stage.witnessing.heard.wait()
        (child,) = children() - before
        os.kill(child, signal.SIGSTOP)
        stage.clock.now = ALARM_AFTER
        assert "has received nothing for 10 minutes" in str(stage.witnessing.warning)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
