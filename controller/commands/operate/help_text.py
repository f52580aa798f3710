"""`help`: the lines that are allowed now, and the explanation of a word."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final

import msgspec

from controller.api.view import TableView
from controller.commands.text import Page, longest
from controller.language import Speaker
from controller.people_words import WORDS
from controller.people_words.tokens import ACTIONS, CHOICES, FACTS, INSTRUCTIONS, KINDS, ROLES
from controller.table import operations
from controller.table.permissions import PERMISSIONS
from controller.table.phases import BETWEEN_ROUNDS, DEALING, IN_ROUND, Phase, Service
from firmware_bridge.messages import AnyText, message

WIDEST_FORM: Final = 44  # columns
NAMES: Final[dict[str, tuple[AnyText, ...]]] = {
    "KIND": tuple(KINDS),
    "FACT": FACTS,
    "ACTION": tuple(ACTIONS),
    "ROLE": (*ROLES, message("a person's id")),
    "INSTRUCTION": tuple(INSTRUCTIONS),
    "CHOICE": tuple(CHOICES),
}
OWN_WORDS: Final[dict[str, AnyText]] = {
    "help": message("list the lines that the table accepts, or explain a word"),
    "table": message("show the state of the table"),
    "quit": message("end the prompt, like Ctrl-D"),
}
BUTTONS: Final = {
    "op.record_settled.voided": "return bets",
    "op.reconstruct": "put right",
    "op.reconstruct.turned": "put right",
    "op.confirm_irregularity": "confirm",
    "act.no": "deny",
    "op.name_order": "order",
    "op.record_settled": "settle",
    "op.record_settled.none": "settle",
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
    say, step = Speaker(language), str(view.next_step)
    for key, word in BUTTONS.items():
        press = say(message('press "{button}"', button=say.keyed(key)))
        write = say(message("write `{word}`", word=word))
        step = step.replace(press, write).replace(_capital(press), _capital(write))
    for one in view.irregularities:
        for fact, question in zip(one.asks, one.questions, strict=True):
            if str(question) in step:
                answer = message("Write `confirm {fact} yes` or `confirm {fact} no`.", fact=fact)
                step = say(message("{parts:sentences}", parts=(step, answer)))
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


def write_help(paper: Page, view: TableView, offers: list[dict[str, Any]] | None) -> None:
    """Write the next step, then each line that the table accepts."""
    paper.entry(view.next_step or message("Nothing is due."), indent=0)
    found = [WORDS[word] for word in lawful_words(view, offers)]
    listed = [(one.form, one.meaning) for one in found] + list(OWN_WORDS.items())
    width = min(longest([form for form, _ in listed]), WIDEST_FORM)
    for form, meaning in listed:
        paper.entry(meaning, (form, width + 1))
    paper.entry(message("`help WORD` explains one."), indent=0)


def write_about(paper: Page, word: str, asked: tuple[str, ...] = ()) -> None:
    """Write the meaning of a word, and the names in its form: of facts those that are `asked`, if any."""
    if word in OWN_WORDS:
        paper.entry(message("{name}: {meaning}.", name=word, meaning=OWN_WORDS[word]), indent=0)
        return
    found = [name for name in WORDS if name == word] or [name for name in WORDS if word and name.startswith(word)]
    if not found:
        what = [message("'{word}' is not a word", word=word)]
        what += [message("nearest: {word}", word=nearest) for nearest in get_close_matches(word, WORDS, n=1)]
        paper.entry(message("{what:clauses}. `help` lists the allowed words.", what=tuple(what)), indent=0)
    for name in found:
        one = WORDS[name]
        paper.entry(message("{name}: {meaning}.", name=one.form, meaning=one.meaning), indent=0)
        for placeholder, names in NAMES.items():
            if placeholder in one.form:
                listed = asked if asked and placeholder == "FACT" else names
                paper.entry(message("{placeholder}: {names:list}", placeholder=placeholder, names=listed))
