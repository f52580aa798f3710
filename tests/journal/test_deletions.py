"""A deletion by age is signed, and compared with the deleted files and the required retention."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.chain import Head
from controller.journal.codec import Moment
from controller.journal.folder import delete_files, expired_files
from controller.journal.store import Journal
from controller.journal.verification import Verified, verify_journal
from controller.table.decide import decide
from controller.table.inputs import AnyInput, ConfigurationRead, FilesExpired
from controller.table.record import ConfigurationRecord, DeviceRecord, FileRecord
from tests.journal.forgeries.forger import Table, signed_heads
from tests.journal.table_journals import report
from tests.journal_commands.made import BEGAN, IDENTITY, KEY, SIGNER

DAY = 86_400 * 1_000_000_000
KEPT = 2


def take(table: Table, given: AnyInput, *, signs: bool = False, day: int = 0) -> None:
    decided = decide(table.state, given)
    moment = Moment(BEGAN + day * DAY, day)
    table.journal.append(given, decided.events, round=decided.state.round.number, moment=moment, signs=signs)
    table.state = decided.state


def write(folder: Path, *, keep_days: int = KEPT, signs: bool = True) -> list[Head]:
    """Write files for six days and delete those that are due. Return the heads that were signed before that."""
    table = Table(folder)
    with closing(table.journal):
        table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
        take(table, ConfigurationRead(ConfigurationRecord("1", DeviceRecord("x"), keep_days=keep_days)))
        for day in range(1, 6):
            table.journal.begin_file(table.saved, Moment(BEGAN + day * DAY, day))
            record = ConfigurationRecord("1", DeviceRecord(f"{day}"), keep_days=keep_days)
            take(table, ConfigurationRead(record), day=day)
        heads = signed_heads(folder)
        ends = expired_files(folder, KEPT)
        records = [
            FileRecord(one.name, one.file_id, one.head.number, one.head.hash.hex(), one.ended_utc_ns) for one in ends
        ]
        assert len(records) == 2
        take(table, FilesExpired(tuple(records)), signs=signs, day=5)
        take(table, ConfigurationRead(ConfigurationRecord("2", DeviceRecord("x"), keep_days=keep_days)), day=5)
        table.journal.sign_head(Moment(BEGAN + 5 * DAY, 5))
        delete_files(folder, [one.name for one in ends])
    return heads


def codes(found: Verified) -> list[str]:
    return [one.code for one in found.findings]


def test_an_honest_deletion_is_sound_and_lists_the_heads_not_compared(
    tmp_path: Path,
) -> None:
    heads = write(tmp_path / "journal")
    found = verify_journal(tmp_path / "journal", noted=heads)
    assert codes(found) == []
    found = verify_journal(tmp_path / "journal", noted=heads[:1])
    assert codes(found) == []
    assert any("not here: not compared." in str(said) for said in found.unknown)


def test_the_end_of_the_last_deleted_file_is_still_known(tmp_path: Path) -> None:
    heads = write(tmp_path / "journal")
    last = heads[1]
    assert codes(verify_journal(tmp_path / "journal", noted=[last])) == []
    assert codes(verify_journal(tmp_path / "journal", noted=[Head(last.number, bytes(32))])) == ["other-than-noted"]


@pytest.mark.parametrize(
    ("keep_days", "signs", "expected"),
    [
        (KEPT, False, ["deletion-not-signed", "file-missing"]),
        (30, True, ["deletion-not-due", "file-missing"]),
        (0, True, ["deletion-not-due", "file-missing"]),
    ],
)
def test_an_unexplained_deletion_is_found(tmp_path: Path, keep_days: int, signs: bool, expected: list[str]) -> None:
    write(tmp_path / "journal", keep_days=keep_days, signs=signs)
    assert codes(verify_journal(tmp_path / "journal")) == expected


def test_a_start_reports_a_first_file_missing_without_a_record(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    table = Table(folder)
    with closing(table.journal):
        table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
        table.next_file()
    (folder / "000001.journal").unlink()
    opened: Journal[Any, Any] = Journal.open(folder, JOURNAL_TYPES, local_key=KEY, identity=IDENTITY, signer=SIGNER)
    with closing(opened) as journal:
        load(journal, Moment(BEGAN, 1), report())
        (doubt,) = journal.pin.doubts
    assert doubt.code == "journal-cut"
    assert "missing, and no entry says that they were deleted by age" in str(doubt.sentence)
