"""Pausing the table: play stops immediately, and goes on when a person resumes it."""

from __future__ import annotations

from typing import Final

from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.exposing import resume_play
from controller.table.feature import ALWAYS, ANY_PHASE, WORDS, OperationRow, just
from controller.table.inputs import PersonActed
from controller.table.state import TableState
from firmware_bridge.messages import message


def verify_pause(state: TableState, given: PersonActed, operation: operations.PauseTable) -> None:
    """Accept a pause, since play must stop immediately; a later entry can replace the reason."""
    if operation.reason == state.duty.paused != "":
        raise RefusedError(
            "paused",
            "The table is already paused ({paused}); resume it when play can continue.",
            paused=state.duty.paused,
        )
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the table is paused.")


def pause_table(decision: Decision, given: PersonActed, operation: operations.PauseTable) -> None:
    decision.emit(events.TablePaused(operation.reason))


def verify_resume(state: TableState, given: PersonActed, operation: operations.ResumeTable) -> None:
    if not state.duty.paused:
        raise RefusedError("not-paused", "The table is not paused; continue.")


def resume_table(decision: Decision, given: PersonActed, operation: operations.ResumeTable) -> None:
    decision.emit(events.TableResumed())
    resume_play(decision)


# -- permissions and offers


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.PauseTable, message("pause the table"), message("{who} paused the table."), verify_pause,
        pause_table, ANY_PHASE, ALWAYS, off_duty=True, offers=just(operations.PauseTable(WORDS))),
    OperationRow(
        operations.ResumeTable, message("resume play"), message("{who} resumed play."), verify_resume, resume_table,
        ANY_PHASE, ALWAYS, offers=just(operations.ResumeTable()), where=lambda state: bool(state.duty.paused)),
)
# fmt: on
"""The permissions and offers of this feature."""
