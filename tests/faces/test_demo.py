"""`cardshoe demo`: ends by itself, repeats exactly, and shows what the seed planned."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = [sys.executable, "-m", "controller", "demo", "--fast"]
NEVER = ("utc_ns", "boot", "start", "commitment", "salt", "/tmp")  # noqa: S108 - looked for, not used


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *arguments], capture_output=True, text=True, timeout=110)


@pytest.mark.parametrize("grammar", ["by-hand", "by-round"])
def test_json_is_the_same_twice_and_bears_nothing_of_the_moment(grammar: str) -> None:
    first, second = (run("--rounds", "40", "--seed", "7", "--json", "--grammar", grammar) for _ in range(2))
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    lines = first.stdout.splitlines()
    assert all(isinstance(json.loads(line)["event"], str) for line in lines)
    assert not any(f'"{word}"' in first.stdout or word in first.stdout for word in NEVER if word.startswith("/"))
    assert not any(f'"{word}":' in first.stdout for word in NEVER)
    assert "none missed, none invented" in first.stderr


def test_full_shows_the_moment_too() -> None:
    done = run("--rounds", "1", "--json", "--full")
    assert done.returncode == 0
    assert '"commitment":' in done.stdout
    assert '"utc_ns":' in done.stdout


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("grammar", ["by-hand", "by-round"])
def test_raises_what_the_seed_planned(seed: int, grammar: str) -> None:
    """The command compares by itself and fails when anything is missed or invented."""
    done = run("--rounds", "25", "--seed", str(seed), "--grammar", grammar)
    assert done.returncode == 0, done.stderr
    assert "none missed, none invented" in done.stdout
    for row in ("I12", "I14", "I15"):
        assert f"IRREGULARITY {row}" in done.stdout


@pytest.mark.parametrize("options", [["--on-removal"], ["--no-stages"], ["--on-removal", "--no-stages"]])
def test_plays_with_every_way_of_dispensing(options: list[str]) -> None:
    done = run("--rounds", "25", "--seed", "8", *options)
    assert done.returncode == 0, done.stderr
    assert "none missed, none invented" in done.stdout


def test_draws_a_table_in_a_terminal(tmp_path: Path) -> None:
    """On a real terminal: the layout, the device with its age, the mark of a simulation; then the summary."""
    master, slave = pty.openpty()
    try:
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "110", "LINES": "45"}
        process = subprocess.Popen([*DEMO, "--rounds", "4"], stdout=slave, stderr=slave, env=environment)
        os.close(slave)
        shown = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
        assert process.wait(60) == 0
    finally:
        os.close(master)
    text = shown.decode(errors="replace")
    for word in ("SIMULATED", "Non-Commission Three Pictures", "Box ", "Dealer", "heard", "none invented"):
        assert word in text
