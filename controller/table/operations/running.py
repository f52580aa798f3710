"""Opening, closing, pausing the table, and bringing it back into service."""

from __future__ import annotations

from enum import StrEnum

from controller.table.operations.base import Operation


class OpenTable(Operation, frozen=True, tag="open_table"):
    pass


class CloseTable(Operation, frozen=True, tag="close_table"):
    pass


class PauseTable(Operation, frozen=True, tag="pause_table"):
    reason: str


class ResumeTable(Operation, frozen=True, tag="resume_table"):
    pass


class ContinueRound(Operation, frozen=True, tag="continue_round"):
    """After a lost link or a restart: the table agrees with what the screen shows, and play goes on."""


class ReturnToService(Operation, frozen=True, tag="return_to_service"):
    """What kept the table out of service is mended: the link is made anew and the device compared again."""


class DealerOn(Operation, frozen=True, tag="dealer_on"):
    """Whoever says it deals from now on."""


class DealerOff(Operation, frozen=True, tag="dealer_off"):
    """The dealer on duty leaves the table, and nobody takes over."""


class TakeOver(Operation, frozen=True, tag="take_over"):
    """Whoever says it deals from now on, in a round too. `open`: the ids of all irregularities that come with it."""

    open: tuple[int, ...] = ()


class BeginMaintenance(Operation, frozen=True, tag="begin_maintenance"):
    """Between rounds: people try, clean or mend the device. Cards that leave it then enter no round."""

    reason: str


class EndMaintenance(Operation, frozen=True, tag="end_maintenance"):
    """The deck has to be loaded, shuffled and counted anew before the next round."""


class Instruction(StrEnum):
    """What a device can be told under maintenance."""

    DISPENSE = "dispense"
    SHUFFLE = "shuffle"
    UNLOAD_STUB = "unload_stub"
    RUN_SELF_TEST = "run_self_test"
    HOLD_EXIT = "hold_exit"
    RELEASE_EXIT = "release_exit"


class InstructDevice(Operation, frozen=True, tag="instruct_device"):
    """Under maintenance the device does what a person tells it. `cards`: of the set to be dispensed, 1 to 5."""

    instruction: Instruction
    cards: int = 0
