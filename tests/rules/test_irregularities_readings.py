"""Readings that turn rows on and off: 26 (RTP), 37 (TP, RTP, NC, P3), 45 (F3)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from controller.games import game
from controller.games.specification import Choice, Disposition, Facts, Kind
from controller.roles import Role
from controller.rules.law import find_row, read_law
from tests.rules.irregularity_cells import (
    NC_AS_DEALT,
    NC_RECONSTRUCTED,
    SILENT,
    UNPROVIDED,
    Expected,
    cont,
    reshuffle,
    said,
    void,
)
from tests.rules.test_irregularities import final, says

D, K = Disposition, Kind
# RTP 5.7 is there for who is dissatisfied with 5.5 or 5.6.
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


def test_rtp_5_13_1_who_withdraws_withdraws_all_his_wagers_and_by_right() -> None:
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
    """Whether a card dealt face up is dealt incorrectly."""

    facts = said(manual=True, first_card=False)

    def test_tp_5_3_rtp_5_4_nc_5_5_4_p3_5_3_where_it_is_the_round_is_void_while_no_one_has_handled_cards(
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
def test_reading_37_rtp_5_8_1_an_exposed_first_card_voids_either_way_by_its_own_clause(
    option: str, expected: Expected
) -> None:
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
def test_reading_37_nc_5_5_4_a_dropped_card_whose_face_was_seen_is_dealt_face_up(
    reconstructable: bool, option: Expected
) -> None:
    """NC 5.7 is for errors that NC 5.5 does not describe: after handling, an unseen face, or by the other reading."""
    law = read_law(game("NC"), {"face_up_is_misdealt": "yes"})
    unhandled = said(face_seen=True, handled=False, reconstructable=reconstructable)
    assert says(final(law, K.DROPPED_CARD, unhandled)) == void("NC 5.5.4")
    for facts in (replace(unhandled, handled=True), replace(unhandled, face_seen=False)):
        assert says(final(law, K.DROPPED_CARD, facts)) == option
    assert says(final(read_law(game("NC")), K.DROPPED_CARD, unhandled)) == option


def test_reading_37_nc_5_7_who_saw_a_dropped_card_is_asked_only_by_that_reading() -> None:
    for option, asked in (("yes", True), ("no", False)):
        asks = find_row(read_law(game("NC"), {"face_up_is_misdealt": option}), K.DROPPED_CARD, Facts()).asks
        assert ("face_seen" in asks) is asked


def test_reading_37_nc_5_10_a_card_face_up_in_the_device_is_the_next_card_all_the_same() -> None:
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
def test_reading_37_a_face_that_is_not_dealt_or_was_not_seen_is_no_misdeal(game_id: str) -> None:
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
def test_reading_45_f3_pm2_a_face_that_is_shown_is_no_error_where_cards_are_dealt_face_up(
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
