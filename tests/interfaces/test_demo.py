"""`cardshoe demo`: plays every game, ends by itself, repeats exactly, and shows what the seed planned."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from controller.games import GAMES
from controller.games.specification import StepKind, Unit
from simulators.people.plan import Mishap, plan_rounds

DEMO = [sys.executable, "-m", "controller", "demo", "--fast"]
NEVER = ("utc_ns", "boot", "start", "host_boot", "commitment", "salt", "/tmp")  # noqa: S108 - looked for, not used
DEVICES = {"shuffler": Unit.SETS, "shoe": Unit.SINGLES}
EVENTFUL = 830  # sixteen rounds of this seed have at least six different mishaps, whatever the game and the device
NUMBERS = {
    Mishap.EXPOSED_CARD: "I12",
    Mishap.SIMULTANEOUS: "I15",
    Mishap.FACE_UP: "I14",
    Mishap.FACE_UP_EARLY: "I14",
    Mishap.BEFORE_NO_MORE_BETS: "I28",
    Mishap.WRONG_COUNT: "I09",
    Mishap.WRONG_COUNT_HANDLED: "I11",
    Mishap.EXCHANGED: "I05",
    Mishap.ONE_TOO_MANY: "I16",
    Mishap.END_COUNT_SHORT: "I02",
    Mishap.END_COUNT_MISCOUNTED: "I02",
    Mishap.JAM: "I19",
}
OF_F3 = {Mishap.WRONG_COUNT: "I11", Mishap.EXCHANGED: "I07"}  # X2 does not ask whether cards were handled


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMO, *arguments], capture_output=True, text=True, timeout=110)


@pytest.mark.parametrize(("game_id", "device"), [("NC", "shuffler"), ("NC", "shoe"), ("F3", "shoe")])
def test_json_is_the_same_twice_and_bears_nothing_of_the_moment(game_id: str, device: str) -> None:
    arguments = ("--rounds", "12", "--seed", "7", "--json", "--game", game_id, "--device", device)
    first, second = (run(*arguments) for _ in range(2))
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


@pytest.mark.parametrize(("game_id", "device"), list(product(GAMES, DEVICES)))
def test_every_game_raises_what_the_seed_planned(game_id: str, device: str) -> None:
    """The command compares by itself and fails when anything is missed or invented."""
    plan = plan_rounds(EVENTFUL, DEVICES[device], 16, game_id=game_id)
    assert len({planned.mishap for planned in plan if planned.mishap}) >= 6
    done = run("--rounds", "16", "--seed", str(EVENTFUL), "--game", game_id, "--device", device)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    assert "none missed, none invented" in done.stdout
    first_round = done.stdout.split("round 1 concluded")[0]
    shown = [line.split()[0] for line in first_round.splitlines() if " shows " in line]
    if GAMES[game_id].step(StepKind.RETURNING) or game_id == "F3":
        assert shown[-1] == "D", "Players' hands lie open before the Dealer's"
    else:
        assert shown[0] == "D", "the Dealer's hand is the first to be turned"
    assert ("the First Card is" in first_round) == (game_id == "F3")


@pytest.mark.parametrize(("game_id", "unit"), list(product(GAMES, Unit)))
def test_the_plan_knows_every_mishaps_number(game_id: str, unit: Unit) -> None:
    due = NUMBERS | OF_F3 if game_id == "F3" else NUMBERS
    plan = [planned for planned in plan_rounds(1, unit, 900, game_id=game_id) if planned.mishap]
    assert {planned.mishap: planned.expected[1] for planned in plan if planned.mishap and planned.expected} == {
        planned.mishap: due[planned.mishap] for planned in plan if planned.mishap
    }
    left_out = set(Mishap) - {planned.mishap for planned in plan}
    if unit is Unit.SINGLES:
        assert left_out == {Mishap.FACE_UP_EARLY, Mishap.END_COUNT_MISCOUNTED}
    else:
        assert left_out == ({Mishap.FACE_UP_EARLY, Mishap.BEFORE_NO_MORE_BETS} if game_id == "F3" else set())


@pytest.mark.parametrize("options", [["--on-removal"], ["--no-stages"], ["--on-removal", "--no-stages"]])
def test_plays_with_every_way_of_dispensing(options: list[str]) -> None:
    done = run("--rounds", "12", "--seed", "8", *options)
    assert done.returncode == 0, done.stderr
    assert "none missed, none invented" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--game", "CANASTA"], "'CANASTA' is no game of this program."),
        (["--device", "shoe", "--on-removal"], "A shoe forms no sets."),
        (["--game", "F3", "--on-removal"], "3 Face Baccarat begins with one card"),
    ],
)
def test_what_cannot_be_played_is_said_in_a_sentence(arguments: list[str], sentence: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 2, "what is wrong, and what to do"


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
