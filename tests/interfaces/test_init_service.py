"""`cardshoe init --simulated --service`: an installed simulated table, for trying the installation."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from controller.commands.init.system import simulate_command
from controller.daemon.configuration import read_configuration
from controller.games.specification import Unit
from firmware_bridge.device_url import parse_device_url
from tests.interfaces.test_init import REAL, init

TRIAL = ("--simulated", "--service", "--yes", "--name", "TRIAL", "--console-user", "1001")


def test_its_files_are_those_of_a_service_and_its_device_is_on_this_pc(tmp_path: Path) -> None:
    folder = tmp_path / "TRIAL"
    done = init(str(folder), *TRIAL, "--port", "8081")
    assert done.exit_code == 0, done.stderr
    found = read_configuration(folder / "table.toml")
    assert (found.table.simulated, found.table.hands_by_device) == (True, True), "hands can be turned over"
    assert str(found.journal.folder) == "/var/lib/cardshoe/TRIAL/journal"
    assert str(found.api.socket) == "/run/cardshoe/TRIAL/api.sock"
    assert found.device.url == "tcp://127.0.0.1:4001/"
    assert not (folder / "system/network.conf").exists(), "the unit reaches this PC"
    lines = done.stdout.splitlines()
    simulate = "cardshoe simulate --kind shuffler --tcp 4001 --key-file /etc/cardshoe/TRIAL/device.keys"
    assert lines.index(f"sh {folder}/install.sh     # as root: the system user, udev's rules, the service") < (
        lines.index(simulate)
    )
    assert lines.index(simulate) < lines.index("systemctl restart cardshoe@TRIAL")
    assert (folder / "install.sh").exists()


def test_its_folder_can_be_made_again_as_doctor_has_it_done(tmp_path: Path) -> None:
    assert init(str(tmp_path / "a"), *TRIAL).exit_code == 0
    assert init(str(tmp_path / "b"), "--from", str(tmp_path / "a")).exit_code == 0
    assert init(str(tmp_path / "c"), "--simulated", "--yes").exit_code == 0
    assert "copy its folder" in init(str(tmp_path / "d"), "--from", str(tmp_path / "c")).stderr


def test_a_real_table_is_a_service_anyway(tmp_path: Path) -> None:
    done = init(str(tmp_path / "t"), *REAL, "--service")
    assert done.exit_code == 2
    assert "Leave it out" in done.stderr


def test_root_is_not_the_user_of_its_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.delenv("SUDO_UID", raising=False)
    assert "Add --console-user NAME" in init(str(tmp_path / "t"), "--simulated", "--service", "--yes").stderr


@pytest.mark.parametrize(
    ("url", "command"),
    [
        ("tcp://127.0.0.1:4001/", "--kind shoe --tcp 4001 --key-file k"),
        ("tcp://localhost:4002/", "--kind shoe --tcp 4002 --key-file k"),
        ("tcp://192.0.2.7:4001/", "--kind shoe --tcp 192.0.2.7:4001 --key-file k"),
        ("tcp://127.0.0.1:4001/?driver=angel_eye", "--driver angel_eye --tcp 4001"),
        ("serial:///b/device", "--kind shoe --link /b/device --key-file k"),
    ],
)
def test_the_simulated_device_is_where_the_table_looks_for_it(url: str, command: str) -> None:
    assert simulate_command(Unit.SINGLES, parse_device_url(url), "k") == f"cardshoe simulate {command}"


def test_a_bench_behind_a_port_gets_a_hint(tmp_path: Path) -> None:
    done = init(str(tmp_path / "b"), "--simulated", "--yes", "--device", "tcp://127.0.0.1:4001/")
    assert f"cardshoe simulate --kind shuffler --tcp 4001 --key-file {tmp_path}/b/device.keys" in done.stdout


def test_the_list_of_people_announces_that_pins_come_after_it(tmp_path: Path) -> None:
    """A PIN typed at the question for an id would be visible."""
    asked = init(str(tmp_path / "t"), given="NC-01\nNC\nsets\nCARDSHOE-1\ncomplete_hands\nJ\n")
    assert "After that, enter their PINs; they are not shown." in asked.stderr
