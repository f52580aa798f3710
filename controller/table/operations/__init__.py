"""What people do at the table that no sensor sees: one type an operation, as a console or a program sends it."""

from __future__ import annotations

from typing import TypeAlias

from controller.table.operations.base import Operation
from controller.table.operations.cards import CardAt, CountCards, DealByHand, PlaceCards, ShuffledOutside
from controller.table.operations.corrections import CorrectBet, CorrectEntry
from controller.table.operations.irregularities import (
    ChooseOption,
    ConfirmIrregularity,
    DenyIrregularity,
    NameOrder,
    Reconstruct,
    ReportIrregularity,
    Rule,
)
from controller.table.operations.rounds import (
    CancelStart,
    ConcludeRound,
    ExposeHand,
    HandleCards,
    NoMoreBets,
    OccupyBoxes,
    PlaceYourBets,
    RecordSettled,
    ReopenBets,
    ShowFirstCard,
)
from controller.table.operations.running import (
    CloseTable,
    ContinueRound,
    OpenTable,
    PauseTable,
    ResumeTable,
    ReturnToService,
)
from controller.table.operations.wagers import (
    BettorLeaves,
    ChangeWager,
    EnterBettor,
    PlaceWager,
    RejectExcess,
    RestrictBetting,
    TakeBackWager,
)

AnyOperation: TypeAlias = (
    OpenTable
    | CloseTable
    | ShuffledOutside
    | PlaceYourBets
    | CancelStart
    | OccupyBoxes
    | NoMoreBets
    | ReopenBets
    | EnterBettor
    | BettorLeaves
    | PlaceWager
    | ChangeWager
    | TakeBackWager
    | RejectExcess
    | RestrictBetting
    | ShowFirstCard
    | HandleCards
    | ExposeHand
    | RecordSettled
    | ConcludeRound
    | PauseTable
    | ResumeTable
    | PlaceCards
    | ReportIrregularity
    | ConfirmIrregularity
    | DenyIrregularity
    | NameOrder
    | ChooseOption
    | Reconstruct
    | DealByHand
    | Rule
    | CountCards
    | ContinueRound
    | ReturnToService
    | CorrectEntry
    | CorrectBet
)


__all__ = [
    "AnyOperation",
    "BettorLeaves",
    "CancelStart",
    "CardAt",
    "ChangeWager",
    "ChooseOption",
    "CloseTable",
    "ConcludeRound",
    "ConfirmIrregularity",
    "ContinueRound",
    "CorrectBet",
    "CorrectEntry",
    "CountCards",
    "DealByHand",
    "DenyIrregularity",
    "EnterBettor",
    "ExposeHand",
    "HandleCards",
    "NameOrder",
    "NoMoreBets",
    "OccupyBoxes",
    "OpenTable",
    "Operation",
    "PauseTable",
    "PlaceCards",
    "PlaceWager",
    "PlaceYourBets",
    "Reconstruct",
    "RecordSettled",
    "RejectExcess",
    "ReopenBets",
    "ReportIrregularity",
    "RestrictBetting",
    "ResumeTable",
    "ReturnToService",
    "Rule",
    "ShowFirstCard",
    "ShuffledOutside",
    "TakeBackWager",
]
