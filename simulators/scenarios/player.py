"""Plays a scenario step by step, and says where the table does not do what the file expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from controller.games.specification import Disposition, Row
from controller.people_words.table_of_words import NothingDoneError
from controller.table.events import AnyEvent
from simulators.scenarios.course import Course
from simulators.scenarios.expectations import named, say_row
from simulators.scenarios.format import Scenario, ScenarioStep
from simulators.scenarios.table_course import RefusedStepError, StepRefusal


class DifferenceError(Exception):
    """Raised when the table and the file differ. With `line` 0 it concerns the file as a whole."""

    def __init__(self, name: str, line: int, sentence: str) -> None:
        super().__init__(f"{name}, line {line}: {sentence}" if line else f"{name}: {sentence}")
        self.line = line


class Played(NamedTuple):
    """One step and its results: events with their entry numbers."""

    step: ScenarioStep
    events: tuple[tuple[int, AnyEvent], ...]
    refusal: StepRefusal | None = None


def play(scenario: Scenario, course: Course | None = None) -> Iterator[Played]:
    """Yield every step as it is played. Raise `DifferenceError` at the first difference.

    `course` may be a new table, for a caller who wants to look at it afterwards.
    """
    course = course or Course(scenario.setting)
    for step in scenario.steps:
        refused = course.refusal
        if refused and not step.text.startswith("expect refused"):
            raise DifferenceError(scenario.name, step.line, f"the step before was refused: {_refusal(refused)}")
        if step.look is not None and (found := step.look(course)) is not None:
            raise DifferenceError(scenario.name, step.line, f"`{step.text}`, but the table says: {found}.")
        if step.act is not None:
            _act(scenario, course, step)
        yield Played(step, tuple(course.news()), course.refusal if step.act else None)
    _check_end(scenario, course)


def _act(scenario: Scenario, course: Course, step: ScenarioStep) -> None:
    assert step.act is not None
    try:
        step.act(course)
    except RefusedStepError as error:
        course.refusal = error.refusal
    except NothingDoneError as error:
        raise DifferenceError(scenario.name, step.line, f"`{step.text}`: {error}.") from error


def _check_end(scenario: Scenario, course: Course) -> None:
    """Check that nothing is open or refused at the end, and that the outcome matches the header."""
    last = scenario.steps[-1].line
    if course.refusal:
        raise DifferenceError(scenario.name, last, f"the last step was refused: {_refusal(course.refusal)}")
    if course.state.open:
        raise DifferenceError(scenario.name, last, f"{course.state.open[0].row.id} is still open at the end.")
    if not any(_fits_header(scenario, row) for row in course.rows.values()) and _claims(scenario):
        listed = ", ".join(say_row(row) for row in course.rows.values()) or "no irregularity"
        raise DifferenceError(scenario.name, 0, f"the header says {_claims(scenario)}, the table came to {listed}.")


def _refusal(refusal: StepRefusal) -> str:
    return f"{refusal.sentence} If that is right, write `expect refused {refusal.code}` after it."


def _claims(scenario: Scenario) -> str:
    """Return what the header says about the outcome, or ""."""
    return " ".join(filter(None, (scenario.seen_as, "silent" if scenario.silent else "", scenario.clause)))


def _fits_header(scenario: Scenario, row: Row) -> bool:
    if scenario.seen_as not in ("", row.id):
        return False
    silent = row.disposition is Disposition.SILENT
    return (scenario.clause, scenario.silent) in (("", False), (named(row), silent))
