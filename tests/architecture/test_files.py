"""Every module has a docstring, and every folder is a package."""

from __future__ import annotations

import ast

from tests.architecture.sources import PACKAGES, ROOT, modules

EVERYTHING = modules(*PACKAGES, "tests", "benchmarks")


def test_every_module_states_its_purpose() -> None:
    assert not [module.name for module in modules(*PACKAGES) if not (ast.get_docstring(module.tree) or "").strip()]


def test_every_folder_is_a_package_so_that_no_module_is_overlooked() -> None:
    folders = {module.path.parent for module in EVERYTHING if module.path.parent.name != "benchmarks"}
    assert not [folder.name for folder in folders if not (folder / "__init__.py").is_file()]


def test_no_file_of_cards_is_at_the_root() -> None:
    """`cardshoe simulate` writes one where it keeps its state, and not into its working directory."""
    assert list(ROOT.glob("*.cards.csv")) == []
