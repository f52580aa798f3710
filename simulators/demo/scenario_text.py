"""The text of `cardshoe demo --scenario`: each step, with what happens at the table.

It is imported after the demonstration has printed its first line, and only when a scenario is played.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from controller.api.narration import line_of
from controller.commands.vocabulary import words_of
from controller.table.events import AnyEvent
from firmware_bridge.cards import Card, Exposed
from firmware_bridge.messages import AnyText, message
from simulators.scenarios.course import Course
from simulators.scenarios.format import Scenario
from simulators.scenarios.player import play

CONCEALED: Final = "(concealed)"


def scenario_lines(scenario: Scenario) -> Iterator[AnyText]:
    """Yield every line as the scenario is played. Raise `DifferenceError` if the table's outcome differs."""
    yield ": ".join(filter(None, (scenario.name, scenario.about)))
    parts: tuple[AnyText, ...] = (f"{scenario.setting.game} {scenario.cell}".rstrip(), _claim(scenario))
    yield message("{parts:list}", parts=tuple(part for part in parts if part))
    course, words = Course(scenario.setting), words_of(scenario.setting.game)
    for played in play(scenario, course):
        yield f"{played.step.line:4}  {played.step.text}"
        for _, event in played.events:
            if line := line_of(_public(event, course.state.round.number), words):
                yield message("        {line}", line=line)
    yield message("Every expectation held.")


def _claim(scenario: Scenario) -> AnyText:
    if not scenario.clause:
        return message("the document is silent") if scenario.silent else ""
    if scenario.silent:
        return message("{clause} does not say what follows", clause=scenario.clause)
    return scenario.clause


def _public(event: AnyEvent, round_number: int) -> dict[str, Any]:
    """Return an event for the narration, without faces that are still concealed."""
    public: dict[str, Any] = msgspec.to_builtins(event, enc_hook=_encode)
    public.setdefault("round", round_number)
    return public


def _encode(value: Any) -> Any:
    if isinstance(value, Card):
        return value.code
    return value.card.code if isinstance(value, Exposed) else CONCEALED
