"""How operations and stages are said in a sentence: what somebody may, or cannot, do; what is waited for."""

from __future__ import annotations

from typing import Final

from controller.table import operations
from controller.table.model import Stage
from controller.table.operations import Operation

DOES: Final[dict[type[Operation], str]] = {
    operations.OpenTable: "open the table",
    operations.CloseTable: "close the table",
    operations.ShuffledOutside: "say that the deck was shuffled outside",
    operations.PlaceYourBets: "open bets",
    operations.CancelStart: "cancel the start of a round",
    operations.OccupyBoxes: "say which boxes are in play",
    operations.NoMoreBets: "close bets",
    operations.ReopenBets: "open bets again",
    operations.EnterBettor: "enter a bettor",
    operations.BettorLeaves: "let a bettor leave",
    operations.PlaceWager: "place a wager",
    operations.ChangeWager: "change a wager",
    operations.TakeBackWager: "take a wager back",
    operations.RejectExcess: "hand back what is too much",
    operations.RestrictBetting: "restrict betting",
    operations.ShowFirstCard: "show the First Card",
    operations.HandleCards: "say who handled cards",
    operations.ExposeHand: "expose a hand",
    operations.RecordSettled: "record that the chips are paid",
    operations.ConcludeRound: "conclude the round",
    operations.AbandonRound: "abandon the round",
    operations.PauseTable: "pause the table",
    operations.ResumeTable: "resume",
    operations.PlaceCards: "say where cards lie",
    operations.ReportIrregularity: "report an irregularity",
    operations.ConfirmIrregularity: "confirm an irregularity",
    operations.DenyIrregularity: "deny an irregularity",
    operations.NameOrder: "name the order of cards",
    operations.ChooseOption: "choose for a bettor",
    operations.Reconstruct: "put cards right",
    operations.DealByHand: "deal by hand",
    operations.Rule: "rule",
    operations.CountCards: "count cards",
    operations.BringDeck: "bring a deck",
    operations.TakeDeckOut: "take a deck out",
    operations.LoadDeck: "say which deck was loaded",
    operations.QuarantineDeck: "put a deck out of use",
    operations.ReleaseDeck: "release a deck",
    operations.CutDeck: "cut the deck",
    operations.ContinueRound: "continue the round",
    operations.ReturnToService: "return the table to service",
    operations.CorrectEntry: "correct an entry",
    operations.CorrectBet: "correct a bet",
    operations.DealerOn: "go on duty",
    operations.DealerOff: "go off duty",
    operations.TakeOver: "take the table over",
    operations.BeginMaintenance: "begin maintenance",
    operations.EndMaintenance: "end maintenance",
    operations.InstructDevice: "instruct the device",
}

WAITS_FOR: Final[dict[Stage, str]] = {
    Stage.CLAIMED: "the fact to be confirmed or denied",
    Stage.ORDERING: "the order to be named",
    Stage.CHOOSING: "every bettor's choice",
    Stage.MOVING: "the cards to be put where they belong",
    Stage.RULING: "a ruling",
}
