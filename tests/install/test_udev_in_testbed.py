"""The rules in udev's own engine, with Debian's rules before and after them, on an invented device."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.tool("umockdev-wrapper"), pytest.mark.tool("udevadm"), pytest.mark.tool("unshare")]

ROOT = Path(__file__).parents[2]
RULES = ROOT / "udev" / "70-cardshoe.rules"
GROUP = 4711
ACM, ACM_DATA, VENDOR = ["02", "02"], ["0a", "00"], ["ff", "00"]

# A separate mount namespace: udevadm makes links in /dev, keeps records in /run/udev, and reads names from /etc/group.
PRIVATE = """
set -e
mount --make-rprivate /
mkdir -p /etc/udev/rules.d /run/udev
mount --bind "$1/rules.d" /etc/udev/rules.d
mount --bind "$1/group" /etc/group
mount -t tmpfs none /run/udev
mount -t tmpfs none /mnt
for node in null zero random urandom tty; do touch /mnt/$node; mount --bind /dev/$node /mnt/$node; done
mkdir /mnt/pts /mnt/shm
mount --bind /dev/pts /mnt/pts
ln -s pts/ptmx /mnt/ptmx
mount --rbind /mnt /dev
exec umockdev-wrapper /usr/bin/python3 tests/support/udev_testbed.py "$2"
"""


def judged(folder: Path, rules: str = RULES.read_text(encoding="utf-8"), **device: Any) -> dict[str, Any]:
    """Return udev's result for that device, by default one of ours."""
    (folder / "rules.d").mkdir()
    (folder / "rules.d" / RULES.name).write_text(rules, encoding="utf-8")
    (folder / "group").write_text(Path("/etc/group").read_text() + f"cardshoe:x:{GROUP}:\n")
    about = {"vendor": "1209", "product": "0001", "serial": "CARDSHOE-1", "interfaces": [ACM, ACM_DATA, VENDOR]}
    namespace = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
    done = subprocess.run(
        [*namespace, "sh", "-c", PRIVATE, "sh", str(folder), json.dumps({**about, **device})],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def ours(said: str) -> list[str]:
    """Return what our file set, in its order."""
    return [
        line.partition(f"{RULES.name}:")[2].partition(" ")[2] for line in said.splitlines() if RULES.name + ":" in line
    ]


def test_our_device_and_its_port_are_the_groups_and_have_their_name(tmp_path: Path) -> None:
    said = judged(tmp_path)
    assert ours(said["device"]) == [f"GROUP {GROUP}", "MODE 0660"]
    assert ours(said["port"]) == [f"GROUP {GROUP}", "MODE 0660", "LINK 'cardshoe/CARDSHOE-1'"]
    assert "symlink '/dev/cardshoe/CARDSHOE-1' to '/dev/ttyACM0'" in said["port"]
    for which in ("device", "port"):
        assert "ID_MM_DEVICE_IGNORE=1" in said[which]
        assert "BRLTTY" not in said[which].upper().replace("BRLTTY.RULES", "")
    assert said["authorized"] == ["1", "1", "1"]
    assert not Path("/dev/cardshoe/CARDSHOE-1").exists(), "the link was made in the real /dev"


@pytest.mark.parametrize(
    "device",
    [
        {"serial": "SOMEBODY-1"},
        {"serial": "CARDSHOE-/../../sda"},
        {"vendor": "0403", "product": "6001"},
        {"product": "0002"},
    ],
)
def test_another_device_is_left_unchanged(tmp_path: Path, device: dict[str, str]) -> None:
    said = judged(tmp_path, **device)
    assert ours(said["device"]) == ours(said["port"]) == []
    assert "cardshoe" not in said["port"].replace(RULES.name, "")


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (["03", "01"], "keyboard"),
        (["08", "06"], "disk"),
        (["e0", "01"], "network, RNDIS"),
        (["02", "06"], "network, ECM"),
        (["02", "0d"], "network, NCM"),
        (["09", "00"], "hub"),
        (["fe", "01"], "firmware update"),
    ],
)
def test_an_interface_that_our_device_has_not_is_switched_off(tmp_path: Path, kind: list[str], what: str) -> None:
    said = judged(tmp_path, interfaces=[ACM, ACM_DATA, VENDOR, kind])
    assert said["authorized"] == ["1", "1", "1", "0"], what


def test_an_interface_of_another_device_is_not_ours_to_switch_off(tmp_path: Path) -> None:
    assert judged(tmp_path, serial="KEYS-1", interfaces=[["03", "01"]])["authorized"] == ["1"]
    assert "authorized" in RULES.read_text(encoding="utf-8")


def test_without_the_rules_none_of_this_happens(tmp_path: Path) -> None:
    said = judged(tmp_path, "", interfaces=[ACM, ["03", "01"]])
    assert ours(said["port"]) == []
    assert said["authorized"] == ["1", "1"]
