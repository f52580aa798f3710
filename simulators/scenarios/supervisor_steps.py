"""The words of what people do beside the cards: corrections, a round given up, maintenance, who deals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from controller.roles import Role
from controller.table import operations
from controller.table.operations import Replaceable
from simulators.scenarios import step_forms
from simulators.scenarios.course import Course
from simulators.scenarios.step_forms import Act, Word, plain
from simulators.scenarios.table_course import StepError
from simulators.scenarios.tokens import INSTRUCTIONS, Tokens, UnreadableError

Read: TypeAlias = Callable[[Tokens], Replaceable]

CORRECTABLE: Final[Mapping[str, tuple[type[operations.Operation], Read]]] = {
    "handled": (operations.HandleCards, step_forms.handled),
    "opened": (operations.ExposeHand, step_forms.opened),
    "first card": (operations.ShowFirstCard, step_forms.first_card),
    "boxes": (operations.OccupyBoxes, step_forms.boxes),
    "count": (operations.CountCards, step_forms.counted),
    "report": (operations.ReportIrregularity, step_forms.reported),
}
STRUCK_OUT: Final[Mapping[str, type[operations.Operation]]] = {
    **{word: operation for word, (operation, _) in CORRECTABLE.items()},
    "confirm": operations.ConfirmIrregularity,
    "deny": operations.DenyIrregularity,
    "choose": operations.ChooseOption,
    "rule": operations.Rule,
    "settle": operations.RecordSettled,
    "conclude": operations.ConcludeRound,
}


def _read_correct(tokens: Tokens) -> Act:
    """A hand that was opened is named by its place: another place cannot replace it."""
    reason = step_forms.because(tokens, "it was entered wrongly")
    role = tokens.role(Role.PIT_SUPERVISOR)
    word = tokens.one_of({name: name for name in STRUCK_OUT}, "entry")
    instead: Replaceable | None = None
    if tokens.left:
        if word not in CORRECTABLE:
            raise UnreadableError(f"`{word}` can only be struck out; nothing may follow it")
        instead = CORRECTABLE[word][1](tokens)

    def correct(course: Course) -> None:
        entry = _last_entry(course, word, instead)
        course.do(operations.CorrectEntry(entry, reason, instead), role)

    return correct


def _last_entry(course: Course, word: str, instead: Replaceable | None) -> int:
    place = instead.place if isinstance(instead, operations.ExposeHand) else None
    for one in reversed(course.state.round.entered):
        if isinstance(one.operation, STRUCK_OUT[word]) and place in (None, getattr(one.operation, "place", None)):
            return one.entry
    raise StepError(f"no entry of this round is `{word}`")


def _read_abandon(tokens: Tokens) -> Act:
    text = step_forms.because(tokens, "it cannot be finished")
    role = tokens.role(Role.SHIFT_MANAGER)

    def abandon(course: Course) -> None:
        for _ in range(2):
            course.do(operations.AbandonRound(role.word, text), role)

    return abandon


def _read_maintenance_begins(tokens: Tokens) -> Act:
    reason = step_forms.because(tokens, "it has to be looked at")
    role = tokens.role(Role.PIT_SUPERVISOR)
    return lambda course: course.do(operations.BeginMaintenance(reason), role)


def _read_maintenance_ends(tokens: Tokens) -> Act:
    role = tokens.role(Role.PIT_SUPERVISOR)
    return lambda course: course.do(operations.EndMaintenance(), role)


def _read_instruct(tokens: Tokens) -> Act:
    role = tokens.role(Role.PIT_SUPERVISOR)
    instruction = tokens.one_of(INSTRUCTIONS, "instruction")
    cards = tokens.number("how many cards") if tokens.left else 0
    return lambda course: course.do(operations.InstructDevice(instruction, cards), role)


def _read_takes_over(tokens: Tokens) -> Act:
    """With everything that is open, or `naming nothing`."""
    role = tokens.role(Role.PIT_SUPERVISOR)
    silent = tokens.maybe("naming nothing")

    def take_over(course: Course) -> None:
        found = () if silent else tuple(one.id for one in course.state.open)
        course.do(operations.TakeOver(found), role)

    return take_over


SUPERVISOR_STEPS: Final[Mapping[str, Word]] = {
    "correct": Word(
        "correct ENTRY [WHAT IT SHOULD HAVE BEEN] [by ROLE] [because TEXT]",
        "the last entry of that kind is corrected, in the words of its step; alone, it is struck out",
        _read_correct,
    ),
    "abandon": Word("abandon [by ROLE] [because TEXT]", "the round is given up (asked twice)", _read_abandon),
    "maintenance begins": Word(
        "maintenance begins [by ROLE] [because TEXT]", "people maintain the device", _read_maintenance_begins
    ),
    "maintenance ends": Word("maintenance ends [by ROLE]", "the table has it again", _read_maintenance_ends),
    "instruct": Word(
        "instruct INSTRUCTION [NUMBER] [by ROLE]", "under maintenance the device is ordered to do this", _read_instruct
    ),
    "dealer on": Word("dealer on", "a dealer comes on duty", plain(lambda course: course.do(operations.DealerOn()))),
    "takes over": Word(
        "takes over [naming nothing] [by ROLE]",
        "another person deals from here on, with all that is open",
        _read_takes_over,
    ),
}
