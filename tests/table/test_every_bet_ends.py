"""Random rounds with choices, corrections, removed hands and power failures: every bet ends by a clause or a ruling.

`CARDSHOE_ROUNDS` sets the number of rounds of the long form (docs/testing.md).
"""

from __future__ import annotations

import os
import re
from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from controller.games import GAMES, game
from controller.games.specification import Kind, RulingAction, Unit
from controller.roles import Role
from controller.table import events, operations
from controller.table.inputs import AnyInput, PersonActed
from controller.table.model import SettledBet
from controller.table.phases import Phase
from controller.table.settings import ChosenReading, Settings
from controller.table.settling import returns_due
from controller.table.state import TableState
from simulators.scenarios.table_course import RefusedStepError
from tests.clauses.numbers import CLAUSES
from tests.support import long_forms
from tests.table.harness import TableHarness
from tests.table.random_moves import BETTORS, anything, bet, misbehave
from tests.table.said import next_step
from tests.table.way_out import ENOUGH_RULINGS, step

OVER = (Phase.CONCLUDED, Phase.VOIDED)
NOT_BEGUN = (Phase.IDLE, Phase.CLOSED)
STEPS = 300  # of a crew, from anywhere to the end of a round
CHOSEN = {"established_by", "tie_on"}  # settings without a default; half of the rounds draw all settings
AUTHORITY = "shift manager"
PATIENCE = 4  # rounds; the crew tolerates many errors, which this test needs
GIVEN_UP = Fraction(1, 1000)  # share of rounds that are void only because errors kept being raised
PARTS = 8  # of the long form, for the workers of a run
POWER_FAILS_IN = {
    *(Phase.BETTING, Phase.FIRST_CARD, Phase.DEALING_SETS, Phase.DEALING_SINGLES, Phase.EXAMINING),
    *(Phase.EXPOSING, Phase.SETTLING, Phase.CONCLUDED, Phase.VOIDED),
}
AMONG_BETS = (operations.PlaceWager, operations.ChangeWager, operations.TakeBackWager)


class BetsTable(TableHarness):
    """Records which bets were placed and which were returned while bets were open. `seen` counts what happened."""

    def __init__(self, random: Random, game_id: str, seen: Counter[str]) -> None:
        settings_of = {one.id: [option for option, _ in one.options] for one in game(game_id).settings}
        drawn = settings_of if random.random() < 0.5 else settings_of.keys() & CHOSEN
        chosen = tuple(ChosenReading(name, random.choice(settings_of[name])) for name in sorted(drawn))
        unit = random.choice(tuple(Unit))
        settings = Settings(game_id, unit, game(game_id).boxes[2], True, chosen)
        super().__init__(settings=settings, unit=unit, game_id=game_id)
        self.seen = seen
        self.reopened = False
        self.lay: set[int] = set()
        self.ended_open: set[int] = set()  # returned while bets were open, or entered by mistake

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, events.AnyEvent], ...]) -> None:
        for _, event in numbered:
            match event:
                case events.LayoutChanged():
                    assert all(back.clause or back.because for back in event.handed_back)
                    assert not {bet.number for bet in event.bets} & self.ended_open  # a bet placed again is a new bet
                    self.ended_open |= {bet.number for bet in before.layout.bets} - {bet.number for bet in event.bets}
                    self.lay |= {bet.number for bet in event.bets}
                case events.LayoutCorrected():
                    self.ended_open |= {bet.number for bet in event.was} - {bet.number for bet in event.bets}
                    self.lay |= {bet.number for bet in event.bets}
                case events.RoundVoided(irregularity=0):
                    self.seen["given up: abandoned"] += 1
                case events.Ruled(action=RulingAction.VOID):
                    ruled = sum(ended.outcome == "ruling" for ended in before.round.closed)
                    self.seen["given up: void"] += ruled >= ENOUGH_RULINGS * PATIENCE
        if isinstance(given, PersonActed) and not isinstance(numbered[0][1], events.OperationRefused):
            self._count(before, given.operation)

    def _count(self, before: TableState, operation: operations.AnyOperation) -> None:
        now = self.state.round
        self.reopened |= isinstance(operation, operations.ReopenBets)
        if isinstance(operation, operations.NoMoreBets):  # while bets were open, decisions about them no longer count
            assert not any((now.withdrawn, now.removed, now.bet_rulings))
        when = "reopened" if self.reopened and before.phase is Phase.BETTING else str(before.phase)
        self.seen[f"{type(operation).__name__}: {when}"] += 1
        gone = {bet.number for bet in before.layout.bets} - {bet.number for bet in self.state.layout.bets}
        if gone and not isinstance(operation, (*AMONG_BETS, operations.CorrectBet)):
            self.seen[f"{type(operation).__name__} hands bets back: {when}"] += 1


def play(random: Random, game_id: str, seen: Counter[str]) -> BetsTable:
    """Play a round with any random acts, not always to its end."""
    table = BetsTable(random, game_id, seen)
    table.start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.PlaceYourBets())
    for bettor in BETTORS:
        table.say(operations.EnterBettor(bettor))
    main = next(wager.id for wager in game(game_id).wagers if wager.main)
    table.do(operations.PlaceWager(BETTORS[0], main, 1, 10))
    for _ in range(random.randint(1, 5)):
        table.say(bet(random, table.state))
    for _ in range(random.choice((8, 20, 40, 60))):
        bets_again = table.reopened and table.state.phase is Phase.BETTING
        if random.random() < (0.2 if bets_again else 0.06):
            fail_power(table)
        if table.state.phase in NOT_BEGUN or (table.state.phase in OVER and random.random() < 0.3):
            break
        if random.random() < 0.03:
            misbehave(random, table)
        if random.random() < (0.3 if bets_again else 0.7):
            go_on(table)
        else:
            table.say(anything(random, table.state), random.choice((Role.PIT_SUPERVISOR, Role.SHIFT_MANAGER)))
    return table


def fail_power(table: BetsTable) -> None:
    """Cut the device's power and restore it."""
    now = table.state
    paid = ", paid" if now.phase is Phase.SETTLING and now.round.chips_paid else ""
    reopened = ", reopened" if now.phase is Phase.BETTING and table.reopened else ""
    table.seen[f"power fails: {now.phase}{paid}{reopened}"] += 1
    table.lose_link("The device has no power.")
    table.device.reboot()
    table.device.exit_held = True
    table.connect()


def is_over(state: TableState) -> bool:
    """Return whether the round has ended or did not begin, with nothing left to decide or pay."""
    if state.phase in NOT_BEGUN:
        return True
    of_round = any(found.round == state.round.number and not found.waiting for found in state.open)
    return state.phase in OVER and not returns_due(state) and not of_round and not state.moves_due


def go_on(table: BetsTable) -> None:
    """Do one step of the crew. Report a side bet without a main bet, as the refusal asks."""
    now = table.state
    assert next_step(now)
    if is_over(now):
        return
    if now.phase in OVER and not now.open and not now.held:
        table.do(operations.RecordSettled())
        return
    try:
        step(table, PATIENCE)
    except RefusedStepError as refused:
        number = re.match(r"Bet (\d+) needs a ruling", refused.refusal.sentence)
        if not number:
            raise
        alone = table.state.layout.bet(int(number[1]))
        table.report(Kind.SIDE_WITHOUT_MAIN, f"B{alone.box}")


def check(seed: int, seen: Counter[str]) -> None:
    """Check that nothing raises and every bet of the round ends. The crew finds a step from every state and never gives
    up.
    """
    random = Random(seed)
    table = play(random, random.choice(list(GAMES)), seen)
    for _ in range(STEPS):
        if is_over(table.state):
            break
        if random.random() < 0.02:
            fail_power(table)
        go_on(table)
    if random.random() < 0.2:
        fail_power(table)
    now = table.state
    assert now.phase in (*OVER, *NOT_BEGUN)
    settled = {bet.number: bet for bet in now.round.settlement}
    if now.phase in OVER:
        assert set(settled) == {bet.number for bet in now.round.bets}
    assert table.lay == {*settled, *table.ended_open}
    assert not settled.keys() & table.ended_open
    for each in settled.values():
        ends(each, now)
        seen[f"bet: {each.verdict}"] += 1
    seen["rounds"] += 1
    seen[f"ended: {now.phase}"] += 1
    seen[f"dealt: {now.game.id} {table.device.unit}"] += 1


def ends(bet: SettledBet, state: TableState) -> None:
    """Check that a bet is won, lost or returned in full, by a clause of the documents or by the person who ruled."""
    assert bet.verdict in ("won", "lost", "returned"), bet
    assert bet.clause in CLAUSES or bet.clause == AUTHORITY, bet
    assert not Fraction(bet.held), bet
    assert Fraction(bet.returned) + Fraction(bet.collected) == bet.amount, bet
    assert bet.verdict == "returned" or state.phase is not Phase.VOIDED, bet
    assert bet.verdict == "won" or not Fraction(bet.paid), bet


def gives_up_few(seen: Counter[str]) -> None:
    """Check that very few rounds were void because the crew lost patience."""
    assert seen["given up: void"] + seen["given up: abandoned"] <= GIVEN_UP * seen["rounds"]


def reaches_everything(seen: Counter[str]) -> None:
    """Check that power failed in every phase and that bets ended in every way."""
    failed = {f"power fails: {phase}" for phase in POWER_FAILS_IN}
    failed |= {"power fails: settling, paid", "power fails: betting, reopened"}
    failed |= {f"dealt: {game_id} {unit}" for game_id in GAMES for unit in Unit}
    failed |= {f"{operation.__name__}: reopened" for operation in AMONG_BETS}
    ended = {"bet: won", "bet: lost", "bet: returned", "ended: concluded", "ended: voided"}
    assert not (failed | ended) - seen.keys()


def test_every_bet_of_random_rounds_ends_by_a_clause_or_a_ruling() -> None:
    seen: Counter[str] = Counter()
    for seed in range(150):
        check(seed, seen)
    reaches_everything(seen)
    gives_up_few(seen)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(PARTS))
def test_every_bet_of_many_rounds_ends_by_a_clause_or_a_ruling(part: int) -> None:
    seen: Counter[str] = Counter()
    rounds = long_forms.count(int(os.environ.get("CARDSHOE_ROUNDS", "20000")))
    for seed in range(1000 + part, 1000 + rounds, PARTS):
        check(seed, seen)
    gives_up_few(seen)
    print(*(f"{number:8} {what}" for what, number in sorted(seen.items())), sep="\n")  # noqa: T201  # shown with -s
