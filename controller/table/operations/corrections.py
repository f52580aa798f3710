"""What was entered wrongly, and what it should have been."""

from __future__ import annotations

from typing import TypeAlias

from controller.table.operations.base import Operation
from controller.table.operations.cards import CountCards
from controller.table.operations.irregularities import (
    ChooseOption,
    ConfirmIrregularity,
    DenyIrregularity,
    ReportIrregularity,
    Rule,
)
from controller.table.operations.rounds import (
    ConcludeRound,
    ExposeHand,
    HandleCards,
    OccupyBoxes,
    RecordSettled,
    ShowFirstCard,
)

SaidOtherwise: TypeAlias = HandleCards | ExposeHand | ShowFirstCard | OccupyBoxes | CountCards | ReportIrregularity
Correctable: TypeAlias = (
    SaidOtherwise | ConfirmIrregularity | DenyIrregularity | ChooseOption | Rule | RecordSettled | ConcludeRound
)


class CorrectEntry(Operation, frozen=True, tag="correct_entry"):
    """An operation of this round was entered wrongly: `entry` is the journal entry that its answer named.

    `instead`: what should have been entered, of the same kind; None strikes it out. What rested on it opens again.
    """

    entry: int
    reason: str
    instead: SaidOtherwise | None = None


class CorrectBet(Operation, frozen=True, tag="correct_bet"):
    """How a bet lay at "No more bets": `amount` units in all. 0: it did not lie there.

    `bet` 0: one that was not entered; then bettor, wager and box say which.
    """

    bet: int
    amount: int
    reason: str
    bettor: str = ""
    wager: str = ""
    box: int = 0
