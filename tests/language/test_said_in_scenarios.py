"""Every text shown to people in a scenario has a translation without English, except for what people wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from controller.api.bodies import encode_hook
from controller.api.narration import line_of
from controller.api.preview import preview
from controller.api.screen_state import layout_of, reports_of
from controller.api.view import LinkView, view_of
from controller.language import Speaker
from controller.roles import Role
from controller.table import events, operations
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.offers import offers
from controller.table.state import TableState
from firmware_bridge.cards import Concealed, Evidence, Exposed
from firmware_bridge.messages import SLOT, AnyText, Message
from simulators.scenarios import FOLDER, load, names
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play
from tests.support import long_forms

CHINESE = "zh-Hans"
GAMES = sorted({name.partition("/")[0] for name in names()})
SHORT = names()[::13]  # some of each game, in every run
WORD = re.compile(r"[A-Za-z]{2,}")
CODES = re.compile(r"\b(?:NC|TP|RTP|F3|P3) [A-Z]{0,2}[0-9.]+|\bI[0-9]{2}[ab]?\b|\b(?:[2-9ATJQK][SHDC] ?)+\b")
LEFT = {
    *(word for role in Role for word in role.value.split("_")),
    *(
        "ann",
        "batch",
        "bob",
        "dead",
        "decided",
        "entered",
        "looked",
        "odd",
        "scenario",
        "seal",
        "shuffler",
        "sim",
        "so",
    ),
    *("witness", "wrongly"),
    *("detail", "passed", "true"),  # of a device's note
}
"""Names of people and notes that steps or devices enter where the file of a scenario has none."""


def said_in(value: object) -> Iterator[str | Message]:
    """Yield every sentence that a person reads."""
    if isinstance(value, tuple):
        for one in value:
            yield from said_in(one)
    if isinstance(value, Message):
        yield value
        return
    if not isinstance(value, msgspec.Struct):
        return
    for name in value.__struct_fields__:
        found = getattr(value, name)
        yield from said_in(found)


class Listening(Course):
    """Collects all texts that people are shown."""

    def __init__(self, setting: TableSetting, heard: set[str | Message]) -> None:
        self.heard = heard
        super().__init__(setting)

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        super().observed(before, given, numbered)
        if self.state.settings is None:
            return
        state = self.state
        shown = (view_of(state, LinkView()), offers(state), layout_of(state), reports_of(state))
        self.heard |= {*said_in(shown), *said_in(self._previews())}
        for _, event in numbered:
            fields = msgspec.json.decode(msgspec.json.encode(event, enc_hook=hide))
            if line := line_of({**fields, "round": state.round.number}, state.game.words):
                self.heard.add(line)
            if isinstance(event, events.OperationRefused):
                self.heard.add(event.sentence)

    def _previews(self) -> tuple[object, ...]:
        confirm = (operations.ConfirmIrregularity(one.id, one.revision) for one in self.state.open)
        return tuple(preview(self.state, one) for one in confirm)


def hide(value: object) -> object:
    return {} if isinstance(value, Concealed | Exposed | Evidence) else encode_hook(value)


def heard_in(name: str) -> set[str | Message]:
    scenario = load(name)
    course = Listening(scenario.setting, set())
    for _ in play(scenario, course):
        pass
    return course.heard


def unused_arguments(said: AnyText) -> dict[str, object]:
    """Return arguments without a slot, which a client that asks for messages would see and no reader would."""
    if not isinstance(said, Message):
        return {}
    slots = {name for text in (said.id, said.many) for name, _ in SLOT.findall(text)}
    found: dict[str, object] = {name: value for name, value in said.args.items() if name not in {*slots, "count"}}
    for value in said.args.values():
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, Message):
                found |= unused_arguments(one)
    return found


def untranslated_in(scenarios: Iterable[str]) -> dict[str, str]:
    """Return each text of the scenarios that has English words in its translation."""
    found: dict[str, str] = {}
    for name in scenarios:
        written = LEFT | set(WORD.findall(Path(FOLDER, f"{name}.scenario").read_text("utf-8")))
        for sentence in heard_in(name):
            assert unused_arguments(sentence) == {}, sentence
            said = Speaker(CHINESE)(sentence)
            left = set(WORD.findall(CODES.sub("", said)))
            if not (left <= written or {word.lower() for word in left} <= written):
                found[str(sentence)] = said
    return found


def test_the_texts_of_some_scenarios_are_translated() -> None:
    assert {name.partition("/")[0] for name in SHORT} == set(GAMES)
    assert untranslated_in(SHORT) == {}


@pytest.mark.soak
@pytest.mark.parametrize("game", long_forms.some(GAMES))
def test_all_texts_of_scenarios_are_translated(game: str) -> None:
    assert untranslated_in(name for name in names() if name.startswith(f"{game}/")) == {}
