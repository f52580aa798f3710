"""The completions that Tab offers in the current state of the table. Scenarios and the prompt share one grammar."""

from __future__ import annotations

import re

import pytest

from controller.api.in_language import in_language
from controller.api.view import LinkView, TableView, view_of
from controller.commands.operate.completion import candidates, unfinished
from controller.commands.operate.help_text import BUTTONS, in_words, lawful_words, write_about
from controller.commands.operate.operator import Line
from controller.commands.text import Page
from controller.language import Speaker
from controller.language.catalogue import english_of_pages
from controller.people_words import WITHOUT_WORDS, WORDS
from controller.people_words.reading import read_line
from controller.people_words.tokens import DEALER, By, UnreadableLineError
from controller.roles import Role
from controller.table import operations
from controller.table.permissions import PERMISSIONS
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.device_steps import STEPS
from tests.architecture.sources import ROOT


def table(*steps: str) -> TableView:
    course = Course(TableSetting("NC"))
    for step in steps:
        read_line(step.split(), STEPS)(course)
    return view_of(course.state, LinkView())


def offered(text: str, view: TableView) -> list[str]:
    return candidates(text, view, ["sam"], lawful_words(view, None))


def test_scenarios_have_the_same_words() -> None:
    assert {word: STEPS[word] for word in WORDS} == WORDS


def test_a_line_begins_with_a_word() -> None:
    view = table()
    assert offered("", view)[0] in lawful_words(view, None)
    assert "no more bets" in offered("no", view)
    assert offered("xyz", view) == []


def test_kinds_places_people_facts_and_cards_follow() -> None:
    view = table("begin", "deal 2", "report exposed_card B3")
    assert "exposed card" in offered("report exp", view)
    assert {"B1", "B3"} <= set(offered("report exposed card ", view))
    assert set(offered("confirm by ", view)) >= {"sam", "pit supervisor"}
    assert offered("confirm by pit s", view) == ["pit supervisor"]
    assert "KD" in offered("open B1 K", view)
    assert offered("about ", view)[0] == "I12"


def test_open_cards_are_not_offered_again() -> None:
    view = table("begin", "deal all", "open D")
    shown = next(hand.cards for hand in view.hands if hand.place == "D")
    assert not set(shown) & set(offered("open B1 ", view))


def test_a_completion_replaces_the_typed_part() -> None:
    assert unfinished("report exposed ca", "exposed card") == len("exposed ca")
    assert unfinished("confirm by ", "sam") == 0
    assert unfinished("ope", "open table") == 3


def test_the_next_step_names_no_button_of_a_screen() -> None:
    """The prompt has no buttons; it names the command instead."""
    named = {
        button
        for path in (ROOT / "controller/table").rglob("*.py")
        for button in re.findall(r'[Pp]ress "([^"]+)"', path.read_text("utf-8"))
    }
    assert named == {english_of_pages()[key] for key in BUTTONS}
    assert set(BUTTONS.values()) <= set(WORDS)
    view = in_words(table("begin", "deal 2", "report foreign_card", "confirm"), "en")
    assert (view.phase, view.next_step) == ("voided", "Return all bets, then write `return bets`.")


def test_the_next_step_names_the_command_in_another_language() -> None:
    view = table("begin", "deal 2", "report foreign_card", "confirm")
    step = in_words(in_language(view, Speaker("zh-Hans")), "zh-Hans").next_step
    assert str(step).endswith("再输入 `return bets`。")


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_a_question_comes_with_the_command_that_answers_it(language: str) -> None:
    view = in_words(in_language(table("begin", "deal 2", "report power_failure"), Speaker(language)), language)
    (asked,) = view.irregularities[0].asks
    assert str(view.next_step).count(f"`confirm {asked} yes`") == 1
    paper = Page(None, Speaker(language))
    write_about(paper, "confirm", (asked,))
    assert re.search(rf"FACT\W+{asked}$", str(paper), re.MULTILINE)


def test_words_that_only_scenarios_have_are_not_offered() -> None:
    assert "swapped" not in WORDS
    assert "swapped" in STEPS


@pytest.mark.parametrize("steps", [(), ("begin",), ("begin", "deal all"), ("begin", "finish")])
def test_words_are_lawful_by_the_daemons_offers_or_by_phase(steps: tuple[str, ...]) -> None:
    view = table(*steps)
    by_phase = lawful_words(view, None)
    assert by_phase
    assert lawful_words(view, []) == [word for word in by_phase if not WORDS[word].enters]
    pause = lawful_words(view, [{"operation": "pause_table", "allowed": True}])
    assert [word for word in pause if WORDS[word].enters] == ["pause"]


def test_every_operation_has_a_word_or_a_reason_why_not() -> None:
    entered = {operation for word in WORDS.values() for operation in word.enters}
    assert set(PERMISSIONS) == entered | set(WITHOUT_WORDS)
    assert not entered & set(WITHOUT_WORDS)
    assert all(WITHOUT_WORDS.values())


@pytest.mark.parametrize(
    ("line", "operation", "role"),
    [
        ("return excess", operations.RejectExcess(), Role.DEALER),
        ("restrict nothing", operations.RestrictBetting(), Role.PIT_MANAGER),
        (
            "restrict close box 7 close box 2 wagers at box 3 1 one box for ann",
            operations.RestrictBetting((7, 2), ((3, 1),), ("ann",)),
            Role.PIT_MANAGER,
        ),
        (
            "take deck out red-1 count 51 witness sam because a card is bent",
            operations.TakeDeckOut("red-1", "a card is bent", 51, "sam"),
            Role.DEALER,
        ),
        ("take deck out red-1 witness sam", operations.TakeDeckOut("red-1", "worn", 52, "sam"), Role.DEALER),
        (
            "correct bet 3 20 because he laid two",
            operations.CorrectBet(3, 20, "he laid two"),
            Role.PIT_SUPERVISOR,
        ),
        (
            "correct bet 0 20 bettor ann wager main box 4",
            operations.CorrectBet(0, 20, "it was entered wrongly", "ann", "main", 4),
            Role.PIT_SUPERVISOR,
        ),
        ("recall 3 B1 because a dispute", operations.RecallCards(3, "a dispute", "B1"), Role.PIT_MANAGER),
        ("recall 3 because a dispute", operations.RecallCards(3, "a dispute"), Role.PIT_MANAGER),
        ("remove screen 5e5e5e5e5e5e", operations.RemoveScreen("5e5e5e5e5e5e"), Role.PIT_SUPERVISOR),
    ],
)
def test_a_line_enters_an_operation(line: str, operation: operations.Operation, role: Role) -> None:
    found: list[tuple[operations.Operation, Role]] = []

    class Taking(Course):
        def enter(self, operation: operations.AnyOperation, by: By = DEALER) -> None:
            found.append((operation, by.role))

    Line(line.split()).act(Taking(TableSetting("NC")))
    assert found == [(operation, role)]


@pytest.mark.parametrize("word", WORDS)
def test_a_person_may_be_named_at_the_end_of_any_line(word: str) -> None:
    if "REASON" in WORDS[word].form or "[by ROLE]" in WORDS[word].form:
        return
    filled = {
        "show first card": "show first card KD", "deal": "deal all", "handled": "handled B1", "open": "open B1 KD QC",
        "bettor": "bettor ann", "bettor leaves": "bettor leaves ann", "wager": "wager ann main 1 10",
        "change bet": "change bet 1 10", "take back bet": "take back bet 1", "report": "report unshuffled",
        "about": "about I12", "named": "named B1 KD", "lies": "lies 1 at B3",
        "bring deck": "bring deck red-1 red", "load deck": "load deck red-1", "boxes": "boxes 1 3",
        "quarantine deck": "quarantine deck red-1", "dropped": "dropped 3", "count": "count 4 in D",
        "count again": "count again 4 in D",
        "take deck out": "take deck out red-1",
    }  # fmt: skip
    line = Line([*filled.get(word, word).split(), "by", "sam"])
    assert line.by.person == "sam"


@pytest.mark.parametrize(
    "text",
    [
        "sing", "begin twice", "confirm by", "deal some", "count 3 witness", "restrict", "restrict nothing more",
        "restrict close box", "recall 3", "recall 3 because", "correct bet 3", "remove screen",
    ],
)  # fmt: skip
def test_an_unknown_command_is_refused(text: str) -> None:
    with pytest.raises(UnreadableLineError):
        Line(text.split())
