"""Scenarios as the decisions that a journal holds of them, in memory: what a reader without a key gets."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import msgspec

from controller.journal.codec import JournalCodec
from controller.journal.sealing import JournalKeys
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.state import TableState
from firmware_bridge.cards import Card, Concealed, Evidence
from simulators.scenarios import load
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play

SECOND = 1_000_000_000
BEGAN = 1_795_400_000 * SECOND  # a Monday in November 2026


class Decision(NamedTuple):
    """As a reader of the journal gives it."""

    first: int
    last: int
    utc_ns: int
    round: int
    input: bytes
    events: tuple[bytes, ...]


class Step(NamedTuple):
    decision: Decision
    state: TableState


def _sealed(value: Any) -> Any:
    if isinstance(value, Card):
        return value.code
    assert isinstance(value, Concealed | Evidence)
    return 0


class RecordedCourse(Course):
    """Every decision, with the state after it."""

    def __init__(self, setting: TableSetting) -> None:
        self.steps: list[Step] = []
        self._codec: JournalCodec[AnyInput, AnyEvent] = JournalCodec(AnyInput, AnyEvent, JournalKeys(bytes(32), "00"))
        self._input = msgspec.json.Encoder(enc_hook=_sealed)
        super().__init__(setting)

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        if numbered:
            number = self.state.round.number
            events = tuple(self._codec.public_encode(event, number) for _, event in numbered)
            first, last = numbered[0][0] - 1, numbered[-1][0]
            decision = Decision(first, last, BEGAN + first * SECOND, number, self._input.encode(given), events)
            self.steps.append(Step(decision, self.state))
        super().observed(before, given, numbered)


@cache
def played(name: str) -> tuple[Step, ...]:
    scenario = load(name)
    course = RecordedCourse(scenario.setting)
    for _ in play(scenario, course):
        pass
    return tuple(course.steps)
