"""docs/clause_coverage.md: each clause with the code that cites it, and whether code and tests cite all of them.

    python -m tools.generate

writes the page; a test fails when page and program differ.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Final, NamedTuple

from controller.games import GAMES
from controller.games.specification import Provision
from tests.clauses.citations import cited, cited_in_name
from tests.clauses.numbers import CLAUSES, DOCUMENTS, clauses, naming

ROOT: Final = Path(__file__).parents[2]
PROVISIONS: Final = "PROVISIONS"
NUMBERS: Final = "clauses.py"  # below `tests`: the clause numbers themselves are not tests
THESE: Final = "tests/clauses"
SHOWN: Final = 3  # the most files in a cell
INTRODUCTION: Final = """\
# Clause by clause

This page shows regulators and contributors where the code carries each clause of the rules documents.
`python -m tools.generate` makes it. A test fails if a clause is missing, or if no code or no test cites a clause that
the program claims to carry.

    cardshoe rules NC --section clauses              # how the program reads each clause, or why it is outside
    git grep -lE "NC 5\\.7|nc_5_7" controller tests   # every file that cites a clause, including tests

The numbers are the documents'; unnumbered parts have a name. `code` names at most three files below `controller/`;
*outside* is a clause that does not concern a dealing device.
"""


class Citation(NamedTuple):
    """A clause that a file cites."""

    clause: str
    path: str
    line: int


def in_source(path: str, text: str, *, of_tests: bool) -> list[Citation]:
    """Return a file's citations: in strings everywhere, in comments of the program, in the names of tests.

    A game's own claims (`PROVISIONS`) are not code that carries them.
    """
    tree = ast.parse(text)
    claims = {line for node in tree.body if _defines(node, PROVISIONS) for line in _lines(node)}
    found = [*_in_strings(tree)]
    found += _in_names(tree) if of_tests else _in_comments(text)
    return sorted({Citation(clause, path, line) for line, clause in found if line not in claims}, key=_place)


def _defines(node: ast.stmt, name: str) -> bool:
    return isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _place(citation: Citation) -> tuple[str, int, str]:
    return (citation.path, citation.line, citation.clause)


def _in_strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, clause) for clause in cited(node.value))


def _in_comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield from ((token.start[0], clause) for clause in cited(token.string))


def _in_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield from ((node.lineno, clause) for clause in cited_in_name(node.name))


@cache
def in_program() -> tuple[Citation, ...]:
    return tuple(_below("controller", of_tests=False))


@cache
def in_tests() -> tuple[Citation, ...]:
    return tuple(_below("tests", of_tests=True))


def _below(folder: str, *, of_tests: bool) -> Iterator[Citation]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(f"{THESE}/") and not (of_tests and path.name == NUMBERS):
            yield from in_source(name, path.read_text(encoding="utf-8"), of_tests=of_tests)


def unknown(citations: Iterable[Citation]) -> list[str]:
    """Return citations of unknown clauses, each with its place."""
    return [f"{found.path}:{found.line}: {found.clause}" for found in citations if found.clause not in CLAUSES]


def lacking(document: str) -> list[str]:
    """Return the clauses that the program claims to carry and that no code or no test cites."""
    ours = [provision.clause for provision in GAMES[document].provisions if provision.reading]
    coded, tested = ({found.clause for found in citations} for citations in (in_program(), in_tests()))
    missing = {
        clause: [word for word, has in (("code", coded), ("test", tested)) if clause not in has] for clause in ours
    }
    return [f"{clause}: no {' and no '.join(words)}" for clause, words in missing.items() if words]


def page() -> str:
    """Return the whole page."""
    return "\n".join([INTRODUCTION, *_summary(), *(line for document in DOCUMENTS for line in _section(document))])


def _summary() -> Iterator[str]:
    yield "| document | clauses | carried | outside |"
    yield "|---|---|---|---|"
    for document in DOCUMENTS:
        provisions = GAMES[document].provisions
        carried = sum(1 for provision in provisions if provision.reading)
        yield (
            f"| {document}, {GAMES[document].title} | {len(clauses(document))} | {carried} "
            f"| {len(provisions) - carried} |"
        )
    yield ""


def _section(document: str) -> Iterator[str]:
    yield f"## {document}: {GAMES[document].title}\n"
    if naming(document):
        yield f"{naming(document)}\n"
    yield "| clauses | code |"
    yield "|---|---|"
    for place, provisions in groupby(GAMES[document].provisions, _place_of):
        numbers = ", ".join(provision.clause.partition(" ")[2] for provision in provisions)
        yield f"| {numbers} | {place} |"
    yield ""


def _place_of(provision: Provision) -> str:
    """Return the files that carry a clause."""
    if not provision.reading:
        return "*outside*"
    code = dict.fromkeys(found.path.partition("/")[2] for found in in_program() if found.clause == provision.clause)
    return "<br>".join(f"`{path}`" for path in [*code][:SHOWN])
