"""The project's modules as text and syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("firmware_bridge", "controller", "simulators")


class Module(NamedTuple):
    """One file. `name` is dotted; a package is named without `__init__`."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    def is_in(self, *rooms: str) -> bool:
        return any(self.name == room or self.name.startswith(f"{room}.") for room in rooms)


@cache
def modules(*rooms: str) -> tuple[Module, ...]:
    """Every module below these folders of the project."""
    return tuple(_read(path) for room in rooms for path in sorted((ROOT / room).rglob("*.py")))


def _read(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    text = path.read_text(encoding="utf-8")
    return Module(name, path, text, ast.parse(text))


def imported(module: Module) -> Iterator[str]:
    """Every module that is imported anywhere in a file, by its whole dotted name; `a.b` for `from a import b`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base_of(module, node)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _base_of(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    for _ in range(node.level - 1):
        package = package.rpartition(".")[0]
    return f"{package}.{node.module}" if node.module else package


def called(module: Module) -> Iterator[tuple[int, str]]:
    """Line and name of every call: `f` of `f()`, `.m` of `x.m()`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.lineno, node.func.id
            elif isinstance(node.func, ast.Attribute):
                yield node.lineno, f".{node.func.attr}"
