"""docs/audit_mathematics.md agrees with the code, and its statements on power with what is found."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import pytest

from benchmarks import audit_power
from controller.games import game
from shuffle_audit.edges import ROUNDS
from shuffle_audit.games_dealt import deals
from shuffle_audit.kinds import MACHINE_KINDS
from shuffle_audit.models.named import FORMS
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM
from shuffle_audit.money import Start, costs, first_reading
from shuffle_audit.procedures import SHARES
from shuffle_audit.sampled import CARD_POSITION, Nulls
from tests.shuffle_audit import calibration, distances, mathematics
from tests.shuffle_audit.machines import MACHINES
from tests.shuffle_audit.mathematics import PAGE, TABLES, goals, lacking, own_power
from tests.support import long_forms

LEVEL: Final = 0.01
LEVELS: Final = calibration.LEVELS
AT_MOST: Final = 512  # as the page states
QUICK: Final = ("shelves:10", "cut")


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def rows(page: str, name: str) -> dict[str, list[str]]:
    """Return the cells of a table of power by the model."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", page, re.DOTALL)
    assert found is not None
    lines = re.findall(r"^\| `(.*?)` \| (.*) \|$", found[1], re.MULTILINE)
    return {model: cells.split(" | ") for model, cells in lines}


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_the_computed_ones(page: str, name: str) -> None:
    """`python -m tests.shuffle_audit.mathematics` writes them."""
    assert mathematics.written(page, {name: list(TABLES[name]())}) == page


def test_figures_in_sentences_are_the_computed_ones(page: str) -> None:
    assert lacking(page) == []
    ten, twenty = (rows(page, "power")[f"shelves:{count}"] for count in (10, 20))
    said = (
        f"are found with {ten[2]} deck, and by X² with {ten[5]}; twenty with {twenty[2]}, and by X² with {twenty[5]}."
    )
    assert said in " ".join(page.split())
    assert f"{distances.of_shelves(100).total_variation:.3f} and {distances.of_shelves(200).total_variation:.3f}" in (
        " ".join(page.split())
    )


def numbers_of_sets(page: str) -> dict[int, int]:
    """Return the numbers of sets from which the tables come, by the number of decks."""
    many = re.search(r"^\| sets of 200 decks \| ([\d,]+) \|", page, re.MULTILINE)
    assert many is not None
    return {**calibration.SETS, 200: int(many[1].replace(",", ""))}


@pytest.mark.parametrize("name", ["calibration", "calibration-of-200"])
def test_the_tables_of_false_alarms_are_the_computed_ones(page: str, name: str) -> None:
    """The table has every rate, exact ones as they are, and none exceeds its level by more than chance."""
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- end of {name} -->", page, re.DOTALL)
    assert found is not None
    sets = numbers_of_sets(page)
    asked = [(int(decks), int(level) / 100) for decks, level in re.findall(r"(\d+) decks?, (\d+) %", found[1])]
    lines = re.findall(r"^\| (.*?) \| (\S.*\d.*) \|$", found[1], re.MULTILINE)[1:]
    table = {name.strip("`"): cells.split(" | ") for name, cells in lines}
    assert list(table) == [*SHARES, calibration.WHOLE]
    nulls = calibration.exact_rates()
    for procedure, cells in table.items():
        for (decks, level), cell in zip(asked, cells, strict=True):
            rate, _, law = cell.partition(" / ")
            assert (rate == "-") is (decks == 1 and procedure in calibration.OF_SEVERAL)
            exact = f"{calibration.rate(*nulls[procedure], decks, level) * 100:.2f}" if procedure in nulls else ""
            assert law == exact
            if rate != "-":
                error = np.sqrt(level * (1 - level) / sets[decks])
                assert float(rate) / 100 <= level + 4.5 * error, (procedure, cell)


def test_no_rate_of_everything_together_exceeds_its_level(page: str) -> None:
    """Also of monitors, by the lower bound of its confidence interval."""
    bounds = re.findall(r"\((\d+\.\d\d) to (\d+\.\d\d)\)", page.partition("<!-- calibration-of-sets -->")[2])
    assert len(bounds) == (len(calibration.DECKS) + len(calibration.KNOWN)) * len(LEVELS)
    for at, (low, high) in enumerate(bounds):
        assert float(low) <= LEVELS[at % len(LEVELS)] * 100
        assert float(low) < float(high)
    of_evidence = re.findall(
        r"^\| (\d+) \| (\S+) \| (\S+) \|$", page.partition("calibration-of-evidence")[2], re.MULTILINE
    )
    assert [(int(known), float(five) <= 5, float(one) <= 1) for known, five, one in of_evidence[:2]] == [
        (known, True, True) for known in calibration.KNOWN
    ]


def test_one_procedure_needs_as_many_decks_as_the_page_says(page: str) -> None:
    fifty = next(goal for goal in goals() if goal.model == "shelves:50")
    needed = next(decks for decks in range(1, AT_MOST) if own_power(fifty, decks, LEVEL) >= 0.95)
    assert f"By `{fifty.procedure.id}` alone, fifty shelves are found with {needed} decks" in " ".join(page.split())


def test_all_goals_are_met_by_a_procedures_own_p() -> None:
    for goal in goals():
        assert own_power(goal, goal.decks, goal.level) >= 0.95
        assert float(goal.alternative.sum()) == pytest.approx(1.0)


def test_each_form_of_a_model_is_in_the_tables_of_power(page: str) -> None:
    examples = {example for name, form in FORMS.items() for example in form.examples if name != "uniform"}
    assert tuple(rows(page, "power")) == audit_power.MODELS
    assert examples <= set(audit_power.MODELS)


def test_the_report_says_of_models_what_the_table_of_power_says(page: str) -> None:
    table = rows(page, "power")
    for one in MACHINE_KINDS:
        if one.at_most == AT_MOST:
            said = [f"over {AT_MOST}" if each is None else str(each) for each in (*one.decks, *one.chi_square)]
            assert table[one.id] == said, one.id


def test_every_machine_has_its_kind() -> None:
    assert {one.id for one in MACHINE_KINDS if one.at_most != AT_MOST} == MACHINES.keys() - {"one-in-a-hundred"}


def check_power(page: str, model: str, limits: audit_power.Limits, at_most: int) -> None:
    """Check the page's cells up to that many decks, a power of two, as numbers are found by doubling."""
    found = audit_power.row(model, limits, LEVEL, at_most, 1000, seed=1)
    for said, decks in zip(rows(page, "power")[model], (*found.ours, *found.chi_square), strict=True):
        beyond = said == f"over {AT_MOST}" or int(said) > at_most
        assert decks == (None if beyond else int(said)), model


def test_the_power_of_some_models_is_reproduced(page: str) -> None:
    limits = audit_power.Limits(LEVEL, 32, seed=1)
    for model in QUICK:
        check_power(page, model, limits, 32)


@pytest.mark.exhaustive
def test_the_power_of_every_model_is_reproduced(page: str) -> None:
    at_most = 1 << (long_forms.count(AT_MOST) - 1).bit_length()
    limits = audit_power.Limits(LEVEL, at_most, seed=1)
    for model in audit_power.MODELS:
        check_power(page, model, limits, at_most)


@pytest.mark.exhaustive
def test_the_cost_of_ten_shelves_is_reproduced(page: str) -> None:
    """Another seed gives the same within five standard errors of both."""
    row = r"^\| (F3|NC|P3|RTP|TP) \| (.*) \| (.*) \| new deck \| .* \| (.* ± .*) \| .* \|$"
    said = re.findall(row, page, re.MULTILINE)
    assert len(said) > 5
    rounds, random = long_forms.count(ROUNDS), np.random.default_rng(11)
    found = {
        (one.game, one.title, deal.unit): one
        for deal in deals()
        for one in costs(first_reading(game(deal.game)), Shelves(10), deal.units[0], Start.NEW_DECK, random, rounds)
        if not one.box
    }
    for name, unit, title, cell in said:
        change, error = (float(part) / 100 for part in cell.split(" ± "))
        one = found[name, title, unit]
        assert abs(one.change - change) < 5 * np.hypot(one.error, error), (name, title, unit)


def test_chi_square_after_each_deck_is_that_of_the_first_decks() -> None:
    decks = UNIFORM.shuffle(np.random.default_rng(1), 3 * 7, 10).reshape(3, 7, 10)
    running = audit_power.Running(3, 10)
    running.add(decks[:, :4])
    running.add(decks[:, 4:])
    for number in range(1, 8):
        np.testing.assert_allclose(running.found[:, number - 1], CARD_POSITION.measured(decks[:, :number]))


def test_limits_are_those_of_sampled_decks() -> None:
    """Other samples give the limits of `Nulls` within five standard errors of the share. One deck has no limit."""
    limits = audit_power.Limits(0.05, 12, seed=2, audits=1999, cards=10)
    running = audit_power.Running(4000, 10)
    running.add(UNIFORM.shuffle(np.random.default_rng(3), 4000 * 12, 10).reshape(4000, 12, 10))
    shares = limits.shares(running.found)
    assert shares[0] == 0.0
    error = np.sqrt(0.05 * 0.95 * (1 / 2000 + 1 / 4000))
    assert (shares <= 0.05 + 5 * error).all()
    excess = Nulls(np.random.default_rng(4), 1999).excess(CARD_POSITION, 12, 10)
    reached = 1999 - np.searchsorted(excess, running.found[:, 11] - 90)
    assert abs(shares[11] - ((1 + reached) / 2000 <= 0.05).mean()) < 5 * error
