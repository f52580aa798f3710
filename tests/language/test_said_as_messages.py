"""Text that reaches a person is a message where it is made: no exception and no output of a command has other words.

mypy holds that an exception's message is a `Message` or text; this test holds that the text was not written here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.catalogue import ROOT

SOURCES = ("controller", "firmware_bridge")
PRINT = frozenset({"echo", "entry", "fail", "heading", "prompted", "rows", "say", "write_out"})
MESSAGES = frozenset({"message", "counted", "Message", "RefusedError"})
BASES = frozenset({"MessageError", "ProblemError"})
COMMANDS = re.compile(r"(apt-get|cardshoe|chmod|chown|journalctl|rm|sh|sudo|systemctl|udevadm) ")
"""What a person enters in a shell is the same in every language."""


def modules(root: Path = ROOT) -> Iterator[tuple[str, ast.Module]]:
    for source in SOURCES:
        for path in sorted((root / source).rglob("*.py")):
            name = str(path.relative_to(root))
            yield name, ast.parse(path.read_text("utf-8"))


def errors(root: Path = ROOT) -> frozenset[str]:
    """Return the names of all exceptions that people read."""
    bases = {
        node.name: {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases}
        for source in SOURCES
        for path in (root / source).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    }
    found = set(BASES)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return frozenset(found)


def called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def own_words(node: ast.AST) -> Iterator[str]:
    """Yield the texts within an expression that are words of ours and not those of a message."""
    if isinstance(node, ast.Call) and called(node.func) in MESSAGES:
        return
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    else:
        for child in ast.iter_child_nodes(node):
            yield from own_words(child)
        return
    if re.search(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}", text) and not COMMANDS.match(text):
        yield text


def said_elsewhere(root: Path = ROOT) -> Iterator[str]:
    wrong = errors(root)
    for name, module in modules(root):
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and called(node.func) in wrong | PRINT:
                for argument in (*node.args, *(one.value for one in node.keywords)):
                    yield from (f"{name}:{node.lineno}: {text}" for text in own_words(argument))


def test_no_exception_and_no_output_is_made_of_other_words() -> None:
    assert list(said_elsewhere()) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('write_out(message("{path} is missing.", path=path))', []),
        ('write_out(f"{path} is missing.")', ["0 is missing."]),
        ('raise BadInputError(message("No."), f"Name {path} or another one.")', ["Name 0 or another one."]),
        ('paper.entry("there it is" if found else message("nowhere"))', ["there it is"]),
        ('write_out(f"systemctl restart {unit} now")', []),
    ],
)
def test_words_that_are_not_a_message_are_found(tmp_path: Path, line: str, found: list[str]) -> None:
    folder = tmp_path / "controller"
    folder.mkdir()
    (folder / "one.py").write_text(f"class BadInputError(ProblemError): ...\n{line}\n")
    assert list(said_elsewhere(tmp_path)) == [f"controller/one.py:2: {text}" for text in found]
