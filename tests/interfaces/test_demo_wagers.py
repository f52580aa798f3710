"""`cardshoe demo --wagers`: bettors bet, every round is settled, and every settlement balances."""

from __future__ import annotations

from fractions import Fraction
from itertools import cycle, product
from typing import Any

import pytest
from msgspec import structs

from controller.games import GAMES, game
from controller.games.specification import Unit
from controller.rules.law import read_law
from simulators.demo.account import RunAccount
from simulators.people.plan import plan_rounds
from tests.support.played_rounds import play_rounds

SEED = 11
ROUNDS = 6
LOST = {"amount": 10, "returned": "0", "collected": "10", "held": "0", "paid": "0"}


@pytest.mark.parametrize(("game_id", "unit"), list(zip(GAMES, cycle(Unit), strict=False)))
async def test_every_game_settles_the_planned_rounds_and_balances(game_id: str, unit: Unit) -> None:
    """A round that is void before any bet has nothing to settle."""
    played = await play_rounds(game_id, unit, ROUNDS, SEED, wagers=True)
    assert played.account.differences == []
    events = played.events
    settled = {event["round"]: event for event in events if event["event"] == "wagers_settled"}
    concluded = {event["round"] for event in events if event.get("phase") == "concluded"}
    plan = plan_rounds(SEED, unit, ROUNDS, game_id=game_id, wagers=True)
    assert concluded <= set(settled)
    for planned in plan:
        if planned.number in concluded:
            lay = {(bet["bettor"], bet["wager"], bet["box"], bet["amount"]) for bet in settled[planned.number]["bets"]}
            assert lay == {(one.bettor, one.wager, one.box, one.amount) for one in planned.wagers}
    assert sum(event["event"] == "wagers_settled" for event in events) >= len(concluded) >= ROUNDS - 3
    for settlement in (event for event in events if event["event"] == "wagers_settled"):
        gains = Fraction(settlement["house"])
        for bet in settlement["bets"]:
            returned, collected, held, paid = (Fraction(bet[one]) for one in ("returned", "collected", "held", "paid"))
            assert returned + collected + held == bet["amount"]
            gains += paid - collected
        assert gains == 0


@pytest.mark.parametrize(("game_id", "unit"), list(product(GAMES, Unit)))
def test_without_wagers_the_rest_of_the_plan_is_the_same(game_id: str, unit: Unit) -> None:
    betting = plan_rounds(3, unit, 40, game_id=game_id, wagers=True)
    assert all(planned.wagers for planned in betting)
    assert [structs.replace(planned, wagers=()) for planned in betting] == plan_rounds(3, unit, 40, game_id=game_id)


@pytest.mark.parametrize("game_id", GAMES)
def test_every_box_has_its_bettors_main_wager_and_every_wager_is_bet(game_id: str) -> None:
    law = read_law(game(game_id))
    plan = plan_rounds(3, Unit.SETS, 60, game_id=game_id, wagers=True)
    for planned in plan:
        mains = {one.box for one in planned.wagers if law.wager(one.wager).main and one.seat == one.box}
        assert mains == set(planned.boxes)
    assert {one.wager for planned in plan for one in planned.wagers} == {wager.id for wager in law.wagers}
    assert any(one.seat is None for planned in plan for one in planned.wagers)


@pytest.mark.parametrize(
    ("house", "bet", "balances"),
    [("10", LOST, True), ("9", LOST, False), ("10", LOST | {"returned": "1"}, False)],
)
def test_a_settlement_that_does_not_balance_is_reported(house: str, bet: dict[str, Any], balances: bool) -> None:
    account = RunAccount([])
    account.take({"event": "wagers_settled", "bets": [bet], "house": house})
    assert (account.differences == []) is balances


def test_a_settlement_that_is_taken_back_no_longer_counts() -> None:
    account = RunAccount([])
    account.take({"event": "wagers_settled", "bets": [LOST], "house": "10"})
    assert "Wagers: 1 settled; the house gains 10" in account.summary()
    account.take({"event": "settlement_reversed", "bets": [LOST]})
    assert "wagers:" not in account.summary()
    assert account.house == 0
