"""The messages of a table, as English text."""

from __future__ import annotations

from controller.table import next_step as steps
from controller.table import settling
from controller.table.state import TableState


def next_step(state: TableState) -> str:
    return str(steps.next_step(state))


def next_steps(state: TableState) -> tuple[str, ...]:
    return tuple(map(str, steps.next_steps(state)))


def payments(state: TableState) -> tuple[str, ...]:
    return tuple(map(str, settling.payments(state)))


def differences(state: TableState) -> tuple[str, ...]:
    return tuple(map(str, settling.differences(state)))
