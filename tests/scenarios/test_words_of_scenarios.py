"""A scenario that contradicts the table fails at the contradicting line; a scenario with an unknown
command is refused.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from controller.people_words.tokens import KINDS
from simulators.demo.command import demo
from simulators.demo.scenario_text import scenario_lines
from simulators.scenarios import FOLDER, load
from simulators.scenarios.course import Course
from simulators.scenarios.device_steps import DEVICE_STEPS, STEPS
from simulators.scenarios.expectations import EXPECTATIONS
from simulators.scenarios.format import HEADER, BadScenarioError, read_scenario
from simulators.scenarios.player import DifferenceError, play

EXPOSED = "nc/i12-exposed"
WRONG = {  # each command with its expectation, and one that it must not accept
    "asks": ("nc/i07-noted-after-handling", "asks reconstructable", "asks nothing"),
    "stage": (EXPOSED, "stage claimed", "stage choosing"),
    "alert": ("tp/i12-exposed", "alert shift manager", "alert pit manager"),
    "held": (EXPOSED, "held", "free"),
    "free": (EXPOSED, "free", "held"),
    "phase": (EXPOSED, "phase concluded", "phase settling"),
    "next": ("tp/i12-given-up", "next Return all bets", "next Collect the cards"),
    "says": ("rtp/i10-until-when-errors-count", "says Errors found before", "says Errors found after"),
    "moves": ("tp/i12-exposed", "moves B3 to B3", "moves B3 to aside"),
    "service": ("tp/i17-power-failure", "service reconciling", "service out of service"),
    "refused": (EXPOSED, "refused role", "refused phase"),
    "resolved": (EXPOSED, "resolved options", "resolved void"),
    "voided": ("tp/i03-unshuffled", "voided by shift manager", "voided by pit manager"),
    "removed": (EXPOSED, "removed B3", "removed B1"),
    "options": (EXPOSED, "5.7.1, NC", "5.7.2, NC"),
    "in play": (EXPOSED, "in play B1 B6", "in play B1 B3 B6"),
    "cards": ("nc/i11-put-right", "cards B3 4", "cards B3 3"),
    "at": (EXPOSED, "at B3 4 5 6", "at B3 4 6 5"),
    "bet": ("nc/i17-power-failure", "bet 1 returned", "bet 1 lost"),
    "round": ("tp/i24-last-round-ruled-void", "round 2", "round 1"),
    "out of use": ("nc/i01-deck-in-quarantine", "out of use red-1", "out of use blue-1"),
    "pile": ("nc/i21-on-the-floor", "pile dropped 1", "pile dropped 0"),
    "on duty": ("nc/i12-handed-over", "on duty dealer", "on duty nobody"),
    "no irregularity": (EXPOSED, "stage claimed", "no irregularity"),
}
HEAD = "game NC\ncell I12\nclause NC 5.7\n"


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.scenario").read_text(encoding="utf-8")


def play_text(text: str) -> int:
    return len(list(play(read_scenario("changed", text))))


def changed(name: str, was: str, now: str) -> tuple[str, int]:
    """Return the text with one expectation inverted, and the number of its line."""
    text = text_of(name)
    line = next(number for number, one in enumerate(text.splitlines(), start=1) if f"expect {was}" in one or (
        one.startswith("expect options") and was in one))  # fmt: skip
    lines = text.splitlines()
    lines[line - 1] = lines[line - 1].replace(was, now)
    return "\n".join(lines), line


def test_a_wrong_one_is_known_for_every_expectation() -> None:
    assert set(WRONG) == set(EXPECTATIONS)


@pytest.mark.parametrize("word", WRONG)
def test_an_expectation_that_is_wrong_fails_at_its_line(word: str) -> None:
    text, line = changed(*WRONG[word])
    with pytest.raises(DifferenceError, match=rf"^changed, line {line}: ") as failed:
        play_text(text)
    assert failed.value.line == line


@pytest.mark.parametrize(
    "row", ["I13 NC 5.7 options", "I12 NC 5.9 options", "I12 NC 5.7 void", "I12 options", "I12 silent"]
)
def test_cell_clause_and_disposition_are_compared(row: str) -> None:
    text, line = changed(EXPOSED, "I12 NC 5.7 options", row)
    with pytest.raises(DifferenceError, match=rf"line {line}: `expect {row}`, but the table says: I12 NC 5.7 options"):
        play_text(text)


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [
        (EXPOSED, "clause NC 5.7", "clause NC 5.9"),
        (EXPOSED, "cell I12", "cell I13"),
        ("tp/i12-exposed", "clause silent", "clause TP 5.3"),
        ("tp/i23-side-bet-alone", "clause silent TP 3.3", "clause TP 3.3"),
    ],
)
def test_the_header_is_held_to_its_word_too(name: str, was: str, now: str) -> None:
    assert was in text_of(name)
    with pytest.raises(DifferenceError, match="the header says"):
        play_text(text_of(name).replace(was, now))


def test_an_unexpected_refusal_fails() -> None:
    with pytest.raises(DifferenceError, match="line 10: the step before was refused: Only a pit supervisor"):
        play_text(HEAD + "\nbegin\ndeal 2\nreport exposed_card B3\n\nconfirm by dealer\nchoose all continue\n")
    with pytest.raises(DifferenceError, match="the last step was refused"):
        play_text(HEAD + "begin\ndeal 1\nreport exposed_card B1\nconfirm by dealer\n")


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        ("begin\nconfirm", "`confirm`: no irregularity is open"),
        ("begin\ndeal 1\nreport exposed_card B1", "I12 is still open at the end"),
        ("begin\nfinish\ndeal 1", "nothing was dealt"),
        ("begin\nabout I12", "no I12 is open; open: none"),
        ("begin\ndeal 1\nreport exposed_card B1\nreport late_bet\ndeny\ndeny", "the header says I12 NC 5.9"),
    ],
)
def test_a_step_without_effect_is_reported(steps: str, sentence: str) -> None:
    with pytest.raises(DifferenceError, match=re.escape(sentence)):
        play_text(HEAD.replace("5.7", "5.9") + steps)


@pytest.mark.parametrize(
    ("header", "steps"),
    [
        ("game NC\nwager ann main 2 10\nwager bob main 5 10\n", "begin"),
        ("game NC\ndevice singles\nboxes 1\nwager ann main 2 10\nwager bob main 5 10\n", "begin"),
        ("game TP\nwager ann main 5 10\nwager ann tie 5 10\nwager bob main 2 10\n", "begin"),
        ("game RTP\ndevice singles\nboxes 2 5\n", "begin"),
        ("game P3\nboxes 5 2\n", "load\nplace your bets\nwager ann main 5 10\nwager bob main 2 10\nno more bets"),
        ("game F3\n", "begin"),
        ("game F3\nwager ann win 2 10\n", "begin"),
    ],
)
def test_hands_are_dealt_to_the_boxes_on_which_wagers_lie(header: str, steps: str) -> None:
    hands = "hand B2 KD QC JS\nhand D 9H 9C 2D\n"
    scenario = read_scenario("mine", f"{header}{hands}{steps}\ndeal all\nopen all\nsettle\nconclude")
    course = Course(scenario.setting)
    list(play(scenario, course))
    shown = {place: " ".join(card.code for card in hand.shown) for place, hand in course.state.round.hands.items()}
    assert (shown["B2"], shown["D"]) == ("KD QC JS", "9H 9C 2D")


@pytest.mark.parametrize(
    "steps",
    [
        "load\nplace your bets\nwager ann main 2 10\nno more bets",  # another box than the header's
        "load\nload\nplace your bets\nno more bets",  # another deck than the first
    ],
)
def test_an_impossible_hand_is_refused_at_the_start_of_the_deal(steps: str) -> None:
    last = len(steps.splitlines()) + 2
    with pytest.raises(DifferenceError, match=f"line {last}: `no more bets`: B3 would not get the hand"):
        play_text(f"game NC\nhand B3 KD QC JS\n{steps}\nfinish")


def test_f3_pm5_the_first_card_may_be_one_of_a_hand_and_the_hand_names_the_others() -> None:
    text = "game F3\nreading first_card in_hand\nhand F AH\nhand D 2H 3H\nbegin\nfinish"
    course = Course(read_scenario("mine", text).setting)
    list(play(read_scenario("mine", text), course))
    assert [card.code for card in course.state.round.hands["D"].shown] == ["AH", "2H", "3H"]


def test_in_a_second_round_the_hands_of_the_header_are_not_dealt() -> None:
    play_text("game NC\nhand B3 KD QC JS\nbegin\nfinish\nbegin\nfinish")


def test_a_file_needs_no_cell_and_no_clause() -> None:
    play_text("game nc\nbegin\nfinish")
    exposed = "begin\ndeal 1\nreport exposed_card B1\ndeny\n"
    play_text(f"game NC\n{exposed}")
    play_text(f"game NC\nclause NC 5.7\n{exposed}")
    play_text(f"game NC\ncell I12\n{exposed}")
    for header, said in (("clause NC 5.9", "NC 5.9"), ("cell I13", "I13"), ("clause silent", "silent")):
        with pytest.raises(DifferenceError, match=f"the header says {said}, the table came to I12 NC 5.7 options"):
            play_text(f"game NC\n{header}\n{exposed}")


def test_a_refused_step_shows_how_to_expect_it() -> None:
    with pytest.raises(DifferenceError, match=r"If that is right, write `expect refused role` after it\.$"):
        play_text("game NC\nbegin\ndeal 1\nreport exposed_card B1\nconfirm by dealer\ndeny")


def test_about_directs_steps_to_another_irregularity() -> None:
    both = "begin\ndeal 1\nreport exposed_card B1\nreport unshuffled\nexpect I03 NC 5.5.3 void\n"
    play_text(HEAD + both + "about I12\nexpect I12 NC 5.7 options\ndeny\ndeny\nexpect no irregularity")


# -- unreadable lines ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "a: the header lacks `game NC`."),
        ("cell I12\nclause NC 5.7\nbegin", "a: the header lacks `game NC`."),
        (HEAD, "a: no step follows the header"),
        ("game Canasta", "a, line 1: 'Canasta' is not a game; known: "),
        ("game NC\n\ndevice cards", "a, line 3: 'cards' is not a unit; known: sets, singles."),
        ("game NC\ndevice sets flying", "a, line 2: 'flying' is not an ability; known: stages, "),
        ("boxes 1", "a, line 1: say the game first"),
        ("game NC\nboxes 1 12", "a, line 2: there is no box 12"),
        ("game NC\nreading colour red", "'colour' is not a setting of this game; known: "),
        ("game NC\nreading cured red", "'red' is not an option of cured; known: silently, options"),
        ("game NC\nhand B1 KD ZZ", "'ZZ' is not a card; a card is written like KD or 10C"),
        ("game NC\nhand X1 KD", "'X1' is not a place; places are B1 to B9, and D"),
        ("game NC\nhand B1", "a, line 2: the code of a card is missing at the end"),
        ("game NC\nhand B1 KD\nhand B1 QD", "a, line 3: the cards of B1 are already named"),
        ("game NC\nhand B1 KD\nhand B3 KD\nbegin", "a: KD is named twice, and the deck has it once."),
        (
            "game NC\nhand B2 KD\nbegin",
            "a: `hand B2` names 1 card, and the deck deals 0 there; dealt to are B1, B3, B6, D.",
        ),
        ("game NC\nwager ann main 2 1\nhand B1 KD\nbegin", "`hand B1` names 1 card, and the deck deals 0 there; "),
        ("game NC\nhand D KD QD JD TD\nbegin", "`hand D` names 4 cards, and the deck deals 3 there; "),
        ("game NC\nhand F KD\nbegin", "`hand F` names 1 card, and the deck deals 0 there; "),
        ("game F3\nreading first_card in_hand\nhand F AH\nhand D 2H 3H 4H\nbegin", "the deck deals 2 there; "),
        ("game NC\nwager ann mian 1 10", "a, line 2: 'mian' is not a wager of NC; known: main, tie, three_pictures."),
        ("game NC\nboxs 1 2", "a, line 2: 'boxs 1' is not a step; nearest: boxes; known: begin, next round"),
        ("game NC\nboxs 1 2", "; before the first step also game, device, boxes, reading, hand, wager, cell, clause."),
        ("cell twelve", "'twelve' is not a cell"),
        ("clause", "a clause is missing; write `clause silent`"),
        ("game NC TP", "unexpected text at the end: 'TP'"),
        (HEAD + "wager ann", "a wager such as main is missing at the end"),
        (
            HEAD + "shuffle cards",
            "'shuffle cards' is not a step; nearest: shuffled; known: begin, next round",
        ),
        (HEAD + "begin\ndevice flies", "'device flies' is not a step; known: device face-up, device together"),
        (HEAD + "deal some", "the number of sets or cards to deal must be a number, not 'some'; write `deal NUMBER"),
        (HEAD + "report nothing", "'nothing' is not a kind of irregularity; known: foreign_card, "),
        (HEAD + "report exposed_card B3 soon", "unexpected text at the end: 'soon'; write `report KIND"),
        (HEAD + "confirm handled perhaps", "'perhaps' is not an answer; known: yes, no"),
        (HEAD + "confirm by nobody", "'nobody' is not a rank; known: dealer, pit supervisor"),
        (HEAD + "rule pray", "'pray' is not a ruling; known: void, continue, reconstruct, remove hands"),
        (HEAD + "rule void because so by pit manager", "put `by ROLE` before it"),
        (HEAD + "choose B1 stay", "'stay' is not a choice; known: continue, withdraw"),
        (HEAD + "lies", "say which card lies where"),
        (HEAD + "expect", "'' cannot be expected; known: asks, stage"),
        (HEAD + "expect rain", "'rain' cannot be expected; known: asks, stage"),
        (HEAD + "expect I12", "'I12' is neither an expectation nor CELL CLAUSE DISPOSITION"),
        (HEAD + "expect I12 NC 5.7 rain", "'rain' is not a disposition; known: void, continue"),
        (HEAD + "expect stage left", "'left' is not a stage; known: claimed, "),
        (HEAD + "begin\ngame NC", "a, line 5: 'game NC' is not a step"),
    ],
)
def test_an_unreadable_line_is_named_with_the_known_commands(text: str, sentence: str) -> None:
    with pytest.raises(BadScenarioError) as refused:
        read_scenario("a", text)
    assert sentence in str(refused.value)


def test_comments_are_ignored_and_the_head_is_the_description() -> None:
    plain = read_scenario("a", HEAD + "begin\ndeal 2")
    noted = read_scenario("a", "# One.\n#  Two.\n\n" + HEAD + "\n# no word of it\nbegin # at once\n\ndeal   2\n")
    assert noted.about == "One. Two."
    assert [step.text for step in noted.steps] == [step.text for step in plain.steps]
    assert [step.line for step in noted.steps] == [9, 11]
    assert noted.setting == plain.setting


def test_every_form_begins_with_its_command() -> None:
    for word, form in [
        *((word, step.form) for word, step in STEPS.items()),
        *((word, step.form) for word, step in DEVICE_STEPS.items()),
        *((word, header.form) for word, header in HEADER.items()),
    ]:
        assert form.startswith(word)
    for word, expectation in EXPECTATIONS.items():
        assert expectation.form.startswith(f"expect {word}")


def test_the_demo_explains_every_word() -> None:
    code, output = run_demo("words")
    assert code == 0
    printed = {line.strip() for line in output.splitlines()}
    assert {text for word in STEPS.values() for text in (word.form, str(word.meaning))} <= printed
    assert {text for word in HEADER.values() for text in (word.form, word.meaning)} <= printed
    assert {text for word in EXPECTATIONS.values() for text in (word.form, word.meaning)} <= printed
    assert f"{', '.join(KINDS)}" in printed


# -- the command ---------------------------------------------------------------------------------------------------


def run_demo(file: str) -> tuple[int, str]:
    done = CliRunner().invoke(demo, ["--scenario", file])
    return done.exit_code, done.output


def test_the_demo_prints_each_step_and_the_tables_output() -> None:
    code, output = run_demo(EXPOSED)
    assert code == 0
    printed = output.splitlines()
    assert printed[-1] == "Every expectation held."
    for line in (
        "box 3 chooses to withdraw",
        "box 3 is out of play; its bets are returned",
        "refused: Only a pit supervisor",
    ):
        assert any(line in one for one in printed), line
    steps = [re.sub(r"^ *\d+  ", "", one) for one in printed if re.match(r" *\d+  \S", one)]
    assert steps == [step.text for step in load(EXPOSED).steps]


def test_the_demo_plays_a_file_and_names_the_line_that_came_out_otherwise(tmp_path: Path) -> None:
    text, line = changed(EXPOSED, "held", "free")
    file = tmp_path / "mine.scenario"
    file.write_text(text, encoding="utf-8")
    code, output = run_demo(str(file))
    assert code == 1
    assert f"mine.scenario, line {line}: `expect free`, but the table says: held." in output
    file.write_text(text_of(EXPOSED), encoding="utf-8")
    assert run_demo(str(file))[0] == 0


@pytest.mark.parametrize("content", [None, b"game NC\n", b"\xff\xfe\x00"])
def test_the_demo_refuses_a_file_that_is_not_a_scenario(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "bad.scenario"
    if content is not None:
        file.write_bytes(content)
    code, output = run_demo(str(file))
    assert code == 2
    assert "bad.scenario" in output


def test_no_concealed_face_is_printed() -> None:
    lines = [str(line) for line in scenario_lines(load("nc/i01-foreign-card"))]
    assert any("cards to B3" in line for line in lines)
    assert not [line for line in lines if re.search(r"\b(?:[2-9TJQKA]|10)[CDHS]\b", line)]
