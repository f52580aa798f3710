"""Rounds with wrong entries, and their corrections, for the tests of corrections."""

from __future__ import annotations

from controller.roles import Role
from controller.table import operations
from controller.table.operations import Replaceable
from tests.table.harness import TableHarness

HANDS = {"B1": "KD KC 9S", "B3": "2C 2D 7C", "B6": "7H 7D AC", "D": "4C 4D 6C"}


def correct(
    table: TableHarness,
    kind: type[operations.Operation],
    instead: Replaceable | None = None,
    by: Role = Role.PIT_SUPERVISOR,
) -> None:
    """Correct the last entry of that kind."""
    table.do(operations.CorrectEntry(last_entry(table, kind), "keyed wrongly", instead), by)


def last_entry(table: TableHarness, kind: type[operations.Operation]) -> int:
    return [one.entry for one in table.state.round.entered if isinstance(one.operation, kind)][-1]


def outcomes(table: TableHarness) -> dict[str, str]:
    return {place: str(hand.outcome) for place, hand in table.state.round.hands.items() if hand.outcome}


def dead(table: TableHarness) -> list[str]:
    return [place for place, hand in table.state.round.hands.items() if hand.dead]


def with_bets() -> TableHarness:
    table = TableHarness(hands=HANDS).start()
    table.do(operations.OpenTable())
    table.fresh_deck()
    table.do(operations.EnterBettor("ann", 1))
    table.do(operations.EnterBettor("bob", 3))
    table.do(operations.PlaceYourBets())
    table.do(operations.PlaceWager("ann", "main", 1, 100))
    table.do(operations.PlaceWager("bob", "main", 3, 100))
    table.do(operations.NoMoreBets())
    return table
