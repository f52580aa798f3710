"""Requirements of any rules document written as data, including the skeleton in the docs."""

from __future__ import annotations

import re
from itertools import combinations, product
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import GAMES
from controller.games.specification import ASSUMED_NOT, FACT_QUESTIONS, Facts, Game, Kind, Noticed
from controller.games.wager_specification import Looks
from controller.rules.dependence import Suits, dependence
from controller.rules.hands import rank_key
from controller.rules.law import Law, find_row
from controller.rules.payouts import Verdict, settle
from controller.rules.row_validation import every_law
from controller.rules.validation import problems
from firmware_bridge.cards import DECK, Card
from tests.support.skeleton import skeleton

ROOT = Path(__file__).parents[2]
GAMES_AND_SKELETON = {"SK": skeleton()} | GAMES
every_game = pytest.mark.parametrize("game", GAMES_AND_SKELETON.values(), ids=lambda game: game.id)
six_cards = st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True)


@every_game
def test_the_data_has_no_problem(game: Game) -> None:
    assert problems(game) == ()


@every_game
def test_every_reading_has_its_line_on_the_page(game: Game) -> None:
    page = (ROOT / "docs" / "readings.md").read_text(encoding="utf-8")
    numbers = {int(number) for number in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)}
    assert {setting.id: setting.reading for setting in game.settings if setting.reading not in numbers} == {}


@every_game
@given(cards=six_cards)
def test_a_wager_has_one_result_which_suits_do_not_change(game: Game, cards: list[Card]) -> None:
    box, dealer = cards[:3], cards[3:]
    turned = [DECK[(card.number - 1 + 13) % 52] for card in cards]  # the next suit of each
    for law in every_law(game):
        for wager in law.wagers:
            came_to = settle(law, wager, box, dealer)
            assert (came_to.net > 0) is (came_to.verdict is Verdict.WON)
            assert (came_to.net < 0) is (came_to.verdict is Verdict.LOST)
            assert settle(law, wager, turned[:3], turned[3:]) == came_to
            if wager.looks is Looks.BOX:
                assert settle(law, wager, box, ()) == came_to, "only the box's hand is looked at"


@every_game
@given(cards=six_cards, suits=st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_suits_matter_only_to_wagers_known_for_it(game: Game, cards: list[Card], suits: list[int]) -> None:
    other = [DECK[13 * suit + card.rank - 1] for card, suit in zip(cards, suits, strict=True)]
    law = next(every_law(game))
    for wager in law.wagers:
        if dependence(wager, law.prices(wager)).suits is Suits.NONE:
            assert settle(law, wager, other[:3], other[3:]) == settle(law, wager, cards[:3], cards[3:])


def ask_to_the_end(law: Law, kind: Kind, facts: Facts, answers: dict[str, bool]) -> tuple[str, ...]:
    """Answer every question until a row does not ask anything, and return the questions."""
    asked: list[str] = []
    for _ in FACT_QUESTIONS:
        row, asks = find_row(law, kind, facts)
        if not asks:
            assert row.kind is kind
            return tuple(asked)
        assert not set(asks) & (set(asked) | ASSUMED_NOT), "nothing is asked twice, and nothing that the table knows"
        asked += asks
        facts = msgspec.structs.replace(facts, **{name: answers[name] for name in asks})
    raise AssertionError(f"{law.game.id}: {kind} asks without end")


@every_game
def test_questions_come_to_an_end_whatever_is_answered(game: Game) -> None:
    for law in every_law(game):
        for kind, noticed in product(Kind, Noticed):
            names: set[str] = set()
            for value in (False, True):
                names |= set(ask_to_the_end(law, kind, Facts(noticed=noticed), dict.fromkeys(FACT_QUESTIONS, value)))
            for answers in product((False, True), repeat=len(names)):
                all_false = dict.fromkeys(FACT_QUESTIONS, False)
                ask_to_the_end(law, kind, Facts(noticed=noticed), all_false | dict(zip(names, answers, strict=True)))


def test_all_22_100_hands_have_a_name_in_every_game() -> None:
    keys = {rank_key(hand) for hand in combinations(DECK, 3)}
    assert keys == set(range(31))


def test_everything_that_a_new_game_must_fill_in_exists() -> None:
    document = (ROOT / "docs" / "a_new_game.md").read_text(encoding="utf-8")
    document = document.replace("/xy", "/nc")  # the page's name for a new game
    paths = [ROOT / path for path in re.findall(r"`((?:controller|tests|docs)/[\w/.-]*\w)`?", document)]
    assert all(path.exists() for path in paths), [path for path in paths if not path.exists()]
    program = "\n".join(path.read_text(encoding="utf-8") for path in paths if path.suffix == ".py")
    names = set(re.findall(r"`([A-Z][A-Z_]+)`", document)) - {
        "GAME",
        "IRREGULARITIES",
        "PROVISIONS",
        "SK",
        "XY",
    }  # not of the vocabulary
    assert {"TRAITS", "KINDS", "FACT_WORDS", "FOLLOWS", "FACT_QUESTIONS", "ASSUMED_NOT", "NUMBERS", "OF_ONE"} <= names
    assert {name for name in names if not re.search(rf"^ *{name}\b", program, re.MULTILINE)} == set()
