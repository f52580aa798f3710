"""The skeleton of a game in docs/skeleton_game: as a value, and as a sixth game of a copied tree."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

from controller.games.specification import Game

ROOT: Final = Path(__file__).parents[2]
SKELETON: Final = ROOT / "docs" / "skeleton_game"
NAME: Final = "controller.games.sk"
SIXTH: Final = "SIXTH"  # an id that no document has
COPIED: Final = ("controller", "firmware_bridge", "simulators", "tests", "tools", "docs")
LEFT_OUT: Final = ("__pycache__", "kept")  # old journals are large and not needed here


def skeleton() -> Game:
    """Return the skeleton's data, which is not in `GAMES`."""
    if NAME not in sys.modules:
        folder = SKELETON / "game"
        spec = spec_from_file_location(NAME, folder / "__init__.py", submodule_search_locations=[str(folder)])
        assert spec is not None
        assert spec.loader is not None
        sys.modules[NAME] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules[NAME])
    game = importlib.import_module(f"{NAME}.game").GAME
    assert isinstance(game, Game)
    return game


def copy_with_the_skeleton(to: Path) -> Path:
    """Copy this project's tree and do only step 1 of docs/a_new_game.md: the copy's game is `SIXTH`."""
    for folder in COPIED:
        shutil.copytree(ROOT / folder, to / folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    shutil.copy(ROOT / "pyproject.toml", to)
    step, _, _ = (to / "docs" / "a_new_game.md").read_text(encoding="utf-8").partition("\n2. ")
    commands = "\n".join(line for line in step.splitlines() if line.startswith(" " * 8))
    commands = commands.replace("xy", SIXTH.lower()).replace("XY", SIXTH)
    subprocess.run(["bash", "-e", "-c", commands], cwd=to, check=True)
    return to
