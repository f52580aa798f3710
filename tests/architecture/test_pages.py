"""Files, headings and tests to which pages and comments refer exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import PACKAGES, ROOT, Module, modules

FOLDERS: Final = ("controller/floor", "device_kit", "docs", "shuffle_audit", "simulators", "simulators/bench", "udev")
PAGES: Final = tuple(
    sorted([*(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md")), *ROOT.glob("*.md")])
)
LINK: Final = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)")
FILE: Final = re.compile(r"(?<![\w/.*<>{}-])((?:[\w-]+/)*[\w-]+\.(?:py|md))\b(?!\.)")
OF_THE_READER: Final = {"deal.py", "tests/games/xy/clauses.py", "a/b.py"}  # examples
CHECKED: Final = (*PACKAGES, "tests", "tools", "benchmarks")


@cache
def files() -> frozenset[str]:
    """Return every file of the project by its path from the root."""
    folders = (*CHECKED, "device_kit", "docs", "udev")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return frozenset(path.relative_to(ROOT).as_posix() for path in [*found, *ROOT.glob("*.*")])


def exists(name: str) -> bool:
    """Return whether a file ends with this path: `a/b.py` may leave out the folders before it."""
    return any(path == name or path.endswith(f"/{name}") for path in files())


def headings(page: Path) -> set[str]:
    """Return the anchors of a page, as a forge makes them from its headings."""
    lines = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    dead = []
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / target).resolve() if target else page
        if not path.exists() or (anchor and anchor not in headings(path)):
            dead.append(f"{target}#{anchor}" if anchor else target)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_page_names_exists(page: Path) -> None:
    named = set(FILE.findall(page.read_text(encoding="utf-8"))) - OF_THE_READER
    assert sorted(name for name in named if not exists(name)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_table_has_one_row_a_line(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"^.*\| \|-{3}.*$", text, re.MULTILINE), "the table was wrapped as a paragraph"


@cache
def remarks(module: Module) -> str:
    """Return docstrings and comments of a module. (A `#` in a string counts as a comment too; such text must not name a
    missing file either.)
    """
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [
        ast.get_docstring(node, clean=False) or "" for node in ast.walk(module.tree) if isinstance(node, described)
    ]
    return "\n".join([*docstrings, *re.findall(r"#.*$", module.text, re.MULTILINE)])


def test_every_file_that_a_docstring_or_a_comment_names_exists() -> None:
    dead = {
        f"{module.name}: {name}"
        for module in modules(*CHECKED)
        for name in FILE.findall(remarks(module))
        if name not in OF_THE_READER and not exists(name)
    }
    assert sorted(dead) == []


def test_every_module_that_a_page_or_a_docstring_names_exists() -> None:
    """A dotted name starts with a package: a module, or an attribute of one."""
    known = {module.name for module in modules(*CHECKED)}
    dotted = re.compile(rf"(?:python -m |`)((?:{'|'.join(CHECKED)})(?:\.\w+)+)")
    texts = [(page.name, page.read_text(encoding="utf-8")) for page in PAGES]
    texts += [(module.name, remarks(module)) for module in modules(*CHECKED)]
    dead = {
        f"{where}: {name}"
        for where, text in texts
        for name in dotted.findall(text)
        if name not in known and name.rpartition(".")[0] not in known
    }
    assert sorted(dead) == []
