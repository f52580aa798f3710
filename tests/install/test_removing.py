"""udev/README.md, "Removing it": what `install.sh` installed is removed, and the remaining tables lose nothing."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.commands.main import main
from tests.architecture.sources import ROOT
from tests.interfaces.test_init import REAL

SECTION = (ROOT / "udev/README.md").read_text("utf-8").partition("## Removing it\n")[2]
ONE, LAST = re.findall(r"^```sh\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
LIVES_ON = {"passwd", "group", "shadow", "gshadow", ".pwd.lock"}  # the users that own the journals


def installed(pc: Path, made: Path, table: str) -> None:
    options = [table if one == "NC-01" else one for one in REAL]
    assert CliRunner().invoke(main, ["init", str(made / table), *options]).exit_code == 0
    env = os.environ | {"DESTDIR": str(pc)}
    subprocess.run(["sh", str(made / table / "install.sh")], env=env, check=True, capture_output=True)


def carried_out(commands: str, pc: Path, table: str = "") -> None:
    text = re.sub(r"(?<= )/(etc|opt|usr)/", lambda found: f"{pc}/{found[1]}/", commands.replace("TABLE", table))
    subprocess.run(["sh", "-euc", "systemctl() { :; }\nudevadm() { :; }\n" + text], check=True)


def files(pc: Path) -> dict[str, bytes]:
    found = {str(one.relative_to(pc)): one.read_bytes() for one in pc.rglob("*") if one.is_file()}
    return {name: content for name, content in found.items() if Path(name).name.rstrip("-") not in LIVES_ON}


@pytest.mark.tool("systemd-sysusers")
def test_one_table_is_removed_and_then_the_last(tmp_path: Path) -> None:
    pc = tmp_path / "pc"
    (pc / "etc").mkdir(parents=True)
    installed(pc, tmp_path, "NC-02")
    before = files(pc)
    assert before
    installed(pc, tmp_path, "NC-01")
    (pc / "etc/systemd/system/cardshoe@NC-01.service.d/override.conf").write_text("[Service]\n")
    carried_out(ONE, pc, "NC-01")
    assert files(pc) == before, "the other table has all that it had"
    carried_out(ONE, pc, "NC-02")
    assert "etc/systemd/system/cardshoe@.service" in files(pc)
    carried_out(LAST, pc)
    assert files(pc) == {}
