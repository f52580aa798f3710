"""`cardshoe doctor` at a table's PC in a folder: real files and modes, and programs with answers from the test."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_mock import MockerFixture

from controller.commands.doctor.files import growth_of, mount_point
from controller.commands.doctor.machine import Machine, User, may, run_program
from controller.commands.main import main
from controller.journal.file import Identity
from controller.program_files import Program
from firmware_bridge.device_keys import add_device_key, write_device_keys
from tests.floor.certificates import Authority
from tests.interfaces.test_init import REAL
from tests.journal.vocabulary import append, open_journal
from tests.support.as_user import NEEDS_ROOT

NETWORK = (
    "systemctl show --property=RestrictAddressFamilies --property=IPAddressAllow --property=IPAddressDeny"
    " cardshoe@NC-01"
)
ANSWERS = {
    "systemctl --version": "systemd 252",
    "systemctl show --property=User --value cardshoe@NC-01": "nobody",
    "systemctl is-enabled cardshoe@NC-01": "enabled",
    NETWORK: "RestrictAddressFamilies=AF_UNIX AF_NETLINK\nIPAddressDeny=0.0.0.0/0 ::/0\nIPAddressAllow=",
    "systemctl is-active cardshoe@NC-01": "active",
    "systemctl show --property=NeedDaemonReload --value cardshoe@NC-01": "no",
    "systemctl is-active ModemManager": "inactive",
    "timedatectl show --property=NTPSynchronized --value": "yes",
    "timedatectl show --property=CanNTP --value": "yes",
}
SERIAL = "CARDSHOE-0001"

AS_BUILT = Program("0.1.0", "package", "ab" * 32, signed=True)


class Pc:
    """A PC on which the table was installed by the script of its folder."""

    def __init__(self, root: Path, installed: Path) -> None:
        self.root = root
        self.answers: dict[str, str | None] = dict(ANSWERS)
        self.etc = root / "etc/cardshoe/NC-01"
        self.table = self.etc / "table.toml"
        self.node = root / "dev/cardshoe" / SERIAL
        self.journal = root / "var/lib/cardshoe/NC-01/journal"
        self.sockets = root / "sockets"
        shutil.copytree(installed, root)
        (root / "run/systemd/system").mkdir(parents=True)
        self._place()
        usb = root / "sys/devices/pci0/usb1/1-2"
        (usb / "1-2:1.0/tty").mkdir(parents=True)
        for name, text in {"idVendor": "1209", "idProduct": "0001", "serial": SERIAL}.items():
            (usb / name).write_text(f"{text}\n")
        (usb / "power").mkdir()
        self.power = usb / "power/control"
        self.power.write_text("on\n")
        (root / "sys/class/tty/ttyACM0").mkdir(parents=True)
        (root / "sys/class/tty/ttyACM0/device").symlink_to(usb / "1-2:1.0")
        self.node.parent.mkdir(parents=True)
        (root / "dev/ttyACM0").touch()
        self.node.symlink_to("../ttyACM0")
        self.node.chmod(0o666)

    def _place(self) -> None:
        text = self.table.read_text()
        text = text.replace("/var/lib", f"{self.root}/var/lib").replace("/run/cardshoe/NC-01", str(self.sockets))
        self.table.write_text(text)
        write_device_keys(self.etc / "device.keys", {SERIAL: bytes(range(1, 33))})
        self.journal.mkdir(parents=True)
        self.sockets.mkdir()
        self.sockets.chmod(0o777)
        os.mknod(self.sockets / "api.sock", stat.S_IFSOCK | 0o666)  # of the daemon, which runs

    def run(self, *command: str) -> str | None:
        return self.answers.get(" ".join(command))

    def doctor(self, *options: str) -> Result:
        machine = Machine(self.root, self.run, examine=lambda key: AS_BUILT)
        return CliRunner().invoke(main, ["doctor", "--config", str(self.table), *options], obj=machine)

    def findings(self) -> dict[str, dict[str, Any]]:
        """Return the worst finding of each kind."""
        found: dict[str, dict[str, Any]] = {}
        for one in json.loads(self.doctor("--json").stdout)["findings"]:
            if one["what"] not in found or found[one["what"]]["level"] == "ok":
                found[one["what"]] = one
        return found


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the files of `install.sh` from a folder that `cardshoe init` made."""
    folder = tmp_path_factory.mktemp("made") / "t"
    made = CliRunner().invoke(main, ["init", str(folder), *REAL])
    assert made.exit_code == 0, made.stderr
    root = folder.parent / "pc"
    (root / "etc").mkdir(parents=True)
    env = os.environ | {"DESTDIR": str(root)}
    subprocess.run(["sh", str(folder / "install.sh")], env=env, check=True, capture_output=True)
    return root


@pytest.fixture
def pc(tmp_path: Path, installed: Path) -> Pc:
    return Pc(tmp_path / "pc", installed)


def listing(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(one), one.lstat().st_mode, one.lstat().st_mtime_ns) for one in folder.rglob("*"))


pytestmark = pytest.mark.tool("systemd-sysusers")


def test_a_fresh_installation_has_no_problem_but_the_open_port(pc: Pc) -> None:
    before = listing(pc.root)
    done = pc.doctor()
    assert listing(pc.root) == before, "it changes nothing"
    found = pc.findings()
    levels = {what: one["level"] for what, one in found.items()}
    assert {what for what, level in levels.items() if level != "ok"} <= {"device", "disk"}, found
    assert levels["device"] == "warning"
    assert "Every user may open" in found["device"]["sentence"]
    assert "Table NC-01, daemon's user nobody" in done.stdout
    lines = [line for line in done.stdout.splitlines() if line.startswith("  ")]
    assert all(line.split()[0] in ("ok", "warning", "problem") for line in lines)


def close_node(pc: Pc) -> None:
    pc.node.chmod(0o600)


def unplug(pc: Pc) -> None:
    (pc.root / "dev/ttyACM0").unlink()


def other_port(pc: Pc) -> None:
    links = pc.root / "dev/cardshoe"
    (links / "CARDSHOE-0001").rename(links / "CARDSHOE-0011")


def no_rules(pc: Pc) -> None:
    (pc.root / "etc/udev/rules.d/70-cardshoe.rules").unlink()


def old_rules(pc: Pc) -> None:
    (pc.root / "etc/udev/rules.d/70-cardshoe.rules").write_text("# of an earlier version\n")


def unpaired(pc: Pc) -> None:
    (pc.etc / "device.keys").write_text("")


def changed_key(pc: Pc) -> None:
    add_device_key(pc.etc / "device.keys", SERIAL, bytes(range(2, 34)), as_next=True)


def open_key(pc: Pc) -> None:
    (pc.etc / "journal.key").chmod(0o644)


def unreadable_key(pc: Pc) -> None:
    """Remove the drop-in, so that the daemon has to read the files itself."""
    (pc.root / "etc/systemd/system/cardshoe@.service.d/apart.conf").unlink()


def damaged_key(pc: Pc) -> None:
    (pc.etc / "journal.key").write_text("short\n")


def sleepy(pc: Pc) -> None:
    pc.power.write_text("auto\n")


def modems(pc: Pc) -> None:
    pc.answers["systemctl is-active ModemManager"] = "active"


def braille(pc: Pc) -> None:
    rules = pc.root / "usr/lib/udev/rules.d/85-brltty.rules"
    rules.parent.mkdir(parents=True)
    rules.write_text(
        'ENV{PRODUCT}=="1209/1/*", GOTO="x"\nENV{PRODUCT}=="1209/0001/*", ENV{BRLTTY_BRAILLE_DRIVER}="bm"\n'
    )


def disabled(pc: Pc) -> None:
    pc.answers["systemctl is-enabled cardshoe@NC-01"] = "disabled"


def failed(pc: Pc) -> None:
    pc.answers["systemctl is-active cardshoe@NC-01"] = "failed"


def wrong_clock(pc: Pc) -> None:
    pc.answers["timedatectl show --property=NTPSynchronized --value"] = "no"


def no_time_service(pc: Pc) -> None:
    wrong_clock(pc)
    pc.answers["timedatectl show --property=CanNTP --value"] = "no"


def no_unit(pc: Pc) -> None:
    (pc.root / "etc/systemd/system/cardshoe@.service").unlink()


def changed_drop_in(pc: Pc) -> None:
    (pc.root / "etc/systemd/system/cardshoe@.service.d/apart.conf").write_text("[Service]\n")


def changed_unit(pc: Pc) -> None:
    (pc.root / "etc/systemd/system/cardshoe@.service").write_text("[Service]\n")


def package(pc: Pc) -> None:
    """Install the Debian package on a PC with older files in /etc."""
    for there in ("etc/systemd/system/cardshoe@.service", "etc/udev/rules.d/70-cardshoe.rules"):
        packaged = pc.root / there.replace("etc/", "usr/lib/", 1)
        packaged.parent.mkdir(parents=True)
        shutil.copy(pc.root / there, packaged)


def package_alone(pc: Pc) -> None:
    package(pc)
    for there in ("etc/systemd/system/cardshoe@.service", "etc/udev/rules.d/70-cardshoe.rules"):
        (pc.root / there).unlink()


def changed_unit_of_the_package(pc: Pc) -> None:
    package_alone(pc)
    (pc.root / "usr/lib/systemd/system/cardshoe@.service").write_text("[Service]\n")


def changed_rules_of_the_package(pc: Pc) -> None:
    package_alone(pc)
    (pc.root / "usr/lib/udev/rules.d/70-cardshoe.rules").write_text("# of an earlier version\n")


def no_rules_of_the_package(pc: Pc) -> None:
    package_alone(pc)
    (pc.root / "usr/lib/udev/rules.d/70-cardshoe.rules").unlink()


def port_without_network(pc: Pc) -> None:
    with pc.table.open("a") as table:
        table.write("\n[api.http]\nport = 1\n")


def no_user(pc: Pc) -> None:
    pc.answers["systemctl show --property=User --value cardshoe@NC-01"] = "cardshoe-nobody-has-this"


def file_in_the_way(pc: Pc) -> None:
    (pc.sockets / "api.sock").unlink()
    (pc.sockets / "api.sock").write_text("mine")


def closed_folder(pc: Pc) -> None:
    pc.sockets.chmod(0o700)


def damaged_journal(pc: Pc) -> None:
    (pc.journal / "000001.journal").write_bytes(b"no journal at all")


@pytest.mark.parametrize(
    ("spoil", "what", "level", "sentence", "mend"),
    [
        (close_node, "device", "problem", "nobody may not open", "udevadm trigger"),
        (unplug, "device", "problem", "There is no /dev/cardshoe/CARDSHOE-0001.", "Plug the device in"),
        (other_port, "device", "problem", "-0001, but /dev/cardshoe/CARDSHOE-0011.", "Plug the device in"),
        (no_rules, "udev", "problem", "udev has no 70-cardshoe.rules", "install -D -m 0644 $F/system/70-"),
        (old_rules, "udev", "warning", "does not match this version", "$F/system/70-cardshoe.rules /"),
        (unpaired, "pairing", "problem", "CARDSHOE-0001 is not paired", "cardshoe devices pair CARDSHOE-0001"),
        (changed_key, "pairing", "warning", "may have its old key or its next one", "forget CARDSHOE-0001 --only old"),
        (open_key, "keys", "problem", "Other users may reach", "chmod o-rwx"),
        (unreadable_key, "keys", "problem", "nobody may not read", "chown root:nobody"),
        (damaged_key, "files", "problem", "[journal] key_file", ""),
        (sleepy, "USB power", "warning", "may put", "echo on > /sys/devices/pci0/usb1/1-2/power/control"),
        (modems, "ModemManager", "problem", "as a modem", "udevadm control --reload"),
        (braille, "brltty", "problem", "Braille display", "ln -s /dev/null /etc/udev/rules.d/85-brltty.rules"),
        (disabled, "enabled", "problem", "(disabled)", "systemctl enable cardshoe@NC-01"),
        (failed, "active", "problem", "(failed)", "journalctl -u cardshoe@NC-01"),
        (wrong_clock, "clock", "warning", "not synchronised", "set-ntp true"),
        (no_time_service, "clock", "warning", "not synchronised", "apt-get install -y dbus systemd-timesyncd"),
        (no_unit, "unit", "problem", "no cardshoe@.service", "systemctl daemon-reload"),
        (changed_unit, "unit", "warning", "does not match this version", "$F/system/cardshoe@.service /"),
        (changed_drop_in, "drop-in", "warning", "does not match this version", "$F/system/apart.conf /"),
        (package, "unit", "warning", "hides the package's file", "rm /etc/systemd/system/cardshoe@.service &&"),
        (package, "udev", "warning", "hides the package's file", "rm /etc/udev/rules.d/70-cardshoe.rules &&"),
        (changed_unit_of_the_package, "unit", "warning", "does not match this version", "apt-get install --reinstall"),
        (changed_rules_of_the_package, "udev", "warning", "does not match this version", "apt-get install --reinstall"),
        (no_rules_of_the_package, "udev", "problem", "udev has no 70-cardshoe.rules", "apt-get install --reinstall"),
        (
            port_without_network,
            "network",
            "problem",
            "must not open a port",
            "service.d/network.conf && systemctl daemon",
        ),
        (no_user, "user", "problem", "has no user cardshoe-nobody-has-this", "install.sh"),
        (closed_folder, "socket", "problem", "may not create the socket", "chown nobody"),
        (file_in_the_way, "socket", "problem", "is not a socket", "Move it away"),
        (damaged_journal, "journal", "problem", "000001.journal", ""),
    ],
)
def test_a_problem_is_named_with_its_remedy(
    pc: Pc, spoil: Callable[[Pc], None], what: str, level: str, sentence: str, mend: str
) -> None:
    spoil(pc)
    found = pc.findings()[what]
    assert found["level"] == level, found
    assert sentence in found["sentence"]
    assert mend in found["mend"]
    done = pc.doctor()
    assert done.exit_code == (1 if level == "problem" else 0), done.output
    assert f"-> {found['mend']}" in done.stdout
    if level == "problem":
        assert "Table NC-01 has " in done.stderr


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (no_rules, "udev"),
        (old_rules, "udev"),
        (no_unit, "unit"),
        (changed_unit, "unit"),
        (changed_drop_in, "drop-in"),
    ],
)
def test_the_command_that_installs_a_file_needs_no_installation_folder(
    pc: Pc, tmp_path: Path, spoil: Callable[[Pc], None], what: str
) -> None:
    """install.md says to delete that folder. In this test the command runs twice, and leaves no copy of the keys."""
    spoil(pc)
    mend = re.sub(r"(?<=[ ])/etc", f"{pc.root}/etc", pc.findings()[what]["mend"])
    programs = f'cardshoe() {{ {sys.executable} -m controller "$@"; }}\nsystemctl() {{ :; }}\nudevadm() {{ :; }}\n'
    made = tmp_path / "made"
    made.mkdir()
    env = os.environ | {"TMPDIR": str(made)}
    for _ in range(2):
        done = subprocess.run(["sh", "-c", programs + mend], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert pc.findings()[what]["level"] == "ok"
    assert list(made.iterdir()) == []


def test_the_packages_files_are_as_good_as_those_in_etc(pc: Pc) -> None:
    package_alone(pc)
    found = pc.findings()
    assert found["unit"]["level"] == found["udev"]["level"] == found["network"]["level"] == "ok"
    assert "/usr/lib/systemd/system/cardshoe@.service matches" in found["unit"]["sentence"]


@pytest.mark.parametrize(("runs", "level"), [("0.0.9-aa11", "warning"), ("0.1.0-bb22", "ok")])
def test_a_table_that_still_runs_the_version_before_an_upgrade_is_named(pc: Pc, runs: str, level: str) -> None:
    home, process = pc.root / "opt/cardshoe", pc.root / "proc/70"
    home.mkdir(parents=True)
    (home / "bin").symlink_to("0.1.0-bb22/bin")
    process.mkdir(parents=True)
    (process / "cmdline").write_text(f"/opt/cardshoe/{runs}/bin/python3\0/opt/cardshoe/bin/cardshoe\0run\0")
    pc.answers["systemctl show --property=MainPID --value cardshoe@NC-01"] = "70"
    found = pc.findings()["version"]
    assert found["level"] == level, found
    assert runs in found["sentence"]
    assert ("systemctl restart cardshoe@NC-01" in found["mend"]) is (level == "warning")


@pytest.mark.parametrize(
    ("host", "allowed", "denied", "level"),
    [
        ("192.0.2.10", "127.0.0.0/8 ::1/128", "0.0.0.0/0 ::/0", "problem"),
        ("192.0.2.10", "127.0.0.0/8 192.0.2.10/32", "0.0.0.0/0 ::/0", "ok"),
        ("192.0.2.10", "", "", "ok"),
        ("serial-server.example", "127.0.0.0/8 192.0.2.10/32", "0.0.0.0/0 ::/0", "problem"),
        ("serial-server.example", "0.0.0.0/0 ::/0", "0.0.0.0/0 ::/0", "ok"),
        ("localhost", "127.0.0.0/8 ::1/128", "0.0.0.0/0 ::/0", "ok"),
    ],
)
def test_whether_the_service_reaches_a_serial_server(pc: Pc, host: str, allowed: str, denied: str, level: str) -> None:
    url = "serial:///dev/cardshoe/CARDSHOE-0001"
    text = pc.table.read_text().replace(url, f"tcp://{host}:4001/")
    pc.table.write_text(text)
    in_force = f"RestrictAddressFamilies=AF_UNIX AF_INET\nIPAddressDeny={denied}\nIPAddressAllow={allowed}"
    pc.answers[NETWORK] = in_force
    found = pc.findings()["network"]
    assert found["level"] == level, found
    assert level == "ok" or "$F/system/network.conf /etc/systemd/system/cardshoe@NC-01.service.d/" in found["mend"]


def test_whether_the_daemon_is_handed_the_files_of_the_floor(pc: Pc) -> None:
    own = Authority(pc.etc).sign("NC-01")
    names = [path.name for path in own]
    section = '[floor]\nbroker = "mqtts://broker.example"\nsite = "vienna"\npit = "p1"\n'
    keys = zip(("ca_file", "certificate_file", "key_file"), names, strict=True)
    section += "".join(f'{key} = "{name}"\n' for key, name in keys)
    pc.table.write_text(f"{pc.table.read_text()}\n{section}")
    assert "floor" not in pc.findings()
    pc.answers["systemctl show --property=MainPID --value cardshoe@NC-01"] = "7"
    handed = pc.root / "proc/7/root/run/credentials/cardshoe@NC-01.service"
    handed.mkdir(parents=True)
    for name in ("table.toml", "device.keys", *names[:2]):
        shutil.copy(pc.etc / name, handed)
    found = pc.findings()["floor"]
    assert found["level"] == "warning"
    assert f"does not hand {own.key} to the daemon" in found["sentence"]
    assert "cardshoe@NC-01.service.d/floor.conf" in found["mend"]
    shutil.copy(own.key, handed)
    assert "floor" not in pc.findings()


def test_an_obstacle_to_the_programs_is_found(pc: Pc) -> None:
    modems(pc)
    pc.answers[f"udevadm info --query=property --name={pc.node}"] = "A=1\nID_MM_DEVICE_IGNORE=1"
    braille(pc)
    (pc.root / "etc/udev/rules.d/85-brltty.rules").symlink_to("/dev/null")
    found = pc.findings()
    assert found["ModemManager"]["level"] == found["brltty"]["level"] == "ok"


def test_without_systemd_the_rest_is_looked_at(pc: Pc) -> None:
    (pc.root / "run/systemd/system").rmdir()
    pc.answers.clear()
    found = pc.findings()
    assert found["service"]["sentence"].startswith("systemd is not running here")
    assert found["service"]["level"] == "warning"
    assert "journal" in found


def test_a_configuration_that_cannot_be_read(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["doctor", "--config", str(tmp_path / "none.toml")])
    assert done.exit_code == 78


def test_a_simulated_table_is_looked_at_as_its_own_user(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    assert CliRunner().invoke(main, ["init", str(folder), "--simulated", "--yes"]).exit_code == 0
    (folder / "device").touch()
    machine = Machine(tmp_path, lambda *command: None)
    done = CliRunner().invoke(main, ["doctor", "--config", str(folder / "table.toml")], obj=machine)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(("unit", "kind"), [("sets", "shuffler"), ("singles", "shoe")])
def test_a_missing_simulated_device_is_started_with_the_tables_key(tmp_path: Path, unit: str, kind: str) -> None:
    folder = tmp_path / "b"
    assert CliRunner().invoke(main, ["init", str(folder), "--simulated", "--yes", "--unit", unit]).exit_code == 0
    machine = Machine(tmp_path, lambda *command: None)
    done = CliRunner().invoke(main, ["doctor", "--config", str(folder / "table.toml")], obj=machine)
    command = f"cardshoe simulate --kind {kind} --link {folder}/device --key-file {folder}/device.keys"
    assert f"-> In another terminal: {command}\n" in done.stdout


def test_the_growth_of_a_journal(tmp_path: Path) -> None:
    assert growth_of(tmp_path) == growth_of(tmp_path / "none") == 0
    for day, size in enumerate((5000, 1000, 3000)):
        path = tmp_path / f"00000{day}.journal"
        path.write_bytes(bytes(size))
        os.utime(path, (86_400 * day, 86_400 * day))
    assert growth_of(tmp_path) == 2000


@pytest.mark.parametrize(
    ("uid", "groups", "mode", "wanted", "allowed"),
    [
        (0, (), 0o000, 6, True),
        (1, (), 0o600, 6, True),
        (1, (9,), 0o066, 4, False),
        (2, (9,), 0o060, 6, True),
        (2, (9,), 0o606, 4, False),
        (2, (8,), 0o660, 4, False),
        (2, (), 0o004, 4, True),
    ],
)
def test_access_follows_owner_group_and_mode(
    uid: int, groups: tuple[int, ...], mode: int, wanted: int, allowed: bool
) -> None:
    found = os.stat_result((mode, 0, 0, 1, 1, 9, 0, 0, 0, 0))
    assert may(User("u", uid, frozenset(groups)), found, wanted) is allowed


def test_what_is_wrong_with_a_table_that_does_not_run(tmp_path: Path) -> None:
    """The port of screens, at which a running table is asked, does not matter."""
    made = CliRunner().invoke(main, ["init", str(tmp_path / "bench"), "--simulated", "--yes"])
    assert made.exit_code == 0, made.stderr
    folder = tmp_path / "bench/journal"
    with closing(open_journal(folder, identity=Identity("5e" * 16, "bench", simulated=True))) as journal:
        append(journal, 1)
    (folder / "pin").unlink()
    found = CliRunner().invoke(
        main, ["doctor", "--no-journal", "--config", str(tmp_path / "bench/table.toml"), "--json"]
    )
    said = {one["what"]: one for one in json.loads(found.stdout)["findings"] if one["level"] != "ok"}
    assert said["active"]["sentence"] == "No daemon of this table runs."
    assert said["active"]["mend"] == f"cardshoe run --config {tmp_path}/bench/table.toml"
    assert said["pin"]["sentence"] == f"The pin {folder}/pin of the journal is missing."


@NEEDS_ROOT
def test_a_disk_that_is_mounted_read_only_is_named(pc: Pc) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", pc.journal], check=True)
    try:
        found = pc.findings()["disk"]
    finally:
        subprocess.run(["umount", pc.journal], check=True)
    assert found["sentence"] == f"{pc.journal} is on a disk that is mounted read-only."
    assert found["mend"].endswith(f"mount -o remount,rw {pc.journal}")


def test_a_disk_that_failed_is_named_whatever_its_flags_say(pc: Pc, mocker: MockerFixture) -> None:
    """A newer kernel leaves the flag of a disk that it does not write any more."""
    opened = os.open

    def fails(path: Path, flags: int, *others: int, **named: int) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EIO, "Input/output error", str(path))
        return opened(path, flags, *others, **named)

    mocker.patch("os.open", fails)
    found = pc.findings()["disk"]
    assert found["level"] == "problem"
    assert "is on a disk that failed: it cannot be written." in found["sentence"]
    assert "fsck" in found["mend"]


@NEEDS_ROOT
def test_the_mount_to_change_is_named_also_for_a_bound_folder_with_a_blank(tmp_path: Path) -> None:
    """It is a part of the same file system as its parent."""
    folder = tmp_path / "a disk"
    (folder / "journal").mkdir(parents=True)
    subprocess.run(["mount", "--bind", folder, folder], check=True)
    try:
        assert mount_point(folder / "journal") == folder
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        assert os.statvfs(folder / "journal").f_flag & os.ST_RDONLY
        subprocess.run(["mount", "-o", "remount,rw", mount_point(folder / "journal")], check=True)
        assert not os.statvfs(folder / "journal").f_flag & os.ST_RDONLY
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_missing_program_has_no_output() -> None:
    assert run_program("no-program-of-this-name") is None
    assert run_program("sh", "-c", "echo a") == "a"
