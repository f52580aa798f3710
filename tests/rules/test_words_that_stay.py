"""Names in journals and configurations, which are never renamed or removed; new ones may be added."""

from __future__ import annotations

import pytest

from controller.games import game
from controller.games.specification import Disposition, Kind

SETTINGS = {
    "F3": {
        "three_pictures_wager": ["boxes", "none"],
        "tie_on": ["ranking", "points"],
        "first_card": ["separate", "in_hand"],
        "faces": ["down", "up"],
        "exposed_card": ["down", "up"],
        "error_after_settlement": ["referred", "void"],
    },
    "NC": {
        "tie_against_three_pictures": ["pays", "loses"],
        "three_pictures_of": ["own", "either"],
        "wrong_count": ["general", "specific"],
        "cured": ["silently", "options"],
        "order_in_log": ["options", "none"],
        "face_up_is_misdealt": ["no", "yes"],
        "exposed_card": ["down", "up"],
        "unentered_bettors": ["box", "entered"],
        "second_error": ["asked", "offered", "accepted"],
        "established_by": ["mathematically", "complete_hands"],
        "known_cards": ["exposed", "seen", "recognised"],
        "pro_rata_under_minimum": ["exempt", "none"],
        "deck_error_after_settlement": ["void", "foreign_referred", "referred"],
        "misdeal_confirmed_by": ["pit_supervisor", "dealer"],
        "second_error_about": ["any_card", "later_card"],
        "order_within_a_hand": ["named", "none"],
        "wrong_count_out_of_play": ["as_in_play", "nothing"],
    },
    "P3": {
        "tie_against_three_pictures": ["pays", "loses"],
        "tie_on": ["points", "ranking"],
        "perfect_tie": ["instead", "besides"],
        "face_up_is_misdealt": ["no", "yes"],
        "exposed_card": ["down", "up"],
        "misdeal_confirmed_by": ["pit_supervisor", "dealer"],
        "deck_error_after_settlement": ["referred", "stands", "void"],
        "wrong_count": ["general", "specific"],
    },
    "RTP": {
        "tie_against_three_pictures": ["pays", "loses"],
        "withdrawal_permitted_by": ["shift_manager", "pit_manager", "pit_supervisor", "dealer"],
        "face_up_is_misdealt": ["no", "yes"],
        "exposed_card": ["down", "up"],
        "unentered_bettors": ["box", "entered"],
        "established_by": ["mathematically", "complete_hands"],
        "known_cards": ["exposed", "seen", "recognised"],
        "misdeal_confirmed_by": ["pit_supervisor", "dealer"],
        "deck_error_after_settlement": ["referred", "stands", "void"],
    },
    "TP": {
        "tie_against_three_pictures": ["pays", "loses"],
        "face_up_is_misdealt": ["no", "yes"],
        "exposed_card": ["down", "up"],
        "misdeal_confirmed_by": ["pit_supervisor", "dealer"],
        "deck_error_after_settlement": ["referred", "stands", "void"],
        "error_after_settlement": ["referred", "void"],
    },
}
WAGERS = {
    "F3": ["win", "lose", "tie", "three_pictures", "pair_plus", "banker_pair_plus"],
    "NC": ["main", "tie", "three_pictures"],
    "P3": ["main", "tie", "player_prosperity", "dealer_prosperity", "picture_perfect"],
    "RTP": ["main", "tie", "royal"],
    "TP": ["main", "tie", "three_pictures"],
}
KINDS = """
foreign_card deck_count unshuffled count_in_doubt wrong_count exposed_card face_up_in_device simultaneous
other_dealing_error technical_stop before_no_more_bets wrong_distribution power_failure card_in_shuffling
dropped_card late_bet side_without_main dealer_exposed_early wrong_viewer player_exposed outside_limits
"""
DISPOSITIONS = """
void continue next_card remove_hand options name_order refer reconstruct withdrawals stands refuse return_bet
reshuffle silent
"""


@pytest.mark.parametrize("game_id", SETTINGS)
def test_settings_and_their_options_stay(game_id: str) -> None:
    now = {setting.id: setting.words for setting in game(game_id).settings}
    for setting, words in SETTINGS[game_id].items():
        assert set(words) <= set(now[setting])


@pytest.mark.parametrize("game_id", WAGERS)
def test_wagers_stay(game_id: str) -> None:
    assert set(WAGERS[game_id]) <= {wager.id for wager in game(game_id).wagers}


def test_kinds_and_dispositions_stay() -> None:
    assert set(KINDS.split()) <= set(Kind)
    assert set(DISPOSITIONS.split()) <= set(Disposition)
