"""Messages refer to what an installed package has: its commands, and no page of this tree."""

from __future__ import annotations

import ast
import re
from typing import Final

from tests.architecture.sources import PACKAGES, Module, modules

OF_THE_TREE: Final = re.compile(
    r"(?<![/\w])(docs|udev|tests|benchmarks)/|\bREADME\b"
)  # and no path of a PC, such as /etc/udev/
MAKES_A_PAGE: Final = frozenset({"simulators.devices.faults"})
BROKEN_GAME: Final = "copy it from docs/skeleton_game/game"  # for a person who adds a game, and has the sources


def _said(module: Module) -> list[str]:
    """Return the strings of a module that are not its documentation."""
    described = _docstrings(module.tree)
    return [
        node.value
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described
    ]


def _docstrings(tree: ast.Module) -> set[int]:
    """Return the places of docstrings, and of string statements that explain the previous line."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def test_no_text_for_people_names_a_file_that_is_not_installed() -> None:
    inspected = [module for module in modules(*PACKAGES) if module.name not in MAKES_A_PAGE]
    said = [(module.name, text) for module in inspected for text in _said(module)]
    assert not [(name, text) for name, text in said if OF_THE_TREE.search(text) and BROKEN_GAME not in text]
