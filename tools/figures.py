"""Print the figures of the project's size: `python -m tools.figures`.

`.ci/run` prints them with each run. CONTRIBUTING.md says what to do when one of them rises.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ("benchmarks", "controller", "firmware_bridge", "shuffle_audit", "simulators", "tools")
SOURCE_SUFFIXES: Final = frozenset({".css", ".html", ".js", ".py", ".sql"})
SMALL: Final = 60  # lines
WORD_SYSTEMS: Final = ("controller/language", "controller/api/narration.py", "controller/api/screen_lines.py",
                       "controller/api/in_language.py", "controller/table/events/lines.py",
                       "controller/commands/language.py", "controller/commands/vocabulary.py",
                       "controller/commands/journal/words.py", "controller/games/own_words.py",
                       "firmware_bridge/messages.py")  # fmt: skip
NOUN_FRAGMENT: Final = re.compile(r"(Whether|Of|What|Which|With|Without|That|Until|As soon as)\b")


def main() -> None:
    sources = [path for path in _files(*SOURCES) if path.suffix in SOURCE_SUFFIXES]
    modules = [path for path in sources if path.suffix == ".py" and path.name != "__init__.py"]
    tests = [path for path in _files("tests") if path.suffix == ".py"]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
    lengths = [_lines(path) for path in modules]
    _print("modules", len(modules))
    _print("median lines of a module", round(median(lengths)))
    _print(f"modules under {SMALL} lines", sum(length < SMALL for length in lengths))
    _print("lines of source", sum(map(_lines, sources)))
    _print("lines of tests", sum(map(_lines, tests)))
    _print("lines of the word systems", sum(_lines(path) for path in modules if str(path).startswith(WORD_SYSTEMS)))
    _print("words of the pages", sum(len(path.read_text("utf-8").split()) for path in pages))
    _print("public classes with a name of another module", _shared_names(modules))
    docstrings = [text for path in (*modules, *tests) for text in _docstrings(path) if text]
    _print("docstrings", len(docstrings))
    _print("docstrings without a verb or a noun at the beginning", sum(map(bool, map(NOUN_FRAGMENT.match, docstrings))))


def _files(*folders: str) -> list[Path]:
    found = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file())
    return [path.relative_to(ROOT) for path in found if "__pycache__" not in path.parts]


def _lines(path: Path) -> int:
    return (ROOT / path).read_bytes().count(b"\n")


def _shared_names(modules: list[Path]) -> int:
    names = Counter(
        node.name
        for path in modules
        for node in ast.parse((ROOT / path).read_text("utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sum(count > 1 for count in names.values())


def _docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_text("utf-8"))):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield ast.get_docstring(node) or ""


def _print(what: str, figure: int) -> None:
    sys.stdout.write(f"{figure:8,}  {what}\n")


if __name__ == "__main__":
    main()
