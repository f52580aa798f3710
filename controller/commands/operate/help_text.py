"""`help`: the lines that are allowed now, and the explanation of a word."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final

import msgspec

from controller.api.view import TableView
from controller.commands.language import Terminal
from controller.people_words import WORDS
from controller.people_words.tokens import ACTIONS, CHOICES, FACTS, INSTRUCTIONS, KINDS, ROLES
from controller.table import operations
from controller.table.permissions import PERMISSIONS
from controller.table.phases import BETWEEN_ROUNDS, DEALING, IN_ROUND, Phase, Service
from firmware_bridge.messages import message

NAMES: Final = {
    "KIND": tuple(KINDS),
    "FACT": FACTS,
    "ACTION": tuple(ACTIONS),
    "ROLE": (*ROLES, "a person's id"),
    "INSTRUCTION": tuple(INSTRUCTIONS),
    "CHOICE": tuple(CHOICES),
}
OWN_WORDS: Final = {
    "help": "the lines that the table accepts, or the meaning of a word",
    "table": "the state of the table",
    "quit": "end the prompt, like Ctrl-D",
}
BUTTONS: Final = {
    "op.record_settled.voided": "return bets",
    "op.reconstruct": "put right",
    "op.confirm_irregularity": "confirm",
    "act.no": "deny",
    "op.name_order": "order",
    "op.record_settled": "settle",
    "ruling.continue": "confirm",
    "op.players_examined": "examined",
}
"""The word for each of the console's buttons that a sentence of the table names, by the key of the button's text."""

WAITS: Final = {  # words that enter no operation themselves, and the phases in which they apply
    "load": BETWEEN_ROUNDS,
    "deal": DEALING,
    "finish": IN_ROUND,
}


def in_words(view: TableView, language: str) -> TableView:
    """Return the view with the prompt's own words in `next_step` in place of the buttons of a screen."""
    say, step = Terminal(language), str(view.next_step)
    for key, word in BUTTONS.items():
        press = say(message('press "{button}"', button=say.of_console(key)))
        write = say(message("write `{word}`", word=word))
        step = step.replace(press, write).replace(_capital(press), _capital(write))
    return view if step == view.next_step else msgspec.structs.replace(view, next_step=step)


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def lawful_words(view: TableView, offers: list[dict[str, Any]] | None) -> list[str]:
    """Return the words that the table accepts, by the daemon's `offers`; without them, by phase and service."""
    allowed = {one.get("operation") for one in offers if one.get("allowed")} if offers is not None else _allowed(view)
    phase = Phase(view.phase)
    return [
        word
        for word, one in WORDS.items()
        if (name_of_first(one.enters) in allowed if one.enters else _serves(word, phase, view))
    ]


def _serves(word: str, phase: Phase, view: TableView) -> bool:
    return phase in WAITS[word] if word in WAITS else len(view.irregularities) > 1


def name_of_first(enters: tuple[type[operations.Operation], ...]) -> str:
    return str(enters[0].__struct_config__.tag)


def _allowed(view: TableView) -> set[str]:
    phase, service = Phase(view.phase), Service(view.service)
    return {
        str(operation.__struct_config__.tag)
        for operation, row in PERMISSIONS.items()
        if phase in row.phases and service in row.when.services and (row.when.held or not view.held)
    }


def lines_of_help(view: TableView, offers: list[dict[str, Any]] | None) -> Iterator[str]:
    """Yield the next step, then a line for each thing that can be written."""
    yield str(view.next_step) or "Nothing is asked."
    found = [WORDS[word] for word in lawful_words(view, offers)]
    widest = max(len(one.form) for one in found) if found else 0
    for one in found:
        yield f"  {one.form:<{min(widest, 44)}}  {one.meaning}"
    for word, meaning in OWN_WORDS.items():
        yield f"  {word:<{min(widest, 44)}}  {meaning}"
    yield "`help WORD` explains one."


def lines_about(word: str) -> Iterator[str]:
    """Yield the meaning of a word, and the names in its form."""
    if word in OWN_WORDS:
        yield f"{word}: {OWN_WORDS[word]}."
        return
    found = [name for name in WORDS if name == word] or [name for name in WORDS if word and name.startswith(word)]
    if not found:
        nearest = get_close_matches(word, WORDS, n=1)
        yield f"'{word}' is not a word{f'; nearest: {nearest[0]}' if nearest else ''}. `help` lists those allowed now."
    for name in found:
        one = WORDS[name]
        yield f"{one.form}: {one.meaning}."
        for placeholder, names in NAMES.items():
            if placeholder in one.form:
                yield f"  {placeholder}: {', '.join(names)}"
