"""Words for a table and the course of its rounds: opening, bets, the deal, hands, chips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words import word as forms
from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import Tokens, UnreadableLineError
from controller.people_words.word import Act, Word, entering, plain
from controller.roles import Role
from controller.table import operations


def _read_boxes(tokens: Tokens) -> Act:
    boxes = forms.boxes(tokens).boxes
    return lambda table: table.occupy(boxes)


def _read_deal(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return lambda table: table.deal_all()
    times = tokens.times("how many sets or cards are dealt")
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
        raise UnreadableLineError("say what is restricted, or `nothing`")
    while tokens.left and not tokens.maybe("nothing"):
        if tokens.maybe("close box"):
            closed.append(tokens.number("a box"))
        elif tokens.maybe("wagers at box"):
            fewer.append((tokens.number("a box"), tokens.number("the most wagers of a kind")))
        elif tokens.maybe("one box for"):
            one_box.append(tokens.take("a bettor"))
        else:
            break
    return operations.RestrictBetting(tuple(closed), tuple(fewer), tuple(one_box))


def _enter_bettor(tokens: Tokens) -> operations.EnterBettor:
    bettor = tokens.take("a bettor")
    return operations.EnterBettor(bettor, tokens.number("a box") if tokens.maybe("at box") else None)


def _change_wager(tokens: Tokens) -> operations.ChangeWager:
    return operations.ChangeWager(tokens.number("the number of a bet"), tokens.number("an amount"))


ROUND_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "begin": Word(
        "begin",
        'a fresh deck, bets, "No more bets"; where a First Card is shown, it lies open',
        plain(lambda table: table.begin()),
        (operations.PlaceYourBets, operations.NoMoreBets),
    ),
    "next round": Word(
        "next round",
        'wait for a fresh deck, then "Place your bets"; boxes named before have a bet',
        plain(lambda table: table.next_round()),
        (operations.PlaceYourBets,),
    ),
    "load": Word("load", "wait until a fresh deck is in the device and shuffled", plain(lambda table: table.load())),
    "place your bets": Word(
        "place your bets",
        '"Place your bets" is announced; boxes named before have a bet',
        plain(lambda table: table.place_your_bets()),
        (operations.PlaceYourBets,),
    ),
    "cancel start": entering(
        "cancel start [announced]",
        "the round does not begin: it was entered by mistake or, with `announced`, no one bets",
        operations.CancelStart,
        lambda tokens: operations.CancelStart(tokens.maybe("announced")),
    ),
    "boxes": Word("boxes NUMBERS", "the boxes that take part in this round", _read_boxes, (operations.OccupyBoxes,)),
    "no more bets": entering("no more bets", '"No more bets" is announced', operations.NoMoreBets),
    "reopen bets": entering(
        "reopen bets",
        "bets are open again: they were closed by mistake, and no card has left the device",
        operations.ReopenBets,
    ),
    "first card": Word(
        "first card",
        "the First Card is drawn and lies open",
        plain(lambda table: table.first_card()),
        (operations.ShowFirstCard,),
    ),
    "show first card": entering(
        "show first card [CARD]",
        "the First Card, drawn already, lies open",
        operations.ShowFirstCard,
        lambda tokens: operations.ShowFirstCard(tokens.card() if tokens.left else None),
    ),
    "deal": Word("deal NUMBER or deal all", "wait for so many sets or cards, or for all that are due", _read_deal),
    "dealt by hand": entering(
        "dealt by hand NUMBER [by ROLE] [because TEXT]",
        "so many cards of the stub are dealt without the device",
        operations.DealByHand,
        lambda tokens: operations.DealByHand(tokens.number("how many cards are dealt by hand"), tokens.reason),
        by=Role.PIT_SUPERVISOR,
        reason="the device is dead",
    ),
    "handled": entering(
        "handled PLACE [viewed]",
        "the player there has touched his cards, or looked at them",
        operations.HandleCards,
        forms.handled,
    ),
    "examined": entering("examined", "the Players have examined their cards", operations.PlayersExamined),
    "bettor": entering(
        "bettor BETTOR [at box NUMBER]",
        "a person bets here, standing or seated",
        operations.EnterBettor,
        _enter_bettor,
    ),
    "bettor leaves": entering(
        "bettor leaves BETTOR",
        "a bettor without a bet leaves",
        operations.BettorLeaves,
        lambda tokens: operations.BettorLeaves(tokens.take("a bettor")),
    ),
    "wager": Word(
        "wager BETTOR WAGER BOX AMOUNT [overlooked]",
        "chips are placed, or were placed without being noticed",
        _read_wager,
        (operations.PlaceWager,),
    ),
    "change bet": entering(
        "change bet NUMBER AMOUNT",
        "a bet is made higher or lower before bets close",
        operations.ChangeWager,
        _change_wager,
    ),
    "take back bet": entering(
        "take back bet NUMBER",
        "the chips of a bet are removed",
        operations.TakeBackWager,
        lambda tokens: operations.TakeBackWager(tokens.number("the number of a bet")),
    ),
    "return excess": entering(
        "return excess",
        "chips over a maximum are handed back, before bets are closed",
        operations.RejectExcess,
    ),
    "restrict": entering(
        "restrict nothing or restrict [close box BOX] [wagers at box BOX MOST] [one box for BETTOR] ... [by ROLE]",
        "all that is restricted from now on: boxes closed, so many wagers of a kind at most, bettors held to one box",
        operations.RestrictBetting,
        _restrict,
        by=Role.PIT_MANAGER,
    ),
    "open": Word(
        "open PLACE [CARDS] or open all",
        "a hand lies open, with the cards that are seen",
        _read_open,
        (operations.ExposeHand,),
    ),
    "settle": Word(
        "settle",
        "the chips are paid; the stub is counted unless it was already",
        plain(lambda table: table.settle()),
        (operations.RecordSettled,),
    ),
    "return bets": entering("return bets", "after a void: every bet is recorded as returned", operations.RecordSettled),
    "conclude": Word(
        "conclude",
        "the round is over (entered twice)",
        plain(lambda table: table.twice(operations.ConcludeRound())),
        (operations.ConcludeRound,),
    ),
    "finish": Word("finish", "deal all, open all, settle, conclude", plain(lambda table: table.finish())),
    "open table": entering("open table", "the table opens", operations.OpenTable),
    "close table": entering("close table", "the table closes", operations.CloseTable),
    "pause": entering(
        "pause REASON",
        "the table is paused",
        operations.PauseTable,
        lambda tokens: operations.PauseTable(" ".join(tokens.rest())),
    ),
    "resume": entering("resume", "play goes on", operations.ResumeTable),
    "continue": entering(
        "continue", "after a lost link: table and screen agree, play continues", operations.ContinueRound
    ),
}
