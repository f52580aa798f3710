"""Words for people's acts beside the cards: corrections, abandoning a round, maintenance, and who deals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from controller.people_words import word as forms
from controller.people_words.table_of_words import NothingDoneError, TableOfWords
from controller.people_words.tokens import INSTRUCTIONS, Tokens, UnreadableLineError
from controller.people_words.word import Act, Word
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


def _read_correct_bet(tokens: Tokens) -> Act:
    """Read a correction of a bet. `bet 0`: one that was not entered; bettor, wager and box describe it."""
    reason = forms.because(tokens, "it was entered wrongly")
    by = tokens.by(Role.PIT_SUPERVISOR)
    bet, amount = tokens.number("the number of a bet"), tokens.number("an amount")
    bettor = tokens.take("a bettor") if tokens.maybe("bettor") else ""
    wager = tokens.take("a wager like main") if tokens.maybe("wager") else ""
    box = tokens.number("a box") if tokens.maybe("box") else 0
    correction = operations.CorrectBet(bet, amount, reason, bettor, wager, box)
    return lambda table: table.enter(correction, by)


def _read_recall(tokens: Tokens) -> Act:
    if (text := tokens.tail("because")) is None or not text:
        raise UnreadableLineError("say at the end why they are recalled")
    by = tokens.by(Role.PIT_MANAGER)
    number = tokens.number("the number of a round")
    place = tokens.take("a place, tray or aside") if tokens.left else ""
    recall = operations.RecallCards(number, " ".join(text), place)
    return lambda table: table.enter(recall, by)


def _read_remove_screen(tokens: Tokens) -> Act:
    by = tokens.by(Role.PIT_SUPERVISOR)
    screen = tokens.take("the id of a screen")
    return lambda table: table.enter(operations.RemoveScreen(screen), by)


def _read_abandon(tokens: Tokens) -> Act:
    text = forms.because(tokens, "it cannot be finished")
    by = tokens.by(Role.SHIFT_MANAGER)

    return lambda table: table.twice(operations.AbandonRound(by.person or by.role.word, text), by)


def _read_maintenance_begins(tokens: Tokens) -> Act:
    reason = forms.because(tokens, "it has to be looked at")
    by = tokens.by(Role.PIT_SUPERVISOR)
    return lambda table: table.enter(operations.BeginMaintenance(reason), by)


def _read_maintenance_ends(tokens: Tokens) -> Act:
    by = tokens.by(Role.PIT_SUPERVISOR)
    return lambda table: table.enter(operations.EndMaintenance(), by)


def _read_instruct(tokens: Tokens) -> Act:
    by = tokens.by(Role.PIT_SUPERVISOR)
    instruction = tokens.one_of(INSTRUCTIONS, "instruction")
    cards = tokens.number("how many cards") if tokens.left else 0
    return lambda table: table.enter(operations.InstructDevice(instruction, cards), by)


def _read_dealer_on(tokens: Tokens) -> Act:
    by = tokens.by(Role.DEALER)
    return lambda table: table.enter(operations.DealerOn(), by)


def _read_dealer_off(tokens: Tokens) -> Act:
    by = tokens.by(Role.DEALER)
    return lambda table: table.enter(operations.DealerOff(), by)


def _read_return_to_service(tokens: Tokens) -> Act:
    by = tokens.by(Role.PIT_SUPERVISOR)
    return lambda table: table.enter(operations.ReturnToService(), by)


def _read_takes_over(tokens: Tokens) -> Act:
    """Read a takeover, which names everything that is open, or `naming nothing`."""
    by = tokens.by(Role.PIT_SUPERVISOR)
    silent = tokens.maybe("naming nothing")

    def take_over(table: TableOfWords) -> None:
        found = () if silent else table.open_irregularities()
        table.enter(operations.TakeOver(found), by)

    return take_over


SUPERVISOR_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "correct": Word(
        "correct ENTRY [WHAT IT SHOULD HAVE BEEN] [by ROLE] [because TEXT]",
        "the last entry of that kind is corrected, in the words of its step; alone, it is struck out",
        _read_correct,
        (operations.CorrectEntry,),
    ),
    "correct bet": Word(
        "correct bet NUMBER AMOUNT [bettor BETTOR] [wager WAGER] [box NUMBER] [by ROLE] [because TEXT]",
        'so much lay there at "No more bets", 0 for none; bet 0 is one that was not entered, which the rest describes',
        _read_correct_bet,
        (operations.CorrectBet,),
    ),
    "recall": Word(
        "recall NUMBER [PLACE] [by ROLE] because TEXT",
        "the cards that the device read in the round of that number, all or those of a place, tray or aside",
        _read_recall,
        (operations.RecallCards,),
    ),
    "remove screen": Word(
        "remove screen SCREEN [by ROLE]",
        "a screen of the table may only display from now on",
        _read_remove_screen,
        (operations.RemoveScreen,),
    ),
    "abandon": Word(
        "abandon [by ROLE] [because TEXT]",
        "the round is given up (asked twice)",
        _read_abandon,
        (operations.AbandonRound,),
    ),
    "maintenance begins": Word(
        "maintenance begins [by ROLE] [because TEXT]",
        "people maintain the device",
        _read_maintenance_begins,
        (operations.BeginMaintenance,),
    ),
    "maintenance ends": Word(
        "maintenance ends [by ROLE]", "the table has it again", _read_maintenance_ends, (operations.EndMaintenance,)
    ),
    "instruct": Word(
        "instruct INSTRUCTION [NUMBER] [by ROLE]",
        "under maintenance the device is ordered to do this",
        _read_instruct,
        (operations.InstructDevice,),
    ),
    "return to service": Word(
        "return to service [by ROLE]",
        "why the table was out of service is mended",
        _read_return_to_service,
        (operations.ReturnToService,),
    ),
    "dealer on": Word("dealer on [by ROLE]", "a dealer comes on duty", _read_dealer_on, (operations.DealerOn,)),
    "dealer off": Word(
        "dealer off [by ROLE]", "the dealer on duty leaves the table", _read_dealer_off, (operations.DealerOff,)
    ),
    "takes over": Word(
        "takes over [naming nothing] [by ROLE]",
        "another person deals from here on, with all that is open",
        _read_takes_over,
        (operations.TakeOver,),
    ),
}
