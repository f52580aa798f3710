"""`cardshoe odds`: the library's figures under every reading, and a plain note where one favours the player."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from controller.commands.main import main
from controller.commands.odds import FAVOURS
from controller.games import GAMES, game
from controller.games.own_words import OwnWords
from controller.rules.law import read_law, readings_that_matter
from controller.rules.odds import WagerOdds, count_odds, every_reading
from tests.interfaces.test_command_line import cardshoe


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["odds", *arguments])


def counted(*arguments: str) -> dict[str, Any]:
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.output)
    return found


def shown_under(found: dict[str, Any], wager_id: str, chosen: dict[str, str]) -> dict[str, Any] | None:
    """Return the output for a wager under these options. Exactly one reading of the wager may apply."""
    wager = next(wager for wager in found["wagers"] if wager["wager"] == wager_id)
    fitting = [
        reading
        for reading in wager["counted"]
        if all(chosen[setting] in options for setting, options in reading["readings"].items())
    ]
    assert len(fitting) <= 1
    return fitting[0] if fitting else None


def check(shown: dict[str, Any], odds: WagerOdds, words: OwnWords) -> None:
    for name in ("won", "returned", "lost", "payback", "house_edge"):
        value: Fraction = getattr(odds, name)
        assert shown[name] == {"exact": str(value), "value": float(value)}
    assert shown["favours_player"] == odds.favours_player
    assert shown["total"] == odds.total
    assert [(p["pays_on"], p["odds"], p["clause"], p["ways"]) for p in shown["prices"]] == [
        (str(words.own(price.shape)), str(price.odds), price.clause, price.ways) for price in odds.prices
    ]


@pytest.mark.parametrize("game_id", GAMES)
def test_every_choice_of_readings_finds_its_own_figures(game_id: str) -> None:
    found = counted(game_id)
    matter = readings_that_matter(game(game_id))
    for options in product(*(setting.words for setting in matter)):
        chosen = {setting.id: option for setting, option in zip(matter, options, strict=True)}
        expected = {odds.wager: odds for odds in count_odds(read_law(game(game_id), chosen))}
        for wager in found["wagers"]:
            shown = shown_under(found, wager["wager"], chosen)
            if wager["wager"] not in expected:
                assert shown is None
                assert wager["not_offered"]
                continue
            assert shown is not None
            check(shown, expected[wager["wager"]], game(game_id).words)


def test_a_reading_that_makes_no_difference_is_shown_once() -> None:
    """If P3 ties are decided by ranking (P3 3.13.1), the comparison of points does not matter."""
    tie = next(wager for wager in counted("P3")["wagers"] if wager["wager"] == "tie")
    labels = [reading["readings"] for reading in tie["counted"]]
    assert {"tie_on": ["ranking"], "perfect_tie": ["instead"]} in labels
    assert len(labels) == len(every_reading(game("P3"))) == 6


def test_the_ways_are_the_known_numbers_of_three_cards() -> None:
    """F3 item 8: 48 straight flushes, 52 threes, 720 straights, 1096 flushes, 3744 pairs; F3 item 3: 220 of 3P."""
    found = {wager["wager"]: wager["counted"][0] for wager in counted("F3")["wagers"]}
    ways = {name: [price["ways"] for price in reading["prices"]] for name, reading in found.items()}
    assert ways["pair_plus"] == ways["banker_pair_plus"] == [48, 52, 720, 1096, 3744]
    assert ways["three_pictures"] == [220]
    assert found["pair_plus"]["total"] == 22_100
    assert found["win"]["total"] == 407_170_400


def test_the_output_notes_where_p3_favours_the_player() -> None:
    """P3 1.1.6 and 4.1, by points: reading 3."""
    output = run("p3").output
    assert output.count(f"-58.4018 %  {FAVOURS}") == 1
    ending = output.partition("Where a reading favours the player\n")[2]
    assert (
        "Tie with tie_against_three_pictures=pays, tie_on=points, perfect_tie=instead favours the player:"
        " of each unit staked the house loses 58.4018 % on average." in ending
    )
    assert "ranking" not in ending
    found = counted("P3")["favours_player"]
    assert {play["wager"] for play in found} == {"tie"}
    assert {tuple(play["readings"]["tie_on"]) for play in found} == {("points",)}
    assert all(play["house_edge"]["value"] < 0 for play in found)


@pytest.mark.parametrize("arguments", [["TP"], ["RTP"], ["NC"], ["F3"], ["P3", "--reading", "tie_on=ranking"]])
def test_the_output_notes_where_nothing_favours_the_player(arguments: list[str]) -> None:
    output = run(*arguments).output
    assert "Nowhere: every wager counted here favours the house." in output
    assert str(FAVOURS) not in output


def test_a_chosen_reading_leaves_no_other() -> None:
    found = counted("p3", "--reading", "tie_on=ranking", "--reading", "perfect_tie=besides")
    tie = next(wager for wager in found["wagers"] if wager["wager"] == "tie")
    assert [reading["readings"] for reading in tie["counted"]] == [{"tie_on": ["ranking"], "perfect_tie": ["besides"]}]
    assert found["fixed"] == {"tie_on": "ranking", "perfect_tie": "besides"}


def test_a_line_shows_defaults_and_settings_that_must_be_chosen() -> None:
    assert "with tie_on=ranking (default)\n" in run("F3").output
    assert "with tie_on=points\n" in run("F3").output
    assert "with three_pictures_wager=none: there is no such wager\n" in run("F3").output
    assert "with tie_on=ranking, perfect_tie=instead (tie_on must be chosen; the rest default)\n" in run("P3").output
    assert "with tie_on=ranking, perfect_tie=besides (tie_on must be chosen)\n" in run("P3").output
    assert "with tie_on=points (chosen)\n" in run("F3", "--reading", "tie_on=points").output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["XX"], "GAME 'XX' is not a game of this program."),
        (["NC", "--reading", "tie_on=points"], "NC has no setting 'tie_on'"),
        (["P3", "--reading", "tie_on=suits"], "tie_on is points or ranking (P3 1.1.6), not 'suits'"),
        ([], "Missing argument 'GAME'"),
    ],
)
def test_refuses_with_a_sentence(arguments: list[str], sentence: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert sentence in done.output
    assert isinstance(done.exception, SystemExit)


def test_the_process_prints_what_the_runner_does(tmp_path: Path) -> None:
    done = cardshoe("odds", "RTP", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, run("RTP").output, "")


def test_f3_pm1_odds_use_banker_and_player() -> None:
    """F3 has a Banker and Players; in the other games hands are a box's and the Dealer's."""
    output = run("F3").output
    assert "Lose: the Banker's hand ranks higher than the Player's (F3 O1)" in output
    assert "Dealer" not in output
    assert "the box" not in output
    assert "the box's hand ranks higher than the Dealer's" in run("TP").output


def test_p3_4_2_rtp_4_2_odds_use_the_documents_names() -> None:
    assert "Three Mixed Pictures: three pictures (P3 4.2)" in run("P3").output
    assert "Any King: exactly one king, not in three pictures (RTP 4.2)" in run("RTP").output
    assert "\nInitial Bet (main, NC 1.7)\n" in run("NC").output
