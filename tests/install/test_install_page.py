"""The commands of docs/install.md are run in order, on a PC that is simulated in a folder.

For systemd, udev and the network, a substitute program records how it was called.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.architecture.sources import ROOT
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import short_folder

PAGE = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```sh( [a-z ]+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OF_THE_PC = re.compile(r"(?<![\w./-])/(etc|var|run|opt|usr)/")
NOTED = ("apt-get", "chown", "findmnt", "python3", "pip", "systemctl", "udevadm")
BY_HAND = ("asks", "of the system")  # what a person answers, and what only a complete PC has
NEW_PC = "Replace a PC"
OF_A_TABLE = ("table.toml", "journal.key", "device.keys", "signing.key")


class Block(NamedTuple):
    section: str
    kind: str
    text: str


def blocks() -> list[Block]:
    found = []
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        section = part.partition("\n")[0]
        found += [Block(section, kind.strip(), text) for kind, text in BLOCK.findall(part)]
    return found


FROM_SOURCES = "[program]\ndevelopment = true\n"


class Technician:
    """Follows the page in a folder: `pc` is the PC, `new` the one that replaces it."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "w"
        self.pcs = {False: folder / "pc", True: folder / "new"}
        self.mnt = folder / "mnt"
        self.log = folder / "noted"
        self.programs = folder / "bin"
        self.environment = dict(os.environ)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]  # another program may have the page's
        for path in (self.work, self.programs, self.mnt / "safe", self.mnt / "backup"):
            path.mkdir(parents=True)
        for pc in self.pcs.values():
            for name in ("etc", "var/lib/cardshoe/NC-01", "run/cardshoe/NC-01", "opt/cardshoe/bin", "usr/local/bin"):
                (pc / name).mkdir(parents=True)
        for name in NOTED:
            self._program(name, f'echo "{name} $*" >> {self.log}')
        for pc in self.pcs.values():
            (pc / "opt/cardshoe/bin/pip").symlink_to(self.programs / "pip")
        self._program("cardshoe", f'cd "$PWD" && PYTHONPATH={ROOT} exec {sys.executable} -m controller "$@"')

    def _program(self, name: str, line: str) -> None:
        path = self.programs / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def run(self, block: Block) -> str:
        """Run all commands of a block; each must succeed, but `doctor` may find something."""
        pc = self.pcs[block.section == NEW_PC]
        text = self.written(block.text, pc)
        text = re.sub(r"^(cardshoe doctor .*)$", r"\1 || test $? = 1", text, flags=re.MULTILINE)
        environment = self.environment | {"PATH": f"{self.programs}:{os.environ['PATH']}", "DESTDIR": str(pc)}
        done = subprocess.run(
            ["sh", "-euc", text], cwd=self.work, env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, (block, done.stdout, done.stderr)
        self._relocate(pc)
        return done.stdout

    def written(self, text: str, pc: Path) -> str:
        text = OF_THE_PC.sub(lambda found: f"{pc}/{found[1]}/", text).replace("/mnt/", f"{self.mnt}/")
        text = text.replace("--port 8080", f"--port {self.port}")
        return text.replace("--console-user dealer", f"--console-user {os.getuid()}")

    def _relocate(self, pc: Path) -> None:
        """Adapt the installed configuration: the PC's paths are in its folder, and the program runs from sources."""
        table = pc / "etc/cardshoe/NC-01/table.toml"
        if table.exists():
            text = table.read_text().replace(f"{self.pcs[False]}/", "/")
            text = OF_THE_PC.sub(lambda found: f"{pc}/{found[1]}/", text.replace(f"{pc}/", "/"))
            table.write_text(text if FROM_SOURCES in text else f"{text}\n{FROM_SOURCES}")

    @asynccontextmanager
    async def daemon(self, *arguments: str) -> Any:
        child = Child("controller", "run", *arguments)
        try:
            await child.until(lambda: child.logged("daemon.started"))
            yield child
            assert await child.end() == 0
        finally:
            child.abandon()


def test_a_backup_first_checks_the_mount_and_has_a_folder_for_each_table() -> None:
    first = next(one for one in blocks() if one.section == "Backup")
    assert first.text == "findmnt /mnt/backup && findmnt /mnt/safe\n"
    assert re.findall(r"/mnt/safe/(?!NC-01)\S+", PAGE) == []


def test_the_page_installs_the_program_as_the_readme_does() -> None:
    (by_pip,) = (one.text for one in blocks() if "/opt/cardshoe/bin/pip" in one.text and "venv" in one.text)
    lines = re.findall(r"pip (install .*)$", by_pip, re.MULTILINE)
    readme = (ROOT / "README.md").read_text("utf-8")
    assert len(lines) == 2
    assert all(f".venv/bin/pip {line}" in readme for line in lines)


@pytest.mark.soak
@pytest.mark.tool("systemd-sysusers")
async def test_from_a_bare_pc_to_a_dealt_round_and_later_steps() -> None:
    todo = blocks()

    def take(kind: str = "") -> Block:
        block = todo.pop(0)
        assert block.kind == kind, block
        return block

    with short_folder() as folder:
        technician = Technician(folder)
        run: Callable[[Block], str] = technician.run
        pc, new = technician.pcs.values()
        run(take())  # 1. the program, from the package
        run(take())  # and with pip instead
        await _round_without_a_device(technician, run(take()), take("in the background"), take())
        assert take("asks").text == "cardshoe init NC-01\n"
        for _ in ("init", "install.sh", "safe", "pair", "restart", "doctor"):
            said = run(take())
        assert "Table NC-01" in said
        for name in ("usr", "run"):
            assert (pc / name).is_dir()
        async with technician.daemon("--config", str(pc / "etc/cardshoe/NC-01/table.toml")):
            status, watch = technician.written(take("at the running table").text, pc).splitlines()
            assert watch.startswith("runuser -u dealer -- cardshoe watch --socket ")
            asked = Child("controller", *status.partition(" -- cardshoe ")[2].split())
            assert await asked.ended() == 1, "no device is connected"
            assert "Table NC-01 · out of service" in asked.out[0]
            asked.abandon()
        for block in todo:
            if block.kind not in BY_HAND:
                run(block)
        assert "CARDSHOE-0002" in (pc / "etc/udev/rules.d/72-cardshoe-NC-01.rules").read_text()
        (before,) = (pc / "var/lib/cardshoe/NC-01").glob("journal.before-*")
        assert {one.name for one in before.glob("*.journal")} == {"000001.journal"}, "what is moved away is kept"
        assert {one.name for one in (technician.mnt / "safe/NC-01").iterdir()} == set(OF_A_TABLE), "a folder a table"
        noted = technician.log.read_text()
        assert f"chown -R cardshoe-NC-01: {pc}/var/lib/cardshoe/NC-01/journal" in noted
        assert "systemctl restart cardshoe@NC-01" in noted
        async with technician.daemon("--config", str(new / "etc/cardshoe/NC-01/table.toml")):
            asked = Child("controller", "status", "--config", str(new / "etc/cardshoe/NC-01/table.toml"))
            assert await asked.ended() == 1
            assert any("pin" in line for line in asked.out), asked.out
            asked.abandon()


async def _round_without_a_device(technician: Technician, said: str, daemon: Block, then: Block) -> None:
    pins = dict(re.findall(r"^PIN for .* \((\w+)\): (\d+)$", said, re.MULTILINE))
    technician.environment |= {f"PIN_OF_{name.upper()}": pin for name, pin in pins.items()}
    (line,) = daemon.text.splitlines()
    assert line.startswith("cardshoe run --config ")
    async with technician.daemon("--config", str(technician.work / line.split()[-1])):
        listed = technician.run(then)
    assert "played 1 round;" in listed
