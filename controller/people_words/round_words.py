"""Words for a table and the course of its rounds: opening, bets, the deal, hands, chips."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words import word as forms
from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import Tokens, UnreadableLineError
from controller.people_words.word import Act, Word, entered, plain
from controller.roles import Role
from controller.table import operations


def _read_cancel(tokens: Tokens) -> Act:
    announced = tokens.maybe("announced")
    return lambda table: table.enter(operations.CancelStart(announced))


def _read_boxes(tokens: Tokens) -> Act:
    boxes = forms.boxes(tokens).boxes
    return lambda table: table.occupy(boxes)


def _read_show_first_card(tokens: Tokens) -> Act:
    card = tokens.card() if tokens.left else None
    return lambda table: table.enter(operations.ShowFirstCard(card))


def _read_deal(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return lambda table: table.deal_all()
    times = tokens.times("how many sets or cards are dealt")
    return lambda table: table.deal(times)


def _read_dealt_by_hand(tokens: Tokens) -> Act:
    because = forms.because(tokens, "the device is dead")
    by = tokens.by(Role.PIT_SUPERVISOR)
    cards = tokens.number("how many cards are dealt by hand")
    return lambda table: table.enter(operations.DealByHand(cards, because), by)


def _read_open(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return lambda table: table.open_all()
    opened = forms.opened(tokens)
    return lambda table: table.enter(opened)


def _read_handled(tokens: Tokens) -> Act:
    handled = forms.handled(tokens)
    return lambda table: table.enter(handled)


def _read_wager(tokens: Tokens) -> Act:
    wager = tokens.wager()
    return lambda table: table.lay(wager)


def _read_change_bet(tokens: Tokens) -> Act:
    bet, amount = tokens.number("the number of a bet"), tokens.number("an amount")
    return lambda table: table.enter(operations.ChangeWager(bet, amount))


def _read_take_back_bet(tokens: Tokens) -> Act:
    bet = tokens.number("the number of a bet")
    return lambda table: table.enter(operations.TakeBackWager(bet))


def _read_restrict(tokens: Tokens) -> Act:
    """Read all restrictions: those that a line does not name are lifted."""
    by = tokens.by(Role.PIT_MANAGER)
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
    restriction = operations.RestrictBetting(tuple(closed), tuple(fewer), tuple(one_box))
    return lambda table: table.enter(restriction, by)


def _read_bettor(tokens: Tokens) -> Act:
    bettor = tokens.take("a bettor")
    seat = tokens.number("a box") if tokens.maybe("at box") else None
    return lambda table: table.enter(operations.EnterBettor(bettor, seat))


def _read_bettor_leaves(tokens: Tokens) -> Act:
    bettor = tokens.take("a bettor")
    return lambda table: table.enter(operations.BettorLeaves(bettor))


def _read_pause(tokens: Tokens) -> Act:
    reason = " ".join(tokens.rest())
    return lambda table: table.enter(operations.PauseTable(reason))


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
    "cancel start": Word(
        "cancel start [announced]",
        "the round does not begin: it was entered by mistake or, with `announced`, no one bets",
        _read_cancel,
        (operations.CancelStart,),
    ),
    "boxes": Word("boxes NUMBERS", "the boxes that take part in this round", _read_boxes, (operations.OccupyBoxes,)),
    "no more bets": Word(
        "no more bets", '"No more bets" is announced', entered(operations.NoMoreBets()), (operations.NoMoreBets,)
    ),
    "reopen bets": Word(
        "reopen bets",
        "bets are open again: they were closed by mistake, and no card has left the device",
        entered(operations.ReopenBets()),
        (operations.ReopenBets,),
    ),
    "first card": Word(
        "first card",
        "the First Card is drawn and lies open",
        plain(lambda table: table.first_card()),
        (operations.ShowFirstCard,),
    ),
    "show first card": Word(
        "show first card [CARD]",
        "the First Card, drawn already, lies open",
        _read_show_first_card,
        (operations.ShowFirstCard,),
    ),
    "deal": Word("deal NUMBER or deal all", "wait for so many sets or cards, or for all that are due", _read_deal),
    "dealt by hand": Word(
        "dealt by hand NUMBER [by ROLE] [because TEXT]",
        "so many cards of the stub are dealt without the device",
        _read_dealt_by_hand,
        (operations.DealByHand,),
    ),
    "handled": Word(
        "handled PLACE [viewed]",
        "the player there has touched his cards, and looked at them",
        _read_handled,
        (operations.HandleCards,),
    ),
    "examined": Word(
        "examined",
        "the Players have examined their cards",
        entered(operations.PlayersExamined()),
        (operations.PlayersExamined,),
    ),
    "bettor": Word(
        "bettor BETTOR [at box NUMBER]",
        "a person bets here, standing or seated",
        _read_bettor,
        (operations.EnterBettor,),
    ),
    "bettor leaves": Word(
        "bettor leaves BETTOR", "a bettor without a bet leaves", _read_bettor_leaves, (operations.BettorLeaves,)
    ),
    "wager": Word(
        "wager BETTOR WAGER BOX AMOUNT [overlooked]",
        "chips are placed, or placed without being noticed",
        _read_wager,
        (operations.PlaceWager,),
    ),
    "change bet": Word(
        "change bet NUMBER AMOUNT",
        "a bet is made higher or lower before bets close",
        _read_change_bet,
        (operations.ChangeWager,),
    ),
    "take back bet": Word(
        "take back bet NUMBER", "the chips are taken off", _read_take_back_bet, (operations.TakeBackWager,)
    ),
    "return excess": Word(
        "return excess",
        "chips over a maximum are handed back, before bets are closed",
        entered(operations.RejectExcess()),
        (operations.RejectExcess,),
    ),
    "restrict": Word(
        "restrict nothing or restrict [close box BOX] [wagers at box BOX MOST] [one box for BETTOR] ... [by ROLE]",
        "all that is restricted from now on: boxes closed, so many wagers of a kind at most, bettors held to one box",
        _read_restrict,
        (operations.RestrictBetting,),
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
    "return bets": Word(
        "return bets",
        "after a void: every bet is recorded as returned",
        entered(operations.RecordSettled()),
        (operations.RecordSettled,),
    ),
    "conclude": Word(
        "conclude",
        "the round is over (asked twice)",
        plain(lambda table: table.twice(operations.ConcludeRound())),
        (operations.ConcludeRound,),
    ),
    "finish": Word("finish", "deal all, open all, settle, conclude", plain(lambda table: table.finish())),
    "open table": Word("open table", "the table opens", entered(operations.OpenTable()), (operations.OpenTable,)),
    "close table": Word("close table", "the table closes", entered(operations.CloseTable()), (operations.CloseTable,)),
    "pause": Word("pause REASON", "the table is paused", _read_pause, (operations.PauseTable,)),
    "resume": Word("resume", "play goes on", entered(operations.ResumeTable()), (operations.ResumeTable,)),
    "continue": Word(
        "continue",
        "after a lost link: table and screen agree, play continues",
        entered(operations.ContinueRound()),
        (operations.ContinueRound,),
    ),
}
