"""What is said to be paid, taken and given back where no bets are entered."""

from __future__ import annotations

from controller.table.payments import payments
from tests.table.harness import TableHarness

DEALER = "8S 9D KC"  # seven points


def settled(game_id: str, **hands: str) -> TableHarness:
    boxes = tuple(int(place[1:]) for place in hands if place != "D")
    table = TableHarness(boxes=boxes, game_id=game_id, hands={"D": DEALER, **hands}, by_device=True)
    return table.start().to_dealing().deal().expose_all()


def test_every_box_has_its_line_and_those_of_one_result_share_it() -> None:
    table = settled("NC", B1="9S KD JC", B2="2S 3D JS", B3="6S QD TC", B4="8D 9C QC", B5="8H JH QH")
    assert payments(table.state) == (
        "Pay 1 to 1: boxes 1 and 5.",
        "Tie, give back the bets: box 4.",
        "Take the bets: boxes 2 and 3.",
    )


def test_a_win_that_pays_half_is_said_with_its_price() -> None:
    table = settled("NC", D="2S 3D KC", B1="6S QD TC", B2="9S KD JC")
    assert payments(table.state) == ("Pay 1 to 1: box 2.", "Pay 1 to 2: box 1.")


def test_bets_for_and_against_a_hand_are_told_apart() -> None:
    table = settled("F3", D="6S QD TC", B1="2S 3D JC", B2="9S KD JH", B3="6H QH TD")
    assert payments(table.state) == (
        "Pay Win 1 to 1: Player 2.",
        "Pay Lose 1 to 2: Player 1.",
        "Tie, give back the bets: Player 3.",
        "Take Lose: Player 2.",
        "Take Win: Player 1.",
    )


def test_nothing_is_said_before_the_hands_are_compared_nor_once_the_round_is_over() -> None:
    table = TableHarness(game_id="NC").start().to_dealing().deal()
    assert payments(table.state) == ()
    table = settled("NC", B1="9S KD JC")
    table.settle()
    assert payments(table.state), "the round may be looked at until it is ended"
    table.conclude()
    assert payments(table.state) == ()
