"""A journal of another user, as root leaves it after a restore: the refusal contains the command that fixes it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.commands.main import main
from controller.daemon import daemon
from controller.daemon.journal_files import foreign_in, hint_of_owner
from controller.journal import JournalError

OTHER = 64_321


def test_whose_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uid = os.getuid()
    (tmp_path / "signing.key").touch()
    assert foreign_in(tmp_path, uid) is None
    assert foreign_in(tmp_path, OTHER) == tmp_path
    assert foreign_in(tmp_path / "none", OTHER) is None
    monkeypatch.setattr(os, "geteuid", lambda: OTHER)
    assert f"chown -R {OTHER}: {tmp_path} && systemctl restart cardshoe@NC-01" in str(hint_of_owner("NC-01", tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert hint_of_owner("NC-01", tmp_path) is None


@pytest.mark.parametrize(
    "error",
    [
        PermissionError(13, "Permission denied", "/x/signing.key"),
        JournalError("journal-io", "The journal /x cannot be used: unable to open database file.", "Check the disk."),
        JournalError("journal-key", "The key file /x cannot be used: Permission denied.", "Check."),
    ],
)
def test_a_refused_start_names_the_owner_and_is_not_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    folder = tmp_path / "b"
    assert CliRunner().invoke(main, ["init", str(folder), "--simulated", "--yes"]).exit_code == 0
    (folder / "journal").mkdir()

    async def refused(*given: object) -> None:
        raise error

    monkeypatch.setattr(daemon, "run_daemon", refused)
    monkeypatch.setattr(os, "geteuid", lambda: OTHER)
    done = CliRunner().invoke(main, ["run", "--config", str(folder / "table.toml")])
    assert done.exit_code == 78, done.output
    assert f"chown -R {OTHER}: {folder / 'journal'} && systemctl restart cardshoe@b" in done.stderr
