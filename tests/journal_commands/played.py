"""Scenarios as decisions of a journal in memory, as a reader without a key gets them."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import NamedTuple

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.codec import JournalCodec
from controller.journal.packing import Packing
from controller.journal.reader import JournaledDecision
from controller.journal.sealing import FileKeys, JournalKeys
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.state import TableState
from simulators.scenarios import load
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play

SECOND = 1_000_000_000
BEGAN = 1_795_400_000 * SECOND  # a Monday in November 2026


class Step(NamedTuple):
    decision: JournaledDecision
    state: TableState


class RecordedCourse(Course):
    """A course that keeps every decision, with the state after it."""

    def __init__(self, setting: TableSetting) -> None:
        self.steps: list[Step] = []
        self._codec: JournalCodec[AnyInput, AnyEvent] = JournalCodec(
            JOURNAL_TYPES, JournalKeys(bytes(32), "00"), FileKeys(bytes(32), "01"), Packing(b""), Random(1).randbytes
        )
        super().__init__(setting)

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        if numbered:
            number = self.state.round.number
            last = numbered[-1][0]
            written = self._codec.encode(last, given, [event for _, event in numbered], number)
            decision = JournaledDecision(
                last, BEGAN + last * SECOND, last, number, written.input, tuple(written.events)
            )
            self.steps.append(Step(decision, self.state))
        super().observed(before, given, numbered)


@cache
def played(name: str) -> tuple[Step, ...]:
    scenario = load(name)
    course = RecordedCourse(scenario.setting)
    for _ in play(scenario, course):
        pass
    return tuple(course.steps)
