"""Opening, closing, pausing the table, and bringing it back into service."""

from __future__ import annotations

from controller.table.operations.base import Operation


class OpenTable(Operation, frozen=True):
    pass


class CloseTable(Operation, frozen=True):
    pass


class PauseTable(Operation, frozen=True):
    reason: str


class ResumeTable(Operation, frozen=True):
    pass


class ContinueRound(Operation, frozen=True):
    """After a lost link or a restart: the table agrees with what the screen shows, and play goes on."""


class ReturnToService(Operation, frozen=True):
    """What kept the table out of service is mended: the link is made anew and the device compared again."""
