"""Every situation of docs/scenarios.md has a scenario in every game; each ends as its file states, by offered acts."""

from __future__ import annotations

import re
from itertools import pairwise, product

import pytest

from controller.games import GAMES
from controller.games.specification import Disposition
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.phases import Phase
from controller.table.state import TableState
from simulators.scenarios import load, names, packaged
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.format import Scenario
from simulators.scenarios.player import play
from tests.rules.irregularity_cells import CELLS, GAME_IDS
from tests.table.offered_and_done import assert_was_offered
from tools.pages import scenarios
from tools.pages.scenarios import CELLS as DRAWN

SITUATIONS = (
    "I01", "I02", "I03", "I04", "I05", "I06", "I07", "I08a", "I08b", "I09", "I10", "I11", "I12", "I13", "I14", "I15",
    "I16", "I17", "I18", "I19", "I20", "I21", "I22", "I23", "I24", "I25", "I26", "I27", "I28",
)  # fmt: skip
NO_HOLD = ("I22", "I23", "I24")  # chips alone, or a round that is over
UNPROVIDED = (Disposition.SILENT, Disposition.REFER)
EVERYTHING = tuple(packaged())


def default_readings(scenario: Scenario) -> bool:
    """Return whether the scenario chooses no reading that a casino may leave at its default."""
    must_choose = {setting.id for setting in GAMES[scenario.setting.game].settings if setting.must_be_chosen}
    return {chosen.setting for chosen in scenario.setting.readings} <= must_choose


def of_cell(game_id: str, cell: str) -> list[Scenario]:
    return [one for one in EVERYTHING if (one.setting.game, one.cell) == (game_id, cell)]


def texts(scenario: Scenario) -> list[str]:
    return [step.text for step in scenario.steps]


class OfferedCourse(Course):
    """A scenario in which every operation that was taken had been offered."""

    def __init__(self, setting: TableSetting) -> None:
        self.taken = 0
        super().__init__(setting)

    def observed(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> None:
        super().observed(before, given, numbered)
        self.taken += assert_was_offered(before, given, numbered)


@pytest.mark.parametrize("name", names())
def test_it_ends_as_the_file_states_and_the_next_round_begins(name: str) -> None:
    scenario = load(name)
    course = OfferedCourse(scenario.setting)
    played = list(play(scenario, course))
    assert [one.step for one in played] == list(scenario.steps)
    assert course.state.phase is Phase.BETTING
    assert course.state.round.number >= 2
    assert not course.state.held
    assert not course.state.open
    assert course.taken > 5


def test_every_situation_has_a_scenario_in_every_game() -> None:
    assert [pair for pair in product(GAME_IDS, SITUATIONS) if not of_cell(*pair)] == []


def test_the_page_has_a_line_for_every_situation() -> None:
    assert tuple(DRAWN) == SITUATIONS


def test_every_clause_with_an_effect_has_a_scenario_that_applies_it() -> None:
    wanted = {(cell.game, cell.number, cell.expected.clause or cell.expected.authority) for cell in CELLS}
    have = {(one.setting.game, one.cell, one.clause) for one in EVERYTHING}
    assert wanted <= have


def test_with_default_readings_no_scenario_applies_another_clause() -> None:
    """Findings after the settlement are not part of those cells, nor is a second error (reading 39)."""
    known = {(cell.game, cell.number, cell.expected.clause or cell.expected.authority) for cell in CELLS}
    others = {
        one.name
        for one in EVERYTHING
        if one.setting.game in GAME_IDS
        and default_readings(one)
        and one.cell != "I24"
        and (one.setting.game, one.cell, one.clause) not in known
    }
    assert others == {
        "f3/i08b-until-when-errors-count",
        "nc/i12-second-error-after-a-choice",
        "rtp/i01-found-after-settlement",
        "rtp/i04-doubt-after-settlement",
        "tp/i02-found-after-settlement",
        "tp/i08b-found-after-settlement",
        "tp/i08b-until-when-errors-count",
    }


@pytest.mark.parametrize(
    ("game_id", "cell"),
    sorted({(cell.game, cell.number) for cell in CELLS if cell.expected.disposition in UNPROVIDED}),
)
def test_a_case_without_a_clause_shows_hold_alert_and_ruling(game_id: str, cell: str) -> None:
    shown = [texts(one) for one in of_cell(game_id, cell)]
    ruled = [lines for lines in shown if "expect alert shift manager" in lines]
    assert ruled
    for lines in ruled:
        assert "expect stage ruling" in lines
        assert ("expect held" in lines) is (cell not in NO_HOLD)
        after = [before for before, line in pairwise(lines) if line == "expect refused role"]
        assert any(line.startswith("rule ") for line in after)
        assert any(line.startswith("rule ") and " by shift manager" in line for line in lines)
        assert any(line.startswith("expect resolved ruling ") for line in lines)


def test_each_is_filed_under_game_and_cell_with_a_description() -> None:
    assert [one.name for one in EVERYTHING if not is_filed(one)] == []


def is_filed(scenario: Scenario) -> bool:
    folder, _, name = scenario.name.partition("/")
    filed = folder == scenario.setting.game.lower() and name.startswith(f"{scenario.cell.lower()}-")
    return filed and bool(scenario.clause or scenario.silent) and scenario.about.endswith(".")


def test_the_page_has_the_clause_of_every_scenario_in_its_cell() -> None:
    rows = re.findall(r"^\| (I\d\w+) \|[^|]*\|(.*)\|$", scenarios.page(), re.MULTILINE)
    cells = {(cell, game): text for cell, texts in rows for game, text in zip(GAMES, texts.split("|"), strict=True)}
    for one in packaged():
        clause = "silent" if one.silent else one.clause.removeprefix(f"{one.setting.game} ")
        assert re.search(rf"(^ |>){re.escape(clause)}[ <]", cells[one.cell, one.setting.game]), one.name
