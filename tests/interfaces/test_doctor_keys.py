"""`cardshoe doctor`: keys that do not match, files of another owner, and changes since the daemon's start."""

from __future__ import annotations

import json
import os
import pwd
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.commands.doctor import doctor_command
from controller.commands.doctor.machine import Machine, User
from controller.commands.main import main
from controller.journal.file import Identity
from controller.journal.sealing import create_key_file, load_key_file
from controller.journal.signing import SigningKey
from tests.interfaces.test_doctor import Pc, failed, installed, pc
from tests.journal.vocabulary import append, open_journal
from tests.support.as_user import NEEDS_ROOT

STARTED = "systemctl show --property=ExecMainStartTimestamp --value --timestamp=unix cardshoe@NC-01"
__all__ = ["installed", "pc"]  # fixtures
pytestmark = pytest.mark.tool("systemd-sysusers")


def paired_since(pc: Pc) -> None:
    """Pair a device after systemd gave the daemon its copy of the keys."""
    pc.answers["systemctl show --property=MainPID --value cardshoe@NC-01"] = "41"
    copy = pc.root / "proc/41/root/run/credentials/cardshoe@NC-01.service/device.keys"
    copy.parent.mkdir(parents=True)
    copy.write_text("")


def upgraded(pc: Pc) -> None:
    pc.answers[STARTED] = "@1"


def same_device(pc: Pc) -> None:
    other = pc.etc.parent / "NC-02"
    shutil.copytree(pc.etc, other)
    (other / "table.toml").write_text(pc.table.read_text().replace("NC-01", "NC-02"))


def other_key(pc: Pc) -> None:
    """Replace the key with a well-formed key of another table."""
    append_to_journal(pc)
    (pc.etc / "journal.key").write_text("ab" * 32)


def no_signing_key(pc: Pc) -> None:
    append_to_journal(pc)
    (pc.journal / "signing.key").unlink()


def other_signing_key(pc: Pc) -> None:
    """Replace the key with another table's signing key, as after a mix-up in a safe."""
    append_to_journal(pc)
    (pc.journal / "signing.key").write_text("cd" * 32)


def append_to_journal(pc: Pc) -> None:
    """Append to a journal that was begun with the keys of the table."""
    key, signer = load_key_file(pc.etc / "journal.key"), SigningKey(create_key_file(pc.journal / "signing.key"))
    identity = Identity("5e" * 16, "NC-01", simulated=False)
    with closing(open_journal(pc.journal, local_key=key, signer=signer, identity=identity)) as journal:
        append(journal, 1)


@pytest.mark.parametrize(
    ("spoil", "what", "level", "sentence", "mend"),
    [
        (paired_since, "pairing", "problem", "changed since the daemon's start", "systemctl restart cardshoe@NC-01"),
        (upgraded, "version", "warning", "the program from before version", "systemctl restart cardshoe@NC-01"),
        (same_device, "device", "problem", "Table NC-02 names the same device, CARDSHOE-0001", "NC-02/table.toml"),
        (other_key, "files", "problem", "[journal] key_file: The key is not the one", "from the safe"),
        (other_signing_key, "signing key", "warning", "which signed the journal", "from the safe"),
        (no_signing_key, "files", "problem", "signing_key_file: The journal in", "new-key --lost"),
    ],
)
def test_a_mismatch_is_named_with_its_remedy(
    pc: Pc, spoil: Callable[[Pc], None], what: str, level: str, sentence: str, mend: str
) -> None:
    spoil(pc)
    found = pc.findings()[what]
    assert found["level"] == level, found
    assert sentence in found["sentence"]
    assert mend in found["mend"]


def test_the_mistakes_of_a_configuration_as_json(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text("[table]\nname = T\n")
    done = CliRunner().invoke(main, ["doctor", "--json", "--config", str(tmp_path / "t.toml")])
    assert done.exit_code == 78
    (found,) = json.loads(done.stdout)["findings"]
    assert (found["what"], found["level"]) == ("configuration", "problem")
    assert "between two quotes" in found["mend"]
    assert ".." not in found["sentence"]


def test_a_program_that_was_installed_before_the_start_is_the_one_that_runs(pc: Pc) -> None:
    pc.answers[STARTED] = "@99999999999"
    assert "version" not in pc.findings()


def test_a_simulated_table_that_is_installed_is_looked_at_as_the_service_that_it_is(pc: Pc) -> None:
    pc.table.write_text(pc.table.read_text().replace("simulated = false", "simulated = true"))
    failed(pc)
    found = pc.findings()
    assert found["active"]["level"] == "problem"
    assert "cardshoe@.service matches this version" in found["unit"]["sentence"]
    assert "daemon's user nobody" in pc.doctor().stdout


@NEEDS_ROOT
def test_a_journal_restored_by_root_is_given_back_to_the_daemon(pc: Pc) -> None:
    """When the daemon starts, systemd also changes the owner if the parent folder belongs to another user."""
    (pc.journal / "signing.key").write_text("ab" * 32)
    (pc.journal / "signing.key").chmod(0o600)
    assert "owner" not in pc.findings()
    nobody = pwd.getpwnam("nobody").pw_uid
    os.chown(pc.journal.parent, nobody, -1)
    for path in (pc.journal, pc.journal / "signing.key"):
        found = pc.findings()
        assert found["owner"]["level"] == "problem"
        assert f"{path} belongs to root:root" in found["owner"]["sentence"]
        assert found["owner"]["mend"] == f"chown -R nobody: {pc.journal}"
        assert found["keys"]["level"] == "ok", "one command mends it"
        os.chown(path, nobody, -1)
    assert "owner" not in pc.findings()


def test_a_file_that_is_open_to_others_has_one_command(pc: Pc) -> None:
    (pc.etc / "journal.key").chmod(0o644)
    (pc.etc / "device.keys").chmod(0o644)
    found = json.loads(pc.doctor("--json").stdout)["findings"]
    wrong = [one["mend"] for one in found if one["level"] == "problem"]
    assert wrong == [f"chmod o-rwx,g-w {pc.etc / name}" for name in ("journal.key", "device.keys")]


def test_the_journals_own_keys_are_not_a_finding(pc: Pc) -> None:
    append_to_journal(pc)
    found = pc.findings()
    assert "signing key" not in found
    assert "files" not in found


def test_root_continues_anybodys_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "b"
    assert CliRunner().invoke(main, ["init", str(folder), "--simulated", "--yes"]).exit_code == 0
    (folder / "journal").mkdir()
    for uid, problem in ((os.getuid() + 1, True), (0, False)):
        monkeypatch.setattr(doctor_command, "own_user", lambda uid=uid: User("somebody", uid, frozenset()))
        machine = Machine(tmp_path, lambda *given: None)
        done = CliRunner().invoke(main, ["doctor", "--config", str(folder / "table.toml")], obj=machine)
        assert (f"chown -R somebody: {folder}/journal" in done.stdout) is problem
