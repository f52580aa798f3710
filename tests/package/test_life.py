"""The package in a bare Debian 12 without a network: installed, upgraded while running, removed and purged."""

from __future__ import annotations

import os
import re
import socket
from contextlib import closing
from pathlib import Path

import pytest

from deb import sources
from tests.install.test_service_unit import MOST_EXPOSURE
from tests.package.bare_root import NEEDS_ROOT, PACKAGE, BareRoot
from tests.package.conftest import OLDER, Made

pytestmark = [*PACKAGE, NEEDS_ROOT, pytest.mark.tool("mmdebstrap"), pytest.mark.tool("unshare")]

NOTES = "var/log/called"
SITE = {
    "etc/cardshoe/NC-01/table.toml": "# changed here\n",
    "etc/cardshoe/NC-01/journal.key": "a key\n",
    "etc/systemd/system/cardshoe@.service.d/apart.conf": "[Service]\nUser=cardshoe-%i\n",
    "etc/systemd/system/cardshoe@NC-01.service.d/override.conf": "[Service]\nMemoryMax=1G\n",
    "etc/udev/rules.d/72-cardshoe-NC-01.rules": "# of this table\n",
    "etc/sysusers.d/cardshoe-NC-01.conf": "u cardshoe-NC-01 -\n",
    "var/lib/cardshoe/NC-01/journal/000001.journal": "a journal\n",
}
LINK = "etc/systemd/system/multi-user.target.wants/cardshoe@NC-01.service"
ACCOUNTS = {f"etc/{name}{old}" for name in ("passwd", "group", "shadow", "gshadow") for old in ("", "-")}
LAZY = """
import sys
print("ready", flush=True)
sys.stdin.readline()
import simulators.demo.command  # for the first time
from importlib.metadata import version
print(simulators.demo.command.__file__)
"""


def settle(root: BareRoot) -> None:
    """Add the files that a site has in addition to the package."""
    for name, text in SITE.items():
        root.write(name, text, 0o600)
    (root.path / LINK).parent.mkdir(parents=True, exist_ok=True)
    (root.path / LINK).symlink_to("/lib/systemd/system/cardshoe@.service")


def assert_settled(root: BareRoot) -> None:
    for name, text in SITE.items():
        assert (root.path / name).read_text() == text, name
        assert (root.path / name).stat().st_mode & 0o777 == 0o600


def note_calls(root: BareRoot) -> None:
    """Pretend that systemd runs: its program and udev's record how they are called."""
    for name in ("systemctl", "udevadm"):
        root.write(f"usr/local/bin/{name}", f'#!/bin/sh\necho "{name} $*" >> /{NOTES}\n', 0o755)
    (root.path / "run/systemd/system").mkdir(parents=True)
    (root.path / "run/udev").mkdir(parents=True, exist_ok=True)
    folder = os.open(root.path / "run/udev", os.O_RDONLY | os.O_DIRECTORY)  # its own path may be too long for a socket
    with closing(socket.socket(socket.AF_UNIX)) as control:
        control.bind(f"/proc/self/fd/{folder}/control")
    os.close(folder)


def called(root: BareRoot) -> list[str]:
    notes = root.path / NOTES
    lines = notes.read_text().splitlines() if notes.exists() else []
    notes.unlink(missing_ok=True)
    return lines


def versions(root: BareRoot) -> set[str]:
    """Return the versions that could run."""
    return {one.parent.name for one in (root.path / "opt/cardshoe").glob("*/pyvenv.cfg")} - {"packaged"}


def test_everything_it_needs_exists_after_the_installation(bare: BareRoot, made: Made) -> None:
    """The program runs as the user that it created, every library is found, and dpkg finds nothing changed."""
    bare.run(f"dpkg -i {bare.take(made.package)}")
    assert "cardshoe" in bare.users()
    assert bare.run("cardshoe --version", "cardshoe:cardshoe").split()[2] == sources.version()
    other = "echo 'raise SystemExit(3)' > /tmp/sitecustomize.py; PYTHONHOME=/nowhere PYTHONPATH=/tmp"
    assert bare.run(f"{other} cardshoe --version").split()[2] == sources.version()
    shown = bare.run("cardshoe demo --fast --seed 3 --rounds 1", "cardshoe:cardshoe")
    assert "1 round" in shown, shown
    assert bare.run("dpkg --verify cardshoe") == ""
    libraries = "find /opt/cardshoe/packaged -name '*.so*' -exec ldd {} + | grep 'not found' || true"
    assert bare.run(libraries) == ""


def test_systemd_accepts_the_installed_unit(bare: BareRoot, made: Made) -> None:
    """The real program is in it."""
    bare.run(f"dpkg -i {bare.take(made.package)}")
    said = bare.run("systemd-analyze --man=no --recursive-errors=no verify cardshoe@NC-01.service")
    assert said == ""
    threshold = f"--threshold={round(MOST_EXPOSURE * 10)}"
    bare.run(
        "cp /lib/systemd/system/cardshoe@.service /tmp/cardshoe@NC-01.service;"
        f" systemd-analyze --no-pager --offline=true {threshold} security /tmp/cardshoe@NC-01.service"
    )


def test_an_installation_announces_what_it_installed(bare: BareRoot, made: Made) -> None:
    note_calls(bare)
    said = bare.run(f"dpkg -i {bare.take(made.package)}")
    assert "hides" not in said
    assert called(bare) == [
        "udevadm control --reload",
        "udevadm trigger --subsystem-match=usb --subsystem-match=tty",
        "systemctl daemon-reload",
    ]


def test_an_upgrade_leaves_the_site_its_files_and_restarts_no_table(installed: BareRoot, made: Made) -> None:
    settle(installed)
    note_calls(installed)
    (old,) = versions(installed)
    said = installed.run(f"dpkg -i {installed.take(made.package)}; cardshoe --version")
    assert said.splitlines()[-1].split()[2] == sources.version()
    assert_settled(installed)
    assert not [line for line in called(installed) if "start" in line or "stop" in line]
    (new,) = versions(installed)
    assert old.startswith(f"{OLDER}-")
    assert new.startswith(f"{sources.package_version()}-"), "nothing ran the older one"
    assert (installed.path / "opt/cardshoe/bin").readlink() == Path(f"{new}/bin")
    same = [installed.path / "opt/cardshoe" / name / "pyvenv.cfg" for name in ("packaged", new)]
    assert same[0].samefile(same[1]), "it takes no room of its own"


def test_a_process_running_in_an_upgrade_keeps_its_version_and_is_named(installed: BareRoot, made: Made) -> None:
    """A process that began with the older version imports the rest of it after the upgrade."""
    installed.write("tmp/lazy.py", LAZY)
    (old,) = versions(installed)
    said = installed.run(
        f"""
        mkfifo /tmp/go /tmp/said
        /opt/cardshoe/{old}/bin/python3 /tmp/lazy.py < /tmp/go > /tmp/said &
        exec 3> /tmp/go 4< /tmp/said
        read ready <&4
        dpkg -i {installed.take(made.package)}
        echo >&3
        read imported <&4
        echo "imported: $imported"
        wait
        /usr/lib/cardshoe/old-versions
        """
    )
    assert f"imported: /opt/cardshoe/{old}/lib/" in said
    assert said.count(f"cardshoe: {OLDER} still runs") == 1, "and not after its end"
    assert re.search(rf"end process \d+: /opt/cardshoe/{re.escape(old)}/bin/python3 /tmp/lazy.py", said)
    assert len(versions(installed)) == 1


def test_tables_on_an_older_version_are_named_with_the_restart(installed: BareRoot, made: Made) -> None:
    (old,) = versions(installed)
    installed.run(f"dpkg -i {installed.take(made.package)}")
    (current,) = versions(installed)
    for number, (version, table) in enumerate(((old, "NC-01"), (old, "TP_2"), (current, "RTP-3"), (old, "NC-01"))):
        command = f"/opt/cardshoe/{version}/bin/python3\0/opt/cardshoe/bin/cardshoe\0run\0"
        installed.write(f"tmp/proc/{number + 70}/cmdline", command)
        cgroup = f"0::/system.slice/system-cardshoe.slice/cardshoe@{table}.service\n"
        installed.write(f"tmp/proc/{number + 70}/cgroup", cgroup)
    installed.write(f"opt/cardshoe/{old}/pyvenv.cfg", "")
    said = installed.run("mount --bind /tmp/proc /proc; /usr/lib/cardshoe/old-versions")
    assert said.splitlines() == [
        f"cardshoe: {OLDER} still runs, and its files stay as long; between rounds:",
        "    systemctl restart cardshoe@NC-01",
        "    systemctl restart cardshoe@TP_2",
    ]
    assert versions(installed) == {old, current}


def test_files_in_etc_that_hide_the_packages_are_named(installed: BareRoot, made: Made) -> None:
    hiding = ("etc/systemd/system/cardshoe@.service", "etc/udev/rules.d/70-cardshoe.rules")
    for name in hiding:
        installed.write(name, "# of an earlier installation\n")
    said = installed.run(f"dpkg -i {installed.take(made.package)}")
    assert [f"/{name}" for name in hiding] == re.findall(r"cardshoe: (\S+) hides", said)
    assert all((installed.path / name).exists() for name in hiding), "they are the site's"


def test_an_environment_made_by_pip_is_not_overwritten(bare: BareRoot, made: Made) -> None:
    bare.write("opt/cardshoe/pyvenv.cfg", "home = /usr/bin\n")
    said = bare.run(f"dpkg -i {bare.take(made.package)}", fails=True)
    assert "mv /opt/cardshoe /opt/cardshoe-by-pip" in said
    assert sorted(one.name for one in (bare.path / "opt/cardshoe").iterdir()) == ["pyvenv.cfg"]


def test_a_removal_and_a_purge_leave_the_documented_files(bare: BareRoot, made: Made) -> None:
    """docs/install.md lists them: configurations, keys, journals, users, and the site's files in /etc."""
    note_calls(bare)
    before, users = bare.files(), bare.users()
    bare.run(f"dpkg -i {bare.take(made.package)}")
    settle(bare)
    called(bare)
    bare.run("dpkg -r cardshoe")
    assert called(bare) == [
        "systemctl stop cardshoe@*.service", "udevadm control --reload", "systemctl daemon-reload",
    ]  # fmt: skip
    assert (bare.path / LINK).is_symlink(), "a table starts at boot again once the package is back"
    assert_settled(bare)
    said = bare.run("dpkg -P cardshoe")
    assert "/var/lib/cardshoe stays" in said
    assert_settled(bare)
    assert not (bare.path / LINK).is_symlink()
    assert bare.users() - users == {"cardshoe"}
    kept = {str(folder) for name in (*SITE, LINK) for folder in (Path(name), *Path(name).parents)} - {LINK, "."}
    assert bare.files() - before - ACCOUNTS - {"etc/.pwd.lock"} == kept - before
    assert before - bare.files() <= {"opt"}, "dpkg takes an empty folder that no package owns along"


def test_a_removed_package_can_be_installed_again(installed: BareRoot, made: Made) -> None:
    said = installed.run(f"dpkg -r cardshoe; dpkg -i {installed.take(made.package)}; cardshoe --version")
    assert f"({versions(installed).pop()})" in said
    installed.run(f"dpkg -i {installed.take(made.older)}; cardshoe --version")
    (there,) = versions(installed)
    assert there.startswith(OLDER), "and so does the version before"
