"""The words of a scenario's steps: what people do; `device_steps` has what the device does.

Each word has its form, what it means, and a reader that makes of the rest of the line what is to be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from controller.games.specification import Facts, RulingAction
from controller.roles import Role
from controller.table import operations
from controller.table.model import Stage
from simulators.scenarios import step_forms
from simulators.scenarios.course import Course
from simulators.scenarios.deck_steps import DECK_STEPS
from simulators.scenarios.device_steps import DEVICE_STEPS
from simulators.scenarios.step_forms import Act, Word, plain
from simulators.scenarios.supervisor_steps import SUPERVISOR_STEPS
from simulators.scenarios.table_course import StepError
from simulators.scenarios.tokens import ACTIONS, CHOICES, Tokens, UnreadableError

DEALER_ROLE, SUPERVISOR, MANAGER = Role.DEALER, Role.PIT_SUPERVISOR, Role.SHIFT_MANAGER


# -- the round


def _load(course: Course) -> None:
    course.heartbeat()
    course.fresh_deck()


def _place_your_bets(course: Course) -> None:
    course.do(operations.PlaceYourBets())
    if not course.setting.wagers:
        course.do(operations.OccupyBoxes(course.boxes))
    for wager in course.setting.wagers:
        _lay(course, wager)


def _lay(course: Course, wager: operations.PlaceWager) -> None:
    """A bettor who is not entered yet is entered first; he stands."""
    if all(bettor.id != wager.bettor for bettor in course.state.layout.bettors):
        course.do(operations.EnterBettor(wager.bettor))
    course.do(wager)


def _next_round(course: Course) -> None:
    _load(course)
    _place_your_bets(course)


def _begin(course: Course) -> None:
    _next_round(course)
    course.close_bets()


def _read_cancel(tokens: Tokens) -> Act:
    announced = tokens.maybe("announced")
    return lambda course: course.do(operations.CancelStart(announced))


def _read_deal(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return Course.deal_all
    times = tokens.times("how many sets or cards are dealt")

    def deal(course: Course) -> None:
        for _ in range(times):
            course.deal_one()

    return deal


def _read_take(tokens: Tokens) -> Act:
    times = tokens.times("how many sets or cards are taken")

    def take(course: Course) -> None:
        for _ in range(times):
            course.device.give_out()

    return take


def _read_dealt_by_hand(tokens: Tokens) -> Act:
    because = step_forms.because(tokens, "the device is dead")
    role = tokens.role(SUPERVISOR)
    cards = tokens.number("how many cards are dealt by hand")
    return lambda course: course.do(operations.DealByHand(cards, because), role)


def _read_open(tokens: Tokens) -> Act:
    if tokens.maybe("all"):
        return Course.open_all
    opened = step_forms.opened(tokens)
    return lambda course: course.do(opened)


def _read_handled(tokens: Tokens) -> Act:
    handled = step_forms.handled(tokens)
    return lambda course: course.do(handled)


def _read_wager(tokens: Tokens) -> Act:
    wager = tokens.wager()
    return lambda course: _lay(course, wager)


def _read_change_bet(tokens: Tokens) -> Act:
    bet, amount = tokens.number("the number of a bet"), tokens.number("an amount")
    return lambda course: course.do(operations.ChangeWager(bet, amount))


def _read_take_back_bet(tokens: Tokens) -> Act:
    bet = tokens.number("the number of a bet")
    return lambda course: course.do(operations.TakeBackWager(bet))


def _read_pause(tokens: Tokens) -> Act:
    reason = " ".join(tokens.rest())
    return lambda course: course.do(operations.PauseTable(reason))


# -- irregularities


def _read_report(tokens: Tokens) -> Act:
    report = step_forms.reported(tokens)
    return lambda course: course.do(report)


def _read_confirm(tokens: Tokens) -> Act:
    role = tokens.role(SUPERVISOR)
    facts = msgspec.convert(tokens.facts(), Facts)

    def confirm(course: Course) -> None:
        found = course.about()
        course.decide(operations.ConfirmIrregularity(found.id, found.revision, facts), role)

    return confirm


def _read_deny(tokens: Tokens) -> Act:
    because = step_forms.because(tokens, "looked at, and it is not so")
    role = tokens.role(SUPERVISOR)

    def deny(course: Course) -> None:
        found = course.about()
        course.do(operations.DenyIrregularity(found.id, found.revision, because), role)

    return deny


def _read_order(tokens: Tokens) -> Act:
    role = tokens.role(SUPERVISOR)
    ordinals = tokens.numbers("the number of a card")

    def name_order(course: Course) -> None:
        found = course.about()
        course.do(operations.NameOrder(found.id, found.revision, ordinals), role)

    return name_order


def _read_choose(tokens: Tokens) -> Act:
    role = tokens.role(DEALER_ROLE)
    place = None if tokens.maybe("all") else tokens.place()
    bettor = tokens.take("a bettor") if tokens.maybe("for") else ""
    choice = tokens.one_of(CHOICES, "choice")
    absent = tokens.maybe("absent")

    def choose(course: Course) -> None:
        for at, who in course.state.round.choosers if place is None else ((place, bettor),):
            found = next((one for one in course.state.open if one.stage is Stage.CHOOSING), None) or course.about()
            course.do(operations.ChooseOption(found.id, found.revision, at, choice, absent, who), role)

    return choose


def _read_put_right(tokens: Tokens) -> Act:
    role = tokens.role(DEALER_ROLE)

    def put_right(course: Course) -> None:
        found = course.about()
        course.do(operations.Reconstruct(found.id, found.revision), role)

    return put_right


def _read_rule(tokens: Tokens) -> Act:
    text = step_forms.because(tokens, "so decided")
    role = tokens.role(MANAGER)
    action = tokens.one_of(ACTIONS, "ruling")
    places = tokens.places() if action is RulingAction.REMOVE_HANDS else ()
    numbers = tokens.numbers("a number") if tokens.left else ()
    of_cards = action is RulingAction.NAME_ORDER
    ordinals, bets = (numbers, ()) if of_cards else ((), numbers)

    def rule(course: Course) -> None:
        found = course.about()
        ruling = operations.Rule(found.id, found.revision, action, role.word, text, places, ordinals, bets)
        course.decide(ruling, role)

    return rule


def _read_about(tokens: Tokens) -> Act:
    cell = tokens.take("a cell like I12")

    def about(course: Course) -> None:
        found = [one for one in course.state.open if one.row.id == cell]
        if not found:
            raise StepError(f"no {cell} is open; open: {', '.join(one.row.id for one in course.state.open) or 'none'}")
        course.subject = found[0].id

    return about


def _read_named(tokens: Tokens) -> Act:
    place = tokens.place()
    operation = operations.NameExposed(place, tokens.cards())
    return lambda course: course.do(operation)


def _read_swapped(tokens: Tokens) -> Act:
    first, second = tokens.place(), tokens.place()

    def swap(course: Course) -> None:
        cards = [
            operations.CardAt(card.ordinal, other)
            for place, other in ((first, second), (second, first))
            for card in course.hand_at(place).cards
        ]
        course.do(operations.PlaceCards(tuple(cards)))

    return swap


def _read_lies(tokens: Tokens) -> Act:
    cards = []
    while tokens.left:
        ordinal = tokens.number("the number of a card")
        tokens.maybe("at")
        cards.append(operations.CardAt(ordinal, tokens.place()))
    if not cards:
        raise UnreadableError("say which card lies where")
    return lambda course: course.do(operations.PlaceCards(tuple(cards)))


STEPS: Final[Mapping[str, Word]] = {
    "begin": Word(
        "begin", 'a fresh deck, bets, "No more bets"; where a First Card is shown, it lies open', plain(_begin)
    ),
    "next round": Word(
        "next round", 'a fresh deck and "Place your bets", with a wager on each box', plain(_next_round)
    ),
    "load": Word("load", "a fresh deck is put in and shuffled", plain(_load)),
    "place your bets": Word("place your bets", "the announcement, with a wager on each box", plain(_place_your_bets)),
    "cancel start": Word(
        "cancel start [announced]", "a mistake of the key; or it was announced, and no one bets", _read_cancel
    ),
    "no more bets": Word("no more bets", "the announcement", plain(lambda course: course.do(operations.NoMoreBets()))),
    "first card": Word("first card", "the First Card is drawn and lies open", plain(Course.open_first_card)),
    "show first card": Word(
        "show first card",
        "the First Card, drawn already, lies open",
        plain(lambda course: course.do(operations.ShowFirstCard())),
    ),
    "deal": Word("deal NUMBER or deal all", "so many sets are lifted, or cards drawn, that are due", _read_deal),
    "take": Word("take NUMBER", "the same, due or not", _read_take),
    "dealt by hand": Word(
        "dealt by hand NUMBER [by ROLE]", "cards of the stub, without the device", _read_dealt_by_hand
    ),
    "handled": Word(
        "handled PLACE [viewed]", "the player there has touched his cards, and looked at them", _read_handled
    ),
    "wager": Word(
        "wager BETTOR WAGER BOX AMOUNT [overlooked]", "chips are placed, or placed without being noticed", _read_wager
    ),
    "change bet": Word("change bet NUMBER AMOUNT", "so much lies there from now on", _read_change_bet),
    "take back bet": Word("take back bet NUMBER", "the chips are taken off", _read_take_back_bet),
    "open": Word("open PLACE [CARDS] or open all", "a hand lies open, with the cards that are seen", _read_open),
    "settle": Word(
        "settle", "the chips are paid; the stub is counted unless it was already", plain(Course.count_and_pay)
    ),
    "return bets": Word(
        "return bets",
        "after a void: every bet is recorded as returned",
        plain(lambda course: course.do(operations.RecordSettled())),
    ),
    "conclude": Word("conclude", "the round is over (asked twice)", plain(Course.conclude_round)),
    "finish": Word("finish", "deal all, open all, settle, conclude", plain(Course.finish_round)),
    "pause": Word("pause REASON", "the table is paused", _read_pause),
    "resume": Word("resume", "it goes on", plain(lambda course: course.do(operations.ResumeTable()))),
    "continue": Word(
        "continue",
        "after a lost link: table and screen agree, play continues",
        plain(lambda course: course.do(operations.ContinueRound())),
    ),
    "report": Word(
        "report KIND [PLACE] [card NUMBER] [counted NUMBER] [earlier]",
        "a person noticed something; `earlier`: in the round before",
        _read_report,
    ),
    "confirm": Word("confirm [FACT yes|no ...] [by ROLE]", "it is so, and what is asked is answered", _read_confirm),
    "deny": Word("deny [by ROLE] [because TEXT]", "it is not so", _read_deny),
    "order": Word("order NUMBERS [by ROLE]", "the order in which cards that came together are received", _read_order),
    "choose": Word(
        "choose PLACE [for BETTOR] continue|withdraw [absent] [by ROLE] or choose all continue|withdraw",
        "what bettors choose",
        _read_choose,
    ),
    "put right": Word("put right [by ROLE]", "the cards were put where they belong", _read_put_right),
    "rule": Word("rule ACTION [PLACES, or NUMBERS of cards or bets] [by ROLE] [because TEXT]", "a ruling", _read_rule),
    "about": Word("about CELL", "what follows is about this open irregularity", _read_about),
    "named": Word("named PLACE [CARDS]", "the faces that people saw there before it lies open", _read_named),
    "swapped": Word("swapped PLACE PLACE", "the hands of two places lie at each other's", _read_swapped),
    "lies": Word("lies NUMBER at PLACE ...", "the card that left under this number lies there", _read_lies),
    **SUPERVISOR_STEPS,
    **DECK_STEPS,
    **DEVICE_STEPS,
}
"""Where one word begins another, the longer one counts."""
