"""The rules of a table: the document, the chosen readings, and the casino's own rows."""

from __future__ import annotations

from itertools import product
from typing import Final

import pytest
from msgspec.structs import replace

from controller.games import GAMES, UnknownGameError, game
from controller.games.common import HOUSE_PROCEDURE
from controller.games.specification import Disposition, Facts, Game, Kind, Noticed, Row
from controller.games.wager_specification import Setting, Under
from controller.roles import Role
from controller.rules.law import Law, SettingError, UnknownWagerError, find_row, find_setting, not_chosen, read_law
from tests.rules.irregularity_cells import GAME_IDS

D, K = Disposition, Kind
each_game = pytest.mark.parametrize("game_id", GAME_IDS)
# For each setting: the number of its reading, its options, and the default; empty: it must be chosen.
TIE = ("tie_against_three_pictures", 2, "pays loses", "pays")
FACE_UP = ("face_up_is_misdealt", 37, "no yes", "no")
MISDEAL = ("misdeal_confirmed_by", 48, "pit_supervisor dealer", "pit_supervisor")
EXPOSED = ("exposed_card", 55, "down up", "down")
UNENTERED = ("unentered_bettors", 38, "box entered", "box")
WRONG_COUNT = ("wrong_count", 24, "general specific", "general")
DECK_ERROR = ("deck_error_after_settlement", 47, "referred stands void", "referred")
LATE_ERROR = ("error_after_settlement", 49, "referred void", "referred")
ESTABLISHED = ("established_by", 42, "mathematically complete_hands", "")
KNOWN = ("known_cards", 42, "exposed seen recognised", "exposed")
SETTINGS: Final[dict[str, set[tuple[str, int, str, str]]]] = {
    "TP": {TIE, FACE_UP, EXPOSED, MISDEAL, DECK_ERROR, LATE_ERROR},
    "RTP": {
        TIE,
        ("withdrawal_permitted_by", 26, "shift_manager pit_manager pit_supervisor dealer", "shift_manager"),
        FACE_UP,
        EXPOSED,
        MISDEAL,
        UNENTERED,
        ESTABLISHED,
        KNOWN,
        DECK_ERROR,
    },
    "NC": {
        TIE,
        ("three_pictures_of", 13, "own either", "own"),
        WRONG_COUNT,
        ("cured", 25, "silently options", "silently"),
        ("deck_error_after_settlement", 47, "void foreign_referred referred", "void"),
        ("order_in_log", 32, "options none", "options"),
        FACE_UP,
        EXPOSED,
        MISDEAL,
        UNENTERED,
        ("second_error", 39, "asked offered accepted", "asked"),
        ESTABLISHED,
        KNOWN,
        ("pro_rata_under_minimum", 46, "exempt none", "exempt"),
        ("second_error_about", 50, "any_card later_card", "any_card"),
        ("order_within_a_hand", 51, "named none", "named"),
        ("wrong_count_out_of_play", 52, "as_in_play nothing", "as_in_play"),
        ("examining_entered", 53, "offered required", "offered"),
    },
    "P3": {
        TIE,
        ("tie_on", 3, "points ranking", ""),
        ("perfect_tie", 4, "instead besides", "instead"),
        FACE_UP,
        EXPOSED,
        MISDEAL,
        WRONG_COUNT,
        DECK_ERROR,
    },
    "F3": {
        ("three_pictures_wager", 15, "boxes none", "boxes"),
        ("tie_on", 16, "ranking points", "ranking"),
        ("first_card", 18, "separate in_hand", "separate"),
        ("faces", 45, "down up", "down"),
        EXPOSED,
        LATE_ERROR,
    },
}


def settings(rules: Game) -> list[Setting]:
    return list(rules.settings)


@each_game
def test_a3_a_game_has_the_readings_that_are_settings_with_their_defaults(game_id: str) -> None:
    there = settings(game(game_id))
    assert {(one.id, one.reading, " ".join(one.words), one.default) for one in there} == SETTINGS[game_id]
    assert len({one.id for one in there}) == len(there)


@each_game
def test_a3_every_option_has_a_meaning_and_every_setting_a_clause_and_a_question(game_id: str) -> None:
    for one in settings(game(game_id)):
        assert one.clause.startswith(f"{game_id} ")
        assert one.question.id.endswith("?")
        assert all(meaning for _, meaning in one.options)
        assert one.must_be_chosen == (one.default == "")
        assert one.must_be_chosen or one.default in one.words


@each_game
def test_without_a_choice_every_setting_has_its_default(game_id: str) -> None:
    law = read_law(game(game_id))
    for one in settings(law.game):
        if one.default:
            assert law.option(one.id) == one.default
    assert {one.id for one in law.unchosen} == {name for name, _, _, default in SETTINGS[game_id] if not default}


@each_game
def test_every_option_can_be_chosen_and_is_then_in_force_alone(game_id: str) -> None:
    for one in settings(game(game_id)):
        for word in one.words:
            law = read_law(game(game_id), {one.id: word})
            assert law.option(one.id) == word
            assert one not in law.unchosen
            assert [other for other in one.words if law.holds(((one.id, other),))] == [word]


@pytest.mark.parametrize(
    ("game_id", "setting_id"), [("P3", "tie_on"), ("RTP", "established_by"), ("NC", "established_by")]
)
def test_readings_3_and_42_have_no_effect_until_they_are_chosen(game_id: str, setting_id: str) -> None:
    law = read_law(game(game_id))
    one = find_setting(law.game, setting_id)
    assert law.unchosen == (one,)
    assert not any(law.holds(((setting_id, word),)) for word in one.words)
    with pytest.raises(SettingError, match=f"{setting_id} must be chosen"):
        law.option(setting_id)
    sentence = str(not_chosen(one))
    assert one.clause in sentence
    assert all(word in sentence for word in one.words)


def test_reading_3_p3_1_1_6_a_tie_has_no_price_until_the_reading_is_chosen() -> None:
    law = read_law(game("P3"))
    with pytest.raises(SettingError, match=r"P3 1\.1\.6"):
        law.prices(law.wager("tie"))
    assert law.prices(law.wager("main"))


@each_game
def test_a_setting_that_the_game_has_not_is_refused_with_those_it_has(game_id: str) -> None:
    with pytest.raises(SettingError, match=f"{game_id} has no setting 'colour'; it has ") as refused:
        read_law(game(game_id), {"colour": "red"})
    assert all(one.id in str(refused.value) for one in settings(game(game_id)))


def test_a_setting_of_another_game_is_refused_too() -> None:
    with pytest.raises(SettingError, match="TP has no setting 'cured'"):
        read_law(game("TP"), {"cured": "silently"})


@each_game
def test_an_unknown_option_is_refused_with_the_clause_and_the_known_ones(game_id: str) -> None:
    for one, wrong in product(settings(game(game_id)), ("perhaps", "", "Yes")):
        with pytest.raises(SettingError) as refused:
            read_law(game(game_id), {one.id: wrong})
        assert one.clause in str(refused.value)
        assert all(word in str(refused.value) for word in one.words)
        assert repr(wrong) in str(refused.value)


def house_row(kind: Kind, when: Facts | None = None) -> Row:
    return Row(
        kind,
        "",
        D.CONTINUE,
        "the house says so",
        when=when or Facts(),
        authority="standing order 7",
        id="H1",
    )


@pytest.mark.parametrize(("game_id", "kind"), list(product(GAME_IDS, [K.EXPOSED_CARD, K.FOREIGN_CARD, K.WRONG_VIEWER])))
def test_a_row_of_the_casino_precedes_the_document_and_names_its_authority(game_id: str, kind: Kind) -> None:
    row = house_row(kind)
    law = read_law(game(game_id), house=[row])
    assert find_row(law, kind, Facts()) == (row, ())
    assert find_row(law, kind, Facts()).row.authority == "standing order 7"
    assert find_row(read_law(game(game_id)), kind, Facts()).row != row


def test_a_row_of_the_house_reaches_no_further_than_its_facts() -> None:
    law = read_law(game("NC"), house=[house_row(K.WRONG_COUNT, Facts(dealer_hand=True))])
    plain = read_law(game("NC"))
    facts = Facts(dealer_hand=False, handled=True, reconstructable=False)
    assert find_row(law, K.WRONG_COUNT, facts) == find_row(plain, K.WRONG_COUNT, facts)
    assert find_row(law, K.WRONG_COUNT, Facts()).asks == ("dealer_hand",)
    assert find_row(law, K.UNSHUFFLED, Facts()) == find_row(plain, K.UNSHUFFLED, Facts())


@each_game
def test_rows_are_in_the_order_casino_document_house_procedure(game_id: str) -> None:
    row = house_row(K.UNSHUFFLED)
    law = read_law(game(game_id), house=[row])
    document = [of_document for of_document in game(game_id).irregularities if law.holds(of_document.under)]
    procedure = [one for one in HOUSE_PROCEDURE if (game_id, one.kind) != ("F3", K.CARD_IN_SHUFFLING)]  # F3 X1 is first
    assert list(law.rows) == [row, *document, *procedure]


def test_house_procedure_is_left_out_only_if_an_earlier_row_covers_it() -> None:
    """F3 X1 covers every card that falls in shuffling; a row that needs a fact, or is for the round only, does not."""
    procedure = next(one for one in HOUSE_PROCEDURE if one.kind is K.CARD_IN_SHUFFLING)
    always = Row(
        procedure.kind, "", D.CONTINUE, "always", noticed=tuple(Noticed), authority="standing order 7", id="H1"
    )
    for row, left in (
        (always, False),
        (replace(always, noticed=procedure.noticed), False),
        (replace(always, noticed=(Noticed.IN_ROUND,)), True),
        (replace(always, when=Facts(handled=True)), True),
        (replace(always, kind=K.FOREIGN_CARD), True),
    ):
        assert (procedure in read_law(game("TP"), house=[row]).rows) is left
    assert procedure not in read_law(game("F3")).rows


@pytest.mark.parametrize(
    ("under", "sentence"),
    [
        ((("tie_onn", "points"),), "depends on tie_onn=points, but P3 has no setting 'tie_onn'; it has "),
        ((("tie_on", "pionts"),), "depends on tie_on=pionts, but tie_on is points or ranking (P3 1.1.6), not 'pionts'"),
    ],
)
def test_data_under_an_unknown_setting_or_option_is_refused_with_its_place(under: Under, sentence: str) -> None:
    document = game("P3")
    tie = document.wagers[1]
    row, price = document.irregularities[0], tie.prices[0]
    for what, wrong in (
        (f"row {row.id} ({row.clause})", replace(document, irregularities=(replace(row, under=under),))),
        ("wager tie", replace(document, wagers=(replace(tie, under=under),))),
        ("a price of tie", replace(document, wagers=(replace(tie, prices=(replace(price, under=under),)),))),
    ):
        with pytest.raises(SettingError) as refused:
            read_law(wrong)
        assert what in str(refused.value)
        assert sentence in str(refused.value)


def test_a_first_card_with_an_unknown_setting_is_refused() -> None:
    document = game("F3")
    assert document.first_card is not None
    with pytest.raises(SettingError, match="F3 has no setting 'frist_card'"):
        read_law(replace(document, first_card=replace(document.first_card, setting="frist_card")))


@each_game
def test_house_procedure_cites_no_clause_names_itself_and_voids_nothing(game_id: str) -> None:
    law = read_law(game(game_id))
    assert all(row.clause == "" and row.authority == "house procedure" for row in HOUSE_PROCEDURE)
    assert {row.disposition for row in HOUSE_PROCEDURE} == {D.RESHUFFLE, D.CONTINUE}
    assert all(row.confirms is Role.DEALER for row in HOUSE_PROCEDURE)
    found = find_row(law, K.CARD_IN_SHUFFLING, Facts(between_rounds=True)).row
    assert found.authority == ("" if game_id == "F3" else "house procedure"), "F3 X1 comes before it"


@each_game
def test_rows_prices_and_wagers_of_an_option_not_in_force_are_not_in_the_law(game_id: str) -> None:
    for one in settings(game(game_id)):
        for word in one.words:
            law = read_law(game(game_id), {one.id: word})
            others = {(one.id, other) for other in one.words if other != word}
            assert not any(set(row.under) & others for row in law.rows)
            assert not any(set(wager.under) & others for wager in law.wagers)
            chosen = read_law(
                game(game_id), {setting.id: setting.words[0] for setting in law.game.settings} | {one.id: word}
            )
            prices = [price for wager in chosen.wagers for price in chosen.prices(wager)]
            assert prices
            assert not any(set(price.under) & others for price in prices)


WAGERS: Final = {
    "TP": ["main", "tie", "three_pictures"],
    "RTP": ["main", "tie", "royal"],
    "NC": ["main", "tie", "three_pictures"],
    "P3": ["main", "tie", "player_prosperity", "dealer_prosperity", "picture_perfect"],
    "F3": ["win", "lose", "tie", "three_pictures", "pair_plus", "banker_pair_plus"],
}


@each_game
def test_a2_a_game_has_its_wagers_and_each_is_found_by_its_name(game_id: str) -> None:
    law = read_law(game(game_id))
    assert [wager.id for wager in law.wagers] == WAGERS[game_id]
    assert [law.wager(name).id for name in WAGERS[game_id]] == WAGERS[game_id]


@each_game
def test_a_wager_that_the_game_has_not_is_refused_with_those_it_has(game_id: str) -> None:
    with pytest.raises(UnknownWagerError, match=f"{game_id} has no wager 'odd'; it has {', '.join(WAGERS[game_id])}"):
        read_law(game(game_id)).wager("odd")


@pytest.mark.parametrize("option", ["own", "either"])
def test_reading_13_nc_1_17_the_three_pictures_bet_is_listed_once(option: str) -> None:
    law = read_law(game("NC"), {"three_pictures_of": option})
    assert [wager.id for wager in law.wagers] == WAGERS["NC"]


def test_reading_15_f3_o1_3p_may_be_no_wager() -> None:
    law = read_law(game("F3"), {"three_pictures_wager": "none"})
    assert [wager.id for wager in law.wagers] == ["win", "lose", "tie", "pair_plus", "banker_pair_plus"]
    with pytest.raises(UnknownWagerError):
        law.wager("three_pictures")


def test_five_documents_are_built_in_and_another_is_refused_with_their_names() -> None:
    assert set(GAMES) >= set(GAME_IDS)
    with pytest.raises(UnknownGameError, match=f"'XX' is not a game of this program; it has {', '.join(GAMES)}"):
        game("XX")


def test_a_compiled_law_is_independent_of_its_source() -> None:
    chosen = {"cured": "options"}
    law: Law = read_law(game("NC"), chosen)
    chosen["cured"] = "silently"
    assert law.option("cured") == "options"
