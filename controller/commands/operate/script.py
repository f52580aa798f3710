"""`--script`: lines of words from a file or standard input, and the result of each."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.commands.language import terminal
from controller.commands.operate.operator import Line, Operator, RefusedLineError, lines_of_answer
from controller.commands.text import say, write_out
from controller.people_words.table_of_words import NothingDoneError
from controller.people_words.tokens import UnreadableLineError
from controller.problems import BadInputError, ProblemError
from firmware_bridge.edited_text import NotTextError, read_edited, why_unreadable
from firmware_bridge.messages import AnyText, message

STANDARD_INPUT = "-"


class ScriptLine(NamedTuple):
    """A line that was read, or the reason why it cannot be read."""

    number: int
    text: str
    line: Line | None
    problem: AnyText = ""


class ScriptOutcome(NamedTuple):
    accepted: bool
    code: str = ""
    sentence: str = ""
    entries: tuple[int, ...] = ()
    recalled: tuple[dict[str, Any], ...] = ()


def read_script(name: str) -> Iterable[ScriptLine]:
    """Read a whole file, so that nothing runs if a line is wrong, or standard input by line. Raise `BadInputError` if a
    line cannot be read.
    """
    if name == STANDARD_INPUT:
        return _lines(sys.stdin)
    try:
        text = read_edited(Path(name))
    except (OSError, NotTextError) as error:
        raise BadInputError(
            message("{name} cannot be read: {why}.", name=name, why=why_unreadable(error)),
            message("Name a file with lines as for the prompt."),
        ) from None
    lines = list(_lines(text.splitlines()))
    wrong = tuple(
        message("{file}, line {number}: {what}.", file=name, number=one.number, what=one.problem)
        for one in lines
        if one.line is None
    )
    if wrong:
        raise BadInputError(
            message("{mistakes:lines}", mistakes=wrong), message("Nothing was entered. Correct the file and try again.")
        )
    return lines


def _lines(source: Iterable[str]) -> Iterator[ScriptLine]:
    say_in = terminal()
    for number, written in enumerate(source, start=1):
        words = written.partition("#")[0].split()
        if not words:
            continue
        try:
            yield ScriptLine(number, " ".join(words), Line(words, say_in))
        except UnreadableLineError as error:
            yield ScriptLine(number, " ".join(words), None, error.message)


def run_script(name: str, operator: Operator, *, keep_going: bool, as_json: bool) -> None:
    """Run the lines. Raise `ProblemError` at the first refused line, or with `keep_going` at the end."""
    failed: ProblemError | None = None
    for one in read_script(name):
        if not as_json:
            write_out(f"> {one.text}")
        outcome, problem = _run(name, one, operator)
        for line in lines_of_answer(operator) if not as_json and problem is None else ():
            write_out(line)
        if as_json:
            fields = {"line": one.number, "words": one.text, **outcome._asdict()}
            write_out(json.dumps(fields, separators=(",", ":")))
        if problem is not None:
            failed = failed or problem
            if not keep_going:
                break
            if not as_json:
                say(problem.said)
    if failed is not None:
        raise failed


def _run(name: str, one: ScriptLine, operator: Operator) -> tuple[ScriptOutcome, ProblemError | None]:
    place = message("standard input") if name == STANDARD_INPUT else name
    where = message("{file}, line {number}", file=place, number=one.number)
    if one.line is None:
        return ScriptOutcome(False, "unreadable", f"{one.problem}."), BadInputError(
            message("{where}: {what}.", where=where, what=one.problem)
        )
    try:
        operator.do(one.line)
    except RefusedLineError as refused:
        outcome = ScriptOutcome(False, refused.code, str(refused), tuple(operator.entries_made))
        return outcome, ProblemError(
            message(
                "{where}: `{line}` was refused ({code}): {why}",
                where=where,
                line=one.text,
                code=refused.code,
                why=refused.message,
            )
        )
    except NothingDoneError as error:
        said = message("{what}.", what=error.message)
        outcome = ScriptOutcome(False, "nothing-done", f"{error}.", tuple(operator.entries_made))
        return outcome, ProblemError(message("{where}: `{line}`: {what}", where=where, line=one.text, what=said))
    recalled = tuple(msgspec.to_builtins(card) for card in operator.recalled)
    return ScriptOutcome(
        True, sentence=operator.sentence, entries=tuple(operator.entries_made), recalled=recalled
    ), None
