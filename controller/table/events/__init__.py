"""What happened at the table, as the journal keeps it and the API publishes it.

An event names its whole effect: `evolve` sets it and judges nothing, so that an old journal folds to the same state
for ever. A field is only ever added, with a default.
"""

from __future__ import annotations

from typing import TypeAlias

from controller.table.events.base import Event
from controller.table.events.cards import (
    CardFoundFaceUp,
    CardMoved,
    CardsBurnt,
    CardsCounted,
    CardsDealt,
    CardsFoundElsewhere,
    CardsReconstructed,
    CardsSetAside,
    CardsStrayed,
    DealtByHand,
    DeckArrived,
    DeckCountedWhole,
    DeckShuffled,
    FirstCardDrawn,
    FirstCardShown,
    SetInTray,
    ShuffleBegan,
    ShuffleFailed,
    StubCounted,
)
from controller.table.events.corrections import (
    ClosingTakenBack,
    EntryCorrected,
    HandlingCorrected,
    IrregularityReopened,
    JudgementTakenBack,
    LayoutCorrected,
    OrderCorrected,
    VoidLifted,
)
from controller.table.events.decks import (
    DeckBrought,
    DeckComesIntoPlay,
    DeckCut,
    DeckNamed,
    DeckQuarantined,
    DeckReleased,
    DeckShuffledOutside,
    DeckTakenOut,
)
from controller.table.events.device import (
    ClockRanBackwards,
    CommandDone,
    CommandIssued,
    CommandLapsed,
    CommandRefused,
    DeviceDiffers,
    DeviceFreed,
    DeviceLost,
    DeviceNoted,
    DeviceReady,
    DeviceStopped,
    GameChosen,
    MaintenanceBegan,
    MaintenanceEnded,
    MaintenanceNoted,
    ReportsPassed,
    ReportTaken,
    ServiceChanged,
    StatusAgrees,
    StatusDiffers,
    TableBegan,
)
from controller.table.events.irregularities import (
    FactStated,
    IrregularityConfirmed,
    IrregularityRaised,
    IrregularityResolved,
    OptionChosen,
    OrderNamed,
    Ruled,
    VoidAsked,
)
from controller.table.events.people import (
    DealerCame,
    DealerLeft,
    HandedOver,
    OperationRefused,
    OperationTaken,
)
from controller.table.events.rounds import (
    AbandonAsked,
    BoxesOccupied,
    CardsHandled,
    ChipsPaid,
    ConclusionAsked,
    DealBegan,
    HandCounted,
    HandExposed,
    HandJudged,
    HandRemoved,
    HandTakenBack,
    PhaseEntered,
    RoundBegan,
    RoundVoided,
    TablePaused,
    TableResumed,
)
from controller.table.events.wagers import (
    BettingRestricted,
    BettorEntered,
    BettorLeft,
    BettorWithdrew,
    LayoutChanged,
    SettlementReversed,
    WagersSettled,
)

AnyEvent: TypeAlias = (
    TableBegan
    | GameChosen
    | DeviceReady
    | DeviceLost
    | ServiceChanged
    | StatusAgrees
    | StatusDiffers
    | ReportsPassed
    | ReportTaken
    | ClockRanBackwards
    | CommandIssued
    | CommandDone
    | CommandRefused
    | CommandLapsed
    | DeviceStopped
    | DeviceFreed
    | DeviceDiffers
    | DeviceNoted
    | MaintenanceBegan
    | MaintenanceEnded
    | MaintenanceNoted
    | DeckArrived
    | ShuffleBegan
    | DeckShuffled
    | DeckCountedWhole
    | ShuffleFailed
    | CardFoundFaceUp
    | SetInTray
    | CardsSetAside
    | CardsBurnt
    | CardsStrayed
    | FirstCardDrawn
    | FirstCardShown
    | CardsDealt
    | CardsFoundElsewhere
    | CardsReconstructed
    | DealtByHand
    | CardsCounted
    | StubCounted
    | DeckBrought
    | DeckTakenOut
    | DeckNamed
    | DeckShuffledOutside
    | DeckComesIntoPlay
    | DeckQuarantined
    | DeckReleased
    | DeckCut
    | PhaseEntered
    | RoundBegan
    | BoxesOccupied
    | DealBegan
    | CardsHandled
    | HandCounted
    | HandExposed
    | HandTakenBack
    | HandJudged
    | HandRemoved
    | ChipsPaid
    | ConclusionAsked
    | AbandonAsked
    | RoundVoided
    | BettorEntered
    | BettorLeft
    | LayoutChanged
    | BettingRestricted
    | BettorWithdrew
    | WagersSettled
    | SettlementReversed
    | TablePaused
    | TableResumed
    | IrregularityRaised
    | IrregularityConfirmed
    | FactStated
    | OrderNamed
    | OptionChosen
    | VoidAsked
    | Ruled
    | IrregularityResolved
    | EntryCorrected
    | HandlingCorrected
    | OrderCorrected
    | JudgementTakenBack
    | ClosingTakenBack
    | LayoutCorrected
    | IrregularityReopened
    | VoidLifted
    | DealerCame
    | DealerLeft
    | HandedOver
    | OperationTaken
    | OperationRefused
)

__all__ = [
    "AbandonAsked",
    "AnyEvent",
    "BettingRestricted",
    "BettorEntered",
    "BettorLeft",
    "BettorWithdrew",
    "BoxesOccupied",
    "CardFoundFaceUp",
    "CardMoved",
    "CardsBurnt",
    "CardsCounted",
    "CardsDealt",
    "CardsFoundElsewhere",
    "CardsHandled",
    "CardsReconstructed",
    "CardsSetAside",
    "CardsStrayed",
    "ChipsPaid",
    "ClockRanBackwards",
    "ClosingTakenBack",
    "CommandDone",
    "CommandIssued",
    "CommandLapsed",
    "CommandRefused",
    "ConclusionAsked",
    "DealBegan",
    "DealerCame",
    "DealerLeft",
    "DealtByHand",
    "DeckArrived",
    "DeckBrought",
    "DeckComesIntoPlay",
    "DeckCountedWhole",
    "DeckCut",
    "DeckNamed",
    "DeckQuarantined",
    "DeckReleased",
    "DeckShuffled",
    "DeckShuffledOutside",
    "DeckTakenOut",
    "DeviceDiffers",
    "DeviceFreed",
    "DeviceLost",
    "DeviceNoted",
    "DeviceReady",
    "DeviceStopped",
    "EntryCorrected",
    "Event",
    "FactStated",
    "FirstCardDrawn",
    "FirstCardShown",
    "GameChosen",
    "HandCounted",
    "HandExposed",
    "HandJudged",
    "HandRemoved",
    "HandTakenBack",
    "HandedOver",
    "HandlingCorrected",
    "IrregularityConfirmed",
    "IrregularityRaised",
    "IrregularityReopened",
    "IrregularityResolved",
    "JudgementTakenBack",
    "LayoutChanged",
    "LayoutCorrected",
    "MaintenanceBegan",
    "MaintenanceEnded",
    "MaintenanceNoted",
    "OperationRefused",
    "OperationTaken",
    "OptionChosen",
    "OrderCorrected",
    "OrderNamed",
    "PhaseEntered",
    "ReportTaken",
    "ReportsPassed",
    "RoundBegan",
    "RoundVoided",
    "Ruled",
    "ServiceChanged",
    "SetInTray",
    "SettlementReversed",
    "ShuffleBegan",
    "ShuffleFailed",
    "StatusAgrees",
    "StatusDiffers",
    "StubCounted",
    "TableBegan",
    "TablePaused",
    "TableResumed",
    "VoidAsked",
    "VoidLifted",
    "WagersSettled",
]
