"""Separate tables: a user for each, so that a compromised daemon reads no other table's keys, journals or devices.

systemd and udev accept the files for it, and their owners and modes keep a real process of one table's user away from
the other table's files.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import pytest

from controller.journal.sealing import create_key_file, load_key_file
from firmware_bridge import usb_bus
from firmware_bridge.device_keys import read_device_keys, write_device_keys
from tests.end_to_end.stage import short_folder
from tests.install.test_service_unit import TEXT, VERIFY, exposure, read
from tests.install.test_sysusers import made_by
from tests.install.test_udev_rules import Rule, Term
from tests.install.test_udev_rules import read as read_rules
from tests.journal.vocabulary import append, open_journal
from tests.support.as_user import NEEDS_ROOT, open_to, tried

UDEV = Path(__file__).parents[2] / "udev"
APART = UDEV / "apart"
DROP_IN = (APART / "cardshoe@.service.conf").read_text(encoding="utf-8")
SYSUSERS = (APART / "cardshoe-TABLE.sysusers.conf").read_text(encoding="utf-8")
RULES = (APART / "72-cardshoe-TABLE.rules").read_text(encoding="utf-8")
COPY = "/run/cardshoe-reload/%i.toml"
STARTED = "/run/cardshoe-reload/%i.started.toml"
README = (UDEV / "README.md").read_text(encoding="utf-8")


def of_table(text: str, table: str = "NC-01", serial: str = "CARDSHOE-0001") -> str:
    """Return the file for a table, as the README's commands make it."""
    assert "s/TABLE/$TABLE/g; s/SERIAL/$SERIAL/g" in README
    return text.replace("TABLE", table).replace("SERIAL", serial)


def directives(key: str) -> list[str]:
    return [one.value for one in read(DROP_IN) if one.key == key]


# -- systemd ----------------------------------------------------------------------------------------------------------


def test_every_directive_has_its_reason_and_each_table_a_user() -> None:
    assert all(one.reasoned and one.section == "Service" for one in read(DROP_IN))
    assert directives("User") == directives("Group") == ["cardshoe-%i"]
    run = f"/opt/cardshoe/bin/cardshoe run --config %d/table.toml --reread {COPY}"
    assert directives("ExecStart") == ["", run]
    assert {one.key for one in read(DROP_IN)} <= {
        "User", "Group", "LoadCredential", "ConfigurationDirectoryMode", "ExecStart", "RestartPreventExitStatus",
        "ExecStartPost", "ExecStopPost", "ExecReload",
    }, "it takes no protection away"  # fmt: skip


def test_a_reload_gives_the_configuration_again_to_that_daemon_alone() -> None:
    """Root copies the configuration into a folder that belongs to root; a start does not read an old copy."""
    copy = f"+/usr/bin/install -D -m 0640 -o root -g cardshoe-%i /etc/cardshoe/%i/table.toml {COPY}"
    check = f"+/opt/cardshoe/bin/cardshoe config check /etc/cardshoe/%i/table.toml --running {STARTED}"
    assert directives("ExecStartPost") == ["", f"-+/usr/bin/install -D -m 0600 /etc/cardshoe/%i/table.toml {STARTED}"]
    assert directives("ExecReload") == ["", copy, '/bin/sh -c "kill -HUP $MAINPID"', check]
    assert directives("ExecStopPost") == [f"+/bin/rm -f {COPY}"]


def test_a_daemon_gets_only_its_tables_files() -> None:
    handed = dict(one.split(":", 1) for one in directives("LoadCredential"))
    assert handed == {name: f"/etc/cardshoe/%i/{name}" for name in ("table.toml", "journal.key", "device.keys")}


def verified(drop_in: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Return systemd's output on a table's instance with the drop-in."""
    unit = folder / "cardshoe@NC-01.service"
    added = folder / f"{unit.name}.d"
    added.mkdir()
    for path, text in ((unit, TEXT), (added / "apart.conf", drop_in)):
        path.write_text(text.replace("/opt/cardshoe/bin/cardshoe", sys.executable), encoding="utf-8")
    return subprocess.run(
        ["systemd-analyze", "--no-pager", *VERIFY, str(unit)],
        env=os.environ | {"SYSTEMD_UNIT_PATH": f"{folder}:"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.mark.tool("systemd-analyze")
def test_systemd_verifies_the_unit_with_it(tmp_path: Path) -> None:
    result = verified(DROP_IN, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.tool("systemd-analyze")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User=", "Usr="),
        ("=CREDENTIALS", "=NO-SUCH-STATUS"),
        ("%d/table.toml", "%Q/table.toml"),
        ("/etc/cardshoe/%i/table.toml", "/etc/../cardshoe\\x00"),
        ("/opt/cardshoe/bin/cardshoe", "/nonexistent/cardshoe"),
    ],
)
def test_it_would_notice_a_word_that_systemd_does_not_know(tmp_path: Path, old: str, new: str) -> None:
    assert old in DROP_IN
    result = verified(DROP_IN.replace(old, new), tmp_path)
    assert result.stderr or result.returncode


@pytest.mark.tool("systemd-analyze")
def test_the_drop_in_does_not_raise_the_exposure(tmp_path: Path) -> None:
    added = re.sub(r"(?m)^\[Service\]\n", "", DROP_IN)
    whole = TEXT.replace("\n[Install]", f"{added}\n[Install]")
    assert exposure(whole, tmp_path) <= exposure(TEXT, tmp_path)


@pytest.mark.tool("systemd-sysusers")
def test_systemd_makes_a_user_and_a_group_for_each_table(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for table in ("NC-01", "TP_2"):
        conf = tmp_path / f"cardshoe-{table}.conf"
        conf.write_text(of_table(SYSUSERS, table), encoding="utf-8")
        result = made_by(conf, root) if not root.exists() else made_again(conf, root)
        assert result.returncode == 0, result.stderr
    users = [line.split(":") for line in (root / "etc/passwd").read_text(encoding="utf-8").splitlines()]
    assert [user[0] for user in users] == ["cardshoe-NC-01", "cardshoe-TP_2"]
    assert len({user[2] for user in users}) == 2
    assert len({user[3] for user in users}) == 2


def made_again(conf: Path, root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-sysusers", f"--root={root}", conf], capture_output=True, text=True, check=False, timeout=300
    )


# -- udev -------------------------------------------------------------------------------------------------------------


def gives(rule: Rule) -> dict[str, str]:
    return {term.name: term.value for term in rule if term.assigns}


def test_the_rules_give_one_serial_number_to_one_tables_group() -> None:
    first, usb, tty, last = read_rules(of_table(RULES))
    assert first == (Term("ACTION", "", "==", "remove"), Term("GOTO", "", "=", "cardshoe_NC-01_end"))
    assert last == (Term("LABEL", "", "=", "cardshoe_NC-01_end"),)
    vendor, product = f"{usb_bus.TEST_VENDOR_ID:04x}", f"{usb_bus.TEST_PRODUCT_ID:04x}"
    for rule, level in ((usb, "ATTR"), (tty, "ATTRS")):
        said = {(term.name, term.operator): term.value for term in rule}
        assert said[f"{level}{{idVendor}}", "=="] == vendor
        assert said[f"{level}{{idProduct}}", "=="] == product
        assert said[f"{level}{{serial}}", "=="] == "CARDSHOE-0001", "and no pattern"
        assert gives(rule) == {"GROUP": "cardshoe-NC-01", "MODE": "0660"}
    assert ("ENV{DEVTYPE}", "==", "usb_device") in {(term.name, term.operator, term.value) for term in usb}
    assert ("SUBSYSTEMS", "==", "usb") in {(term.name, term.operator, term.value) for term in tty}


def test_they_follow_the_rules_for_the_common_group() -> None:
    assert "70-cardshoe.rules" < "72-cardshoe-NC-01.rules"
    general = (UDEV / "70-cardshoe.rules").read_text(encoding="utf-8")
    assert not any(term.operator == ":=" for rule in read_rules(general) for term in rule), "none is final"


# -- two users --------------------------------------------------------------------------------------------------------


class Table(NamedTuple):
    """One table's files, as the unit and the rules make them. `name` is also its system user."""

    uid: int
    configuration: Path
    journal_key: Path
    device_keys: Path
    state: Path
    journal: Path
    runtime: Path
    device: Path

    @property
    def own(self) -> set[Path]:
        return set(self[1:])

    @property
    def secret(self) -> set[Path]:
        """Return all paths but the folder of the socket, which every user may enter."""
        return self.own - {self.runtime}


def mode_of(key: str) -> int:
    """Return the mode that the unit sets."""
    (value,) = (one.value for one in read(TEXT) if one.key == key)
    return int(value, 8)


def lay_out(root: Path, name: str, uid: int, node: Path) -> Table:
    """Do what systemd does for a service of that user. udev has given the node to its group."""
    state, runtime, handed = (root / kind / name for kind in ("lib", "run", "credentials"))
    etc = root / "etc" / name
    for folder, mode in (
        (etc, 0o700),
        (state, mode_of("StateDirectoryMode")),
        (runtime, mode_of("RuntimeDirectoryMode")),
    ):
        folder.mkdir(parents=True)
        folder.chmod(mode)
    handed.mkdir(parents=True)
    create_key_file(etc / "journal.key")
    write_device_keys(etc / "device.keys", {"CARDSHOE-0001": bytes(range(1, 33))})
    (etc / "table.toml").write_text("pin_hash")
    for file in etc.iterdir():
        file.chmod(0o600)
        copy = handed / file.name
        copy.write_bytes(file.read_bytes())
        copy.chmod(0o400)
        os.chown(copy, uid, uid)
    handed.chmod(0o500)
    before = os.umask(mode_of("UMask"))
    try:
        with closing(open_journal(state / "journal")) as journal:
            append(journal, 1)
            file = journal.path
    finally:
        os.umask(before)
    for path in (handed, state, *state.rglob("*"), runtime):
        os.chown(path, uid, uid)
    os.chown(node, 0, uid)
    node.chmod(0o660)
    return Table(
        uid, handed / "table.toml", handed / "journal.key", handed / "device.keys", state, file,
        runtime, node,
    )  # fmt: skip


@pytest.fixture
def tables() -> Iterator[tuple[Table, Table]]:
    with short_folder() as root:
        root.chmod(0o755)
        ends = [os.openpty() for _ in range(2)]
        try:
            yield tuple(
                lay_out(root, f"NC-0{number}", 64000 + number, Path(os.ttyname(theirs)))
                for number, (_, theirs) in enumerate(ends, start=1)
            )  # type: ignore[misc]  # two of them
        finally:
            for end in (end for pair in ends for end in pair):
                os.close(end)


@NEEDS_ROOT
def test_a_daemon_opens_only_its_own_tables_files(tables: tuple[Table, Table]) -> None:
    for mine, other in (tables, tables[::-1]):
        assert open_to(mine.uid, mine.uid, *mine.own) == mine.own
        assert tried(mine.uid, mine.uid, *other.secret) == dict.fromkeys(other.secret, "Permission denied")
        assert mine.configuration.parents[2] == other.configuration.parents[2], "of one machine"


@NEEDS_ROOT
def test_a_daemon_opens_no_file_that_root_keeps_for_others(tables: tuple[Table, Table]) -> None:
    for table in tables:
        kept = [table.configuration.parents[2] / "etc" / name / "journal.key" for name in ("NC-01", "NC-02")]
        assert not open_to(table.uid, table.uid, *kept)


@NEEDS_ROOT
def test_with_one_user_for_all_tables_it_would_succeed(tables: tuple[Table, Table]) -> None:
    """This shows why the users are separate."""
    mine, other = tables
    assert open_to(other.uid, other.uid, *other.secret) == other.secret
    assert mine.uid != other.uid


@NEEDS_ROOT
def test_a_daemon_cannot_replace_another_tables_socket(tables: tuple[Table, Table]) -> None:
    mine, other = tables
    program = (
        "import os, socket, sys\nos.setgroups([]); os.setgid(int(sys.argv[1])); os.setuid(int(sys.argv[1]))\n"
        "socket.socket(socket.AF_UNIX).bind(sys.argv[2])"
    )

    def bind(folder: Path) -> int:
        command = [sys.executable, "-I", "-S", "-c", program, str(mine.uid), str(folder / "api.sock")]
        return subprocess.run(command, capture_output=True, check=False).returncode

    assert bind(mine.runtime) == 0
    assert bind(other.runtime) != 0
    assert not (other.runtime / "api.sock").exists()


@NEEDS_ROOT
def test_a_credential_counts_as_a_private_key_file(tables: tuple[Table, Table]) -> None:
    table = tables[0]
    assert len(load_key_file(table.journal_key)) == 32
    assert read_device_keys(table.device_keys) == {"CARDSHOE-0001": bytes(range(1, 33))}
