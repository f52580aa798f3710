"""Change lines of the program at random and print how many changes the tests catch: `python -m tools.mutants`.

Each change is made in a copy of the tree, and the tests of `SELECTIONS` run there until one fails. A change that no
test notices is printed as "survived": a behaviour without a test, or a line without an effect. `--seed` repeats a
sample on the same sources; `--only` repeats some of its changes, for example against other tests.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).resolve().parents[1]
SELECTIONS: Final = {  # the tests that most likely catch a change there, the quick ones first
    "controller/rules": ("tests/rules", "tests/games", "tests/scenarios", "tests/table"),
    "controller/table": ("tests/scenarios", "tests/table", "tests/operate", "tests/rules"),
    "firmware_bridge/drivers": ("tests/protocol", "tests/captures", "tests/link", "tests/bench"),
}
OPPOSITES: Final[dict[type[ast.cmpop], ast.cmpop]] = {
    ast.Eq: ast.NotEq(), ast.NotEq: ast.Eq(), ast.Lt: ast.LtE(), ast.LtE: ast.Lt(), ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(), ast.In: ast.NotIn(), ast.NotIn: ast.In(), ast.Is: ast.IsNot(), ast.IsNot: ast.Is(),
}  # fmt: skip
LEFT_OUT: Final = (".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "build")
CPU_SECONDS: Final = 900  # of one run of the tests; a change that makes a loop endless is caught


class Mutant(NamedTuple):
    path: str
    line: int
    start: int  # bytes from the beginning of the file
    end: int
    before: str
    after: str


def main(arguments: Sequence[str]) -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--count", type=int, default=60, help="changes to make (default 60)")
    asked.add_argument("--seed", type=int, default=1, help="another seed makes other changes (default 1)")
    asked.add_argument("--only", type=int, nargs="*", help="numbers of the changes to make, as printed")
    options = asked.parse_args(arguments)
    every = [mutant for folder in SELECTIONS for path in sorted((ROOT / folder).rglob("*.py")) for mutant in _of(path)]
    sample = random.Random(options.seed).sample(every, min(options.count, len(every)))  # noqa: S311  # repeatable
    numbers = range(len(sample)) if options.only is None else options.only
    caught = 0
    folders = {_folder(sample[number].path) for number in numbers}
    with tempfile.TemporaryDirectory(prefix="cardshoe-mutants-") as folder:
        tree = Path(folder, "tree")
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        for folder_of_tests in sorted(folders):
            if failed := _first_failure(tree, folder_of_tests):
                sys.exit(f"{failed} fails without a change")
        for number in numbers:
            mutant = sample[number]
            changed = tree / mutant.path
            original = changed.read_bytes()
            changed.write_bytes(original[: mutant.start] + mutant.after.encode() + original[mutant.end :])
            os.utime(changed, (number, number))  # so that no cached bytecode of another version is used
            failed = _first_failure(tree, _folder(mutant.path))
            changed.write_bytes(original)
            caught += failed is not None
            what = f"{mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}"
            sys.stdout.write(f"{number:4} {'caught' if failed else 'survived':8} {what}  {failed or ''}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{caught} of {len(numbers)} changes caught (seed {options.seed}, {len(every)} possible)\n")


def _of(path: Path) -> Iterator[Mutant]:
    """Yield the changes of a file in the order of its syntax tree."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    left_out = {id(inner) for node in ast.walk(tree) for note in _unchanged(node) for inner in ast.walk(note)}
    for node in ast.walk(tree):
        if id(node) in left_out or not isinstance(node, ast.expr | ast.stmt):
            continue
        for after in _changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            before = ast.unparse(node)
            yield Mutant(path.relative_to(ROOT).as_posix(), node.lineno, start, end, before, after)


def _unchanged(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are not changed: annotations, patterns, and f-strings (whose parts have no exact place
    before 3.12).
    """
    if isinstance(node, ast.JoinedStr | ast.pattern):
        yield node
    for field in ("annotation", "returns"):
        if (note := getattr(node, field, None)) is not None:
            yield note


def _changes(node: ast.expr | ast.stmt) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], [right]):
            yield f"({ast.unparse(ast.Compare(left, [OPPOSITES[type(op)]], [right]))})"
        case ast.BoolOp(op, values):
            yield f"({ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))})"
        case ast.UnaryOp(ast.Not(), operand):
            yield f"({ast.unparse(operand)})"
        case ast.Constant(int(value)) if not isinstance(value, bool):
            yield from (f"({value + 1})", f"({value - 1})")
        case ast.Expr(ast.Call()):
            yield "pass"
        case _:
            pass


def _folder(path: str) -> str:
    return next(folder for folder in SELECTIONS if path.startswith(folder))


def _first_failure(tree: Path, folder: str) -> str | None:
    """Return the first of the folder's tests that fails in the tree, or None when all of them pass."""
    command = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=0")
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    run = subprocess.run(  # noqa: S603  # our own tests
        (*command, *SELECTIONS[folder]), cwd=tree, env=environment, preexec_fn=limit, capture_output=True, text=True
    )
    if run.returncode == 0:
        return None
    failures = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failures[0].split(" - ")[0] if failures else f"the run, which ended with {run.returncode}"


if __name__ == "__main__":
    main(sys.argv[1:])
