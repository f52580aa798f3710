"""The irregularity table of NC under each of its readings (24, 25, 32, 39), and the options of 5.7."""

from __future__ import annotations

from itertools import product

import pytest
from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Choice, Disposition, Facts, Kind, Noticed, Option, Row
from controller.roles import Role
from controller.rules.law import Law, find_row, read_law
from tests.rules.irregularity_cells import (
    NC_AS_DEALT,
    NC_ORDER_KNOWN,
    NC_ORDER_UNKNOWN,
    NC_RECONSTRUCTED,
    Expected,
    choose,
    cont,
    recon,
    refer,
    remove,
    said,
    void,
)
from tests.rules.test_irregularities import final, says

D, K = Disposition, Kind
SECOND = said(chosen_before=True, handled=True, wrong_number=False, misplaced=True)
# Errors after a bettor's choice that would offer the options of 5.7 (again).
OPTIONAL = [
    (K.WRONG_DISTRIBUTION, said(reconstructable=False)),
    (K.WRONG_DISTRIBUTION, said(reconstructable=True)),
    (K.OTHER_DEALING_ERROR, said(reconstructable=False)),
    (K.OTHER_DEALING_ERROR, said(reconstructable=True)),
    (K.EXPOSED_CARD, said()),
    (K.DROPPED_CARD, said(reconstructable=False)),
    (K.DEALER_EXPOSED_EARLY, said()),
    (K.SIMULTANEOUS, said(order_known=True)),
]
each_optional = pytest.mark.parametrize(
    ("kind", "facts"),
    [(kind, replace(SECOND, reconstructable=facts.reconstructable, order_known=facts.order_known))
     for kind, facts in OPTIONAL],
    ids=[f"{kind.value} {facts.reconstructable or ''}" for kind, facts in OPTIONAL],
)  # fmt: skip


def nc(**chosen: str) -> Law:
    return read_law(game("NC"), chosen)


def chosen_of(row: Row) -> dict[Choice, Option]:
    return {option.choice: option for option in row.options}


@pytest.mark.parametrize("reconstructable", [True, False])
@pytest.mark.parametrize("kind", [K.WRONG_DISTRIBUTION, K.OTHER_DEALING_ERROR])
def test_nc_5_7_1_5_7_2_5_7_3_options_differ_if_cards_can_be_put_in_order(kind: Kind, reconstructable: bool) -> None:
    facts = said(wrong_number=False, misplaced=True, handled=True, reconstructable=reconstructable)
    options = chosen_of(final(nc(), kind, facts))
    assert options[Choice.CONTINUE].clause == ("NC 5.7.2" if reconstructable else "NC 5.7.1")
    assert options[Choice.WITHDRAW].clause == "NC 5.7.3"


@pytest.mark.parametrize("kind", [K.EXPOSED_CARD, K.DEALER_EXPOSED_EARLY])
def test_nc_5_7_1_cards_in_their_places_need_no_reconstruction(kind: Kind) -> None:
    assert says(final(nc(), kind, said(handled=True))) == NC_AS_DEALT


def test_nc_5_7_a_bettor_chooses_by_right_and_for_one_hand() -> None:
    for row in game("NC").irregularities:
        for option in row.options:
            assert option.permitted_by is None
            assert not option.all_wagers
            assert option.because


@pytest.mark.parametrize(
    ("option", "dealer_hand", "reconstructable", "expected"),
    [
        ("general", True, False, void("NC 5.5.4")),
        ("general", True, True, void("NC 5.5.4")),
        ("general", False, False, void("NC 5.5.4")),
        ("general", False, True, void("NC 5.5.4")),
        ("specific", True, False, void("NC 5.5.5")),
        ("specific", True, True, recon("NC 5.5.5")),
        ("specific", False, False, remove("NC 5.9")),
        ("specific", False, True, recon("NC 5.9")),
    ],
)
def test_reading_24_nc_5_5_4_5_5_5_5_9_the_first_clause_before_handling(
    option: str, dealer_hand: bool, reconstructable: bool, expected: Expected
) -> None:
    facts = said(dealer_hand=dealer_hand, handled=False, reconstructable=reconstructable)
    assert says(final(nc(wrong_count=option), K.WRONG_COUNT, facts)) == expected


@pytest.mark.parametrize("dealer_hand", [True, False])
def test_reading_24_handling_is_asked_for_only_where_it_decides(dealer_hand: bool) -> None:
    facts = said(dealer_hand=dealer_hand)
    assert find_row(nc(wrong_count="general"), K.WRONG_COUNT, facts).asks == ("handled",)
    assert find_row(nc(wrong_count="specific"), K.WRONG_COUNT, facts).asks == ("reconstructable",)


@pytest.mark.parametrize(
    ("clause", "kind", "facts"),
    [
        ("NC 5.5.1", K.FOREIGN_CARD, said()),
        ("NC 5.5.2", K.DECK_COUNT, said(counted_wrong=True)),
        ("NC 5.5.2", K.COUNT_IN_DOUBT, said(counted_wrong=True)),
        ("NC 5.5.3", K.UNSHUFFLED, said()),
        ("NC 5.5.4", K.WRONG_DISTRIBUTION, said(handled=False, curable=False)),
        ("NC 5.5.5", K.WRONG_COUNT, said(dealer_hand=True, handled=True, reconstructable=False)),
    ],
)
def test_nc_5_5_each_of_the_five_situations_voids_the_round(clause: str, kind: Kind, facts: Facts) -> None:
    assert says(final(nc(), kind, facts)) == void(clause)


@pytest.mark.parametrize(("option", "noticed"), list(product(["general", "specific"], Noticed)))
def test_reading_24_changes_nothing_once_cards_were_handled(option: str, noticed: Noticed) -> None:
    for dealer_hand, reconstructable in product((True, False), repeat=2):
        facts = said(dealer_hand=dealer_hand, handled=True, reconstructable=reconstructable)
        facts = replace(facts, noticed=noticed)
        assert says(final(nc(wrong_count=option), K.WRONG_COUNT, facts)) == says(final(nc(), K.WRONG_COUNT, facts))


@pytest.mark.parametrize(
    ("option", "expected"), [("silently", recon("NC 5.5.4")), ("options", choose("NC 5.7", "NC 5.7.2", "NC 5.7.3"))]
)
@pytest.mark.parametrize(("kind", "row_id"), [(K.WRONG_DISTRIBUTION, "I05"), (K.OTHER_DEALING_ERROR, "I16")])
def test_reading_25_nc_5_5_4_curable_hands_are_moved_with_or_without_a_choice(
    option: str, expected: Expected, kind: Kind, row_id: str
) -> None:
    facts = said(wrong_number=False, misplaced=True, handled=False, curable=True)
    row = final(nc(cured=option), kind, facts)
    assert (row.id, says(row)) == (row_id, expected)


@pytest.mark.parametrize("option", ["silently", "options"])
@pytest.mark.parametrize("kind", [K.WRONG_DISTRIBUTION, K.OTHER_DEALING_ERROR])
def test_reading_25_nc_5_5_4_an_incurable_error_is_void_either_way(option: str, kind: Kind) -> None:
    facts = said(wrong_number=False, misplaced=True, handled=False, curable=False)
    row = final(nc(cured=option), kind, facts)
    assert says(row) == void("NC 5.5.4")


@pytest.mark.parametrize("option", ["options", "none"])
def test_reading_32_nc_5_11_a_pit_supervisor_names_an_unknown_order(
    option: str,
) -> None:
    row = final(nc(order_in_log=option), K.SIMULTANEOUS, said(order_known=False))
    assert says(row) == NC_ORDER_UNKNOWN
    assert row.decides is Role.PIT_SUPERVISOR


@pytest.mark.parametrize("option", ["options", "none"])
def test_reading_32_nc_5_11_1_a_known_order_gives_the_options_or_no_error(option: str) -> None:
    row = final(nc(order_in_log=option), K.SIMULTANEOUS, said(order_known=True))
    if option == "options":
        assert says(row) == NC_ORDER_KNOWN
    else:
        # The device's log is evidence for the pit supervisor, who confirms it.
        assert says(row) == cont("NC 5.11", confirms=Role.PIT_SUPERVISOR)


@each_optional
def test_reading_39_nc_5_17_the_person_is_asked_whether_options_return(kind: Kind, facts: Facts) -> None:
    assert says(final(nc(second_error="asked"), kind, facts)) == refer("NC 5.17")


@each_optional
def test_reading_39_nc_5_7_or_they_are_offered_again(kind: Kind, facts: Facts) -> None:
    law = nc(second_error="offered")
    row = final(law, kind, facts)
    assert row == final(law, kind, replace(facts, chosen_before=None)), "as at the first error"
    assert row.disposition is D.OPTIONS


@each_optional
def test_reading_39_nc_5_7_a_player_who_chose_accepts_the_deal(kind: Kind, facts: Facts) -> None:
    row = final(nc(second_error="accepted"), kind, facts)
    assert (row.clause, row.disposition, row.options) == ("NC 5.7", D.CONTINUE, ())


@pytest.mark.parametrize("order_in_log", ["options", "none"])
@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("asked", refer("NC 5.17")),  # a ruling can name the order
        ("offered", NC_ORDER_UNKNOWN),
        ("accepted", Expected("NC 5.11", D.NAME_ORDER)),  # the order is named, and play continues
    ],
)
def test_reading_39_nc_5_11_5_17_an_unknown_order_after_a_choice(
    option: str, expected: Expected, order_in_log: str
) -> None:
    law = nc(second_error=option, order_in_log=order_in_log)
    assert says(final(law, K.SIMULTANEOUS, said(order_known=False, chosen_before=True))) == expected
    assert find_row(law, K.SIMULTANEOUS, said(chosen_before=True)).asks == ("order_known",)


@pytest.mark.parametrize("option", ["asked", "accepted"])
def test_reading_39_holds_for_the_options_of_reading_25_too(option: str) -> None:
    law = nc(second_error=option, cured="options")
    facts = said(misplaced=True, handled=False, curable=True, chosen_before=True)
    assert final(law, K.WRONG_DISTRIBUTION, facts).disposition is not D.OPTIONS


@pytest.mark.parametrize("option", ["asked", "offered", "accepted"])
def test_reading_39_an_error_that_voids_or_removes_does_so_after_a_choice_as_well(option: str) -> None:
    law = nc(second_error=option)
    not_curable = said(misplaced=True, handled=False, curable=False, chosen_before=True)
    assert says(final(law, K.WRONG_DISTRIBUTION, not_curable)) == void("NC 5.5.4")
    assert says(final(law, K.FOREIGN_CARD, said(chosen_before=True))) == void("NC 5.5.1")
    a_hand = said(dealer_hand=False, handled=True, reconstructable=False, chosen_before=True)
    assert says(final(law, K.WRONG_COUNT, a_hand)) == remove("NC 5.9")


@pytest.mark.parametrize("option", ["asked", "offered", "accepted"])
def test_reading_39_does_not_concern_a_first_error(option: str) -> None:
    facts = said(handled=True, reconstructable=True)
    assert says(final(nc(second_error=option), K.WRONG_DISTRIBUTION, facts)) == NC_RECONSTRUCTED


@each_optional
@pytest.mark.parametrize(("option", "follows"), [("asked", D.REFER), ("accepted", D.CONTINUE)])
def test_reading_50_nc_5_7_an_error_about_a_card_dealt_before_the_choice(
    option: str, follows: Disposition, kind: Kind, facts: Facts
) -> None:
    """A bettor who continued accepts subsequent cards: an earlier card is not a subsequent card, or each later notice
    counts.
    """
    for about, dealt_before, expected in (
        ("any_card", True, follows),
        ("any_card", False, follows),
        ("later_card", True, D.OPTIONS),
        ("later_card", False, follows),
    ):
        law = nc(second_error=option, second_error_about=about)
        assert final(law, kind, replace(facts, dealt_before=dealt_before)).disposition is expected
    asks = find_row(nc(second_error=option, second_error_about="later_card"), kind, facts).asks
    assert asks == ("dealt_before",)
    first = replace(facts, chosen_before=None)
    asks = find_row(nc(second_error=option, second_error_about="later_card"), kind, first).asks
    assert not asks, "before any choice no one is asked"


@pytest.mark.parametrize("reconstructable", [True, False])
def test_reading_51_nc_5_11_cards_for_one_hand_may_need_no_order(
    reconstructable: bool,
) -> None:
    facts = said(order_known=False, one_hand=True, reconstructable=reconstructable)
    options = ("NC 5.7.2" if reconstructable else "NC 5.7.1", "NC 5.7.3")
    assert says(final(nc(order_within_a_hand="none"), K.SIMULTANEOUS, facts)) == choose("NC 5.11.1", *options)
    assert says(final(nc(), K.SIMULTANEOUS, facts)) == NC_ORDER_UNKNOWN
    several = replace(facts, one_hand=False)
    assert says(final(nc(order_within_a_hand="none"), K.SIMULTANEOUS, several)) == NC_ORDER_UNKNOWN


def test_reading_51_nc_5_11_only_that_reading_asks_where_they_go() -> None:
    facts = said(order_known=False)
    assert find_row(nc(order_within_a_hand="none"), K.SIMULTANEOUS, facts).asks == ("one_hand", "reconstructable")
    assert find_row(nc(), K.SIMULTANEOUS, facts).asks == ()


@pytest.mark.parametrize("kind", [K.WRONG_COUNT, K.OTHER_DEALING_ERROR])
def test_reading_52_nc_5_7_3_a_wrong_count_in_a_hand_that_is_out_of_play(kind: Kind) -> None:
    """Before Players handle cards NC 5.5.4 voids the round; after that NC 5.9 removes the hand, or nothing follows."""
    unhandled = said(
        wrong_number=True, dealer_hand=False, misplaced=True, handled=False, curable=False, reconstructable=False
    )
    for facts, as_in_play in (
        (unhandled, void("NC 5.5.4")),
        (replace(unhandled, handled=True), remove("NC 5.9")),
    ):
        dead = replace(facts, dead_hand=True)
        assert says(final(nc(), kind, dead)) == as_in_play
        goes_on = cont("NC 5.7.3", confirms=Role.PIT_SUPERVISOR)
        assert says(final(nc(wrong_count_out_of_play="nothing"), kind, dead)) == goes_on
        assert says(final(nc(wrong_count_out_of_play="nothing"), kind, facts)) == as_in_play, "of a hand in play"
