"""What people do at the table that no sensor sees: one type an operation, as a console or a program sends it."""

from __future__ import annotations

from typing import TypeAlias

from controller.table.operations.base import Operation
from controller.table.operations.cards import CardAt, CountCards, DealByHand, PlaceCards, ShuffledOutside
from controller.table.operations.corrections import CorrectBet, CorrectEntry
from controller.table.operations.decks import (
    BringDeck,
    CutDeck,
    LoadDeck,
    QuarantineDeck,
    ReleaseDeck,
    TakeDeckOut,
)
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
    AbandonRound,
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
    BeginMaintenance,
    CloseTable,
    ContinueRound,
    DealerOff,
    DealerOn,
    EndMaintenance,
    InstructDevice,
    Instruction,
    OpenTable,
    PauseTable,
    ResumeTable,
    ReturnToService,
    TakeOver,
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
    | AbandonRound
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
    | BringDeck
    | TakeDeckOut
    | LoadDeck
    | QuarantineDeck
    | ReleaseDeck
    | CutDeck
    | ContinueRound
    | ReturnToService
    | CorrectEntry
    | CorrectBet
    | DealerOn
    | DealerOff
    | TakeOver
    | BeginMaintenance
    | EndMaintenance
    | InstructDevice
)


__all__ = [
    "AbandonRound",
    "AnyOperation",
    "BeginMaintenance",
    "BettorLeaves",
    "BringDeck",
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
    "CutDeck",
    "DealByHand",
    "DealerOff",
    "DealerOn",
    "DenyIrregularity",
    "EndMaintenance",
    "EnterBettor",
    "ExposeHand",
    "HandleCards",
    "InstructDevice",
    "Instruction",
    "LoadDeck",
    "NameOrder",
    "NoMoreBets",
    "OccupyBoxes",
    "OpenTable",
    "Operation",
    "PauseTable",
    "PlaceCards",
    "PlaceWager",
    "PlaceYourBets",
    "QuarantineDeck",
    "Reconstruct",
    "RecordSettled",
    "RejectExcess",
    "ReleaseDeck",
    "ReopenBets",
    "ReportIrregularity",
    "RestrictBetting",
    "ResumeTable",
    "ReturnToService",
    "Rule",
    "ShowFirstCard",
    "ShuffledOutside",
    "TakeBackWager",
    "TakeDeckOut",
    "TakeOver",
]
