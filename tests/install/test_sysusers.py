"""The system user that owns journals and devices: systemd creates it from our file, and other files use its name."""

import subprocess
from pathlib import Path

import pytest

UDEV = Path(__file__).parents[2] / "udev"
CONF = UDEV / "cardshoe.sysusers.conf"


def made_by(conf: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """Let systemd create the users in the test's root directory."""
    (root / "etc").mkdir(parents=True)
    return subprocess.run(
        ["systemd-sysusers", f"--root={root}", conf], capture_output=True, text=True, check=False, timeout=3000
    )


@pytest.mark.tool("systemd-sysusers")
def test_systemd_makes_the_user_and_its_group(tmp_path: Path) -> None:
    result = made_by(CONF, tmp_path / "root")
    assert result.returncode == 0, result.stderr
    (user,) = (tmp_path / "root/etc/passwd").read_text(encoding="utf-8").splitlines()
    (group,) = (tmp_path / "root/etc/group").read_text(encoding="utf-8").splitlines()
    name, _, uid, gid, _, home, shell = user.split(":")
    assert (name, home, shell) == ("cardshoe", "/", "/usr/sbin/nologin")
    assert group.split(":")[0] == "cardshoe"
    assert group.split(":")[2] == gid
    # udev accepts only system groups.
    assert 0 < int(uid) < 1000
    assert 0 < int(gid) < 1000


@pytest.mark.tool("systemd-sysusers")
def test_a_file_that_systemd_does_not_understand_fails(tmp_path: Path) -> None:
    broken = tmp_path / "broken.conf"
    broken.write_text(CONF.read_text(encoding="utf-8").replace("u cardshoe", "user cardshoe"), encoding="utf-8")
    result = made_by(broken, tmp_path / "root")
    assert result.returncode != 0
    assert "user" in result.stderr


def test_rules_and_unit_name_the_user_that_is_made() -> None:
    lines = [line.split() for line in CONF.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    ((kind, name, *_),) = lines
    assert kind == "u"
    assert f'GROUP="{name}"' in (UDEV / "70-cardshoe.rules").read_text(encoding="utf-8")
    unit = (UDEV / "cardshoe@.service").read_text(encoding="utf-8").splitlines()
    assert {f"User={name}", f"Group={name}"} <= set(unit)
