"""A sixth game by its folders only: the skeleton, copied into a tree without other changes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.skeleton import copy_with_the_skeleton

CARDSHOE = ("-c", "from controller.commands.main import main; main()")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_with_the_skeleton(tmp_path_factory.mktemp("tree"))


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the packages of that tree ahead of the installed packages."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )


def test_the_commands_know_it(tree: Path) -> None:
    rules = run(tree, *CARDSHOE, "rules", "SIXTH")
    assert (rules.returncode, rules.stderr) == (0, "")
    assert rules.stdout.startswith("Skeleton (SIXTH)\n")
    odds = run(tree, *CARDSHOE, "odds", "sixth")
    assert odds.returncode == 0
    assert "the box's hand ranks higher, with 7 points (SIXTH 2.1)" in odds.stdout


def test_its_scenario_is_found_and_played(tree: Path) -> None:
    played = run(tree, *CARDSHOE, "demo", "--scenario", "sixth/i12-exposed")
    assert played.returncode == 0, played.stdout + played.stderr
    assert "Every expectation held." in played.stdout


def test_rounds_are_demonstrated(tree: Path) -> None:
    shown = run(tree, *CARDSHOE, "demo", "--game", "SIXTH", "--rounds", "1", "--fast", "--json")
    assert shown.returncode == 0, shown.stderr
    assert "As planned: none missed, none invented." in shown.stderr


@pytest.mark.exhaustive
def test_the_tests_of_every_game_cover_it(tree: Path) -> None:
    """Once the pages are generated, it also passes the tests of every game and of the pages."""
    drawn = run(tree, "-m", "tools.generate", "clause_coverage", "docs/scenarios")
    assert drawn.returncode == 0, drawn.stderr
    for page in ("clause_coverage.md", "scenarios.md"):
        assert "SIXTH" in (tree / "docs" / page).read_text(encoding="utf-8")
    files = (
        "tests/games/sixth",
        "tests/rules",
        "tests/clauses",
        "tests/scenarios",
        "tests/search/test_search.py",
        "tests/table/test_every_game.py",
        "tests/table/test_uncounted_devices.py",
        "tests/interfaces/test_demo.py",
        "tests/interfaces/test_demo_wagers.py",
    )
    done = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "sixth or page", *files)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_a_folder_that_is_not_a_game_is_named_and_stops_no_other(tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(tree, other)
    (other / "controller/games/sixth").rename(other / "controller/games/zz")
    for path in (other / "controller/games/zz").glob("*.py"):
        path.write_text(path.read_text(encoding="utf-8").replace("games.sixth", "games.zz").replace('"SIXTH"', '"NC"'))
    refused = run(other, *CARDSHOE, "rules", "ZZ")
    assert refused.returncode == 2
    assert refused.stderr.startswith(
        "cardshoe: GAME 'ZZ' is not a game of this program.\n"
        "  controller/games/zz has the id NC; controller/games/nc has that id; give this one another.\n"
    )
    assert run(other, *CARDSHOE, "rules", "NC", "--section", "round").returncode == 0
