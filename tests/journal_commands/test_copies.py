"""`cardshoe journal backup` and `restore`: consistent while the table is in play, and refused unless complete."""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controller.commands.journal.copies import MANIFEST, back_up, check, restore
from controller.commands.journal.source import Source
from controller.commands.main import main
from controller.journal import JournalError
from controller.journal.folder import JournalFolder, files_in
from controller.table import operations
from firmware_bridge.messages import AnyText
from tests.journal_commands.conftest import run
from tests.journal_commands.made import JournaledTable, evening
from tests.support.as_user import NEEDS_ROOT


def quiet(line: AnyText) -> None:
    pass


def backup_of(folder: Path, to: Path, progress: Callable[[AnyText], None] = quiet) -> Path:
    back_up(Source(folder), to, program="test", utc_ns=1, progress=progress)
    return to


def contents(folder: Path) -> list[tuple[int, bytes, tuple[bytes, ...]]]:
    return [(one.last, one.input, one.events) for one in JournalFolder[Any, Any].open_to_read(folder).decisions()]


def test_a_backup_is_restored_to_the_same_journal(folder: Path, tmp_path: Path) -> None:
    backup = backup_of(folder, tmp_path / "backup")
    restore(backup, tmp_path / "journal", progress=quiet)
    assert contents(tmp_path / "journal") == contents(folder)
    modes = [path.stat().st_mode & 0o777 for path in sorted((tmp_path / "journal").glob("*.journal"))]
    assert modes == [0o440, 0o600], "the last file goes on"


def test_a_backup_is_of_one_moment_while_the_table_is_in_play(tmp_path: Path) -> None:
    """Entries are added before each file is copied. The backup has all of them up to one entry, and none after it."""
    table = evening(tmp_path / "journal")
    dealt: list[int] = []

    def deal(line: AnyText) -> None:
        for _ in range(20):
            table.do(operations.PauseTable("a drop of chips"))
            table.do(operations.ResumeTable())
        dealt.append(table.state.entry)

    backup = backup_of(table.journal.folder, tmp_path / "backup", deal)
    table.do(operations.PauseTable("after it"))
    manifest = check(backup, progress=quiet)
    assert manifest.head.partition(":")[0] == str(dealt[-1])
    assert contents(backup) == contents(table.journal.folder)[: len(contents(backup))]
    assert len(dealt) == 2
    table.journal.close()


def test_a_table_continues_with_a_restored_journal(folder: Path, tmp_path: Path) -> None:
    restore(backup_of(folder, tmp_path / "backup"), tmp_path / "journal", progress=quiet)
    before = len(contents(folder))
    table = JournaledTable(tmp_path / "journal", seed=2)
    assert table.journal.is_begun
    head = table.journal.head
    for entry in JournalFolder[Any, Any].open_to_read(folder).decisions():
        last = entry
    assert head.number == last.last
    table.next_file()
    table.journal.close()
    assert len(contents(tmp_path / "journal")) == before
    JournalFolder[Any, Any].open_to_read(tmp_path / "journal").verify()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)


def rewrite(backup: Path, **changes: object) -> None:
    manifest = json.loads((backup / MANIFEST).read_text())
    (backup / MANIFEST).write_text(json.dumps(manifest | changes))


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda backup: (backup / MANIFEST).unlink(), "it has no backup.json"),
        (lambda backup: (backup / MANIFEST).write_text("{"), "its backup.json cannot be read"),
        (lambda backup: rewrite(backup, more=1), "its backup.json cannot be read"),
        (lambda backup: rewrite(backup, head="9:00"), "its manifest says 9:00"),
        (lambda backup: rewrite(backup, files=[]), "was added after the backup was made"),
        (lambda backup: (backup / "000002.journal").unlink(), "000002.journal is missing"),
        (lambda backup: flip(backup / "000001.journal"), "000001.journal was changed after it was copied"),
        (lambda backup: flip(backup / "000002.journal"), "000002.journal was changed after it was copied"),
        (lambda backup: (backup / "000002.journal-wal").write_text("x"), "000002.journal-wal was added"),
        (lambda backup: shutil.copy(backup / "000002.journal", backup / "000003.journal"), "000003.journal was added"),
    ],
)
def test_an_incomplete_backup_is_refused_with_the_reason(
    folder: Path, tmp_path: Path, spoil: Callable[[Path], object], why: str
) -> None:
    backup = backup_of(folder, tmp_path / "backup")
    spoil(backup)
    refused = run("restore", backup, tmp_path / "journal", code=4)
    assert why in " ".join(refused.split())
    assert "cardshoe journal backup" in refused
    assert not (tmp_path / "journal").exists(), "nothing was made"


def test_a_restore_that_was_ended_leaves_no_journal_and_can_be_done_again(folder: Path, tmp_path: Path) -> None:
    backup, journal = backup_of(folder, tmp_path / "backup"), tmp_path / "journal"

    def end_at_the_second(line: AnyText) -> None:
        if str(line) == "copying 000002.journal":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(backup, journal, progress=end_at_the_second)
    assert [one.name for one in journal.iterdir()] == ["000001.journal.part"]
    assert files_in(journal) == []
    restore(backup, journal, progress=quiet)
    assert [one.name for one in files_in(journal)] == ["000001.journal", "000002.journal"]
    assert not list(journal.glob("*.part*"))


@pytest.mark.parametrize("name", ["../planted", "pin", "signing.key"])
def test_only_files_of_the_journal_are_restored(name: str, folder: Path, tmp_path: Path) -> None:
    """A backup comes from elsewhere: it must not bring a pin, a key, or anything outside the folder."""
    backup, journal = backup_of(folder, tmp_path / "media" / "backup"), tmp_path / "table" / "journal"
    planted = backup / name
    planted.write_bytes(b"planted")
    digest = hashlib.sha256(b"planted").hexdigest()
    more = {"name": name, "bytes": 7, "sha256": digest, "closed": True}
    rewrite(backup, files=[*json.loads((backup / MANIFEST).read_text())["files"], more])
    refused = run("restore", backup, journal, code=4)
    assert f"{name} is missing, or is not a file of a journal" in " ".join(refused.split())
    assert not journal.parent.exists(), "nothing was made"


def test_a_copy_of_an_open_file_is_refused(tmp_path: Path) -> None:
    """`cp` makes the copy, with the log and without it."""
    table = evening(tmp_path / "journal")
    for name in ("with", "without"):
        shutil.copytree(tmp_path / "journal", tmp_path / name)
    (tmp_path / "without" / "000002.journal-wal").unlink()
    table.journal.close()
    refused = " ".join(run("restore", tmp_path / "without", tmp_path / "to", code=4).split())
    assert "000002.journal was not closed when it was copied: the content of its log may be missing" in refused
    refused = " ".join(run("restore", tmp_path / "with", tmp_path / "to", code=4).split())
    assert "000002.journal was copied with its log, and the two may come from different moments" in refused
    assert "000001.journal" not in refused, "that one is closed"


def test_a_file_truncated_before_the_backup_is_refused(folder: Path, tmp_path: Path) -> None:
    """Data that fails verification is not backed up."""
    journal = shutil.copytree(folder, tmp_path / "journal")
    first = journal / "000001.journal"
    first.chmod(0o600)
    first.write_bytes(first.read_bytes()[:-4096])
    first.chmod(0o440)
    with pytest.raises(JournalError) as caught:
        backup_of(journal, tmp_path / "backup")
    assert caught.value.code == "journal-damaged"
    assert not (tmp_path / "backup" / MANIFEST).exists()


def test_nothing_is_replaced(folder: Path, tmp_path: Path) -> None:
    """A restore says so before it reads the backup, which may take minutes."""
    backup = backup_of(folder, tmp_path / "backup")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    said = run("restore", backup, folder, code=4)
    assert "is not empty" in said
    assert f"mv {folder} {folder}.before" in said
    assert "checking" not in said
    assert "is not empty" in run("backup", backup, "--journal", folder, code=4)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_target_that_cannot_be_a_folder_is_named(folder: Path, tmp_path: Path) -> None:
    backup = backup_of(folder, tmp_path / "backup")
    (tmp_path / "file").touch()
    for target in (tmp_path / "file", tmp_path / "file" / "journal"):
        said = run("restore", backup, target, code=4)
        assert f"{target} cannot be used: Not a directory" in said
        assert "Check the path" in said


def test_a_backup_is_checked_without_being_restored(folder: Path, tmp_path: Path) -> None:
    backup = backup_of(folder, tmp_path / "backup")
    assert "is complete: 2 files of table BAC-07" in run("restore", "--check", backup)
    assert run("restore", backup, code=2)


def test_a_backup_on_the_journals_own_disk_warns(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is mounted at /mnt/backup, so the backup is on the system's disk."""
    said = CliRunner().invoke(main, ["journal", "backup", str(tmp_path / "a"), "--journal", str(folder)])
    assert said.exit_code == 0
    assert "is on the same disk as the journal" in said.stderr
    stat = Path.stat

    def of_another_disk(path: Path, **how: bool) -> os.stat_result:
        found = stat(path, **how)
        return os.stat_result([*found[:2], found.st_dev + 1, *found[3:]]) if path == tmp_path / "b" else found

    monkeypatch.setattr(Path, "stat", of_another_disk)
    said = CliRunner().invoke(main, ["journal", "backup", str(tmp_path / "b"), "--journal", str(folder)])
    assert "same disk" not in said.stderr


def test_a_restore_lists_the_remaining_steps(folder: Path, tmp_path: Path) -> None:
    backup = backup_of(folder, tmp_path / "backup")
    manifest = json.loads((backup / MANIFEST).read_text()) | {"simulated": False}
    (backup / MANIFEST).write_text(json.dumps(manifest))
    state = tmp_path / "state"
    state.mkdir()
    os.chown(state, os.getuid(), -1)
    said = run("restore", backup, state / "journal")
    table = manifest["table"]
    assert f"install -m 0600 /mnt/safe/{table}/signing.key {state}/journal/" in said
    assert f"systemctl start cardshoe@{table}" in said
    assert "return to service by NAME" in said
    owner = pwd.getpwuid(os.getuid()).pw_name
    assert (f"chown -R {owner}: {state}/journal" in said) == bool(os.getuid()), "systemd gives away what root made"


@NEEDS_ROOT
def test_a_restore_names_the_user_whose_the_journal_is(folder: Path, tmp_path: Path) -> None:
    backup = backup_of(folder, tmp_path / "backup")
    (backup / MANIFEST).write_text((backup / MANIFEST).read_text().replace('"simulated": true', '"simulated": false'))
    state = tmp_path / "state"
    state.mkdir()
    os.chown(state, pwd.getpwnam("nobody").pw_uid, -1)
    assert f"\nchown -R nobody: {state}/journal\n" in run("restore", backup, state / "journal")
