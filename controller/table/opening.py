"""Opening and closing the table."""

from __future__ import annotations

from typing import Final

from controller.rules.law import not_chosen
from controller.table import operations
from controller.table.admissions import verify_well
from controller.table.decision import Decision, RefusedError
from controller.table.feature import CLOSED, NOT_HELD, OperationRow, just
from controller.table.inputs import PersonActed
from controller.table.phases import BEGINNING
from controller.table.settling import verify_chips_moved
from controller.table.state import TableState
from firmware_bridge.messages import message


def verify_open_table(state: TableState, given: PersonActed, operation: operations.OpenTable) -> None:
    """Verify that the casino has chosen every reading without a default, except at a simulated table."""
    if state.law.unchosen and not state.simulated:
        raise RefusedError(
            "reading", "{not_chosen}; the configuration has to name one.", not_chosen=not_chosen(state.law.unchosen[0])
        )
    verify_well(state)


def open_table(decision: Decision, given: PersonActed, operation: operations.OpenTable) -> None:
    decision.enter_phase("open")


def verify_close_table(state: TableState, given: PersonActed, operation: operations.CloseTable) -> None:
    verify_chips_moved(state)


def close_table(decision: Decision, given: PersonActed, operation: operations.CloseTable) -> None:
    decision.enter_phase("close")


# -- permissions and offers


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.OpenTable, message("open the table"), message("{who} opened the table."), verify_open_table,
        open_table, CLOSED, offers=just(operations.OpenTable())),
    OperationRow(
        operations.CloseTable, message("close the table"), message("{who} closed the table."), verify_close_table,
        close_table, BEGINNING, NOT_HELD, offers=just(operations.CloseTable())),
)
# fmt: on
"""The permissions and offers of this feature."""
