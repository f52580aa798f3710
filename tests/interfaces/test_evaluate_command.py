"""`cardshoe evaluate`: one whole run of each game, and every input that it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.commands.main import main
from controller.games import GAMES, game
from controller.rules.law import read_law, readings_that_matter
from controller.rules.payouts import settle
from firmware_bridge.cards import Card
from tests.interfaces.test_command_line import cardshoe
from tests.rules.irregularity_cells import GAME_IDS

RUNS = {  # arguments -> what is printed
    "TP": (
        ["--player", "KD JC QD", "--player", "9S 8C 9C", "--player", "5: 3D 4D 10S", "--dealer", "8D 8H 10D"],
        """\
Three Pictures (TP)
Readings: tie_against_three_pictures=pays (TP 3.8)

Dealer  8D 8H TD   Six             6 points, 0 pictures

Box 1   KD JC QD   Three Knights   0 points, 3 pictures   WON
  Initial bet    won      1 to 1   +1 a unit   Player wins on Other Points (TP 4.1)
  Tie            lost              -1 a unit   no paying result (TP 3.13.1)
  Three Pictures won      16 to 1  +16 a unit  Three Pictures (TP 4.1)

Box 2   9S 8C 9C   Six             6 points, 0 pictures   TIED
  Initial bet    returned          0 a unit    both hands have the same ranking (TP 3.13)
  Tie            won      8 to 1   +8 a unit   Tie (TP 3.13.1)
  Three Pictures lost              -1 a unit   no paying result (TP 1.1.2)

Box 5   3D 4D TS   Seven           7 points, 0 pictures   WON
  Initial bet    won      1 to 1   +1 a unit   Player wins on Other Points (TP 4.1)
  Tie            lost              -1 a unit   no paying result (TP 3.13.1)
  Three Pictures lost              -1 a unit   no paying result (TP 1.1.2)
""",
    ),
    "RTP": (
        ["--player", "KD KC 6H", "--player", "KS,QC,9C", "--dealer", "9D JC QH"],
        """\
Royal Three Pictures (RTP)
Readings: tie_against_three_pictures=pays (RTP 3.17)

Dealer  9D JC QH   Double Picture Nine   9 points, 2 pictures

Box 1   KD KC 6H   Double Picture Six    6 points, 2 pictures   LOST
  Main wager     lost              -1 a unit  the Dealer's hand ranks higher than the box's (RTP 3.16)
  Tie            lost              -1 a unit  no paying result (RTP 1.1.6)
  Royal Pictures won      8 to 1   +8 a unit  Any Picture Pair (RTP 4.2)

Box 2   KS QC 9C   Double Picture Nine   9 points, 2 pictures   STANDOFF
  Main wager     returned          0 a unit   both hands have the same ranking (RTP 1.1.5)
  Tie            won      8 to 1   +8 a unit  Tie (RTP 3.19)
  Royal Pictures won      1 to 1   +1 a unit  Any King (RTP 4.2)
""",
    ),
    "NC": (
        [
            "--player",
            "3: 10D KH 6D",
            "--player",
            "AD 5C 10H",
            "--dealer",
            "7D 9C 10S",
            "--wager",
            "main=15",
            "--wager",
            "4: tie=4",
            "--wager",
            "3: three_pictures=1",
        ],
        """\
Non-Commission Three Pictures (NC)
Readings: tie_against_three_pictures=pays (NC 3.2), three_pictures_of=own (NC 1.17)

Dealer  7D 9C TS   Plain Six            6 points, 0 pictures

Box 3   TD KH 6D   Single Picture Six   6 points, 1 picture   WINS
  Initial Bet    won      1 to 2   +7 1/2 on 15  Player wins on 6 points (NC 4.1)
  Three Pictures lost              -1 on 1       no paying result (NC 1.17)

Box 4   AD 5C TH   Plain Six            6 points, 0 pictures   TIE GAME
  Initial Bet    returned          0 on 15       both hands have the same ranking (NC 3.13.3)
  Tie            won      8 to 1   +32 on 4      Tie (NC 3.13.3)

Staked 35, net +38 1/2
""",
    ),
    "P3": (
        ["--player", "as kd qc", "--player", "JC 9D 7S", "--dealer", "AH KS QD", "--reading", "tie_on=ranking"],
        """\
Prosperity 3 Pictures (P3)
Readings: tie_against_three_pictures=pays (P3 3.9), tie_on=ranking (P3 1.1.6), perfect_tie=instead (P3 3.15)

Dealer  AH KS QD   One, two Pictures   1 point, 2 pictures

Box 1   AS KD QC   One, two Pictures   1 point, 2 pictures   TIED
  Initial wager              returned          0 a unit     both hands have the same three ranks (P3 3.13.2)
  Tie                        won      400 to 1 +400 a unit  Perfect Tie (P3 4.1)
  Player Prosperity Pictures lost              -1 a unit    no paying result (P3 1.1.4)
  Dealer Prosperity Pictures lost              -1 a unit    no paying result (P3 1.1.4)
  Picture Perfect            won      100 to 1 +100 a unit  2 Matching Picture cards (P3 4.3)

Box 2   JC 9D 7S   Six, one Picture    6 points, 1 picture   WON
  Initial wager              won      1 to 2   +1/2 a unit  Player wins on Six Points (P3 4.1)
  Tie                        lost              -1 a unit    no paying result (P3 1.1.6)
  Player Prosperity Pictures lost              -1 a unit    no paying result (P3 1.1.4)
  Dealer Prosperity Pictures lost              -1 a unit    no paying result (P3 1.1.4)
  Picture Perfect            lost              -1 a unit    no paying result (P3 1.1.3)
""",
    ),
    "F3": (
        ["--player", "10H JH QH", "--player", "KS 2D AC", "--dealer", "QS KC 6C"],
        """\
3 Face Baccarat (F3)
Readings: three_pictures_wager=boxes (F3 O1), tie_on=ranking (F3 item 6)

Banker    QS KC 6C   2P6   6 points, 2 pictures
  Banker Pair Plus lost              -1 a unit    no paying result (F3 item 8)

Player 1  TH JH QH   2P0   0 points, 2 pictures   LOSE
  Win              lost              -1 a unit    the Banker's hand ranks higher than the Player's (F3 PM3)
  Lose             won      1 to 2   +1/2 a unit  Lose on any combination of 6 (F3 O2)
  Tie              lost              -1 a unit    no paying result (F3 item 6)
  3P               lost              -1 a unit    no paying result (F3 item 3)
  Pair Plus        won      40 to 1  +40 a unit   Straight Flush (F3 O3)

Player 2  KS 2D AC   P3    3 points, 1 picture   LOSE
  Win              lost              -1 a unit    the Banker's hand ranks higher than the Player's (F3 PM3)
  Lose             won      1 to 2   +1/2 a unit  Lose on any combination of 6 (F3 O2)
  Tie              lost              -1 a unit    no paying result (F3 item 6)
  3P               lost              -1 a unit    no paying result (F3 item 3)
  Pair Plus        lost              -1 a unit    no paying result (F3 item 8)
""",
    ),
}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["evaluate", *arguments])


@pytest.mark.parametrize("game_id", RUNS)
def test_the_output_has_classes_outcomes_and_every_wager(game_id: str) -> None:
    """TP 3.13, TP 3.13.1, TP 4.1, RTP 1.1.4.1, RTP 1.1.4.2.2, RTP 1.1.5, RTP 3.19, NC 3.13.3, NC 3.13.4, NC 4.1.

    P3 3.15, P3 4.3, F3 item 8 and F3 O2: each of these clauses decides a line of the runs.
    """
    arguments, expected = RUNS[game_id]
    done = run(game_id, *arguments)
    assert done.exit_code == 0, done.output
    assert done.output == expected


def test_each_of_the_five_games_has_a_run() -> None:
    assert set(RUNS) == set(GAME_IDS)


def test_the_process_prints_what_the_runner_does(tmp_path: Path) -> None:
    arguments, expected = RUNS["NC"]
    done = cardshoe("evaluate", "nc", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


def chosen_of(game_id: str) -> dict[str, str]:
    """Choose an option of every setting that must be chosen."""
    return {setting.id: setting.words[0] for setting in game(game_id).settings if setting.must_be_chosen}


HANDS = {1: "KD KC 6H", 2: "3S 3D 10C"}
DEALER = "KS 4D 2H"


@pytest.mark.parametrize("game_id", GAMES)
def test_json_holds_the_library_s_figures(game_id: str) -> None:
    law = read_law(game(game_id), chosen_of(game_id))
    readings = [f"--reading={setting}={option}" for setting, option in chosen_of(game_id).items()]
    hands = [f"--player={box}: {cards}" for box, cards in HANDS.items()]
    found = json.loads(run(game_id, *hands, "--dealer", DEALER, *readings, "--json").output)
    assert (found["game"], found["title"], found["version"]) == (game_id, str(law.game.title), law.game.version)
    assert found["readings"] == {setting.id: law.chosen[setting.id] for setting in readings_that_matter(law.game)}
    spots = {0: "", **HANDS}
    shown = {(0, wager["wager"]): wager for wager in found["on_dealer"]}
    shown |= {(box["box"], wager["wager"]): wager for box in found["boxes"] for wager in box["wagers"]}
    assert set(shown) == {(box, wager.id) for wager in law.wagers for box in spots if wager.on_dealer == (box == 0)}
    for (box, wager_id), listed in shown.items():
        hand = [Card.parse(code) for code in spots[box].split()]
        settled = settle(law, law.wager(wager_id), hand, [Card.parse(code) for code in DEALER.split()])
        assert (listed["verdict"], listed["net"], listed["clause"]) == (
            settled.verdict.value,
            str(settled.net),
            settled.clause,
        )


@pytest.mark.parametrize(
    ("game_id", "words"),
    [
        ("TP", ["won", "tied", "lost"]),
        ("RTP", ["won", "standoff", "lost"]),
        ("NC", ["wins", "tie game", "loses"]),
        ("P3", ["won", "tied", "lost"]),
        ("F3", ["Win", "TIE", "Lose"]),
    ],
)
def test_an_outcome_has_the_documents_word(game_id: str, words: list[str]) -> None:
    """TP 3.7, RTP 3.16, NC 3.13.1 to 3.13.3, P3 3.8, F3 PM4 and F3 item 6."""
    hands = ("--player", "9D JC QH", "--player", "8D JD QD", "--player", "7D JH QC", "--dealer", "8C JS QS")
    readings = [f"--reading={setting}={option}" for setting, option in chosen_of(game_id).items()]
    boxes = json.loads(run(game_id, *hands, *readings, "--json").output)["boxes"]
    assert [box["word"] for box in boxes] == words
    assert [box["outcome"] for box in boxes] == ["win", "tie", "lose"]


def test_only_readings_that_decide_the_output_are_shown() -> None:
    """NC 1.17 (reading 13) decides the Three Pictures bet, and NC 3.2 the Tie."""
    hands = ("NC", "--player", "KD KC 6H", "--dealer", "7D 7C 10H", "--json")
    assert json.loads(run(*hands, "--wager", "main=1").output)["readings"] == {}
    three_pictures = json.loads(run(*hands, "--wager", "three_pictures=1").output)
    assert three_pictures["readings"] == {"three_pictures_of": "own"}


def test_a_stake_without_a_box_is_on_every_box_but_the_bankers_once() -> None:
    """F3 PM4: the Banker has one spot, the Players one each."""
    hands = ("--player", "KD KC 6H", "--player", "3: 2C 5D 9S", "--dealer", "7D 7C 10H")
    stakes = ("--wager", "win=7", "--wager", "banker_pair_plus=3", "--wager", "3: lose=5")
    found = json.loads(run("F3", *hands, *stakes, "--json").output)
    assert [(wager["wager"], wager["gain"]) for wager in found["on_dealer"]] == [("banker_pair_plus", "3")]
    boxes = {box["box"]: {wager["wager"]: wager["gain"] for wager in box["wagers"]} for box in found["boxes"]}
    assert boxes == {1: {"win": "7/2"}, 3: {"win": "7/2", "lose": "-5"}}
    assert (found["staked"], found["gain"]) == (22, "5")


def test_only_readings_that_a_shown_wager_needs_must_be_chosen() -> None:
    """P3 1.1.6 leaves only the Tie open (reading 3)."""
    hands = ("P3", "--player", "KD KC 6H", "--dealer", "7D 7C 10H")
    assert run(*hands, "--wager", "main=2").exit_code == 0
    for arguments in (hands, (*hands, "--wager", "main=2", "--wager", "tie=2")):
        done = run(*arguments)
        assert done.exit_code == 2
        assert "tie_on must be chosen (P3 1.1.6): points or ranking." in done.output
        assert "--reading tie_on=points" in done.output
        assert "--reading tie_on=ranking" in done.output


@pytest.mark.parametrize(
    ("game_id", "reading", "wager_id", "net"),
    [
        ("TP", "tie_against_three_pictures=pays", "tie", "8"),
        ("TP", "tie_against_three_pictures=loses", "tie", "-1"),
        ("NC", "three_pictures_of=own", "three_pictures", "-1"),
        ("NC", "three_pictures_of=either", "three_pictures", "16"),
        ("P3", "tie_on=points", "tie", "10"),
        ("P3", "tie_on=ranking", "tie", "-1"),
    ],
)
def test_a_reading_decides(game_id: str, reading: str, wager_id: str, net: str) -> None:
    """Readings 2, 13 and 3: TP 3.8, NC 1.17, P3 1.1.6, with three pictures against Plain Zero."""
    hands = ("--player", "10D 9C AH", "--dealer", "KS QD JH")
    done = run(game_id, *hands, "--wager", "main=1", "--wager", f"{wager_id}=1", "--reading", reading, "--json")
    listed = {wager["wager"]: wager["net"] for wager in json.loads(done.output)["boxes"][0]["wagers"]}
    assert listed[wager_id] == net


@pytest.mark.parametrize(
    ("game_id", "wager_id", "verdict", "clause"),
    [
        ("TP", "three_pictures", "held", "TP 3.3"),
        ("RTP", "royal", "held", "RTP 3.5"),
        ("NC", "tie", "returned", "NC 5.14"),
        ("P3", "player_prosperity", "held", "P3 3.4"),
        ("F3", "tie", "won", "F3 O1"),
    ],
)
def test_a_side_wager_without_a_main_one_is_returned_or_held_unpaid(
    game_id: str, wager_id: str, verdict: str, clause: str
) -> None:
    """TP 3.3, RTP 3.5, NC 3.9 and 5.14, P3 3.4; F3 PM4 requires none. The cards alone would pay each of them."""
    dealer = "JS QS KH" if wager_id == "tie" else "TS 2C 8C"
    hands = [game_id, "--player", "KD JC QD", "--dealer", dealer]
    hands += [f"--reading={setting}={option}" for setting, option in chosen_of(game_id).items()]
    alone = json.loads(run(*hands, "--wager", f"{wager_id}=5", "--json").output)
    listed = alone["boxes"][0]["wagers"][0]
    assert (listed["verdict"], listed["clause"], listed["gain"] == "0") == (verdict, clause, game_id != "F3")
    assert (alone["staked"], alone["gain"]) == (5, listed["gain"])
    assert f" {verdict} " in run(*hands, "--wager", f"{wager_id}=5").output
    if game_id != "F3":
        both = json.loads(run(*hands, "--wager", f"{wager_id}=5", "--wager", "main=2", "--json").output)
        verdicts = {wager["wager"]: wager["verdict"] for wager in both["boxes"][0]["wagers"]}
        assert verdicts[wager_id] == "won"


def test_a_main_wager_of_another_box_does_not_support_a_side_wager() -> None:
    """NC 3.9: the main wager must be on that betting box."""
    hands = ("NC", "--player", "KD JC QD", "--player", "JD QC KC", "--dealer", "TS 2C 8C")
    boxes = json.loads(run(*hands, "--wager", "1: main=5", "--wager", "2: tie=5", "--json").output)["boxes"]
    assert [wager["verdict"] for box in boxes for wager in box["wagers"]] == ["won", "returned"]


GOOD = ("--player", "KD KC 6H", "--dealer", "7D 7C 10H")
REFUSED = {
    "an unknown game": (("XX", *GOOD), "GAME 'XX' is not a game of this program."),
    "an unknown card": (("NC", "--player", "KD 1C 6H", "--dealer", "7D 7C 10H"), "In box 1: '1C' is not a card"),
    "an unknown card of the Dealer": (
        ("NC", "--player", "KD KC 6H", "--dealer", "7D 7X 10H"),
        "In the Dealer's hand: '7X' is not a card",
    ),
    "a card twice in a hand": (
        ("NC", "--player", "4: KD KC KD", "--dealer", "7D 7C 10H"),
        "KD stands twice in box 4; a deck has it once.",
    ),
    "a card in a box and with the Dealer": (
        ("NC", "--player", "KD KC TH", "--dealer", "7D 7C 10H"),
        "TH stands in box 1 and in the Dealer's hand",
    ),
    "a card in two boxes": (
        ("NC", "--player", "3D 4D 5D", "--player", "6: 5D 6D 8D", "--dealer", "7D 7C 10H"),
        "5D stands in box 1 and in box 6",
    ),
    "two cards": (("NC", "--player", "KD KC", "--dealer", "7D 7C 10H"), "In box 1: 2 cards in 'KD KC'; a hand has 3."),
    "four cards": (("NC", "--player", "2D 3D 4D 5D", "--dealer", "7D 7C 10H"), "In box 1: 4 cards"),
    "no cards": (("NC", "--player", "", "--dealer", "7D 7C 10H"), "In box 1: 0 cards"),
    "a box too high": (("RTP", "--player", "9: KD KC 6H", "--dealer", "7D 7C 10H"), "no box 9; RTP has boxes 1 to 8"),
    "one hand too many": (
        ("F3", *(f"--player={n}C {n}D {n}H" for n in (2, 3, 4, 5)), "--dealer", "7D 7C 10H"),
        "there is no Player 4; F3 has Players 1 to 3.",
    ),
    "box 0": (("NC", "--player", "0: KD KC 6H", "--dealer", "7D 7C 10H"), "there is no box 0"),
    "a negative box": (("NC", "--player", "-1: KD KC 6H", "--dealer", "7D 7C 10H"), "there is no box -1"),
    "a box twice": (("NC", *GOOD, "--player", "1: 2D 3D 4D"), "box 1 has a hand already"),
    "a wager that the game has not": (
        ("TP", *GOOD, "--wager", "royal=5"),
        "--wager 'royal=5': TP has no wager 'royal'; it has main, tie, three_pictures.",
    ),
    "a wager that a reading takes away": (
        ("F3", *GOOD, "--reading", "three_pictures_wager=none", "--wager", "three_pictures=5"),
        "F3 has no wager 'three_pictures' where three_pictures_wager is none (F3 O1).",
    ),
    "a negative stake": (("TP", *GOOD, "--wager", "tie=-5"), "the stake '-5' is not a positive whole number"),
    "a fractional stake": (("TP", *GOOD, "--wager", "tie=2.5"), "the stake '2.5' is not a positive whole number"),
    "no stake": (("TP", *GOOD, "--wager", "tie="), "the stake '' is not a positive whole number"),
    "a stake of nothing": (("TP", *GOOD, "--wager", "tie=0"), "the stake '0' is not a positive whole number"),
    "a stake of five thousand figures": (("TP", *GOOD, "--wager", f"tie={'9' * 5000}"), "the stake has 5000 digits"),
    "a stake of sixteen figures": (("TP", *GOOD, "--wager", "tie=1000000000000000"), "the stake has 16 digits"),
    "a wager on a box beyond counting": (
        ("TP", *GOOD, "--wager", "99999999999: main=5"),
        "there is no box 99999999999; TP has boxes 1 to 9.",
    ),
    "a hand on a box beyond counting": (
        ("TP", "--player", "12345678901234: KD KC 6H", "--dealer", "7D 7C 10H"),
        "there is no box 12345678901234; TP has boxes 1 to 9.",
    ),
    "two hands of the Dealer": (
        ("TP", *GOOD, "--dealer", "2D 2C 2H"),
        "The Dealer's hand is given 2 times; --dealer and --banker are the same.",
    ),
    "a hand of the Dealer and one of the Banker": (
        ("F3", *GOOD, "--banker", "2D 2C 2H"),
        "The Banker's hand is given 2",
    ),
    "a card with the Banker twice": (
        ("F3", "--player", "2D 3D 4D", "--dealer", "5D 5D 6D"),
        "twice in the Banker's hand",
    ),
    "a card of a Player": (("F3", "--player", "2D 3D 4X", "--dealer", "5D 7D 6D"), "In Player 1: '4X' is not a card"),
    "a wager without a stake": (("TP", *GOOD, "--wager", "tie"), "'tie' is not written as WAGER=STAKE"),
    "a wager twice": (("TP", *GOOD, "--wager", "tie=1", "--wager", "1: tie=2"), "tie is staked twice on box 1"),
    "a wager of a bettor twice": (
        ("TP", *GOOD, "--wager", "ann: tie=1", "--wager", "1: ann: tie=2"),
        "tie is staked twice on box 1",
    ),
    "a bettor before the box": (("TP", *GOOD, "--wager", "ann: 1: tie=1"), "TP has no wager '1: tie'"),
    "a wager on a box without a hand": (("TP", *GOOD, "--wager", "2: tie=5"), "box 2 has no hand"),
    "a wager on a box out of range": (("TP", *GOOD, "--wager", "10: tie=5"), "there is no box 10"),
    "the Banker's wager on a box": (
        ("F3", *GOOD, "--wager", "1: banker_pair_plus=5"),
        "banker_pair_plus lies on the Banker's spot and does not belong to a Player",
    ),
    "an unknown setting": (("TP", *GOOD, "--reading", "cured=yes"), "TP has no setting 'cured'"),
    "an unknown option": (
        ("TP", *GOOD, "--reading", "face_up_is_misdealt=maybe"),
        "face_up_is_misdealt is no or yes (TP 5.3), not 'maybe'",
    ),
    "a reading without an option": (("TP", *GOOD, "--reading", "cured"), "'cured' is not written as ID=OPTION"),
    "a reading chosen twice": (
        ("P3", *GOOD, "--reading", "tie_on=points", "--reading", "tie_on=ranking"),
        "--reading chooses tie_on twice: points and ranking.",
    ),
    "no Dealer": (("TP", "--player", "KD KC 6H"), "Missing option '--dealer'"),
    "no player": (("TP", "--dealer", "KD KC 6H"), "Missing option '--player'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_names_the_mistake_and_its_place(case: str) -> None:
    arguments, sentence = REFUSED[case]
    done = run(*arguments)
    assert done.exit_code == 2
    assert sentence in done.output
    assert isinstance(done.exception, SystemExit)  # not an unforeseen error


SLOTS = {"--player": "KD KC 6H", "--dealer": "7D 7C 10H", "--wager": "tie=1", "--reading": "tie_on=points"}


@pytest.mark.parametrize("letter", ["x", "9", "=", ":", ",", "é"])
@pytest.mark.parametrize("slot", ["GAME", "--player", "--dealer", "--wager", "tie=", "1:", "--reading", "tie_on="])
def test_a_refused_input_is_quoted_in_short(slot: str, letter: str) -> None:
    long = letter * 100_000
    written = {**SLOTS, "GAME": "NC"}
    if slot == "tie=":
        written["--wager"] = slot + long
    elif slot == "1:":
        written["--wager"] = f"{long}: tie=1"
    elif slot == "tie_on=":
        written["--reading"] = f"cured={long}"
    else:
        written[slot] = long
    game_id = written.pop("GAME")
    done = run(game_id, *(f"{option}={value}" for option, value in written.items()))
    assert done.exit_code == 2
    assert len(done.output) < 1000
    assert isinstance(done.exception, SystemExit)


WRITTEN = st.text() | st.text("0123456789:=- KQJTACDHS,", max_size=20)


@settings(max_examples=200, deadline=None)
@given(game_id=st.sampled_from([*GAMES, "?"]), slot=st.sampled_from([*SLOTS]), written=WRITTEN)
def test_any_input_gets_an_answer_or_a_sentence(game_id: str, slot: str, written: str) -> None:
    done = run(game_id, *(f"{option}={value}" for option, value in {**SLOTS, slot: written}.items()))
    assert done.exit_code in (0, 2)
    assert done.exception is None or isinstance(done.exception, SystemExit)


def test_the_process_refuses_without_a_traceback(tmp_path: Path) -> None:
    arguments, sentence = REFUSED["a card in two boxes"]
    done = cardshoe("evaluate", *arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
