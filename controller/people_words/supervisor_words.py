"""Words for people's acts that do not concern the cards: corrections, abandoning a round,
maintenance, and who deals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from controller.people_words import word as forms
from controller.people_words.table_of_words import NothingDoneError, TableOfWords
from controller.people_words.tokens import INSTRUCTIONS, Tokens, UnreadableLineError
from controller.people_words.word import Act, Word, entering
from controller.roles import Role
from controller.table import operations
from controller.table.operations import Replaceable

Read: TypeAlias = Callable[[Tokens], Replaceable]

CORRECTABLE: Final[Mapping[str, tuple[type[operations.Operation], Read]]] = {
    "handled": (operations.HandleCards, forms.handled),
    "opened": (operations.ExposeHand, forms.opened),
    "first card": (operations.ShowFirstCard, forms.first_card),
    "boxes": (operations.OccupyBoxes, forms.boxes),
    "count": (operations.CountCards, forms.counted),
    "report": (operations.ReportIrregularity, forms.reported),
}
STRUCK_OUT: Final[Mapping[str, type[operations.Operation]]] = {
    **{word: operation for word, (operation, _) in CORRECTABLE.items()},
    "confirm": operations.ConfirmIrregularity,
    "deny": operations.DenyIrregularity,
    "choose": operations.ChooseOption,
    "rule": operations.Rule,
    "settle": operations.RecordSettled,
    "conclude": operations.ConcludeRound,
}


def _read_correct(tokens: Tokens) -> Act:
    """Read a correction. A turned-over hand is named by its place, which a correction cannot replace."""
    reason = forms.because(tokens, "it was entered wrongly")
    by = tokens.by(Role.PIT_SUPERVISOR)
    word = tokens.one_of({name: name for name in STRUCK_OUT}, "entry")
    instead: Replaceable | None = None
    if tokens.left:
        if word not in CORRECTABLE:
            raise UnreadableLineError(f"`{word}` can only be struck out; nothing may follow it")
        instead = CORRECTABLE[word][1](tokens)

    def correct(table: TableOfWords) -> None:
        entry = _last_entry(table, word, instead)
        table.enter(operations.CorrectEntry(entry, reason, instead), by)

    return correct


def _last_entry(table: TableOfWords, word: str, instead: Replaceable | None) -> int:
    place = instead.place if isinstance(instead, operations.ExposeHand) else None
    for entry, operation in reversed(table.entries()):
        if isinstance(operation, STRUCK_OUT[word]) and place in (None, getattr(operation, "place", None)):
            return entry
    raise NothingDoneError(f"no entry of this round is `{word}`")


def _correct_bet(tokens: Tokens) -> operations.CorrectBet:
    """Read a correction of a bet. `bet 0`: one that was not entered; bettor, wager and box describe it."""
    bet, amount = tokens.number("the number of a bet"), tokens.number("an amount")
    bettor = tokens.take("a bettor") if tokens.maybe("bettor") else ""
    wager = tokens.take("a wager like main") if tokens.maybe("wager") else ""
    box = tokens.number("a box") if tokens.maybe("box") else 0
    return operations.CorrectBet(bet, amount, tokens.reason, bettor, wager, box)


def _recall(tokens: Tokens) -> operations.RecallCards:
    if not tokens.reason:
        raise UnreadableLineError("say at the end why they are recalled")
    number = tokens.number("the number of a round")
    return operations.RecallCards(number, tokens.reason, tokens.take("a place, tray or aside") if tokens.left else "")


def _read_abandon(tokens: Tokens) -> Act:
    text = forms.because(tokens, "it cannot be finished")
    by = tokens.by(Role.SHIFT_MANAGER)
    return lambda table: table.twice(operations.AbandonRound(by.person or by.role.word, text), by)


def _instruct(tokens: Tokens) -> operations.InstructDevice:
    instruction = tokens.one_of(INSTRUCTIONS, "instruction")
    return operations.InstructDevice(instruction, tokens.number("how many cards") if tokens.left else 0)


def _read_takes_over(tokens: Tokens) -> Act:
    """Read a takeover, which names everything that is open, or `naming nothing`."""
    by = tokens.by(Role.PIT_SUPERVISOR)
    silent = tokens.maybe("naming nothing")
    return lambda table: table.enter(operations.TakeOver(() if silent else table.open_irregularities()), by)


SUPERVISOR_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "correct": Word(
        "correct ENTRY [WHAT IT SHOULD HAVE BEEN] [by ROLE] [because TEXT]",
        "the last entry of that kind is corrected, in the words of its step; alone, it is struck out",
        _read_correct,
        (operations.CorrectEntry,),
    ),
    "correct bet": entering(
        "correct bet NUMBER AMOUNT [bettor BETTOR] [wager WAGER] [box NUMBER] [by ROLE] [because TEXT]",
        'so much lay there at "No more bets", 0 for none; bet 0 is one that was not entered, which the rest describes',
        operations.CorrectBet,
        _correct_bet,
        by=Role.PIT_SUPERVISOR,
        reason="it was entered wrongly",
    ),
    "recall": entering(
        "recall NUMBER [PLACE] [by ROLE] because TEXT",
        "the cards that the device read in the round of that number, all or those of a place, tray or aside",
        operations.RecallCards,
        _recall,
        by=Role.PIT_MANAGER,
        reason="",
    ),
    "remove screen": entering(
        "remove screen SCREEN [by ROLE]",
        "a screen of the table may only display from now on",
        operations.RemoveScreen,
        lambda tokens: operations.RemoveScreen(tokens.take("the id of a screen")),
        by=Role.PIT_SUPERVISOR,
    ),
    "abandon": Word(
        "abandon [by ROLE] [because TEXT]",
        "the round is given up (entered twice)",
        _read_abandon,
        (operations.AbandonRound,),
    ),
    "maintenance begins": entering(
        "maintenance begins [by ROLE] [because TEXT]",
        "people maintain the device",
        operations.BeginMaintenance,
        lambda tokens: operations.BeginMaintenance(tokens.reason),
        by=Role.PIT_SUPERVISOR,
        reason="it has to be looked at",
    ),
    "maintenance ends": entering(
        "maintenance ends [by ROLE]",
        "the device is at the table's disposal again",
        operations.EndMaintenance,
        by=Role.PIT_SUPERVISOR,
    ),
    "instruct": entering(
        "instruct INSTRUCTION [NUMBER] [by ROLE]",
        "under maintenance the device is ordered to do this",
        operations.InstructDevice,
        _instruct,
        by=Role.PIT_SUPERVISOR,
    ),
    "return to service": entering(
        "return to service [by ROLE]",
        "the cause why the table was out of service is mended",
        operations.ReturnToService,
        by=Role.PIT_SUPERVISOR,
    ),
    "dealer on": entering("dealer on [by ROLE]", "a dealer comes on duty", operations.DealerOn, by=Role.DEALER),
    "dealer off": entering(
        "dealer off [by ROLE]", "the dealer on duty leaves the table", operations.DealerOff, by=Role.DEALER
    ),
    "takes over": Word(
        "takes over [naming nothing] [by ROLE]",
        "another person deals from here on, with all that is open",
        _read_takes_over,
        (operations.TakeOver,),
    ),
}
