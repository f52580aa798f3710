"""The irregularity table of NC: which clause applies to what, what must be asked, and who decides."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import asdict, replace

from controller.games import game
from controller.games.specification import (
    FACT_QUESTIONS,
    Clauses,
    Disposition,
    Facts,
    Kind,
    Role,
    Row,
)
from controller.rules.irregularities import find_row, silent_row
from tests.rules.nc_clauses import CLAUSES, cited

NC = game("NC")
D, R = Disposition, Role
NAMES = tuple(Facts.__struct_fields__)
EVERY_FACTS = [
    Facts(**dict(zip(NAMES, values, strict=True))) for values in product((None, True, False), repeat=len(NAMES))
]


def found(kind: Kind, **facts: bool) -> Row:
    """The row that applies when nothing needs to be asked any more."""
    row, asks = find_row(NC, kind, Facts(**facts))
    assert not asks, f"asks {asks} first"
    return row


def test_nc_5_5_1_a_foreign_card_voids() -> None:
    row = found(Kind.FOREIGN_CARD)
    assert (row.id, row.clause, row.disposition, row.confirms) == ("I01", "NC 5.5.1", D.VOID, R.PIT_SUPERVISOR)


@pytest.mark.parametrize(("wrong", "follows"), [(True, D.VOID), (False, D.CONTINUE)])
def test_nc_5_5_2_a_wrong_deck_voids_once_a_count_by_hand_says_so(wrong: bool, follows: Disposition) -> None:
    row = found(Kind.DECK_COUNT, counted_wrong=wrong)
    assert (row.id, row.clause, row.disposition) == ("I02", "NC 5.5.2", follows)
    assert find_row(NC, Kind.DECK_COUNT, Facts()).asks == ("counted_wrong",)


def test_nc_5_5_3_unshuffled_cards_void() -> None:
    row = found(Kind.UNSHUFFLED)
    assert (row.id, row.clause, row.disposition) == ("I03", "NC 5.5.3", D.VOID)


@pytest.mark.parametrize(("wrong", "follows"), [(True, D.VOID), (False, D.CONTINUE)])
def test_nc_5_5_2_a_doubt_about_the_count_waits_for_the_count(wrong: bool, follows: Disposition) -> None:
    row = found(Kind.COUNT_IN_DOUBT, counted_wrong=wrong)
    assert (row.id, row.clause, row.disposition) == ("I04", "NC 5.5.2", follows)
    assert find_row(NC, Kind.COUNT_IN_DOUBT, Facts(handled=True)).asks == ("counted_wrong",)


@pytest.mark.parametrize(
    ("dealer_hand", "handled", "row_id", "clause", "follows"),
    [
        (True, False, "I08a", "NC 5.5.4", D.VOID),
        (True, True, "I08b", "NC 5.5.5", D.VOID),
        (False, False, "I09", "NC 5.5.4", D.VOID),
        (False, True, "I11", "NC 5.9", D.REMOVE_HAND),
    ],
)
def test_nc_5_5_4_5_5_5_and_5_9_a_wrong_count_by_hand_and_handling(
    dealer_hand: bool, handled: bool, row_id: str, clause: str, follows: Disposition
) -> None:
    row = found(Kind.WRONG_COUNT, dealer_hand=dealer_hand, handled=handled)
    assert (row.id, row.clause, row.disposition, row.confirms) == (row_id, clause, follows, R.PIT_SUPERVISOR)


@pytest.mark.parametrize("dealer_hand", [True, False])
def test_nc_5_5_4_of_a_wrong_count_it_is_asked_whether_anybody_has_handled_cards(dealer_hand: bool) -> None:
    assert find_row(NC, Kind.WRONG_COUNT, Facts(dealer_hand=dealer_hand)).asks == ("handled",)
    assert set(find_row(NC, Kind.WRONG_COUNT, Facts()).asks) == {"dealer_hand", "handled"}


def test_nc_5_7_an_exposed_card_gives_options() -> None:
    row = found(Kind.EXPOSED_CARD)
    assert (row.id, row.clause, row.disposition) == ("I12", "NC 5.7", D.OPTIONS)


def test_nc_5_10_a_face_up_card_is_the_next_card_and_the_dealer_confirms() -> None:
    row = found(Kind.FACE_UP_IN_DEVICE, before_close=False)
    assert (row.id, row.clause, row.disposition, row.confirms) == ("I14", "NC 5.10", D.NEXT_CARD, R.DEALER)


def test_nc_5_17_before_no_more_bets_a_face_up_card_is_referred() -> None:
    row = found(Kind.FACE_UP_IN_DEVICE, before_close=True)
    assert (row.id, row.clause, row.disposition, row.decides) == ("I14", "NC 5.17", D.REFER, R.SHIFT_MANAGER)


def test_nc_5_11_of_cards_in_unknown_order_a_pit_supervisor_names_it() -> None:
    row = found(Kind.SIMULTANEOUS, order_known=False)
    assert (row.id, row.clause, row.disposition, row.decides) == ("I15", "NC 5.11", D.NAME_ORDER, R.PIT_SUPERVISOR)


def test_nc_5_11_1_of_cards_in_known_order_only_the_options_are_left() -> None:
    row = found(Kind.SIMULTANEOUS, order_known=True)
    assert (row.id, row.clause, row.disposition) == ("I15", "NC 5.11.1", D.OPTIONS)


@pytest.mark.parametrize(
    ("misplaced", "handled", "clause", "follows"),
    [
        (True, False, "NC 5.5.4", D.VOID),
        (True, True, "NC 5.7", D.OPTIONS),
        (False, False, "NC 5.7", D.OPTIONS),
        (False, True, "NC 5.7", D.OPTIONS),
    ],
)
def test_nc_5_5_4_and_5_7_another_dealing_error_voids_only_what_is_misplaced_and_not_handled(
    misplaced: bool, handled: bool, clause: str, follows: Disposition
) -> None:
    row = found(Kind.OTHER_DEALING_ERROR, misplaced=misplaced, handled=handled)
    assert (row.id, row.clause, row.disposition) == ("I16", clause, follows)


def test_nc_5_5_4_of_another_dealing_error_it_is_asked_what_is_not_stated() -> None:
    assert find_row(NC, Kind.OTHER_DEALING_ERROR, Facts()).asks == ("handled", "misplaced")
    assert find_row(NC, Kind.OTHER_DEALING_ERROR, Facts(handled=True)).asks == ()


def test_nc_5_4_a_stop_with_every_place_certain_goes_on() -> None:
    row = found(Kind.TECHNICAL_STOP, places_certain=True)
    assert (row.id, row.clause, row.disposition, row.confirms) == ("I19", "NC 5.4", D.CONTINUE, R.DEALER)


def test_nc_5_4_a_stop_without_certainty_is_referred() -> None:
    row = found(Kind.TECHNICAL_STOP, places_certain=False)
    assert (row.id, row.clause, row.disposition, row.decides) == ("I19", "NC 5.4", D.REFER, R.SHIFT_MANAGER)


def test_nc_5_17_cards_taken_before_no_more_bets_are_referred() -> None:
    row = found(Kind.BEFORE_NO_MORE_BETS)
    assert (row.id, row.clause, row.disposition, row.decides) == ("I28", "NC 5.17", D.REFER, R.SHIFT_MANAGER)


def test_nc_5_17_what_no_row_provides_for_is_referred_and_where_nobody_is_named_it_is_silent() -> None:
    row = silent_row(NC, Kind.EXPOSED_CARD)
    assert (row.clause, row.disposition, row.decides) == ("NC 5.17", D.REFER, R.SHIFT_MANAGER)
    bare = replace(NC, irregularities=(), silent_clause="")
    assert find_row(bare, Kind.EXPOSED_CARD, Facts()).row.disposition is D.SILENT


def test_the_first_row_that_fits_applies() -> None:
    first = Row("a", Kind.UNSHUFFLED, "NC 5.5.3", D.VOID, "first", when=Facts(handled=True))
    second = Row("b", Kind.UNSHUFFLED, "NC 5.5.3", D.VOID, "second")
    rules = replace(NC, irregularities=(first, second))
    assert find_row(rules, Kind.UNSHUFFLED, Facts(handled=True)) == (first, ())
    assert find_row(rules, Kind.UNSHUFFLED, Facts(handled=False)) == (second, ())
    assert find_row(rules, Kind.UNSHUFFLED, Facts()) == (first, ("handled",))


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_with_every_combination_of_facts_has_a_row_that_no_stated_fact_contradicts(kind: Kind) -> None:
    for facts in EVERY_FACTS:
        row, asks = find_row(NC, kind, facts)
        assert row.kind is kind
        assert row.id != "-", "no kind of this table is left to the clause that refers"
        for name, wanted in asdict(row.when).items():
            if wanted is not None:
                assert getattr(facts, name) in (None, wanted)
                assert (name in asks) == (getattr(facts, name) is None)


@pytest.mark.parametrize("kind", Kind)
def test_once_its_questions_are_answered_a_row_is_final(kind: Kind) -> None:
    for facts in EVERY_FACTS:
        row, asks = find_row(NC, kind, facts)
        answered = replace(facts, **{name: getattr(row.when, name) for name in asks})
        assert find_row(NC, kind, answered) == (row, ())


def test_every_row_can_be_reached() -> None:
    reached = {find_row(NC, kind, facts).row for kind in Kind for facts in EVERY_FACTS}
    assert reached == set(NC.irregularities)


def test_every_question_that_can_be_asked_has_words() -> None:
    assert set(FACT_QUESTIONS) == set(NAMES)


def test_every_clause_that_is_cited_stands_in_the_document() -> None:
    from_rows = [row.clause for row in NC.irregularities]
    from_grammars = [grammar.clause for grammar in NC.grammars]
    named = [getattr(NC.clauses, name) for name in Clauses.__struct_fields__]
    for text in [*from_rows, *from_grammars, *named, NC.silent_clause]:
        assert cited(text) in CLAUSES, text


def test_the_list_of_clauses_is_not_open_ended() -> None:
    for clause in ((5, 18), (5, 5, 6), (5, 9, 1), (6, 1), (3, 14)):
        assert clause not in CLAUSES
