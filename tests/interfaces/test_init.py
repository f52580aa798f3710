"""`cardshoe init`: its files are valid, private, and overwrite nothing; a round is dealt with them."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from controller.api.pins import pin_matches
from controller.commands.init.system import system_files
from controller.commands.main import main
from controller.commands.reader_lines import LearnedTable, write_new
from controller.daemon.configuration import read_configuration
from controller.roles import Role
from firmware_bridge.card_table import read_card_table
from firmware_bridge.cards import DECK
from firmware_bridge.device_url import parse_device_url
from tests.architecture.sources import ROOT
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import short_folder

REAL = (
    "--name", "NC-01", "--game", "nc", "--unit", "sets", "--device", "CARDSHOE-0001", "--yes",
    "--person", "dana=dealer:Dana Dee", "--person", "sam=pit_supervisor:Sam Ho", "--person", "max=shift_manager:Max",
    "--console-user", "1001", "--reading", "established_by=mathematically", "--chosen-by", "J. Tan",
)  # fmt: skip
PIN = re.compile(r"^PIN for .+ \((\w+)\): (\d+)$", re.MULTILINE)


def init(*arguments: str, given: str | None = None) -> Result:
    return CliRunner().invoke(main, ["init", *arguments], input=given)


def test_answers_that_end_too_early_are_reported_and_nothing_is_written(tmp_path: Path) -> None:
    done = init(str(tmp_path / "nc-01"), given="NC-01\nNC\n")
    assert done.exit_code == 2
    assert "\ncardshoe: The input ended before the questions were answered." in done.stderr
    assert list(tmp_path.iterdir()) == []


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_real_table_from_options_only(tmp_path: Path) -> None:
    folder = tmp_path / "nc-01"
    done = init(str(folder), *REAL)
    assert done.exit_code == 0, done.stderr
    checked = CliRunner().invoke(main, ["config", "check", str(folder / "table.toml")])
    assert checked.exit_code == 0, checked.stderr
    found = read_configuration(folder / "table.toml")
    assert (found.table.name, found.table.simulated, found.device.serial) == ("NC-01", False, "CARDSHOE-0001")
    assert str(found.journal.folder) == "/var/lib/cardshoe/NC-01/journal"
    assert found.readings["established_by"].chosen_by == "J. Tan"
    dana, sam, _ = found.people
    assert (dana.name, dana.uids, dana.pin_hash) == ("Dana Dee", (1001,), "")
    pins = dict(PIN.findall(done.stdout))
    assert pins.keys() == {"sam", "max"}
    assert pin_matches(pins["sam"], sam.pin_hash)
    assert [mode_of(folder / name) for name in ("table.toml", "journal.key", "device.keys")] == [0o600] * 3
    assert mode_of(folder) == 0o700
    assert "as root" in done.stdout
    assert not list(tmp_path.glob(".*")), "nothing else is left"


@pytest.mark.tool("systemd-sysusers")
def test_the_card_table_of_a_reader_is_learned_before_the_installation(tmp_path: Path) -> None:
    """The folder names it, and is whole when the table is there; another PC gets it with the folder's copy."""
    folder, url = tmp_path / "RD-1", "serial:///dev/cardshoe/A1?driver=line_reader"
    options = [url if one == "CARDSHOE-0001" else "singles" if one == "sets" else one for one in REAL]
    done = init(str(folder), *options)
    assert done.exit_code == 0, done.stderr
    learn = f"cardshoe devices listen '{url}' --learn {folder}/cards.toml     # then draw a deck in order"
    assert done.stdout.index(learn) < done.stdout.index("cardshoe config check") < done.stdout.index("install.sh")
    check = ["config", "check", str(folder / "table.toml")]
    assert "[device] card_table: The card table" in CliRunner().invoke(main, check).stderr
    table = LearnedTable()
    for card in DECK:
        table.take(f"E28{card.number:03}\r\n".encode())
    write_new(folder / "cards.toml", table)
    checked = CliRunner().invoke(main, check)
    assert checked.exit_code == 0, checked.stderr
    again = init(str(tmp_path / "new"), "--from", str(folder))
    assert again.exit_code == 0, again.stderr
    (tmp_path / "pc/etc").mkdir(parents=True)
    run = subprocess.run(
        ["sh", str(tmp_path / "new/install.sh")],
        env=os.environ | {"DESTDIR": str(tmp_path / "pc")}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert len(read_card_table(tmp_path / "pc/etc/cardshoe/NC-01/cards.toml")) == len(DECK)
    drop_in = tmp_path / "pc/etc/systemd/system/cardshoe@NC-01.service.d/cards.conf"
    assert "LoadCredential=cards.toml:/etc/cardshoe/NC-01/cards.toml" in drop_in.read_text().splitlines()


def test_with_a_console_in_a_browser_the_dealer_has_a_pin_to_sign_on(tmp_path: Path) -> None:
    done = init(str(tmp_path / "t"), *REAL, "--port", "8080")
    found = read_configuration(tmp_path / "t/table.toml")
    assert found.api.http is not None
    assert pin_matches(dict(PIN.findall(done.stdout))["dana"], found.people[0].pin_hash)


def test_a_umask_that_denies_the_owner_changes_nothing(tmp_path: Path) -> None:
    before = os.umask(0o777)
    try:
        assert init(str(tmp_path / "NC-01"), *REAL).exit_code == 0
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "NC-01"), mode_of(tmp_path / "NC-01/table.toml")) == (0o700, 0o600)


def test_two_tables_have_different_keys_and_pins(tmp_path: Path) -> None:
    said = [init(str(tmp_path / name), *REAL).stdout for name in "ab"]
    assert (tmp_path / "a/journal.key").read_text() != (tmp_path / "b/journal.key").read_text()
    assert dict(PIN.findall(said[0])) != dict(PIN.findall(said[1]))


@pytest.mark.parametrize("there", ["file", "table.toml", "link"])
def test_nothing_is_overwritten(tmp_path: Path, there: str) -> None:
    folder = tmp_path / "t"
    if there == "file":
        folder.write_text("mine")
    elif there == "link":
        folder.symlink_to(tmp_path / "nowhere" / "else")
    else:
        folder.mkdir()
        (folder / there).write_text("mine")
    done = init(str(folder), *REAL)
    if there == "link":  # a link is followed, and creates a new file there
        assert done.exit_code == 0
    else:
        assert done.exit_code == 2
        assert "already exists" in done.stderr
        assert "Nothing was overwritten" in done.stderr
        assert (folder if there == "file" else folder / there).read_text() == "mine"


@pytest.mark.parametrize("name", ["NC.01", "n" * 23, "a b", "", "ä"])
def test_a_name_that_no_system_user_can_have(tmp_path: Path, name: str) -> None:
    done = init(str(tmp_path / "t"), *(name if one == "NC-01" else one for one in REAL))
    assert done.exit_code == 2
    assert "at most 22" in done.stderr
    assert "31 characters" in done.stderr
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("without", "words"),
    [
        ("--device", "A real table needs its device"),
        ("--reading", "--reading established_by=mathematically|complete_hands"),
        ("--chosen-by", "The person who chose the readings is not named"),
    ],
)
def test_an_option_missing_in_a_script(tmp_path: Path, without: str, words: str) -> None:
    at = REAL.index(without)
    done = init(str(tmp_path / "t"), *REAL[:at], *REAL[at + 2 :])
    assert done.exit_code == 2
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--person", "x"), "is not ID=ROLE:NAME"),
        (("--person", "x=owner"), "one of dealer, pit_supervisor"),
        (("--person", "sam=dealer"), "Two people are called sam"),
        (("--console-user", "nobody-of-that-name"), "Make it first: `adduser nobody-of-that-name`"),
        (("--device", "serial:///dev/x?speed=9"), "speed"),
        (("--device", "a b"), "neither a serial number nor a URL"),
        (("--reading", "established_by=never"), "established_by"),
    ],
)
def test_an_invalid_table_is_refused_and_nothing_is_written(tmp_path: Path, more: tuple[str, ...], words: str) -> None:
    done = init(str(tmp_path / "t"), *REAL, *more)
    assert done.exit_code == 2, done.output
    assert words in done.stderr
    assert not list(tmp_path.iterdir())


def test_questions_and_their_answers(tmp_path: Path) -> None:
    """Everything without an option is asked: an invalid name, a refused PIN, two that differ."""
    answers = [
        "NC.01", "NC-01", "NC", "singles", "CARDSHOE-0007", "complete_hands", "J. Tan",
        "", "dana", "Dana", "dealer", "", "mo", "Mo", "shift_manager", "", "1001", "8081",
        "318264", "318264", "111111", "527190", "527191", "527190", "527190",
    ]  # fmt: skip
    done = init(str(tmp_path / "t"), given="".join(f"{one}\n" for one in answers))
    assert done.exit_code == 0, done.output
    for said in ("31 characters", "There must be a shift manager", "easy to guess", "The two PINs differ"):
        assert said in done.stderr
    assert "527190" not in done.output
    found = read_configuration(tmp_path / "t/table.toml")
    assert [one.role for one in found.people] == [Role.DEALER, Role.SHIFT_MANAGER]
    assert pin_matches("527190", found.people[1].pin_hash)
    assert found.readings["established_by"].option == "complete_hands"
    assert found.api.http is not None
    assert found.api.http.port == 8081


def test_at_a_terminal_no_pin_is_shown(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    asked = [*(one for one in REAL if one != "--yes"), "--port", "0"]
    with subprocess.Popen(
        [sys.executable, "-m", "controller", "init", str(tmp_path / "t"), *asked],
        stdin=slave, stdout=subprocess.PIPE, stderr=slave, start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(slave), os.O_RDWR)),  # the terminal of the session
    ) as running:  # fmt: skip
        os.close(slave)
        shown = b""
        for _ in range(4):
            while not shown.endswith(b": "):
                shown += os.read(master, 1000)
            os.write(master, b"527190\n")
            shown += os.read(master, 1000)
        assert running.stdout is not None
        printed = running.stdout.read()
        assert running.wait(timeout=300) == 0
    os.close(master)
    assert b"527190" not in shown + printed


@pytest.mark.tool("systemd-sysusers")
def test_the_script_puts_everything_in_place(tmp_path: Path) -> None:
    folder, pc = tmp_path / "t", tmp_path / "pc"
    assert init(str(folder), *REAL).exit_code == 0
    (pc / "etc").mkdir(parents=True)
    run = subprocess.run(
        ["sh", str(folder / "install.sh")], env=os.environ | {"DESTDIR": str(pc)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "cardshoe-NC-01:" in (pc / "etc/passwd").read_text()
    etc = pc / "etc/cardshoe/NC-01"
    assert mode_of(etc) == 0o700
    assert [mode_of(etc / name) for name in ("table.toml", "journal.key", "device.keys")] == [0o600] * 3
    assert 'GROUP="cardshoe-NC-01"' in (pc / "etc/udev/rules.d/72-cardshoe-NC-01.rules").read_text()
    assert "User=cardshoe-%i" in (pc / "etc/systemd/system/cardshoe@.service.d/apart.conf").read_text()
    assert "AF_INET6" in (pc / "etc/systemd/system/cardshoe@NC-01.service.d/network.conf").read_text()
    (etc / "device.keys").write_text("CARDSHOE-0001 paired since\n")
    (etc / "table.toml").unlink()
    again = subprocess.run(
        ["sh", str(folder / "install.sh")], env=os.environ | {"DESTDIR": str(pc)}, capture_output=True, text=True
    )
    assert again.returncode == 0, "what stopped half-way is carried to its end"
    assert (etc / "table.toml").exists()
    assert (etc / "device.keys").read_text() == "CARDSHOE-0001 paired since\n"
    (folder / "journal.key").write_text("of another table")
    other = subprocess.run(
        ["sh", str(folder / "install.sh")], env=os.environ | {"DESTDIR": str(pc)}, capture_output=True, text=True
    )
    assert other.returncode == 1
    assert "nothing was installed" in other.stderr


def test_the_folder_of_an_existing_table(tmp_path: Path) -> None:
    """Configuration and keys stay the same, with files for another PC, and no question is asked."""
    old, safe, new = tmp_path / "old", tmp_path / "safe", tmp_path / "new"
    assert init(str(old), *REAL).exit_code == 0
    safe.mkdir()
    for name in ("table.toml", "journal.key", "device.keys"):
        shutil.copy(old / name, safe)
    done = init(str(new), "--from", str(safe))
    assert done.exit_code == 0, done.stderr
    assert "uid 1001 of dana is " in done.stdout
    for path in sorted(one for one in old.rglob("*") if one.is_file()):
        assert (new / path.relative_to(old)).read_bytes() == path.read_bytes()
        assert mode_of(new / path.relative_to(old)) == mode_of(path)
    assert init(str(new), "--from", str(safe)).exit_code == 2, "a folder that has files stays"
    (safe / "table.toml").write_text("[table]\n")
    assert "mistakes" in init(str(tmp_path / "other"), "--from", str(safe)).stderr
    assert not (tmp_path / "other").exists()


def test_root_cannot_be_the_user_of_a_real_tables_console(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of root's programs would count as the dealer."""
    options = [one for one in REAL if one not in ("--console-user", "1001")]
    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.delenv("SUDO_UID", raising=False)
    done = init(str(tmp_path / "t"), *options)
    assert done.exit_code == 2
    assert "Add --console-user NAME" in done.stderr
    monkeypatch.setenv("SUDO_UID", "1001")
    assert init(str(tmp_path / "t"), *options).exit_code == 0


def test_install_is_for_root_and_a_real_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert init(str(tmp_path / "t"), "--simulated", "--yes", "--install").exit_code == 2
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    done = init(str(tmp_path / "t"), *REAL, "--install")
    assert done.exit_code == 2
    assert not (tmp_path / "t").exists()


def test_a_port_on_the_board_has_its_rule_and_its_drop_in() -> None:
    files = system_files("NC-01", parse_device_url("serial:///dev/ttyS0?driver=angel_eye"), "")
    assert 'KERNEL=="ttyS0", GROUP="cardshoe-NC-01"' in files["72-cardshoe-NC-01.rules"]
    assert "DeviceAllow=/dev/ttyS0 rw" in files["port.conf"]


@pytest.mark.parametrize(
    ("url", "has_port", "said"),
    [
        ("serial:///dev/cardshoe/CARDSHOE-0001", True, None),
        ("serial:///dev/cardshoe/CARDSHOE-0001", False, "RestrictAddressFamilies=~AF_INET AF_INET6"),
        ("tcp://192.0.2.10:4001/?driver=angel_eye", False, "IPAddressAllow=192.0.2.10"),
        ("tcp://[2001:db8::1]:4001/?driver=angel_eye", True, "IPAddressAllow=2001:db8::1"),
        ("tcp://serial-server.example:4001/?driver=angel_eye", True, "IPAddressAllow=any"),
        ("tcp://localhost:4001/?driver=angel_eye", True, None),
        ("tcp://127.0.0.1:4001/?driver=angel_eye", False, None),
    ],
)
def test_the_drop_in_has_the_tables_network_needs(url: str, has_port: bool, said: str | None) -> None:
    drop_in = system_files("NC-01", parse_device_url(url), "", has_port=has_port).get("network.conf")
    assert drop_in is None if said is None else said in str(drop_in).splitlines()


@pytest.mark.tool("systemd-sysusers")
def test_with_the_package_only_the_tables_own_files_are_written(tmp_path: Path) -> None:
    """A copy in /etc would hide the package's file forever."""
    folder, pc = tmp_path / "t", tmp_path / "pc"
    assert init(str(folder), *REAL).exit_code == 0
    (pc / "etc").mkdir(parents=True)
    for name, below in (("cardshoe@.service", "systemd/system"), ("cardshoe.sysusers.conf", "sysusers.d")):
        packaged = pc / "usr/lib" / below / name.replace(".sysusers", "")
        packaged.parent.mkdir(parents=True)
        shutil.copy(ROOT / "udev" / name, packaged)
    run = subprocess.run(
        ["sh", str(folder / "install.sh")], env=os.environ | {"DESTDIR": str(pc)}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    placed = {str(one.relative_to(pc / "etc")) for one in (pc / "etc").rglob("*cardshoe*") if one.is_file()}
    assert placed == {"sysusers.d/cardshoe-NC-01.conf", "udev/rules.d/72-cardshoe-NC-01.rules"}
    assert (pc / "etc/systemd/system/cardshoe@.service.d/apart.conf").exists()
    assert {"cardshoe", "cardshoe-NC-01"} <= {
        line.split(":")[0] for line in (pc / "etc/passwd").read_text().splitlines()
    }


def test_with_the_package_the_folder_has_none_of_its_files() -> None:
    url = parse_device_url("serial:///dev/cardshoe/CARDSHOE-0001")
    files = system_files("NC-01", url, "CARDSHOE-0001", is_packaged=True)
    assert set(files) == {"apart.conf", "cardshoe-NC-01.sysusers.conf", "72-cardshoe-NC-01.rules"}


def test_the_wheel_carries_the_files(tmp_path: Path) -> None:
    """The build makes the description of the API. `udev` is a folder of the sources that has
    another name in the wheel.
    """
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    files = {one.relative_to(ROOT / "udev").as_posix() for one in (ROOT / "udev").rglob("*") if one.is_file()}
    assert {"controller/api/openapi.json", *(f"controller/system_files/{name}" for name in files)} <= names


async def test_a_round_is_dealt_from_the_folder_of_a_simulated_table() -> None:
    with short_folder() as parent:
        folder = parent / "bench-1"
        done = await asyncio.to_thread(init, str(folder), "--simulated", "--yes")
        assert done.exit_code == 0, done.stderr
        pins = [option for id_, pin in PIN.findall(done.stdout) for option in ("--pin", f"{id_}={pin}")]
        assert pins
        (printed,) = re.findall(r"^cardshoe (simulate .*)$", done.stdout, re.MULTILINE)
        (run,) = re.findall(r"^cardshoe (run .*)$", done.stdout, re.MULTILINE)
        table = str(folder / "table.toml")
        daemon = Child("controller", *run.split())
        device = Child("controller", *printed.split(), "--fast", "--rounds", "1", "--dealer", table, *pins)
        try:
            assert await device.ended() == 0, device.err
            status = Child("controller", "status", "--config", table, "--json")
            assert await status.ended() == 1, status.err
            assert '"round":1,' in status.out[0], status.err
            status.abandon()
            assert await daemon.end() == 0
            assert mode_of(folder / "journal" / "signing.key") == 0o600
        finally:
            device.abandon()
            daemon.abandon()


def test_a_simulated_table_explains_its_cards_and_console(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["init", str(tmp_path / "b"), "--simulated", "--yes", "--port", "8080"])
    lines = done.stdout.splitlines()
    assert "There type `load` for a deck; in the deal, `lift` for each set." in lines
    assert 'The console: http://localhost:8080/ (first "Enrol this screen", with a pit supervisor\'s PIN)' in lines
