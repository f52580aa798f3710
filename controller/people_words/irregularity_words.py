"""Words for irregularities: to report and decide them, and to enter where cards are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from controller.games.specification import Facts, RulingAction
from controller.people_words import word as forms
from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import ACTIONS, BETTOR, CARD, CHOICES, Tokens, UnreadableLineError
from controller.people_words.word import Act, Word, entering
from controller.roles import Role
from controller.table import operations
from firmware_bridge.messages import message


def _read_confirm(tokens: Tokens) -> Act:
    by = tokens.by(Role.PIT_SUPERVISOR)
    facts = msgspec.convert(tokens.facts(), Facts)

    def confirm(table: TableOfWords) -> None:
        found = table.about()
        table.enter_decision(operations.ConfirmIrregularity(found.id, found.revision, facts), by)

    return confirm


def _read_deny(tokens: Tokens) -> Act:
    because = forms.because(tokens, message("looked at, and it is not so"))
    by = tokens.by(Role.PIT_SUPERVISOR)

    def deny(table: TableOfWords) -> None:
        found = table.about()
        table.enter(operations.DenyIrregularity(found.id, found.revision, because), by)

    return deny


def _read_order(tokens: Tokens) -> Act:
    by = tokens.by(Role.PIT_SUPERVISOR)
    ordinals = tokens.numbers(CARD)

    def name_order(table: TableOfWords) -> None:
        found = table.about()
        table.enter(operations.NameOrder(found.id, found.revision, ordinals), by)

    return name_order


def _read_choose(tokens: Tokens) -> Act:
    by = tokens.by(Role.DEALER)
    place = None if tokens.maybe("all") else tokens.place()
    bettor = tokens.take(BETTOR) if tokens.maybe("for") else ""
    choice = tokens.one_of(CHOICES, message("a choice"))
    absent = tokens.maybe("absent")

    def choose(table: TableOfWords) -> None:
        for at, who in table.choosers() if place is None else ((place, bettor),):
            found = table.about_choice()
            table.enter(operations.ChooseOption(found.id, found.revision, at, choice, absent, who), by)

    return choose


def _read_put_right(tokens: Tokens) -> Act:
    by = tokens.by(Role.DEALER)

    def put_right(table: TableOfWords) -> None:
        if table.moves_due():
            table.enter(operations.Reconstruct(), by)
            return
        found = table.about()
        table.enter(operations.Reconstruct(found.id, found.revision), by)

    return put_right


def _read_rule(tokens: Tokens) -> Act:
    text = forms.because(tokens, message("so decided"))
    by = tokens.by(Role.SHIFT_MANAGER)
    action = tokens.one_of(ACTIONS, message("a ruling"))
    places = tokens.places() if action is RulingAction.REMOVE_HANDS else ()
    numbers = tokens.numbers(message("the number of a card or a bet")) if tokens.left else ()
    of_cards = action is RulingAction.NAME_ORDER
    ordinals, bets = (numbers, ()) if of_cards else ((), numbers)

    def rule(table: TableOfWords) -> None:
        found = table.about()
        authority = by.person or by.role.word
        ruling = operations.Rule(found.id, found.revision, action, authority, text, places, ordinals, bets)
        table.enter_decision(ruling, by)

    return rule


def _read_about(tokens: Tokens) -> Act:
    cell = tokens.take(message("a cell such as I12"))
    number = tokens.number(message("the number of one of several")) if tokens.left else 1

    return lambda table: table.turn_to(cell, number)


def _name_exposed(tokens: Tokens) -> operations.NameExposed:
    return operations.NameExposed(tokens.place(), tokens.cards())


def _place_cards(tokens: Tokens) -> operations.PlaceCards:
    cards = []
    while tokens.left:
        ordinal = tokens.number(CARD)
        tokens.maybe("at")
        cards.append(operations.CardAt(ordinal, tokens.place()))
    if not cards:
        raise UnreadableLineError(message("say which card lies where"))
    return operations.PlaceCards(tuple(cards))


IRREGULARITY_WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    "report": entering(
        "report KIND [PLACE] [card NUMBER] [counted NUMBER] [earlier]",
        message("report what a person noticed; with `earlier`, in the previous round"),
        operations.ReportIrregularity,
        forms.reported,
    ),
    "confirm": Word(
        "confirm [FACT yes|no ...] [by ROLE]",
        message("confirm the report and answer its questions"),
        _read_confirm,
        (operations.ConfirmIrregularity,),
    ),
    "deny": Word(
        "deny [by ROLE] [because TEXT]",
        message("deny the report"),
        _read_deny,
        (operations.DenyIrregularity,),
    ),
    "order": Word(
        "order NUMBERS [by ROLE]",
        message("name the order of cards that came together"),
        _read_order,
        (operations.NameOrder,),
    ),
    "choose": Word(
        "choose PLACE [for BETTOR] continue|withdraw [absent] [by ROLE] or choose all continue|withdraw",
        message("enter what a bettor chooses"),
        _read_choose,
        (operations.ChooseOption,),
    ),
    "put right": Word(
        "put right [by ROLE]",
        message("record that the cards were moved as the table asks"),
        _read_put_right,
        (operations.Reconstruct,),
    ),
    "rule": Word(
        "rule ACTION [PLACES, or NUMBERS of cards or bets] [by ROLE] [because TEXT]",
        message("enter a ruling"),
        _read_rule,
        (operations.Rule,),
    ),
    "about": Word(
        "about CELL [NUMBER]",
        message("make the next lines about this open irregularity, or about that one of several"),
        _read_about,
    ),
    "named": entering(
        "named PLACE [CARDS]",
        message("enter the faces that people saw there before the hand is turned over"),
        operations.NameExposed,
        _name_exposed,
    ),
    "lies": entering(
        "lies NUMBER at PLACE ...",
        message("record that the card with this number lies there"),
        operations.PlaceCards,
        _place_cards,
    ),
}
