"""The project's modules as text and syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = ("firmware_bridge", "controller", "shuffle_audit", "simulators")


@dataclass(frozen=True)
class Module:
    """A source file. `name` is dotted; a package is named without `__init__`. The tree is parsed on demand."""

    name: str
    path: Path
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def is_in(self, *folders: str) -> bool:
        return any(self.name == folder or self.name.startswith(f"{folder}.") for folder in folders)


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Return every module below these folders of the project."""
    return tuple(_read(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))


@cache
def _read(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, path, path.read_text(encoding="utf-8"))


def imported(module: Module) -> Iterator[str]:
    """Yield every module that is imported anywhere in a file, by its whole dotted name; for `from a import b` that is
    `a.b`.
    """
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
    """Yield the line and the name of every call: `f` of `f()`, `.m` of `x.m()`."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.lineno, node.func.id
            elif isinstance(node.func, ast.Attribute):
                yield node.lineno, f".{node.func.attr}"


def import_graph(*folders: str) -> dict[str, set[str]]:
    """Return the modules of these folders, each with those of them that it imports.

    Imports at the top, within functions and for type checking count alike. A package's `__init__` is one module;
    importing a module of the package does not count as importing it.
    """
    known = {module.name: module for module in modules(*folders)}
    return {
        name: {found for one in imported(module) if (found := _nearest(one, known)) not in ("", name)}
        for name, module in known.items()
    }


def _nearest(name: str, known: Container[str]) -> str:
    """Return the module that `from a.b import c` reads: `a.b.c` if that is a module, else `a.b`, or
    "" if neither is.
    """
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def circles(graph: Mapping[str, Collection[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module, by Tarjan's algorithm.

    >>> circles({"a": ["b"], "b": ["c"], "c": ["b"]})
    [['b', 'c']]
    """
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_path: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        open_path.append(name)
        for other in graph[name]:
            if other not in index:
                visit(other)
            if other in open_path:
                lowest[name] = min(lowest[name], lowest[other])
        if lowest[name] == index[name]:
            component = open_path[open_path.index(name) :]
            del open_path[open_path.index(name) :]
            if len(component) > 1:
                found.append(sorted(component))

    for name in graph:
        if name not in index:
            visit(name)
    return found
