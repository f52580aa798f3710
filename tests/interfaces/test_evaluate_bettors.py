"""`cardshoe evaluate` with stakes of several bettors."""

from __future__ import annotations

import json

from tests.interfaces.test_evaluate_command import run


def test_tp_3_3_a_side_wager_needs_its_bettors_own_main_and_nc_3_9_any() -> None:
    """Reading 44. Bob has the main wager, Ann only the Tie."""
    hands = ("--player", "KD KC 6H", "--dealer", "7D 9C 10H")
    stakes = ("--wager", "1: bob: main=4", "--wager", "1: ann: tie=5")
    for game_id, verdict, gains in (("TP", "held", {"bob": "2", "ann": "0"}), ("NC", "won", {"bob": "2", "ann": "40"})):
        found = json.loads(run(game_id, *hands, *stakes, "--json").output)
        listed = {(wager["bettor"], wager["wager"]): wager["verdict"] for wager in found["boxes"][0]["wagers"]}
        assert listed == {("bob", "main"): "won", ("ann", "tie"): verdict}
        assert found["gains"] == gains
    lines = run("NC", *hands, *stakes).output.splitlines()
    assert lines[-3:] == ["Staked 9, net +42", "  bob net +2", "  ann net +40"]
    assert any(line.startswith("  Tie by ann         won ") for line in lines)


def test_a_bettor_may_stake_on_every_box_and_unnamed_stakes_share_one() -> None:
    """NC 5.14: the Tie without a bettor's name has no main wager on box 2; Ann's main wager is on both boxes."""
    hands = ("NC", "--player", "9D 9C 2H", "--player", "9S 8C 9H", "--dealer", "8D 8H 10D", "--json")
    found = json.loads(run(*hands, "--wager", "ann: main=3", "--wager", "1:ann:tie=1", "--wager", "tie=2").output)
    listed = [[(wager["bettor"], wager["stake"]) for wager in box["wagers"]] for box in found["boxes"]]
    assert listed == [[("ann", 3), ("ann", 1), ("", 2)], [("ann", 3), ("", 2)]]
    assert set(found["gains"]) == {"ann"}
    alone = json.loads(run(*hands, "--wager", "1: main=3", "--wager", "ann: tie=1").output)
    assert [wager["verdict"] for wager in alone["boxes"][1]["wagers"]] == ["returned"]
