"""The questions that find a row, under every reading of every game, and the rows themselves."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Final

import pytest
from msgspec.structs import replace

from controller.games import game
from controller.games.common import HOUSE_PROCEDURE
from controller.games.specification import (
    ASSUMED_NOT,
    FACT_QUESTIONS,
    NUMBERS,
    Clauses,
    Disposition,
    Facts,
    Kind,
    Noticed,
    Row,
)
from controller.rules.law import Law, find_row, read_law, silent_row
from tests.clauses.numbers import CLAUSES
from tests.rules.irregularity_cells import GAME_IDS, facts_of, said

K = Kind
ANSWERS: Final = (True, False)
each_game = pytest.mark.parametrize("game_id", GAME_IDS)
each_kind = pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)


@cache
def every_law(game_id: str) -> tuple[Law, ...]:
    """Return a law for every choice of the readings that turn rows on and off."""
    rules = game(game_id)
    turning = sorted({setting for row in rules.irregularities for setting, _ in row.under})
    words = [next(setting.words for setting in rules.settings if setting.id == name) for name in turning]
    return tuple(read_law(rules, dict(zip(turning, chosen, strict=True))) for chosen in product(*words))


@cache
def laws(game_id: str, kind: Kind) -> tuple[Law, ...]:
    """Return one law for each list of the kind's rows. `find_row` reads nothing else of a law but its game."""
    return tuple({tuple(row for row in law.rows if row.kind is kind): law for law in every_law(game_id)}.values())


def asked_of_people(law: Law, kind: Kind) -> list[str]:
    return sorted({name for row in law.rows if row.kind is kind for name in facts_of(row.when)} - ASSUMED_NOT)


def with_assumed(law: Law, kind: Kind, noticed: Noticed) -> Iterator[Facts]:
    """Yield facts with only the assumed ones stated, in every combination that any row knows."""
    names = sorted({name for row in law.rows if row.kind is kind for name in facts_of(row.when)} & ASSUMED_NOT)
    for values in product(ANSWERS, repeat=len(names)):
        yield replace(Facts(noticed=noticed), **dict(zip(names, values, strict=True)))


def answered(facts: Facts, names: tuple[str, ...] | list[str]) -> Iterator[Facts]:
    for values in product(ANSWERS, repeat=len(names)):
        yield replace(facts, **dict(zip(names, values, strict=True)))


def follow(law: Law, kind: Kind, facts: Facts) -> Iterator[tuple[Facts, Row]]:
    """Yield every end of the questions from here, with the facts stated on the way."""
    row, asks = find_row(law, kind, facts)
    if not asks:
        yield facts, row
    for more in answered(facts, asks) if asks else ():
        yield from follow(law, kind, more)


def starts(game_id: str, kind: Kind) -> Iterator[tuple[Law, Facts]]:
    for law, noticed in product(laws(game_id, kind), Noticed):
        for facts in with_assumed(law, kind, noticed):
            yield law, facts


@each_game
@each_kind
def test_questions_lead_to_a_row_that_no_answer_contradicts(game_id: str, kind: Kind) -> None:
    for law, nothing in starts(game_id, kind):
        for facts, row in follow(law, kind, nothing):
            stated = facts_of(facts)
            assert row.kind is kind
            assert facts.noticed in row.noticed
            for name, wanted in facts_of(row.when).items():
                assert stated.get(name, False) is wanted, f"{row.clause} does not fit {stated}"


@each_game
@each_kind
def test_the_found_row_does_not_depend_on_unasked_facts(game_id: str, kind: Kind) -> None:
    for law, nothing in starts(game_id, kind):
        for facts, row in follow(law, kind, nothing):
            left = [name for name in asked_of_people(law, kind) if getattr(facts, name) is None]
            for complete in answered(facts, left):
                listed = find_row(law, kind, complete)
                assert listed.asks == ()
                assert replace(listed.row, id="") == replace(row, id="")


@each_game
@each_kind
def test_every_question_can_change_the_row(game_id: str, kind: Kind) -> None:
    for law, nothing in starts(game_id, kind):
        waiting = [nothing]
        while waiting:
            facts = waiting.pop()
            asks = find_row(law, kind, facts).asks
            waiting += answered(facts, asks) if asks else []
            names = [name for name in asked_of_people(law, kind) if getattr(facts, name) is None]
            for asked in asks:
                rest = [name for name in names if name != asked]
                assert any(
                    len({find_row(law, kind, replace(other, **{asked: answer})).row for answer in ANSWERS}) == 2
                    for other in answered(facts, rest)
                ), f"{law.game.id}: {asked} is asked in vain of {kind} with {facts_of(facts)}"


@each_game
@each_kind
def test_stated_and_unaskable_facts_are_never_asked(game_id: str, kind: Kind) -> None:
    for law, nothing in starts(game_id, kind):
        for facts in answered(nothing, asked_of_people(law, kind)[:3]):
            asks = find_row(law, kind, facts).asks
            assert not set(asks) & set(facts_of(facts))
            assert not set(asks) & ASSUMED_NOT
            assert set(asks) <= set(FACT_QUESTIONS)


@pytest.mark.parametrize(
    ("game_id", "kind", "facts", "asks"),
    [
        ("TP", K.WRONG_DISTRIBUTION, said(), {"handled", "curable"}),  # TP 5.3
        ("TP", K.WRONG_DISTRIBUTION, said(handled=True), set()),
        ("TP", K.WRONG_COUNT, said(dealer_hand=False), {"handled"}),
        ("TP", K.WRONG_COUNT, said(dealer_hand=False, handled=True), set()),
        ("RTP", K.WRONG_COUNT, said(dealer_hand=False, handled=True), {"viewed"}),  # RTP 5.5
        ("RTP", K.WRONG_COUNT, said(dealer_hand=False, handled=False), set()),  # RTP 5.4
        ("RTP", K.WRONG_COUNT, said(dealer_hand=True, handled=True), set()),
        ("RTP", K.EXPOSED_CARD, said(manual=False), set()),  # RTP 5.8
        ("RTP", K.EXPOSED_CARD, said(manual=True), {"first_card"}),  # RTP 5.8.1
        ("NC", K.WRONG_COUNT, said(dealer_hand=False), {"handled"}),  # NC 5.5.4
        ("NC", K.WRONG_COUNT, said(dealer_hand=False, handled=True), {"reconstructable"}),  # NC 5.9
        ("NC", K.WRONG_COUNT, said(dealer_hand=True, handled=True), {"reconstructable"}),  # NC 5.5.5
        ("NC", K.WRONG_DISTRIBUTION, said(handled=True), {"reconstructable"}),  # NC 5.7
        ("NC", K.OTHER_DEALING_ERROR, said(wrong_number=False, handled=True), {"reconstructable"}),
        (
            "NC",
            K.OTHER_DEALING_ERROR,
            said(wrong_number=True, misplaced=True, dealer_hand=False),
            {"handled"},
        ),
        ("NC", K.POWER_FAILURE, said(before_close=False, established=False), {"affects_play"}),  # NC 5.4
        ("NC", K.SIMULTANEOUS, said(), {"order_known"}),  # NC 5.11
        ("NC", K.TECHNICAL_STOP, said(places_certain=True), set()),  # NC 5.4
        ("NC", K.TECHNICAL_STOP, said(before_close=False, places_certain=False), {"established"}),
        ("NC", K.EXPOSED_CARD, said(), set()),
        ("P3", K.WRONG_COUNT, said(dealer_hand=True, handled=True), {"reconstructable"}),  # P3 5.4
        ("P3", K.WRONG_COUNT, said(dealer_hand=True, handled=False), set()),  # P3 5.3
        ("F3", K.WRONG_DISTRIBUTION, said(), set()),  # F3 X2
        ("F3", K.DROPPED_CARD, said(), set()),
        ("F3", K.SIMULTANEOUS, said(), {"wrong_number", "dealer_hand", "misplaced"}),
    ],
)
def test_reading_35_only_facts_that_a_clause_depends_on_are_asked(
    game_id: str, kind: Kind, facts: Facts, asks: set[str]
) -> None:
    assert set(find_row(read_law(game(game_id)), kind, facts).asks) == asks


@each_game
def test_every_row_is_reached_by_some_facts_under_some_reading(game_id: str) -> None:
    reached = {
        replace(find_row(law, kind, facts).row, id="")
        for kind in Kind
        for law, nothing in starts(game_id, kind)
        for facts in answered(nothing, asked_of_people(law, kind))
    }
    missing = [row for row in game(game_id).irregularities if replace(row, id="") not in reached]
    assert not missing
    procedure = set(HOUSE_PROCEDURE) & set(read_law(game(game_id)).rows)
    assert {replace(row, id="") for row in procedure} <= reached


@each_game
def test_no_row_of_a_game_repeats_another_or_its_condition(game_id: str) -> None:
    rows = game(game_id).irregularities
    assert len(set(rows)) == len(rows)
    conditions = [(row.kind, row.when, noticed, row.under) for row in rows for noticed in row.noticed]
    assert len(set(conditions)) == len(conditions)


@each_game
def test_every_clause_that_the_data_cite_is_in_the_document(game_id: str) -> None:
    rules = game(game_id)
    rows = rules.irregularities
    cited = {row.clause for row in rows} | {option.clause for row in rows for option in row.options}
    cited |= {setting.clause for setting in rules.settings} | {grammar.clause for grammar in rules.grammars}
    cited |= {step.clause for step in rules.steps} | {rules.silent_clause}
    cited |= {getattr(rules.clauses, name) for name in Clauses.__struct_fields__}
    for wager in rules.wagers:
        cited |= {wager.clause, wager.returned_clause, *(price.clause for price in wager.prices)}
    for name in rules.betting.__struct_fields__:
        value = getattr(rules.betting, name)
        cited |= {value} if isinstance(value, str) and value.startswith(f"{game_id} ") else set()
    assert cited - {""} <= {clause for clause in CLAUSES if clause.startswith(f"{game_id} ")}


@each_game
def test_each_row_names_a_clause_or_house_procedure_and_known_settings(
    game_id: str,
) -> None:
    options = {setting.id: setting.words for setting in game(game_id).settings}
    for row in game(game_id).irregularities:
        whole = row.when.counted_wrong is False  # no clause covers a count that finds the deck complete
        assert row.clause.startswith(f"{game_id} ") is not whole
        assert row.authority == ("house procedure" if whole else "")
        assert row.because
        assert row.noticed
        for setting, option in row.under:
            assert option in options[setting]


@each_game
def test_options_are_offered_where_a_bettor_may_choose_and_nowhere_else(game_id: str) -> None:
    choosing = {Disposition.OPTIONS, Disposition.NAME_ORDER, Disposition.WITHDRAWALS}
    for row in game(game_id).irregularities:
        if row.disposition in choosing:
            # Reading 39: a Player who accepts what is dealt only has the order named (NC 5.11).
            accepts = row.disposition is Disposition.NAME_ORDER and ("second_error", "accepted") in row.under
            assert len(row.options) == (0 if accepts else 2)
        elif row.options:
            assert {option.clause for option in row.options} == {"RTP 5.7"}


def test_every_question_that_can_be_asked_has_words() -> None:
    assert set(FACT_QUESTIONS) == set(Facts.__struct_fields__) - {"noticed"}
    assert set(FACT_QUESTIONS) >= ASSUMED_NOT


@each_kind
def test_each_kind_of_dealing_irregularity_has_one_fallback_number(kind: Kind) -> None:
    last = [number for number, of, when in NUMBERS if of is kind and when == Facts()]
    assert len(last) == (0 if kind is K.OUTSIDE_LIMITS else 1)


def test_the_first_row_that_fits_applies_and_one_that_might_is_asked_for() -> None:
    first = Row(K.UNSHUFFLED, "NC 5.5.3", Disposition.VOID, "first", when=Facts(handled=True), id="a")
    second = Row(K.UNSHUFFLED, "NC 5.5.3", Disposition.VOID, "second", id="b")
    law = read_law(replace(game("NC"), irregularities=(first, second)))
    for facts, because, asks in (
        (said(handled=True), "first", ()),
        (said(handled=False), "second", ()),
        (said(), "first", ("handled",)),
    ):
        found = find_row(law, K.UNSHUFFLED, facts)
        assert (found.row.because, found.asks) == (because, asks)


def test_an_unaskable_fact_that_is_not_stated_is_false() -> None:
    row = Row(K.UNSHUFFLED, "NC 5.5.3", Disposition.VOID, "between rounds", when=Facts(between_rounds=True), id="a")
    other = Row(K.UNSHUFFLED, "NC 5.5.3", Disposition.VOID, "in a round", when=Facts(between_rounds=False), id="b")
    law = read_law(replace(game("NC"), irregularities=(row, other)))
    for facts, because in ((said(), "in a round"), (said(between_rounds=True), "between rounds")):
        found = find_row(law, K.UNSHUFFLED, facts)
        assert (found.row.because, found.asks) == (because, ())


def test_nc_5_17_silence_is_referred_only_if_the_document_names_a_person() -> None:
    bare = replace(game("NC"), irregularities=(), silent_clause="")
    assert find_row(read_law(bare), K.EXPOSED_CARD, said()).row == silent_row(bare, K.EXPOSED_CARD, said())
    assert silent_row(bare, K.EXPOSED_CARD, said()).disposition is Disposition.SILENT
    referred = silent_row(game("NC"), K.EXPOSED_CARD, said())
    assert (referred.disposition, referred.clause) == (Disposition.REFER, "NC 5.17")
