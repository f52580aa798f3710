"""What must be so of any rules document that is written down as data; the skeleton in the docs is one of them."""

from __future__ import annotations

import importlib.util
import re
from itertools import combinations, product
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.games import GAMES
from controller.games.specification import (
    ASSUMED_NOT,
    FACT_QUESTIONS,
    STATED,
    Disposition,
    Facts,
    Game,
    Kind,
    Noticed,
    Row,
    StepKind,
    Unit,
)
from controller.games.wager_specification import Looks
from controller.rules.hands import class_name, rank_key
from controller.rules.law import Law, conditions_of, find_row, read_law
from controller.rules.payouts import Verdict, settle
from firmware_bridge.cards import DECK, Card

ROOT = Path(__file__).parents[2]
SKELETON = ROOT / "docs" / "skeleton_game.py"


def skeleton() -> ModuleType:
    found = importlib.util.spec_from_file_location("skeleton_game", SKELETON)
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


ALL: list[Game] = [*GAMES.values(), skeleton().GAME]
every_game = pytest.mark.parametrize("game", ALL, ids=lambda game: game.id)
six_cards = st.lists(st.sampled_from(DECK), min_size=6, max_size=6, unique=True)


def every_law(game: Game) -> list[Law]:
    """Under every option, one setting changed at a time; what must be chosen is."""
    must = {setting.id: setting.words[0] for setting in game.settings if setting.must_be_chosen}
    changed = [{**must, setting.id: option} for setting in game.settings for option in setting.words]
    return [read_law(game, chosen) for chosen in ([must, *changed])]


def clauses(game: Game) -> set[str]:
    """Every clause that the data cites."""
    cited = {row.clause for row in game.irregularities} | {step.clause for step in game.steps}
    cited |= {option.clause for row in game.irregularities for option in row.options}
    cited |= {price.clause for wager in game.wagers for price in wager.prices}
    cited |= {wager.clause for wager in game.wagers} | {wager.returned_clause for wager in game.wagers}
    cited |= {setting.clause for setting in game.settings} | {grammar.clause for grammar in game.grammars}
    cited |= set(msgspec.structs.asdict(game.clauses).values()) | {game.silent_clause}
    of_betting = msgspec.structs.asdict(game.betting)
    words = {"limit_of", "excess", "shortfall", "viewer", "most_wagers"}
    cited |= {value for name, value in of_betting.items() if name not in words}
    return cited - {""}


@every_game
def test_every_clause_that_is_cited_is_one_of_the_document(game: Game) -> None:
    provided = [provision.clause for provision in game.provisions]
    assert len(provided) == len(set(provided)), "a clause stands twice"
    assert not clauses(game) - set(provided)


@every_game
def test_a_provision_is_carried_or_outside_never_both(game: Game) -> None:
    for provision in game.provisions:
        assert bool(provision.reading) != bool(provision.outside), provision.clause


@every_game
def test_what_depends_on_a_setting_names_one_of_its_options(game: Game) -> None:
    options = {(setting.id, option) for setting in game.settings for option in setting.words}
    for what, under in conditions_of(game):
        assert set(under) <= options, f"{what} depends on what is no setting or no option of {game.id}"
    for setting in game.settings:
        assert not setting.default or setting.default in setting.words
        assert len(set(setting.words)) == len(setting.words) > 1


@every_game
def test_each_unit_has_one_way_to_be_dealt(game: Game) -> None:
    assert sorted(grammar.unit for grammar in game.grammars) == sorted(Unit)


@every_game
def test_the_round_opens_closes_deals_exposes_and_settles_in_that_order(game: Game) -> None:
    kinds = [step.kind for step in game.steps]
    order = list(StepKind)
    assert kinds == sorted(kinds, key=order.index)
    assert {StepKind.BETTING, StepKind.CLOSING, StepKind.DEALING, StepKind.EXPOSING, StepKind.SETTLING} <= set(kinds)
    assert (StepKind.FIRST_CARD in kinds) is (game.first_card is not None)


@every_game
def test_the_31_classes_have_31_names(game: Game) -> None:
    assert len({class_name(key, game.names) for key in range(31)}) == 31


@every_game
@given(cards=six_cards)
def test_a_wager_always_comes_to_one_end_and_suits_matter_to_pair_plus_alone(game: Game, cards: list[Card]) -> None:
    box, dealer = cards[:3], cards[3:]
    turned = [DECK[(card.number - 1 + 13) % 52] for card in cards]  # the next suit each
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
def test_suits_matter_to_pair_plus_alone(game: Game, cards: list[Card], suits: list[int]) -> None:
    other = [DECK[13 * suit + card.rank - 1] for card, suit in zip(cards, suits, strict=True)]
    law = every_law(game)[0]
    for wager in law.wagers:
        if "pair_plus" not in wager.id:
            assert settle(law, wager, other[:3], other[3:]) == settle(law, wager, cards[:3], cards[3:])


def ask_to_the_end(law: Law, kind: Kind, facts: Facts, answers: dict[str, bool]) -> tuple[str, ...]:
    """Answer every question; returns what was asked. Ends in a row that asks nothing."""
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


@every_game
def test_options_are_given_where_bettors_choose_and_only_rows_of_the_document_or_procedure_apply(game: Game) -> None:
    for row in game.irregularities:
        chooses = row.disposition in (Disposition.OPTIONS, Disposition.WITHDRAWALS)
        assert bool(row.options) or not chooses, f"{row.id} {row.clause}"
        assert row.because
        assert not row.authority, "a row of the document is nobody else's"


def is_reached(law: Law, row: Row) -> bool:
    """Whether some facts lead to that row: those that it states, with any answer to what other rows would ask."""
    stated = {name: getattr(row.when, name) for name in STATED if getattr(row.when, name) is not None}
    asked = {
        name for other in law.rows if other.kind is row.kind for name in STATED if getattr(other.when, name) is not None
    }
    free = sorted(asked - set(stated))
    return any(
        msgspec.structs.replace(found, id=row.id) == row
        for noticed in row.noticed
        for answers in product((False, True), repeat=len(free))
        for found in [
            find_row(law, row.kind, Facts(**stated, **dict(zip(free, answers, strict=True)), noticed=noticed)).row
        ]
    )


@every_game
def test_every_row_of_every_law_is_reached_by_some_facts(game: Game) -> None:
    for law in every_law(game):
        unreached = [f"{row.id} {row.kind} {row.clause}" for row in law.rows if not is_reached(law, row)]
        assert not unreached, f"under {dict(law.chosen)}"


def test_a_row_behind_one_that_always_applies_is_found_out() -> None:
    document = skeleton().GAME
    always, behind = (
        document.irregularities[0],
        msgspec.structs.replace(document.irregularities[0], when=Facts(handled=True)),
    )
    law = read_law(msgspec.structs.replace(document, irregularities=(always, behind)))
    assert is_reached(law, always)
    assert not is_reached(law, behind)


@every_game
def test_no_row_stands_twice(game: Game) -> None:
    seen = [(row.kind, row.when, row.noticed, row.under) for row in game.irregularities]
    assert len(seen) == len(set(seen))


def test_all_22_100_hands_have_a_name_in_every_game() -> None:
    keys = {rank_key(hand) for hand in combinations(DECK, 3)}
    assert keys == set(range(31))


def test_what_a_new_game_is_told_to_fill_in_is_there() -> None:
    document = (ROOT / "docs" / "a_new_game.md").read_text(encoding="utf-8")
    paths = [ROOT / path for path in re.findall(r"`((?:controller|tests|docs)/[\w/.]*\w)`?", document)]
    assert all(path.exists() for path in paths), [path for path in paths if not path.exists()]
    program = "\n".join(path.read_text(encoding="utf-8") for path in paths if path.suffix == ".py")
    names = set(re.findall(r"`([A-Z][A-Z_]+)`", document)) - {"GAME"}
    assert {"TRAITS", "KINDS", "FACTS", "FOLLOWS", "FACT_QUESTIONS", "ASSUMED_NOT", "NUMBERS", "OWN"} <= names
    assert {name for name in names if not re.search(rf"^{name}\b", program, re.MULTILINE)} == set()
