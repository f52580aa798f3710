"""`cardshoe floor try`: the whole floor with Debian packages; afterwards nothing is left of it."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from controller.problems import ProblemError
from simulators.floor_trial import servers
from tests.end_to_end.processes import Child
from tests.floor.postgres import TOOL

pytestmark = [pytest.mark.tool("mosquitto"), pytest.mark.tool(TOOL)]


def folder_of(child: Child) -> Path:
    """Return the folder of a trial, as its output names it."""
    found = re.search(r"[^' =]*/cardshoe-floor-\w+", "\n".join(child.out))
    assert found is not None
    return Path(found[0])


async def test_every_table_of_a_trial_is_in_the_store_and_nothing_is_left() -> None:
    child = Child("controller", "floor", "try", "--tables", "2", "--rounds", "1", "--fast")
    try:
        assert await child.ended() == 0, child.err
    finally:
        await child.end()
    told = [re.fullmatch(r"(\S+): in the store up to entry [0-9,]+, 0 alarms", line) for line in child.out]
    assert [found[1] for found in told if found] == ["nc-01", "tp-02"]
    assert not folder_of(child).exists()


async def test_a_broker_that_is_killed_runs_again_and_everything_arrives() -> None:
    child = Child("controller", "floor", "try", "--tables", "1", "--rounds", "2", "--fast")
    try:
        await child.until(lambda: any("The database" in line for line in child.out))
        os.kill(process_of(child.pid, "mosquitto"), signal.SIGKILL)
        assert await child.ended() == 0, child.err
    finally:
        await child.end()
    assert "The broker runs again." in child.out
    assert re.fullmatch(r"nc-01: in the store up to entry [0-9,]+, 0 alarms", child.out[-1])


PRESSED_TWICE = """
import io, os, signal, sys

class Presses(io.FileIO):
    def write(self, data):
        written = super().write(data)
        if b"The floor: " in bytes(data):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return written

sys.stdout = io.TextIOWrapper(io.BufferedWriter(Presses(1, "w", closefd=False)), encoding="utf-8")
from controller.commands.main import main
main(prog_name="cardshoe")
"""


async def test_ctrl_c_pressed_twice_prints_nothing_twice_and_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "pressed.py").write_text(PRESSED_TWICE)
    child = Child(str(tmp_path / "pressed.py"), "floor", "try", "--tables", "1", "--fast")
    try:
        assert await child.ended() == 0, child.err
    finally:
        await child.end()
    assert sum(line.startswith("The floor: ") for line in child.out) == 1
    assert not folder_of(child).exists()
    assert not naming(folder_of(child).name)


def naming(word: str) -> list[str]:
    """Return the commands of running processes that contain a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            found.append(path.read_text(errors="replace"))
    return [command for command in found if word in command]


@pytest.mark.parametrize("program", ["postgres", "run"])
async def test_a_process_that_ends_ends_the_trial_with_a_sentence(program: str) -> None:
    child = Child("controller", "floor", "try", "--tables", "1", "--fast")
    try:
        await child.until(lambda: any("Ctrl-C" in line for line in child.out))
        os.kill(process_of(child.pid, program), signal.SIGKILL)
        assert await child.ended() == 1
    finally:
        await child.end()
    assert re.search(rf"\b{program}`? failed: ", "\n".join(child.err))
    assert not folder_of(child).exists()


def process_of(parent: int, program: str) -> int:
    """Return the child of that process that runs the program, or the command of that name."""
    for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        words = Path(f"/proc/{each}/cmdline").read_text().split("\0")
        if program in (*words[:5], Path(words[0]).name):
            return int(each)
    raise AssertionError(program)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(servers, "PACKAGED", tmp_path)
    monkeypatch.setattr(servers, "SBIN", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProblemError, match="not installed: mosquitto, postgresql") as refused:
        servers.find_servers()
    assert refused.value.hint == "apt install mosquitto postgresql"
