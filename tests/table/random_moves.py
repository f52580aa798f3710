"""Random acts by people and the device in a round: bets, choices, corrections, reports and rulings, but no power
failures.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import msgspec

from controller.games import GAMES
from controller.games.specification import Choice, Facts, Kind, RulingAction, Unit
from controller.rules.dealing_order import DEALER
from controller.table import operations
from controller.table.model import Irregularity, Stage
from controller.table.operations import AnyOperation, Replaceable
from controller.table.phases import AFTER_DEAL, DEALING, Phase
from controller.table.state import TableState
from tests.table.harness import TableHarness

BETTORS: Final = ("ann", "bob", "cy")
LAID: Final = {game_id: [wager.id for wager in rules.wagers if not wager.on_dealer] for game_id, rules in GAMES.items()}
REPORTED: Final = (
    *(Kind.POWER_FAILURE, Kind.POWER_FAILURE, Kind.EXPOSED_CARD, Kind.EXPOSED_CARD, Kind.SIDE_WITHOUT_MAIN),
    *(Kind.WRONG_COUNT, Kind.WRONG_COUNT, Kind.WRONG_DISTRIBUTION, Kind.OTHER_DEALING_ERROR, Kind.SIMULTANEOUS),
    *(Kind.DEALER_EXPOSED_EARLY, Kind.WRONG_VIEWER, Kind.PLAYER_EXPOSED, Kind.DROPPED_CARD, Kind.LATE_BET),
    *(Kind.OUTSIDE_LIMITS, Kind.COUNT_IN_DOUBT, Kind.TECHNICAL_STOP),
)
RULED: Final = tuple(action for action in RulingAction if action is not RulingAction.VOID)
REOPENED_IN: Final = (*DEALING, Phase.FIRST_CARD)


def anything(random: Random, state: TableState) -> AnyOperation:
    """Return one random act: a bet, a choice, a correction, a report, a decision or a ruling. Many are refused."""
    if state.phase is Phase.BETTING and random.random() < 0.7:
        return bet(random, state)
    if state.phase in REOPENED_IN and not state.round.dealt and random.random() < 0.4:
        return operations.ReopenBets()
    if state.open and random.random() < 0.6:
        return _decide(random, state, random.choice(state.open))
    return random.choice(MOVES)(random, state)


def bet(random: Random, state: TableState) -> AnyOperation:
    """Return an operation that places, changes or takes back a bet."""
    bets = [bet.number for bet in state.layout.bets]
    if bets and random.random() < 0.5:
        number = random.choice(bets)
        taken = operations.TakeBackWager(number)
        return taken if random.random() < 0.5 else operations.ChangeWager(number, random.choice((5, 30)))
    wager, box = random.choice(LAID[state.game.id]), random.randint(1, 3)
    return operations.PlaceWager(random.choice(BETTORS), wager, box, 10, overlooked=random.random() < 0.3)


def _correct_bet(random: Random, state: TableState) -> AnyOperation:
    bets = [bet.number for bet in state.layout.bets]
    if bets and random.random() < 0.5:
        return operations.CorrectBet(random.choice(bets), random.choice((0, 5, 20)), "looked again")
    wager = random.choice(LAID[state.game.id])
    return operations.CorrectBet(0, 10, "overlooked", random.choice(BETTORS), wager, random.randint(1, 3))


def _correct_entry(random: Random, state: TableState) -> AnyOperation:
    """Return an operation that strikes out an entry, or replaces it with another of its kind."""
    if not state.round.entered:
        return _report(random, state)
    one = random.choice(state.round.entered)
    instead: Replaceable | None = None
    match one.operation:
        case operations.ReportIrregularity() if random.random() < 0.5:
            instead = msgspec.structs.replace(one.operation, place=random.choice((None, *state.round.hands)))
        case operations.HandleCards() if random.random() < 0.5:
            instead = msgspec.structs.replace(one.operation, viewed=not one.operation.viewed)
        case operations.CountCards() if random.random() < 0.5:
            instead = msgspec.structs.replace(one.operation, number=max(0, state.stub_due))
    return operations.CorrectEntry(one.entry, "it was wrong", instead)


def _report(random: Random, state: TableState) -> AnyOperation:
    kind = random.choice(REPORTED)
    place = random.choice((None, "B1", "B2", DEALER))
    counted = random.choice((2, 4)) if kind is Kind.WRONG_COUNT else None
    return operations.ReportIrregularity(kind, place, None, counted)


def _handle(random: Random, state: TableState) -> AnyOperation:
    bettor = random.choice(("", *BETTORS))
    return operations.HandleCards(f"B{random.randint(1, 3)}", viewed=random.random() < 0.5, bettor=bettor)


def _swap(random: Random, state: TableState) -> AnyOperation:
    """Return the entry that the cards of two places are swapped."""
    lying = [(place, hand.cards) for place, hand in state.round.hands.items() if hand.cards]
    if len(lying) < 2:
        return _report(random, state)
    (first, here), (second, there) = random.sample(lying, 2)
    number = random.choice((1, 3))
    cards = [operations.CardAt(card.ordinal, second) for card in here[:number]]
    cards += [operations.CardAt(card.ordinal, first) for card in there[:number]]
    return operations.PlaceCards(tuple(cards))


def _count(random: Random, state: TableState) -> AnyOperation:
    if state.phase not in AFTER_DEAL:
        return _report(random, state)
    return operations.CountCards("stub", max(0, state.stub_due - random.choice((0, 0, 0, 1))), "a witness")


MOVES: Final[tuple[Callable[[Random, TableState], AnyOperation], ...]] = (
    *(_correct_bet, _correct_bet, _correct_bet, _correct_entry, _correct_entry),
    *(_report, _report, _handle, _swap, _count),
)


def _decide(random: Random, state: TableState, found: Irregularity) -> AnyOperation:
    """Return an operation that chooses, confirms, denies or rules."""
    here = (found.id, found.revision)
    if found.stage is Stage.CHOOSING and state.round.choosers:
        place, bettor = random.choice(state.round.choosers)
        return operations.ChooseOption(*here, place, random.choice(tuple(Choice)), random.random() < 0.1, bettor)
    if found.stage is Stage.RULING:
        action = RulingAction.VOID if random.random() < 0.05 else random.choice(RULED)
        numbers = tuple(bet.number for bet in state.layout.bets if random.random() < 0.4)
        places = state.round.live_places[:1] if action is RulingAction.REMOVE_HANDS else ()
        waiting = tuple(card.ordinal for card in (*state.decks.aside, *state.decks.tray))
        ordinals = waiting if action is RulingAction.NAME_ORDER else ()
        return operations.Rule(*here, action, "shift manager", "so decided", places, ordinals, numbers)
    if random.random() < 0.3:
        return operations.DenyIrregularity(*here, "it is not so")
    answers = {name: random.random() < 0.5 for name in found.asks}
    return operations.ConfirmIrregularity(*here, msgspec.convert(answers, Facts))


def misbehave(random: Random, table: TableHarness) -> None:
    """Let a shoe give out two cards together, or a card face up, during the deal."""
    due = table.state.phase is Phase.DEALING_SINGLES and len(table.device.inside) > 2
    if not due or table.device.unit is not Unit.SINGLES or not table.device.linked:
        return
    if random.random() < 0.5:
        table.device.draw(face_up=True)
    else:
        table.device.draw_together(2, order_known=random.random() < 0.5)
