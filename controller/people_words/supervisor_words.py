"""Words for people's acts that do not concern the cards: corrections, abandoning a round,
maintenance, and who deals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from controller.people_words import word as forms
from controller.people_words.table_of_words import NothingDoneError, TableOfWords
from controller.people_words.tokens import (
    AMOUNT,
    BET,
    BETTOR,
    BOX,
    CARDS,
    INSTRUCTIONS,
    WAGER,
    Tokens,
    UnreadableLineError,
)
from controller.people_words.word import Act, Word, entering
from controller.roles import Role
from controller.table import operations
from controller.table.operations import Replaceable
from firmware_bridge.messages import message

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
    reason = forms.because(tokens, message("it was entered wrongly"))
    by = tokens.by(Role.PIT_SUPERVISOR)
    word = tokens.one_of({name: name for name in STRUCK_OUT}, message("an entry"))
    instead: Replaceable | None = None
    if tokens.left:
        if word not in CORRECTABLE:
            raise UnreadableLineError(message("`{word}` can only be struck out; nothing may follow it", word=word))
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
    raise NothingDoneError(message("this round has no entry `{word}`", word=word))


def _correct_bet(tokens: Tokens) -> operations.CorrectBet:
    """Read a correction of a bet. `bet 0`: one that was not entered; bettor, wager and box describe it."""
    bet, amount = tokens.number(BET), tokens.number(AMOUNT)
    bettor = tokens.take(BETTOR) if tokens.maybe("bettor") else ""
    wager = tokens.take(WAGER) if tokens.maybe("wager") else ""
    box = tokens.number(BOX) if tokens.maybe("box") else 0
    return operations.CorrectBet(bet, amount, tokens.reason, bettor, wager, box)


def _recall(tokens: Tokens) -> operations.RecallCards:
    if not tokens.reason:
        raise UnreadableLineError(message("say at the end why the cards are recalled"))
    number = tokens.number(message("the number of a round"))
    return operations.RecallCards(
        number, tokens.reason, tokens.take(message("a place, tray or aside")) if tokens.left else ""
    )


def _read_abandon(tokens: Tokens) -> Act:
    text = forms.because(tokens, message("it cannot be finished"))
    by = tokens.by(Role.SHIFT_MANAGER)
    return lambda table: table.twice(operations.AbandonRound(by.person or by.role.word, text), by)


def _instruct(tokens: Tokens) -> operations.InstructDevice:
    instruction = tokens.one_of(INSTRUCTIONS, message("an instruction"))
    return operations.InstructDevice(instruction, tokens.number(CARDS) if tokens.left else 0)


def _read_takes_over(tokens: Tokens) -> Act:
    """Read a takeover, which names everything that is open, or `naming nothing`."""
    by = tokens.by(Role.PIT_SUPERVISOR)
    silent = tokens.maybe("naming nothing")
    return lambda table: table.enter(operations.TakeOver(() if silent else table.open_irregularities()), by)


SUPERVISOR_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "correct": Word(
        "correct ENTRY [WHAT IT SHOULD HAVE BEEN] [by ROLE] [because TEXT]",
        message("correct the last entry of that kind, in the words of its step, or strike it out"),
        _read_correct,
        (operations.CorrectEntry,),
    ),
    "correct bet": entering(
        "correct bet NUMBER AMOUNT [bettor BETTOR] [wager WAGER] [box NUMBER] [by ROLE] [because TEXT]",
        message(
            'enter what lay there at "No more bets", 0 for nothing; the rest describes bet 0, which was not entered'
        ),
        operations.CorrectBet,
        _correct_bet,
        by=Role.PIT_SUPERVISOR,
        reason=message("it was entered wrongly"),
    ),
    "recall": entering(
        "recall NUMBER [PLACE] [by ROLE] because TEXT",
        message(
            "show the cards that the device read in that round: all, or those at a place, in the tray or set aside"
        ),
        operations.RecallCards,
        _recall,
        by=Role.PIT_MANAGER,
        reason=message(""),
    ),
    "remove screen": entering(
        "remove screen SCREEN [by ROLE]",
        message("remove a screen from the table; after that it can only display"),
        operations.RemoveScreen,
        lambda tokens: operations.RemoveScreen(tokens.take(message("the id of a screen"))),
        by=Role.PIT_SUPERVISOR,
    ),
    "abandon": Word(
        "abandon [by ROLE] [because TEXT]",
        message("abandon the round (entered twice)"),
        _read_abandon,
        (operations.AbandonRound,),
    ),
    "maintenance begins": entering(
        "maintenance begins [by ROLE] [because TEXT]",
        message("begin maintenance of the device"),
        operations.BeginMaintenance,
        lambda tokens: operations.BeginMaintenance(tokens.reason),
        by=Role.PIT_SUPERVISOR,
        reason=message("it has to be looked at"),
    ),
    "maintenance ends": entering(
        "maintenance ends [by ROLE]",
        message("end maintenance of the device"),
        operations.EndMaintenance,
        by=Role.PIT_SUPERVISOR,
    ),
    "instruct": entering(
        "instruct INSTRUCTION [NUMBER] [by ROLE]",
        message("give the device an instruction under maintenance"),
        operations.InstructDevice,
        _instruct,
        by=Role.PIT_SUPERVISOR,
    ),
    "return to service": entering(
        "return to service [by ROLE]",
        message("return the table to service after its cause was repaired"),
        operations.ReturnToService,
        by=Role.PIT_SUPERVISOR,
    ),
    "dealer on": entering("dealer on [by ROLE]", message("go on duty"), operations.DealerOn, by=Role.DEALER),
    "dealer off": entering("dealer off [by ROLE]", message("go off duty"), operations.DealerOff, by=Role.DEALER),
    "takes over": Word(
        "takes over [naming nothing] [by ROLE]",
        message("take over from the dealer, with all open irregularities"),
        _read_takes_over,
        (operations.TakeOver,),
    ),
}
