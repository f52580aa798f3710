"""`cardshoe journal verify`: its options, its output and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.journal.chain import Head
from controller.journal.signing import fingerprint, statement
from controller.journal.witness import Witness
from tests.end_to_end.stage import people_text
from tests.journal.forgeries.forger import Forger
from tests.journal_commands.conftest import run
from tests.journal_commands.made import KEY, SIGNER

FINGERPRINT = fingerprint(SIGNER.public_key)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "journal")
    return tmp_path / "journal"


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "journal.key"
    path.write_text(KEY.hex())
    path.chmod(0o600)
    return path


def found_by(folder: Path, *options: str, code: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("verify", "--json", "--journal", folder, *options, code=code))
    return found


def test_a_journal_as_it_was_written(copy: Path, key_file: Path) -> None:
    noted = ["--head", found_by(copy)["head"], "--key", FINGERPRINT.upper(), "--key-file", key_file, "--deep"]
    said = run("verify", "--journal", copy, *noted)
    assert f"signed by {FINGERPRINT}" in said
    assert "is unchanged" in said
    assert "FOUND" not in said


def test_a_configuration_names_the_local_key_too(copy: Path, key_file: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "table.toml"
    configuration.write_text(
        '[table]\nname = "T-1"\ngame = "NC"\nunit = "sets"\nsimulated = true\n'
        '[device]\nurl = "tcp://127.0.0.1:1"\nkey_file = "device.keys"\n'
        f'[journal]\nfolder = "{copy}"\nkey_file = "{key_file}"\n'
        '[api]\nsocket = "api.sock"\n' + people_text(os.getuid())
    )
    assert "local key" not in run("verify", "--config", configuration, "--deep")
    key_file.unlink()
    assert "needs the local key" in run("verify", "--config", configuration)


@pytest.mark.parametrize(
    ("option", "noted", "code"),
    [
        ("--head", f"1:{'00' * 32}", "other-than-noted"),
        ("--head", f"99999999:{'00' * 32}", "other-than-noted"),
        ("--key", "0000-0000", "other-key"),
    ],
)
def test_a_noted_head_differs(copy: Path, option: str, noted: str, code: str) -> None:
    assert f"FOUND {code}" in run("verify", "--journal", copy, option, noted, code=4)


def test_the_witness_finds_a_head_that_was_signed_again_later(copy: Path, tmp_path: Path) -> None:
    """The holder of the signing key did it. The signature alone does not show when it was made."""
    beside = tmp_path / "beside"
    beside.mkdir()
    witness = Witness(copy, beside)
    witness.copy()
    asked = ("verify", "--journal", copy, "--witness", witness.path)
    assert "FOUND" not in run(*asked)
    forger = Forger(copy, copy)
    number, utc_ns, _ = forger.heads(2)[-1]
    header, row = forger.header(2), next(row for row in forger.rows(2) if row.last == number)
    said = statement(header.identity.id, header.file_id, Head(number, row.hash), utc_ns + 1)
    forger.change(2, ("UPDATE head SET utc_ns = ?, signature = ? WHERE number = ?",
                      (utc_ns + 1, SIGNER.sign(said), number)))  # fmt: skip
    assert "FOUND" not in run("verify", "--journal", copy)
    assert f"FOUND signed-again in 000002.journal entry {number}:" in run(*asked, code=4)
    again = Witness(copy, beside)
    again.copy()
    assert again.differs == number


def test_a_changed_entry_is_named_with_its_place(copy: Path) -> None:
    path = copy / "000001.journal"
    path.chmod(0o600)
    with closing(sqlite3.connect(path)) as connection:
        ((guard,),) = connection.execute("SELECT sql FROM sqlite_master WHERE name = 'decision_update'").fetchall()
        connection.execute("DROP TRIGGER decision_update")
        connection.execute("UPDATE decision SET utc_ns = utc_ns + 1 WHERE last = (SELECT min(last) FROM decision)")
        connection.execute(guard)
        connection.commit()
    path.chmod(0o440)
    assert "FOUND chain in 000001.journal entry 4:" in run("verify", "--journal", copy, code=4)


@pytest.mark.parametrize("head", ["1", "x:00", f"1:{'0' * 63}", f"-1:{'00' * 32}", f"{'9' * 30}:{'00' * 32}"])
def test_an_invalid_head(copy: Path, head: str) -> None:
    assert "is not a head" in run("verify", "--journal", copy, "--head", head, code=2)


def test_a_deep_check_needs_the_local_key(copy: Path, key_file: Path) -> None:
    assert "--key-file" in run("verify", "--journal", copy, "--deep", code=2)
    key_file.write_text("00" * 32)
    assert "FOUND journal-key" in run("verify", "--journal", copy, "--deep", "--key-file", key_file, code=4)
    assert "cannot be used" in run("verify", "--journal", copy, "--key-file", copy / "none", code=4)


def test_a_missing_folder_is_reported_in_a_sentence(tmp_path: Path) -> None:
    """A typing mistake is not damage to keep for an audit."""
    found = run("verify", "--journal", tmp_path / "none", code=2)
    assert "There is no journal at" in " ".join(found.split())
