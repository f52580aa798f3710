"""The messages of a table, as English text."""

from __future__ import annotations

from controller.table import next_step as steps
from controller.table import settling
from controller.table.headline import headline as headline_of_steps
from controller.table.state import TableState


def next_step(state: TableState) -> str:
    return str(steps.next_step(state))


def next_steps(state: TableState) -> tuple[str, ...]:
    return tuple(map(str, steps.next_steps(state)))


def headline(state: TableState) -> str:
    return str(headline_of_steps(state, steps.next_steps(state)))


def dues(state: TableState) -> tuple[str, ...]:
    """Return the dues, each in one line, such as "B1 Win pay 1:2" or "B3 Ann Tie pay 800"."""
    return tuple(_due(one) for one in settling.dues(state))


def _due(due: settling.Due) -> str:
    odds = f"{due.won}:{due.staked}" if due.staked else due.amount
    return " ".join(filter(None, (due.place, due.bettor, str(due.wager), due.act, odds)))


def differences(state: TableState) -> tuple[str, ...]:
    return tuple(map(str, settling.differences(state)))
