"""`cardshoe rules --config`: the rules of one table, with the source of each part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from controller.commands.main import main
from controller.commands.rules_report import whole_reading
from controller.daemon.configuration import read_configuration
from controller.games import game
from controller.games.specification import Noticed
from controller.rules.law import read_law
from tests.configuration.test_site_settings import CHOSEN, HOUSE, REST

LIMITS = "[limits.main]\nminimum = 500\nmaximum = 100000\n[limits.tie]\nmaximum = 20000\n"
TABLE = '[table]\nname = "NC-01"\ngame = "NC"\nunit = "singles"\nboxes = 6\nrounding = "down"\n'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "table.toml"
    found.write_text(f'{TABLE}{LIMITS}{CHOSEN}wrong_count = {{ option = "specific" }}\n{HOUSE}{REST}')
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["rules", *arguments])


def as_json(path: Path) -> dict[str, Any]:
    done = run("--config", str(path), "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def test_a_reading_is_shown_with_its_author_and_time(path: Path) -> None:
    output = run("--config", str(path), "--section", "settings").output
    option = "    * complete_hands when every hand that it depends on is complete"
    assert f"{option}\n    chosen by J. Tan on 2026-11-01\n" in output
    assert output.count("chosen in the configuration") == 1, "of wrong_count no one says who chose it"
    settings = {setting["setting"]: setting for setting in as_json(path)["settings"]}
    listed = [(s["chosen"], s["configured"], s["chosen_by"], s["chosen_on"]) for s in settings.values()]
    assert listed.count(("complete_hands", True, "J. Tan", "2026-11-01")) == 1
    assert settings["wrong_count"]["configured"]
    assert not settings["second_error"]["configured"], "it has its default"


def test_a_row_of_the_casino_is_listed_in_its_place_with_its_source(path: Path) -> None:
    rows = as_json(path)["irregularities"]
    law = read_configuration(path).settings
    document = whole_reading(read_law(game("NC"), {chosen.setting: chosen.option for chosen in law.readings}))
    assert [row["number"] for row in rows] == ["H1", *(row.number for row in document.irregularities)]
    assert (rows[0]["clause"], rows[0]["authority"]) == ("HR 4.2", "House procedures, edition 3")
    lines = run("--config", str(path), "--section", "irregularities").output.splitlines()
    (marked,) = [line for line in lines if "HR 4.2" in line]
    condition = "unshuffled cards; cards were handled; noticed in the round only"
    assert marked.startswith(f"  H1    (house) HR 4.2 {condition} -> play continues (a hand shuffle by two people")
    assert marked.endswith("[pit supervisor confirms; by House procedures, edition 3]")
    assert not [line for line in lines if "(house) NC" in line], "what the document says is not the house's"


def test_its_readings_put_rows_in_force(path: Path) -> None:
    """NC 5.5.4, reading 24: with the specific clause first, the general one has no row for a wrong count."""
    numbers = {(row["number"], row["clause"]) for row in as_json(path)["irregularities"]}
    assert ("I08a", "NC 5.5.4") not in numbers
    by_default = whole_reading(read_law(game("NC"))).irregularities
    assert ("I08a", "NC 5.5.4") in {(row.number, row.clause) for row in by_default}


def test_limits_boxes_and_rounding_are_the_table_s(path: Path) -> None:
    assert as_json(path)["table"] == {
        "name": "NC-01",
        "unit": "singles",
        "boxes": 6,
        "count_stub_by_hand": False,
        "rounding": "down",
        "limits": [
            {"wager": "main", "minimum": 500, "maximum": 100000},
            {"wager": "tie", "minimum": 1, "maximum": 20000},
        ],
    }
    output = run("--config", str(path)).output
    for line in (
        "Non-Commission Three Pictures (NC) at table NC-01",
        "main: at least 500, at most 100000, in the smallest unit",
        "6 boxes; the device yields single cards",
        "rounded down",
    ):
        assert line in output


def test_a_document_alone_has_no_table() -> None:
    assert json.loads(run("NC", "--json").output)["table"] is None
    assert "(house) HR" not in run("NC").output


def test_a_row_that_applies_after_the_settlement_is_marked(path: Path) -> None:
    """A casino may combine moments that no document combines."""
    text = path.read_text()
    for moments, words in (
        ((Noticed.CONCLUDED,), "noticed between its settlement and the next round"),
        (
            (Noticed.IN_ROUND, Noticed.NEXT_ROUND),
            "noticed in the round, or when the next had begun",
        ),
    ):
        quoted = ", ".join(f'"{moment.value}"' for moment in moments)
        path.write_text(text.replace("when = { handled = true }", f"noticed = [{quoted}]"))
        assert as_json(path)["irregularities"][0]["noticed"] == words


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([], 2, "GAME is missing."),
        (["TP", "--config"], 2, "belongs to a table that plays NC, not TP."),
        (["--reading", "wrong_count=general", "--config"], 2, "--reading cannot be added to --config."),
    ],
)
def test_incompatible_choices_are_refused(path: Path, arguments: list[str], code: int, sentence: str) -> None:
    done = run(*arguments, *([str(path)] if arguments else []))
    assert (done.exit_code, sentence in done.output) == (code, True), done.output


def test_the_game_may_be_named_too(path: Path) -> None:
    assert run("nc", "--config", str(path)).output == run("--config", str(path)).output


def test_a_configuration_that_cannot_be_used_ends_with_its_own_exit_code(path: Path) -> None:
    path.write_text(path.read_text().replace('"specific"', '"both"'))
    done = run("--config", str(path))
    assert (done.exit_code, "wrong_count is general or specific" in done.output) == (78, True)
