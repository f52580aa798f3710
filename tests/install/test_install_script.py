"""`install.sh` of a table's folder: its output for a mistake, a file that is kept, and a failed start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.commands.init.system import script
from controller.commands.main import main
from tests.interfaces.test_init import REAL

END = 'if [ -n "$root" ]; then\n    exit 0\nfi\n'


class Folder:
    """A table's folder, and programs that replace those of the PC."""

    def __init__(self, tmp_path: Path) -> None:
        self.path, self.pc, self.programs = tmp_path / "t", tmp_path / "pc", tmp_path / "bin"
        made = CliRunner().invoke(main, ["init", str(self.path), *REAL])
        assert made.exit_code == 0, made.stderr
        (self.pc / "etc").mkdir(parents=True)
        self.programs.mkdir()
        self.program("systemd-sysusers", "true")
        self.program("cardshoe", 'echo "$*"')

    def program(self, name: str, line: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def run(self, *command: str, root: Path | None) -> subprocess.CompletedProcess[str]:
        env = os.environ | {"PATH": f"{self.programs}:{os.environ['PATH']}", "DESTDIR": str(root or "")}
        return subprocess.run(command, cwd=self.path, env=env, capture_output=True, text=True, check=False)

    def install(self) -> subprocess.CompletedProcess[str]:
        return self.run("sh", str(self.path / "install.sh"), root=self.pc)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_configuration_with_mistakes_is_not_installed(folder: Folder) -> None:
    folder.program("cardshoe", 'echo "cardshoe: $3 has 2 mistakes" >&2; exit 78')
    done = folder.install()
    assert done.returncode == 78
    assert f"{folder.path}/table.toml has 2 mistakes" in done.stderr
    assert list((folder.pc / "etc").iterdir()) == []


def test_a_kept_file_is_named_with_the_command_that_replaces_it(folder: Folder) -> None:
    assert folder.install().stderr == ""
    etc = folder.pc / "etc/cardshoe/NC-01"
    (etc / "device.keys").write_text("CARDSHOE-0001 paired since\n")
    assert folder.install().stderr == "", "a device that was paired since is not a difference to speak of"
    (folder.path / "table.toml").write_text("corrected\n")
    said = folder.install().stderr
    assert f"{etc}/table.toml stays as it is, and differs from {folder.path}/table.toml" in said
    (command,) = [line.strip() for line in said.splitlines() if "install -m" in line]
    install, restart = command.split(" && ")
    assert restart == "systemctl restart cardshoe@NC-01"
    assert folder.run("sh", "-c", install, root=None).returncode == 0
    assert (etc / "table.toml").read_text() == "corrected\n"
    assert folder.install().stderr == ""


def test_a_user_who_is_not_root_is_told_first(folder: Folder) -> None:
    folder.program("id", "echo 1000")
    done = folder.run("sh", str(folder.path / "install.sh"), root=None)
    assert done.returncode == 1
    assert done.stderr.startswith("This is for root, and nothing was installed: sudo sh ")


def test_a_failed_start_shows_the_end_of_the_log(folder: Folder) -> None:
    """This part runs after the files are in place, with programs that are not the PC's."""
    _, _, last = script("NC-01").partition(END)
    folder.program("udevadm", "false")
    folder.program("systemctl", 'case "$1" in enable) exit 1;; esac')
    folder.program("journalctl", 'echo "log of $2"')
    done = folder.run("sh", "-euc", last, root=None)
    assert done.returncode == 1
    assert "udev did not read them: is it there" in done.stderr
    assert "The service did not start. The last lines of its log:\n" in done.stderr
    assert "log of cardshoe@NC-01" in done.stdout + done.stderr
