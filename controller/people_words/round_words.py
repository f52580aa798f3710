"""Words for a table and the course of its rounds: opening, bets, the deal, hands, chips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words import word as forms
from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import AMOUNT, BET, BETTOR, BOX, CARDS, Tokens, UnreadableLineError
from controller.people_words.word import Act, Word, entering, plain
from controller.roles import Role
from controller.table import operations
from firmware_bridge.messages import message


def _read_boxes(tokens: Tokens) -> Act:
    boxes = forms.boxes(tokens).boxes
    return lambda table: table.occupy(boxes)


def _read_deal(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return lambda table: table.deal_all()
    times = tokens.times(message("the number of sets or cards to deal"))
    return lambda table: table.deal(times)


def _read_open(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return lambda table: table.open_all()
    opened = forms.opened(tokens)
    return lambda table: table.enter(opened)


def _read_wager(tokens: Tokens) -> Act:
    wager = tokens.wager()
    return lambda table: table.lay(wager)


def _restrict(tokens: Tokens) -> operations.RestrictBetting:
    """Read all restrictions: those that a line does not name are lifted."""
    closed: list[int] = []
    fewer: list[tuple[int, int]] = []
    one_box: list[str] = []
    if not tokens.left:
        raise UnreadableLineError(message("say what is restricted, or `nothing`"))
    while tokens.left and not tokens.maybe("nothing"):
        if tokens.maybe("close box"):
            closed.append(tokens.number(BOX))
        elif tokens.maybe("wagers at box"):
            fewer.append((tokens.number(BOX), tokens.number(message("the most wagers of a kind"))))
        elif tokens.maybe("one box for"):
            one_box.append(tokens.take(BETTOR))
        else:
            break
    return operations.RestrictBetting(tuple(closed), tuple(fewer), tuple(one_box))


def _enter_bettor(tokens: Tokens) -> operations.EnterBettor:
    bettor = tokens.take(BETTOR)
    return operations.EnterBettor(bettor, tokens.number(BOX) if tokens.maybe("at box") else None)


def _change_wager(tokens: Tokens) -> operations.ChangeWager:
    return operations.ChangeWager(tokens.number(BET), tokens.number(AMOUNT))


ROUND_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "begin": Word(
        "begin",
        message("wait for a fresh deck, then open and close the bets; a First Card is drawn and turned over"),
        plain(lambda table: table.begin()),
        (operations.PlaceYourBets, operations.NoMoreBets),
    ),
    "next round": Word(
        "next round",
        message('wait for a fresh deck, then announce "Place your bets" with the boxes named before'),
        plain(lambda table: table.next_round()),
        (operations.PlaceYourBets,),
    ),
    "load": Word(
        "load", message("wait until a fresh deck is in the device and shuffled"), plain(lambda table: table.load())
    ),
    "place your bets": Word(
        "place your bets",
        message('announce "Place your bets" with the boxes named before'),
        plain(lambda table: table.place_your_bets()),
        (operations.PlaceYourBets,),
    ),
    "cancel start": entering(
        "cancel start [announced]",
        message("do not begin the round: it was entered by mistake or, with `announced`, no one bets"),
        operations.CancelStart,
        lambda tokens: operations.CancelStart(tokens.maybe("announced")),
    ),
    "boxes": Word(
        "boxes NUMBERS", message("enter the boxes with bets in this round"), _read_boxes, (operations.OccupyBoxes,)
    ),
    "no more bets": entering("no more bets", message('announce "No more bets"'), operations.NoMoreBets),
    "reopen bets": entering(
        "reopen bets",
        message("reopen the bets, which were closed by mistake before any card left the device"),
        operations.ReopenBets,
    ),
    "first card": Word(
        "first card",
        message("wait for the First Card and turn it over"),
        plain(lambda table: table.first_card()),
        (operations.ShowFirstCard,),
    ),
    "show first card": entering(
        "show first card [CARD]",
        message("turn over the First Card that was drawn"),
        operations.ShowFirstCard,
        lambda tokens: operations.ShowFirstCard(tokens.card() if tokens.left else None),
    ),
    "deal": Word(
        "deal NUMBER or deal all", message("wait for that many sets or cards, or for all that are due"), _read_deal
    ),
    "dealt by hand": entering(
        "dealt by hand NUMBER [by ROLE] [because TEXT]",
        message("deal that many cards from the stub without the device"),
        operations.DealByHand,
        lambda tokens: operations.DealByHand(tokens.number(CARDS), tokens.reason),
        by=Role.PIT_SUPERVISOR,
        reason=message("the device is dead"),
    ),
    "handled": entering(
        "handled PLACE [viewed]",
        message("record that the player there touched his cards or, with `viewed`, looked at them"),
        operations.HandleCards,
        forms.handled,
    ),
    "examined": entering(
        "examined", message("record that the Players have examined their cards"), operations.PlayersExamined
    ),
    "bettor": entering(
        "bettor BETTOR [at box NUMBER]",
        message("enter a person who bets, standing or seated at a box"),
        operations.EnterBettor,
        _enter_bettor,
    ),
    "bettor leaves": entering(
        "bettor leaves BETTOR",
        message("record that a bettor without a bet leaves"),
        operations.BettorLeaves,
        lambda tokens: operations.BettorLeaves(tokens.take(BETTOR)),
    ),
    "wager": Word(
        "wager BETTOR WAGER BOX AMOUNT [overlooked]",
        message("enter a bet or, with `overlooked`, one that nobody noticed when it was placed"),
        _read_wager,
        (operations.PlaceWager,),
    ),
    "change bet": entering(
        "change bet NUMBER AMOUNT",
        message("change the amount of a bet before bets close"),
        operations.ChangeWager,
        _change_wager,
    ),
    "take back bet": entering(
        "take back bet NUMBER",
        message("take back a bet"),
        operations.TakeBackWager,
        lambda tokens: operations.TakeBackWager(tokens.number(BET)),
    ),
    "return excess": entering(
        "return excess",
        message("hand back chips above a maximum before bets close"),
        operations.RejectExcess,
    ),
    "restrict": entering(
        "restrict nothing or restrict [close box BOX] [wagers at box BOX MOST] [one box for BETTOR] ... [by ROLE]",
        message("set all restrictions: closed boxes, the most wagers of a kind at a box, bettors kept to one box"),
        operations.RestrictBetting,
        _restrict,
        by=Role.PIT_MANAGER,
    ),
    "open": Word(
        "open PLACE [CARDS] or open all",
        message("turn over a hand, with the cards that are seen"),
        _read_open,
        (operations.ExposeHand,),
    ),
    "settle": Word(
        "settle",
        message("record that the chips were paid, and the count of the stub if it is still due"),
        plain(lambda table: table.settle()),
        (operations.RecordSettled,),
    ),
    "return bets": entering(
        "return bets", message("after a void, record that every bet was returned"), operations.RecordSettled
    ),
    "conclude": Word(
        "conclude",
        message("end the round (entered twice)"),
        plain(lambda table: table.twice(operations.ConcludeRound())),
        (operations.ConcludeRound,),
    ),
    "finish": Word("finish", message("deal all, open all, settle and conclude"), plain(lambda table: table.finish())),
    "open table": entering("open table", message("open the table"), operations.OpenTable),
    "close table": entering("close table", message("close the table"), operations.CloseTable),
    "pause": entering(
        "pause REASON",
        message("pause the table"),
        operations.PauseTable,
        lambda tokens: operations.PauseTable(" ".join(tokens.rest())),
    ),
    "resume": entering("resume", message("resume play"), operations.ResumeTable),
    "continue": entering(
        "continue", message("after a lost link, confirm that table and screen agree"), operations.ContinueRound
    ),
}
