"""A saved state equals the fold: after every decision it survives a round trip, and the fold continues from it."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import Any
from unittest import TestCase

import msgspec
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.games import GAMES
from controller.games.specification import Unit
from controller.journal.reader import JournalReader
from controller.table import saved_state
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import UPGRADES, VERSION, SavedState, described, digest, upgrade
from simulators.scenarios import load, names
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play
from tests.journal.keep import shown
from tests.journal.keep_state import KEPT, not_only_added, path_of, read, read_hook
from tests.journal.test_kept import KEPT as KEPT_JOURNALS
from tests.journal.test_kept import NAMES, as_before
from tests.support import long_forms
from tests.support.saved_states import SavedFold
from tests.table.test_random_rounds import Rounds
from tests.table.watched import WatchedTable

SIZE = 200_000
"""Bytes of a state: far below what a start could not read at once."""


@pytest.mark.parametrize("name", NAMES)
def test_at_every_decision_of_a_kept_journal(name: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(gzip.decompress((KEPT_JOURNALS / f"{name}.journal.gz").read_bytes()))
    key = bytes.fromhex((KEPT_JOURNALS / f"{name}.key").read_text())
    journal: JournalReader[Any, Any] = JournalReader.open_to_read(path, JOURNAL_TYPES, local_key=key)
    fold = SavedFold()
    decisions: list[tuple[AnyInput, list[tuple[int, AnyEvent]]]] = []
    try:
        for entry in journal.entries():
            if entry.kind == "input":
                decisions.append((entry.value, []))
            else:
                decisions[-1][1].append((entry.number, entry.value))
    finally:
        journal.close()
    for given, numbered in decisions:
        fold.take(given, numbered)
    assert len(decisions) > 20
    assert fold.largest < SIZE


class SavedCourse(Course):
    """A scenario that is also folded from saved states."""

    def __init__(self, setting: TableSetting) -> None:
        self.fold = SavedFold()
        super().__init__(setting)

    def observed(self, before: Any, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        super().observed(before, given, numbered)
        if numbered:
            assert self.fold.take(given, numbered).table == self.state


@pytest.mark.parametrize("name", names()[::12])
def test_at_every_decision_of_a_scenario(name: str) -> None:
    play_saved(name)


@pytest.mark.soak
def test_at_every_decision_of_every_scenario() -> None:
    for name in long_forms.some(names()):
        play_saved(name)


def play_saved(name: str) -> None:
    scenario = load(name)
    course = SavedCourse(scenario.setting)
    for _ in play(scenario, course):
        pass
    assert course.fold.saved.table == course.state


class SavedTable(WatchedTable):
    """A table with random inputs that is also folded from saved states."""

    def __init__(self, unit: Unit, game_id: str, boxes: tuple[int, ...]) -> None:
        super().__init__(unit, game_id, boxes)
        self.fold = SavedFold()

    def watch(self, before: Any, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        super().watch(before, given, numbered)
        assert self.fold.take(given, numbered).table == self.state


class SavedRounds(Rounds):
    @initialize(unit=st.sampled_from(Unit), game_id=st.sampled_from(["NC", *GAMES]))
    def begin(self, unit: Unit, game_id: str) -> None:
        self.table = SavedTable(unit, game_id, self.boxes(GAMES[game_id]))
        self.table.start()


def cases(examples: int) -> type[TestCase]:
    class Cases(SavedRounds):
        pass

    Cases.TestCase.settings = settings(
        max_examples=examples, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
    )
    test: type[TestCase] = Cases.TestCase
    return test


TestSavedRounds = cases(10)
TestManySavedRounds = pytest.mark.soak(cases(long_forms.count(300)))


# -- versions --------------------------------------------------------------------------------------------------------


def kept_versions() -> list[int]:
    return sorted(int(path.name.partition(".")[0]) for path in KEPT.glob("*.states.json.gz"))


def test_states_of_every_version_are_kept() -> None:
    assert kept_versions() == list(range(1, VERSION + 1))
    assert set(UPGRADES) == set(range(1, VERSION))


SHOWN_WRONGLY = {"f3/i20-between-rounds", "nc/i20-between-rounds", "nc/i02-deck-of-the-next-round"}
"""Version 1 counted the hands of a round that is over where a deck had gone in after it that may not be dealt from."""


def where_cards_lie(view: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in view.items() if name not in ("ledger", "deck")}


@pytest.mark.parametrize("version", kept_versions())
def test_a_kept_state_shows_its_kept_screen(version: int) -> None:
    kept = read(path_of(version, "states"))
    assert len(kept) > 20
    for one in kept:
        saved = msgspec.convert(upgrade(version, one["state"]), SavedState, dec_hook=read_hook)
        now, then = as_before(shown(saved.table), one["view"]), one["view"]
        if one["scenario"] in SHOWN_WRONGLY and now["ledger"] != then["ledger"]:
            assert (now["ledger"]["hands"], now["ledger"]["stub"], now["phase"]) == (0, 52, "concluded")
            now, then = where_cards_lie(now), where_cards_lie(then)
        assert now == then, one["scenario"]


def test_the_types_equal_those_kept_for_this_version() -> None:
    """After mere additions, `python -m tests.journal.keep_state` writes the types again."""
    before, now = read(path_of(VERSION, "types")), described()
    assert list(not_only_added(before, now)) == [], "VERSION has to rise, with a function in UPGRADES"
    assert before == now


def test_a_state_of_a_newer_program_is_refused() -> None:
    with pytest.raises(ValueError, match="reads states up to version"):
        upgrade(VERSION + 1, {})
    with pytest.raises(ValueError, match="no program wrote"):
        upgrade(0, {})


def note(version: int, saved: dict[str, Any]) -> dict[str, Any]:
    return {"steps": [*saved["steps"], version]}


def test_an_older_state_takes_each_step_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_state, "VERSION", 3)
    for version in (1, 2):
        monkeypatch.setitem(UPGRADES, version, partial(note, version))
    assert upgrade(1, {"steps": []}) == {"steps": [1, 2]}
    assert upgrade(2, {"steps": []}) == {"steps": [2]}
    assert upgrade(3, {"steps": []}) == {"steps": []}


BEFORE = msgspec.defstruct("One", [("a", int), ("b", tuple[str, ...], ())])


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ([("a", int), ("b", tuple[str, ...], ()), ("c", int, 0)], []),
        ([("a", int | None), ("b", tuple[str, ...], ())], []),
        ([("a", int), ("c", int), ("b", tuple[str, ...], ())], ["/One.c has no default"]),
        ([("a", int)], ["/One.b is missing"]),
        ([("a", int, 0), ("b", tuple[str, ...], ())], ["/One.a has another default"]),
        ([("a", str), ("b", tuple[str, ...], ())], ["/One.a: {'is': 'IntType'} has become {'is': 'StrType'}"]),
        ([("a", int), ("b", tuple[int, ...], ())], ["/One.b: {'is': 'StrType'} has become {'is': 'IntType'}"]),
    ],
)
def test_which_changes_of_a_type_only_add_to_it(
    fields: list[Any], wrong: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_state, "SavedState", BEFORE)
    before, digest_before = described(), digest.__wrapped__()
    monkeypatch.setattr(saved_state, "SavedState", msgspec.defstruct("One", fields))
    assert list(not_only_added(before, described())) == wrong
    assert digest.__wrapped__() != digest_before, "any change of a type changes the digest"
