"""Random rounds with choices, corrections, removed hands and power failures: every bet ends by a clause or a ruling.

`CARDSHOE_ROUNDS` is how many rounds the long form plays (docs/testing.md).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from contextlib import suppress
from random import Random

import pytest

from controller.games import GAMES, game
from controller.games.specification import Choice, Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import operations
from controller.table.inputs import PersonActed
from controller.table.model import Stage
from controller.table.operations import AnyOperation
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from simulators.scenarios.table_course import RefusedStepError
from tests.support import long_forms
from tests.table.harness import TableHarness
from tests.table.way_out import step

BETTORS = ("ann", "bob", "cy")
OVER = (Phase.CONCLUDED, Phase.VOIDED, Phase.IDLE, Phase.CLOSED)
STEPS = 300  # of a crew, from anywhere to the end of a round
CHOSEN = {"RTP": (("established_by", "mathematically"),), "NC": (("established_by", "mathematically"),)}
LAID = {game_id: [wager.id for wager in rules.wagers if not wager.on_dealer] for game_id, rules in GAMES.items()}


PARTS = 8  # of the long form, for the workers of a run
POWER_FAILS_IN = {
    *(Phase.BETTING, Phase.FIRST_CARD, Phase.DEALING_SETS, Phase.DEALING_SINGLES, Phase.EXAMINING),
    *(Phase.EXPOSING, Phase.SETTLING, Phase.CONCLUDED, Phase.VOIDED),
}


def play(random: Random, game_id: str, seen: Counter[str]) -> TableHarness:
    readings = (*CHOSEN.get(game_id, ()), *((("tie_on", "points"),) if game_id == "P3" else ()))
    chosen = tuple(ChosenReading(*one) for one in readings)
    boxes = game(game_id).boxes[2]
    unit = random.choice(tuple(Unit))
    table = TableHarness(settings=Settings(game_id, unit, boxes, True, chosen), unit=unit, game_id=game_id)
    table.start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor in BETTORS:
        table.say(operations.EnterBettor(bettor))
    main = next(wager.id for wager in game(game_id).wagers if wager.main)
    table.do(operations.PlaceWager(BETTORS[0], main, 1, 10))
    for _ in range(random.randint(1, 5)):
        table.say(_wager(random, game_id))
    for _ in range(random.choice((8, 20, 40, 60))):
        if random.random() < 0.06:
            fail_power(table, seen)
        if table.state.phase in OVER:
            break
        if random.random() < 0.7:
            with suppress(RefusedStepError):
                go_on(table)
        else:
            table.say(_anything(random, table), random.choice((Role.PIT_SUPERVISOR, Role.SHIFT_MANAGER)))
    return table


def fail_power(table: TableHarness, seen: Counter[str]) -> None:
    """The device loses its power and has it again."""
    now = table.state
    paid = ", paid" if now.phase is Phase.SETTLING and now.round.chips_paid else ""
    reopened = ", reopened" if now.phase is Phase.BETTING and _reopened(table) else ""
    seen[f"power fails: {now.phase}{paid}{reopened}"] += 1
    table.lose_link("The device has no power.")
    table.device.reboot()
    table.device.exit_held = True
    table.connect()


def _reopened(table: TableHarness) -> bool:
    operated = [given.operation for given, _ in table.steps if isinstance(given, PersonActed)]
    return any(isinstance(operation, operations.ReopenBets) for operation in operated)


def _wager(random: Random, game_id: str) -> AnyOperation:
    wager, box = random.choice(LAID[game_id]), random.randint(1, 3)
    return operations.PlaceWager(random.choice(BETTORS), wager, box, 10, overlooked=random.random() < 0.3)


def _anything(random: Random, table: TableHarness) -> AnyOperation:
    """A choice, a correction, a report, a decision or a ruling; many of them are refused."""
    state = table.state
    if random.random() < 0.35:
        bets = [bet.number for bet in state.layout.bets]
        if bets and random.random() < 0.5:
            return operations.CorrectBet(random.choice(bets), random.choice((0, 5, 20)), "looked again")
        wager = random.choice(LAID[state.game.id])
        return operations.CorrectBet(0, 10, "overlooked", random.choice(BETTORS), wager, random.randint(1, 3))
    if not state.open or random.random() < 0.2:
        if state.round.entered and random.random() < 0.3:
            return operations.CorrectEntry(random.choice(state.round.entered).entry, "it was wrong")
        if state.round.dealt == 0 and random.random() < 0.3:
            return operations.ReopenBets()
        kinds = (Kind.POWER_FAILURE, Kind.POWER_FAILURE, Kind.EXPOSED_CARD, Kind.SIDE_WITHOUT_MAIN)
        return operations.ReportIrregularity(random.choice(kinds), random.choice((None, "B1", "B2")))
    found = random.choice(state.open)
    if found.stage is Stage.CHOOSING and state.round.choosers:
        place, bettor = random.choice(state.round.choosers)
        choice = random.choice(tuple(Choice))
        return operations.ChooseOption(found.id, found.revision, place, choice, random.random() < 0.1, bettor)
    if found.stage is Stage.RULING:
        action = random.choice((RulingAction.CONTINUE, RulingAction.RETURN_BETS, RulingAction.REMOVE_HANDS))
        numbers = tuple(bet.number for bet in state.layout.bets if random.random() < 0.4)
        places = state.round.live_places[:1] if action is RulingAction.REMOVE_HANDS else ()
        return operations.Rule(found.id, found.revision, action, "shift manager", "so decided", places, (), numbers)
    if random.random() < 0.3:
        return operations.DenyIrregularity(found.id, found.revision, "it is not so")
    return operations.ConfirmIrregularity(found.id, found.revision)


def go_on(table: TableHarness) -> None:
    """A step of the crew. A side bet without a main bet is reported, as the refusal asks."""
    try:
        step(table)
    except RefusedStepError as refused:
        number = re.match(r"Bet (\d+) needs a ruling", refused.refusal.sentence)
        if not number:
            raise
        bet = next(bet for bet in table.state.layout.bets if bet.number == int(number[1]))
        table.report(Kind.SIDE_WITHOUT_MAIN, f"B{bet.box}")


def check(seed: int, seen: Counter[str]) -> None:
    """No exception, and every bet of the round ends."""
    random = Random(seed)
    table = play(random, random.choice(list(GAMES)), seen)
    for _ in range(STEPS):
        if table.state.phase in OVER:
            break
        if random.random() < 0.02:
            fail_power(table, seen)
        try:
            go_on(table)
        except RefusedStepError as refused:  # the crew of the test has no answer to it: people give the round up
            seen[f"given up: {table.state.phase}, {refused.refusal.code}"] += 1
            for _ in range(2):
                table.say(operations.AbandonRound("shift manager", "it is given up"), Role.SHIFT_MANAGER)
    if random.random() < 0.2:
        fail_power(table, seen)
    settled = {bet.number: bet for bet in table.state.round.settlement}
    assert table.state.phase in OVER
    if table.state.phase in (Phase.CONCLUDED, Phase.VOIDED):
        assert set(settled) == {bet.number for bet in table.state.round.bets}
    seen["rounds"] += 1
    seen[f"ended: {table.state.phase}"] += 1
    seen[f"dealt: {table.state.game.id} {table.device.unit}"] += 1
    for bet in settled.values():
        assert bet.verdict in ("won", "lost", "returned"), bet
        assert bet.clause, bet
        seen[f"bet: {bet.verdict}"] += 1


def reaches_everything(seen: Counter[str]) -> None:
    """Assert that power failed in every phase and that bets ended in every way."""
    failed = {f"power fails: {phase}" for phase in POWER_FAILS_IN}
    failed |= {"power fails: settling, paid", "power fails: betting, reopened"}
    failed |= {f"dealt: {game_id} {unit}" for game_id in GAMES for unit in Unit}
    ended = {"bet: won", "bet: lost", "bet: returned", "ended: concluded", "ended: voided"}
    assert not (failed | ended) - seen.keys()


def test_every_bet_of_random_rounds_ends_by_a_clause_or_a_ruling() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        check(seed, seen)
    reaches_everything(seen)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_every_bet_of_many_rounds_ends_by_a_clause_or_a_ruling(part: int) -> None:
    seen: Counter[str] = Counter()
    rounds = long_forms.count(int(os.environ.get("CARDSHOE_ROUNDS", "20000")))
    for seed in range(1000 + part, 1000 + rounds, PARTS):
        check(seed, seen)
    print(*(f"{number:8} {what}" for what, number in sorted(seen.items())), sep="\n")  # noqa: T201  # shown with -s
