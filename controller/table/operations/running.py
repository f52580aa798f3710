"""Opening, closing, pausing the table, and bringing it back into service."""

from __future__ import annotations

from enum import StrEnum

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


class DealerOn(Operation, frozen=True):
    """Whoever says it deals from now on."""


class DealerOff(Operation, frozen=True):
    """The dealer on duty leaves the table, and nobody takes over."""


class TakeOver(Operation, frozen=True):
    """Whoever says it deals from now on, in a round too. `open`: the ids of all irregularities that come with it."""

    open: tuple[int, ...] = ()


class BeginMaintenance(Operation, frozen=True):
    """Between rounds: people try, clean or mend the device. Cards that leave it then enter no round."""

    reason: str


class EndMaintenance(Operation, frozen=True):
    """The deck has to be loaded, shuffled and counted anew before the next round."""


class Instruction(StrEnum):
    """What a device can be told under maintenance."""

    DISPENSE = "dispense"
    SHUFFLE = "shuffle"
    UNLOAD_STUB = "unload_stub"
    RUN_SELF_TEST = "run_self_test"
    HOLD_EXIT = "hold_exit"
    RELEASE_EXIT = "release_exit"


class InstructDevice(Operation, frozen=True):
    """Under maintenance the device does what a person tells it. `cards`: of the set to be dispensed, 1 to 5."""

    instruction: Instruction
    cards: int = 0
