"""The sentences that people can see, read from the source as templates.

`python -m tests.language.templates` lists those that the catalogue lacks, each with an empty translation, as a skeleton
to fill in. A string with a blank in it is a sentence or a part of one. An f-string becomes a template with named
arguments: what is written in place, or by a helper of the same module, becomes one template for each form; anything
else an argument.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.language.catalogue import read

HERE: Final = Path(__file__).resolve().parents[2]
SOURCES: Final = (
    "controller/api",
    *(f"controller/daemon/{part}.py" for part in ("checking", "disk_pace", "faults", "journal_keeper", "witnessing")),
    "controller/games/common.py",
    "controller/games/kind_words.py",
    "controller/games/own_words.py",
    "controller/games/specification.py",
    *(f"controller/games/{game}/irregularities.py" for game in ("f3", "nc", "p3", "rtp", "tp")),
    *(f"controller/rules/{part}.py" for part in ("hands", "law", "layout", "placing", "settlement", "viewing")),
    "controller/journal/pinning.py",
    "controller/table",
)
LEFT_OUT: Final = frozenset({"client.py", "door.py", "phases.py", "states_document.py", "tcp_listener.py"})
"""Of the daemon's start, of pages of docs/ and of the programs that ask the daemon."""

NOT_SHOWN: Final = frozenset((Path(__file__).parent / "not_shown.txt").read_text("utf-8").splitlines())
"""Of the other files: what no person at a table sees, and parts of sentences that the catalogue has in each form."""

MOST_FORMS: Final = 12
MESSAGES: Final = frozenset({"Message", "counted", "message"})
FOR_PROGRAMMERS: Final = frozenset({"ValueError", "TypeError", "AssertionError", "KeyError", "RuntimeError"})
LOGGED: Final = frozenset({"info", "warning", "error", "exception", "debug"})
SLOT: Final = re.compile(r"\{\w+(?::\w+)?\}")
SENTENCE: Final = re.compile(r"[A-Za-z]{2}.* |(?<!^) .*[A-Za-z]{2}", re.DOTALL)
PART: Final = re.compile(r"^[ ,;:]|[ :]$")  # of a sentence: it stands in the forms of the whole
CLAUSE: Final = re.compile(r"^[A-Z0-9]+ [A-Z]*[0-9.]+$")
ADJACENT: Final = re.compile(r"(\{\w+\})(?:\{\w+\})+")


def templates() -> dict[str, str]:
    """Each template with the file where it stands first."""
    found: dict[str, str] = {}
    for path in _files():
        module = _Module(ast.parse(path.read_text("utf-8")))
        for template in module.templates():
            found.setdefault(template, str(path.relative_to(HERE)))
    return {template: where for template, where in found.items() if template not in NOT_SHOWN}


def missing(language: str) -> dict[str, str]:
    """A skeleton of what the catalogue lacks."""
    known = read(language)
    return {template: "" for template in templates() if template not in known}


def _files() -> Iterator[Path]:
    for source in SOURCES:
        path = HERE / source
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        yield from (file for file in files if file.name not in LEFT_OUT)


class _Module:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._helpers = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self._left_out = set(self._not_said())
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._assigned.setdefault(node.targets[0].id, []).append(node.value)

    def templates(self) -> Iterator[str]:
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Call) and _called(node) in MESSAGES:
                texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                yield from (text.rstrip(".") for text in texts if SLOT.sub("", text).strip(" .:,"))
            if id(node) in self._left_out or not isinstance(node, ast.JoinedStr | ast.Constant):
                continue
            for form in self._forms(node, 0) or ():
                template = in_short(form) if isinstance(node, ast.JoinedStr) else form.rstrip(".").strip("\n")
                if SENTENCE.search(template) and not (PART.search(template) or CLAUSE.search(template)):
                    yield template

    def _not_said(self) -> Iterator[int]:
        """Docstrings, and what is written for programmers; parts of f-strings, which are read with their whole."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield id(node.value)
            elif isinstance(node, ast.Assert) and node.msg is not None:
                yield from map(id, ast.walk(node.msg))
            elif isinstance(node, ast.Call) and _called(node) in FOR_PROGRAMMERS | LOGGED:
                yield from map(id, ast.walk(node))
            elif isinstance(node, ast.JoinedStr):
                yield from (id(part) for part in node.values if isinstance(part, ast.Constant))
                yield from (
                    id(part.format_spec)
                    for part in node.values
                    if isinstance(part, ast.FormattedValue) and part.format_spec is not None
                )

    def _forms(self, node: ast.expr | None, depth: int) -> list[str] | None:
        """What this comes to, a template each; None: it is not known here."""
        if depth > 4:
            return None
        found: list[str] | None = None
        if isinstance(node, ast.Constant):
            found = [node.value] if isinstance(node.value, str) else None
        elif isinstance(node, ast.JoinedStr):
            parts = [self._part(part, depth) for part in node.values]
            found = ["".join(one) for one in itertools.product(*parts)]
            if len(found) > MOST_FORMS:
                shown = zip(parts, node.values, strict=True)
                found = ["".join(part[0] if len(part) == 1 else _slot(value) for part, value in shown)]
        elif isinstance(node, ast.IfExp):
            found = self._all([node.body, node.orelse], depth)
        elif isinstance(node, ast.Name) and node.id.islower() and node.id in self._assigned:
            found = self._all([*self._assigned[node.id]], depth)
        elif isinstance(node, ast.Call) and _called(node) in self._helpers:
            returned = [one.value for one in ast.walk(self._helpers[_called(node)]) if isinstance(one, ast.Return)]
            found = self._all(returned, depth) if returned else None
        return found if found is not None and len(found) <= MOST_FORMS else None

    def _all(self, nodes: list[ast.expr | None], depth: int) -> list[str] | None:
        forms = [self._forms(node, depth + 1) for node in nodes]
        return None if any(form is None for form in forms) else [one for form in forms for one in form or ()]

    def _part(self, part: ast.expr, depth: int) -> list[str]:
        if isinstance(part, ast.Constant):
            return [str(part.value)]
        assert isinstance(part, ast.FormattedValue)
        return self._forms(part.value, depth + 1) or [_slot(part.value)]


def in_short(template: str) -> str:
    """Arguments that follow one another are one; each has a name of its own; no full stop at the end."""
    seen: dict[str, int] = {}

    def once(found: re.Match[str]) -> str:
        name = found[0][1:-1]
        seen[name] = seen.get(name, 0) + 1
        return found[0] if seen[name] == 1 else f"{{{name}{seen[name]}}}"

    return SLOT.sub(once, ADJACENT.sub(r"\1", template)).rstrip(".").strip("\n")


def _called(node: ast.Call) -> str:
    if isinstance(node.func, ast.Name):
        return node.func.id
    return node.func.attr if isinstance(node.func, ast.Attribute) else ""


def _slot(node: ast.expr) -> str:
    return f"{{{_name(node)}}}"


def _name(node: ast.expr) -> str:
    """What to call an argument: as the source does."""
    if isinstance(node, ast.FormattedValue):
        return _name(node.value)
    if isinstance(node, ast.Name):
        return node.id.strip("_")
    if isinstance(node, ast.Subscript):
        key = node.slice
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else _name(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr.strip("_")
    if isinstance(node, ast.Call):
        name = _called(node)
        inner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in {"rstrip", "upper", "replace", "lower", "strip", "format"} and inner is not None:
            return _name(inner)
        if name in {"join", "len", "str", "sum", "plain", "repr", "map"} and node.args:
            return _name(node.args[-1])
        return name.strip("_")
    if isinstance(node, ast.BoolOp):
        return _name(node.values[0])
    return "it"


if __name__ == "__main__":
    named = sys.argv[1] if len(sys.argv) > 1 else "zh-Hans"
    sys.stdout.write(json.dumps(missing(named), ensure_ascii=False, indent=1) + "\n")
