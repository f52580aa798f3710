"""Readings that turn rows on and off: 24 (P3), 26 (RTP), 37 (TP, RTP, NC, P3), 45 (F3), 47, 49 (TP, F3)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Choice, Disposition, Facts, Kind, Noticed
from controller.roles import Role
from controller.rules.law import find_row, read_law
from tests.rules.irregularity_cells import (
    NC_AS_DEALT,
    NC_RECONSTRUCTED,
    NC_REFER,
    RTP_REFER,
    SILENT,
    UNPROVIDED,
    Expected,
    cont,
    recon,
    reshuffle,
    said,
    stands,
    void,
)
from tests.rules.test_irregularities import final, says

D, K = Disposition, Kind


def settled(**stated: bool) -> Facts:
    """Return facts of a settled round before the next begins."""
    return replace(said(**stated), noticed=Noticed.CONCLUDED)


# RTP 5.7 is for Players who are dissatisfied with 5.5 or 5.6.
DISSATISFIED = [
    ("RTP 5.5", K.WRONG_COUNT, said(dealer_hand=False, handled=True, viewed=True), D.REMOVE_HAND),
    ("RTP 5.6", K.WRONG_DISTRIBUTION, said(handled=True), D.CONTINUE),
    ("RTP 5.6", K.SIMULTANEOUS, said(wrong_number=False, misplaced=True, handled=True), D.CONTINUE),
]


@pytest.mark.parametrize("role", Role, ids=lambda role: role.value)
@pytest.mark.parametrize(("clause", "kind", "facts", "disposition"), DISSATISFIED)
def test_reading_26_rtp_5_7_the_casino_says_who_may_permit_a_withdrawal(
    clause: str, kind: Kind, facts: Facts, disposition: Disposition, role: Role
) -> None:
    row = final(read_law(game("RTP"), {"withdrawal_permitted_by": role.value}), kind, facts)
    assert (row.clause, row.disposition) == (clause, disposition)
    options = {option.choice: option for option in row.options}
    assert options[Choice.WITHDRAW].permitted_by is role
    assert options[Choice.CONTINUE].permitted_by is None
    assert {option.clause for option in row.options} == {"RTP 5.7"}
    assert not any(option.all_wagers for option in row.options)


@pytest.mark.parametrize(("clause", "kind", "facts", "disposition"), DISSATISFIED)
def test_reading_26_rtp_5_7_by_default_the_gaming_shift_manager_permits_it(
    clause: str, kind: Kind, facts: Facts, disposition: Disposition
) -> None:
    row = final(read_law(game("RTP")), kind, facts)
    assert [option.permitted_by for option in row.options if option.choice is Choice.WITHDRAW] == [Role.SHIFT_MANAGER]
    assert (row.clause, row.disposition) == (clause, disposition)


def test_rtp_5_13_1_a_withdrawal_covers_all_wagers_and_is_a_right() -> None:
    row = final(read_law(game("RTP")), K.POWER_FAILURE, said(before_close=False, established=False))
    options = {option.choice: option for option in row.options}
    assert options[Choice.WITHDRAW].all_wagers
    assert options[Choice.WITHDRAW].permitted_by is None
    assert not options[Choice.CONTINUE].all_wagers


def test_no_other_row_of_a_document_asks_permission_or_concerns_all_wagers() -> None:
    for game_id in ("TP", "NC", "P3", "F3"):
        for row in game(game_id).irregularities:
            assert all(option.permitted_by is None and not option.all_wagers for option in row.options)


@pytest.mark.parametrize(
    ("game_id", "clause", "otherwise"),
    [
        ("TP", "TP 5.3", SILENT),
        ("RTP", "RTP 5.4", cont("RTP 5.8")),
        ("NC", "NC 5.5.4", NC_AS_DEALT),
        ("P3", "P3 5.3", SILENT),
    ],
)
class TestReading37:
    """Reading 37: whether a card dealt face up is dealt incorrectly."""

    facts = said(manual=True, first_card=False)

    def test_tp_5_3_rtp_5_4_nc_5_5_4_p3_5_3_if_so_it_voids_before_handling(
        self, game_id: str, clause: str, otherwise: Expected
    ) -> None:
        law = read_law(game(game_id), {"face_up_is_misdealt": "yes"})
        assert says(final(law, K.EXPOSED_CARD, replace(self.facts, handled=False))) == void(clause)
        assert says(final(law, K.EXPOSED_CARD, replace(self.facts, handled=True))) == otherwise

    def test_tp_5_3_rtp_5_4_nc_5_5_4_p3_5_3_where_it_is_not_handling_does_not_matter(
        self, game_id: str, clause: str, otherwise: Expected
    ) -> None:
        law = read_law(game(game_id), {"face_up_is_misdealt": "no"})
        for handled in (True, False, None):
            row, asks = find_row(law, K.EXPOSED_CARD, replace(self.facts, handled=handled))
            assert (says(row), asks) == (otherwise, ())

    def test_handling_is_asked_for_only_where_it_is(self, game_id: str, clause: str, otherwise: Expected) -> None:
        law = read_law(game(game_id), {"face_up_is_misdealt": "yes"})
        assert find_row(law, K.EXPOSED_CARD, self.facts).asks == ("handled",)


@pytest.mark.parametrize(("option", "expected"), [("no", void("RTP 5.8.1")), ("yes", void("RTP 5.4"))])
def test_reading_37_rtp_5_8_1_an_exposed_first_card_voids_by_its_own_clause(option: str, expected: Expected) -> None:
    law = read_law(game("RTP"), {"face_up_is_misdealt": option})
    facts = said(manual=True, first_card=True, handled=False)
    assert says(final(law, K.EXPOSED_CARD, facts)) == expected


@pytest.mark.parametrize(
    ("kind", "facts"),
    [(K.FACE_UP_IN_DEVICE, said(before_close=False)), (K.DROPPED_CARD, said(face_seen=True))],
    ids=["face up in the device", "dropped and seen"],
)
def test_reading_37_rtp_5_4_holds_for_a_card_that_is_dealt_as_an_exposed_one(kind: Kind, facts: Facts) -> None:
    law = read_law(game("RTP"), {"face_up_is_misdealt": "yes"})
    facts = replace(facts, manual=False, first_card=False)
    assert says(final(law, kind, replace(facts, handled=False))) == void("RTP 5.4")
    assert says(final(law, kind, replace(facts, handled=True))) == cont("RTP 5.8")


@pytest.mark.parametrize(
    ("reconstructable", "option"), [(False, NC_AS_DEALT), (True, NC_RECONSTRUCTED)], ids=["as dealt", "reconstructed"]
)
def test_reading_37_nc_5_5_4_a_dropped_card_with_a_seen_face_is_dealt_face_up(
    reconstructable: bool, option: Expected
) -> None:
    """NC 5.7 covers errors that NC 5.5 does not: after handling, an unseen face, or by the other reading."""
    law = read_law(game("NC"), {"face_up_is_misdealt": "yes"})
    unhandled = said(face_seen=True, handled=False, reconstructable=reconstructable)
    assert says(final(law, K.DROPPED_CARD, unhandled)) == void("NC 5.5.4")
    for facts in (replace(unhandled, handled=True), replace(unhandled, face_seen=False)):
        assert says(final(law, K.DROPPED_CARD, facts)) == option
    assert says(final(read_law(game("NC")), K.DROPPED_CARD, unhandled)) == option


def test_reading_37_nc_5_7_only_that_reading_asks_who_saw_a_dropped_card() -> None:
    for option, asked in (("yes", True), ("no", False)):
        asks = find_row(read_law(game("NC"), {"face_up_is_misdealt": option}), K.DROPPED_CARD, Facts()).asks
        assert ("face_seen" in asks) is asked


def test_reading_37_nc_5_10_a_face_up_card_in_the_device_is_the_next_card() -> None:
    law = read_law(game("NC"), {"face_up_is_misdealt": "yes"})
    row = final(law, K.FACE_UP_IN_DEVICE, said(before_close=False, handled=False))
    assert (row.clause, row.disposition) == ("NC 5.10", D.NEXT_CARD)


DEALT_FACES = [
    (K.FACE_UP_IN_DEVICE, said(before_close=False)),
    (K.DROPPED_CARD, said(face_seen=True, misplaced=True, curable=True)),
]
each_dealt_face = pytest.mark.parametrize(
    ("kind", "facts"), DEALT_FACES, ids=["face up in the device", "dropped and seen"]
)


@each_dealt_face
@pytest.mark.parametrize(("game_id", "clause"), [("TP", "TP 5.3"), ("P3", "P3 5.3")])
def test_reading_37_tp_5_3_p3_5_3_hold_for_a_card_that_is_dealt_as_an_exposed_one(
    game_id: str, clause: str, kind: Kind, facts: Facts
) -> None:
    law = read_law(game(game_id), {"face_up_is_misdealt": "yes"})
    assert says(final(law, kind, replace(facts, handled=False))) == void(clause)
    assert says(final(law, kind, replace(facts, handled=True))) == SILENT


@pytest.mark.parametrize("game_id", ["TP", "P3"])
def test_reading_37_an_undealt_or_unseen_face_is_not_a_misdeal(game_id: str) -> None:
    law = read_law(game(game_id), {"face_up_is_misdealt": "yes"})
    for not_dealt in (said(before_close=True), said(before_close=False, in_stub=True)):
        assert says(final(law, K.FACE_UP_IN_DEVICE, replace(not_dealt, handled=False))) == SILENT
    assert says(final(law, K.DROPPED_CARD, said(face_seen=False, misplaced=False, handled=False))) == SILENT


@each_dealt_face
@pytest.mark.parametrize("game_id", ["TP", "P3"])
def test_reading_37_otherwise_no_one_is_asked_for_a_face(game_id: str, kind: Kind, facts: Facts) -> None:
    asks = find_row(read_law(game(game_id)), kind, Facts()).asks
    assert not set(asks) & {"face_seen", "before_close"}


FACE_UP_IN_F3 = [
    (K.EXPOSED_CARD, said(first_card=False)),
    (K.FACE_UP_IN_DEVICE, said(before_close=False, shuffling=False)),
]


@pytest.mark.parametrize(("kind", "facts"), FACE_UP_IN_F3)
@pytest.mark.parametrize(("option", "expected"), [("up", cont("F3 PM2")), ("down", UNPROVIDED["F3"])])
def test_reading_45_f3_pm2_a_shown_face_is_not_an_error_where_dealt_face_up(
    option: str, expected: Expected, kind: Kind, facts: Facts
) -> None:
    assert says(final(read_law(game("F3"), {"faces": option}), kind, facts)) == expected


@pytest.mark.parametrize(
    ("kind", "facts", "expected"),
    [
        (K.EXPOSED_CARD, said(first_card=True), cont("F3 PM5")),
        (K.FACE_UP_IN_DEVICE, said(before_close=True, shuffling=False), UNPROVIDED["F3"]),
        (K.FACE_UP_IN_DEVICE, said(before_close=False, shuffling=False, in_stub=True), UNPROVIDED["F3"]),
        (K.FACE_UP_IN_DEVICE, said(before_close=False, shuffling=True), reshuffle("F3 X1")),
        (K.DROPPED_CARD, said(face_seen=True), void("F3 X2")),
    ],
)
def test_reading_45_f3_pm5_x1_x2_it_changes_nothing_else(kind: Kind, facts: Facts, expected: Expected) -> None:
    for option in ("up", "down"):
        assert says(final(read_law(game("F3"), {"faces": option}), kind, facts)) == expected


def test_reading_37_f3_has_no_such_reading() -> None:
    assert "face_up_is_misdealt" not in {setting.id for setting in game("F3").settings}
    assert says(final(read_law(game("F3")), K.EXPOSED_CARD, said(first_card=False))) == UNPROVIDED["F3"]


# Reading 47: (game, option) -> the rows of a count, a foreign card and cards that were not shuffled.
SETTLED_DECKS = [
    ("TP", "referred", SILENT, SILENT, SILENT),
    ("TP", "stands", stands("TP 5.1.2"), stands("TP 5.1.2"), SILENT),
    ("TP", "void", void("TP 5.2"), SILENT, SILENT),
    ("RTP", "referred", RTP_REFER, RTP_REFER, RTP_REFER),
    ("RTP", "stands", stands("RTP 5.1.2"), stands("RTP 5.1.2"), stands("RTP 5.1.2")),
    ("RTP", "void", void("RTP 5.9"), RTP_REFER, RTP_REFER),
    ("NC", "void", void("NC 5.5.2"), void("NC 5.5.1"), void("NC 5.5.3")),
    ("NC", "foreign_referred", void("NC 5.5.2"), NC_REFER, void("NC 5.5.3")),
    ("NC", "referred", NC_REFER, NC_REFER, NC_REFER),
    ("P3", "referred", SILENT, SILENT, SILENT),
    ("P3", "stands", stands("P3 5.1.2"), stands("P3 5.1.2"), SILENT),
    ("P3", "void", void("P3 5.2"), SILENT, SILENT),
]


@pytest.mark.parametrize(("game_id", "option", "counted", "foreign", "unshuffled"), SETTLED_DECKS)
def test_reading_47_a_deck_that_proves_wrong_after_settlement(
    game_id: str, option: str, counted: Expected, foreign: Expected, unshuffled: Expected
) -> None:
    """The round is over: TP 1.1.4, 5.1.2, 5.2, RTP 1.1.3, 5.1.2, 5.9, NC 1.14, 5.5.1, 5.6, P3 1.1.5, 5.1.2, 5.2."""
    law = read_law(game(game_id), {"deck_error_after_settlement": option})
    for kind in (K.DECK_COUNT, K.COUNT_IN_DOUBT):
        assert says(final(law, kind, settled(counted_wrong=True))) == counted
        in_round = final(law, kind, said(counted_wrong=True))
        assert in_round.disposition is D.VOID, "in the round the reading changes nothing"
    assert says(final(law, K.FOREIGN_CARD, settled())) == foreign
    assert says(final(law, K.UNSHUFFLED, settled())) == unshuffled


ANY_TIME = [
    ("TP", K.WRONG_COUNT, said(dealer_hand=True, handled=True), "TP 5.4"),
    ("F3", K.WRONG_DISTRIBUTION, said(), "F3 X2"),
    ("F3", K.WRONG_COUNT, said(dealer_hand=True), "F3 X2"),
    ("F3", K.WRONG_COUNT, said(dealer_hand=False), "F3 X2"),
    ("F3", K.DROPPED_CARD, said(), "F3 X2"),
    ("F3", K.OTHER_DEALING_ERROR, said(wrong_number=False, misplaced=True), "F3 X2"),
    ("F3", K.SIMULTANEOUS, said(wrong_number=False, misplaced=True), "F3 X2"),
    ("F3", K.PLAYER_EXPOSED, said(dropped=True), "F3 X2"),
]


@pytest.mark.parametrize(("game_id", "kind", "facts", "clause"), ANY_TIME)
def test_reading_49_tp_5_4_f3_x2_clauses_without_a_time_and_a_settled_round(
    game_id: str, kind: Kind, facts: Facts, clause: str
) -> None:
    for option, when_settled in (("referred", SILENT), ("void", void(clause))):
        law = read_law(game(game_id), {"error_after_settlement": option})
        assert says(final(law, kind, replace(facts, noticed=Noticed.CONCLUDED))) == when_settled
        assert says(final(law, kind, facts)) == void(clause)
        assert says(final(law, kind, replace(facts, noticed=Noticed.NEXT_ROUND))) == SILENT


@pytest.mark.parametrize("kind", [K.WRONG_COUNT, K.OTHER_DEALING_ERROR, K.SIMULTANEOUS])
@pytest.mark.parametrize(
    ("option", "reconstructable", "expected"),
    [
        ("general", True, void("P3 5.3")),
        ("general", False, void("P3 5.3")),
        ("specific", True, recon("P3 5.4")),
        ("specific", False, void("P3 5.4")),
    ],
)
def test_reading_24_p3_5_3_5_4_which_clause_comes_first_for_the_dealers_hand(
    option: str, reconstructable: bool, expected: Expected, kind: Kind
) -> None:
    law = read_law(game("P3"), {"wrong_count": option})
    facts = said(
        wrong_number=True,
        dealer_hand=True,
        handled=False,
        misplaced=True,
        curable=False,
        reconstructable=reconstructable,
    )
    assert says(final(law, kind, facts)) == expected
    handled = replace(facts, handled=True)
    assert says(final(law, kind, handled)) == (recon if reconstructable else void)("P3 5.4"), "after handling 5.4 alone"
    of_player = replace(facts, dealer_hand=False)
    assert says(final(law, kind, of_player)) == void("P3 5.3"), "5.4 is about the Dealer's hand"
