"""Text that reaches a person is a message where it is made: no exception and no output of a command has other words.

mypy holds that an exception's message is a `Message` or text; this test holds that the text was not written here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tools.catalogue import ROOT

SOURCES = ("controller", "firmware_bridge", "simulators")
IN_ENGLISH = ("simulators/bench", "simulators/scenarios")
"""Parts whose texts are in one language: the bench's report, and the files of scenarios (docs/commands.md)."""
PRINT = frozenset(
    {"add_task", "echo", "entry", "fail", "heading", "prompted", "rows", "say", "secho", "style", "write_out"}
)
TEXTS = frozenset({"hint", "message", "note", "problem", "question", "sentence"})
"""Arguments that people read, of any call."""
MESSAGES = frozenset({"message", "counted", "Message", "RefusedError"})
BASES = frozenset({"MessageError", "ProblemError"})
COMMANDS = re.compile(
    r"(apt(-get)?|cardshoe|chmod|chown|echo|dmesg|"
    r"journalctl|mount|openssl|rm|sh|ss|sudo|systemctl|timedatectl|udevadm) "
)
"""What a person enters in a shell is the same in every language."""


@cache
def parsed(root: Path) -> dict[str, ast.Module]:
    """Return each module of the sources, by its path."""
    paths = [path for source in SOURCES for path in sorted((root / source).rglob("*.py"))]
    return {str(path.relative_to(root)): ast.parse(path.read_text("utf-8")) for path in paths}


def modules(root: Path = ROOT) -> Iterator[tuple[str, ast.Module]]:
    return (one for one in parsed(root).items() if not one[0].startswith(IN_ENGLISH))


def errors(root: Path = ROOT) -> frozenset[str]:
    """Return the names of all exceptions that people read, and of the functions that return one."""
    bases = {
        node.name: {getattr(base, "id", getattr(base, "attr", "")) for base in node.bases}
        for module in parsed(root).values()
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
    }
    made = {
        node.name: getattr(node.returns, "id", "")
        for module in parsed(root).values()
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
    }
    found = set(BASES)
    while more := {name for name, above in bases.items() if above & found} - found:
        found |= more
    return frozenset(found | {name for name, returned in made.items() if returned in found})


def called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def assigned(module: ast.Module) -> dict[str, list[ast.expr]]:
    """Return the values that each name of a module gets, in any function."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(module):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and value is not None:
            for target in targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(value)
    return found


def read_parameters(root: Path = ROOT) -> dict[str, set[int | str]]:
    """Return the parameters of each function that people read, by position and name: those declared as `AnyText`."""
    found: dict[str, set[int | str]] = {}
    for _, module in modules(root):
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef):
                plain = [one for one in node.args.args if one.arg not in ("self", "cls")]
                positions: dict[str, int | str] = {one.arg: at for at, one in enumerate(plain)}
                for one in (*plain, *node.args.kwonlyargs):
                    if one.annotation is not None and ast.unparse(one.annotation) in ("AnyText", "str | Message"):
                        found.setdefault(node.name, set()).update((positions.get(one.arg, one.arg), one.arg))
    return found


def arguments_read(call: ast.Call, read: set[int | str]) -> Iterator[ast.expr]:
    yield from (one for at, one in enumerate(call.args) if at in read)
    yield from (one.value for one in call.keywords if one.arg in TEXTS or one.arg in read)


def own_words(node: ast.AST, names: dict[str, list[ast.expr]]) -> Iterator[str]:
    """Yield the texts within an expression that are words of ours and not those of a message. `names`: what names mean;
    each is looked up once.
    """
    if isinstance(node, ast.Call) and called(node.func) in MESSAGES:
        for argument in node.keywords:
            yield from own_words(argument.value, {})
        return
    text = ""
    if isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "0" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    if re.search(r"[A-Za-z]{2,}[,:;]? [A-Za-z]{2,}", text):
        if not COMMANDS.search(text):
            yield text
    elif not isinstance(node, ast.Constant):
        children = [*ast.iter_child_nodes(node), *(names.get(node.id, ()) if isinstance(node, ast.Name) else ())]
        others = {name: value for name, value in names.items() if not isinstance(node, ast.Name) or name != node.id}
        for child in children:
            yield from own_words(child, others)


def said_elsewhere(root: Path = ROOT) -> Iterator[str]:
    wrong, read = errors(root), read_parameters(root)
    for name, module in modules(root):
        names = assigned(module)
        for node in ast.walk(module):
            if not isinstance(node, ast.Call):
                continue
            says = called(node.func) in wrong | PRINT
            arguments = [*node.args, *(one.value for one in node.keywords)]
            for argument in arguments if says else arguments_read(node, read.get(called(node.func), set())):
                yield from (f"{name}:{node.lineno}: {text}" for text in own_words(argument, names))


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
        ('said = "There it is."\nwrite_out(said)', ["There it is."]),
        ('WORDS = {1: "there it is"}\npaper.entry(WORDS[1])', ["there it is"]),
        ('write_out(message("{path} is {what}.", path=path, what="not there"))', ["not there"]),
        ('def damaged(what) -> BadInputError: ...\nraise damaged(f"it is at {path}")', ["it is at 0"]),
        ('answer(sentence="There it is.")', ["There it is."]),
        ('def lacks(name, what: AnyText): ...\nlacks("report", "it is not there")', ["it is not there"]),
    ],
)
def test_words_that_are_not_a_message_are_found(tmp_path: Path, line: str, found: list[str]) -> None:
    folder = tmp_path / "controller"
    folder.mkdir()
    (folder / "one.py").write_text(f"class BadInputError(ProblemError): ...\n{line}\n")
    last = 2 + line.count("\n")
    assert list(said_elsewhere(tmp_path)) == [f"controller/one.py:{last}: {text}" for text in found]
