"""Completion of a line: words, places, cards, kinds and people, according to the current state of the table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from controller.api.view import TableView
from controller.commands.operate.help_text import OWN_WORDS
from controller.games import GAMES
from controller.people_words import WORDS
from controller.people_words.supervisor_words import STRUCK_OUT
from controller.people_words.tokens import ACTIONS, CHOICES, FACTS, INSTRUCTIONS, KINDS, ROLES
from controller.table.model import Pile
from firmware_bridge.cards import DECK

LITERAL: Final = re.compile(r"[a-z]+(?: [a-z]+)*")


def candidates(text: str, view: TableView, people: Iterable[str], words: Iterable[str]) -> list[str]:
    """Return the words that may replace the unfinished end of a text. `words` are offered first at the start of a
    line.
    """
    begun = text.lstrip()
    found = [one for one in (*words, *WORDS, *OWN_WORDS) if one.startswith(begun)]
    word = max((one for one in (*WORDS, "help") if begun.startswith(f"{one} ")), key=len, default="")
    if word:
        found += _after(word, begun[len(word) + 1 :], view, people)
    return list(dict.fromkeys(found))


def unfinished(text: str, candidate: str) -> int:
    """Return how many characters at the end of the text the candidate replaces.

    >>> unfinished("report exposed", "exposed card"), unfinished("confirm by pit su", "pit supervisor")
    (7, 6)
    """
    most = min(len(text.lstrip()), len(candidate))
    return next((size for size in range(most, 0, -1) if text.endswith(candidate[:size]) and _begins(text, size)), 0)


def _begins(text: str, size: int) -> bool:
    """Return whether the last `size` characters of a text begin with a word."""
    return len(text) == size or text[-size - 1] == " "


def _after(word: str, rest: str, view: TableView, people: Iterable[str]) -> list[str]:
    if word == "help":
        return [one for one in WORDS if one.startswith(rest)]
    form = WORDS[word].form
    known: list[str] = []
    if named := re.search(r"(?:^| )by ([^ ]*(?: [^ ]*)?)$", rest):
        return [one for one in (*people, *ROLES) if one.startswith(named[1])]
    for placeholder, names in _names(view, people).items():
        if re.search(rf"\b{placeholder}\b", form):
            known += names
    known += LITERAL.findall(form.partition(word)[2].replace(" or ", "|").replace(word, ""))
    known.append("by")
    return [one for one in known if rest.endswith(" ") or not rest or unfinished(rest, one)]


def _names(view: TableView, people: Iterable[str]) -> dict[str, list[str]]:
    places = [hand.place for hand in view.hands] or [*(f"B{box}" for box in view.boxes), "D"]
    shown = {card for hand in view.hands for card in hand.cards}
    decks = [deck.label for deck in view.decks]
    return {
        "KIND": [kind.replace("_", " ") for kind in KINDS],
        "PLACE": places,
        "PLACES": places,
        "CARD": [card.code for card in DECK if card.code not in shown],
        "CARDS": [card.code for card in DECK if card.code not in shown],
        "FACT": [name.replace("_", " ") for one in view.irregularities for name in one.asks] or list(FACTS),
        "ACTION": list(ACTIONS),
        "INSTRUCTION": list(INSTRUCTIONS),
        "ENTRY": list(STRUCK_OUT),
        "SCREEN": [one.id for one in view.screens],
        "CELL": [one.row for one in view.irregularities],
        "BETTOR": list(dict.fromkeys(bet.bettor for bet in view.bets)),
        "WAGER": [one.id for one in GAMES[view.game].wagers] if view.game in GAMES else [],
        "PILE": [pile.value for pile in Pile],
        "continue": list(CHOICES) if view.irregularities else [],
        "deck": decks,
        "witness": list(people),
    }
