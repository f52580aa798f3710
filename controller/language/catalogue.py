"""The catalogue of a language: each template of an English sentence with its translation.

A template is a sentence without its full stop, with named arguments in braces. A template that begins or ends with a
blank or a comma is a mark between sentences or in a list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from controller.messages import Message, text_in_english

ENGLISH: Final = "en"
CHINESE: Final = "zh-Hans"
LANGUAGES: Final = (ENGLISH, CHINESE)
PARAMETER: Final = "language"  # of a request
TEXTS: Final = "texts"  # of a request: `messages` for each text with its message

COMPOSED: Final = (
    "{person} ({screen})",
    "{said}",
    "{action}",
    "{error} {",
    "{many_cards}",
    "{named_deck}",
    "{void}",
    "{person} (",
    "{count} {verdict}",
)
"""Beginnings of messages that are made of others: no template that a sentence is searched by begins so."""

MARKS: Final = {"list": ", ", "clauses": "; ", "points": ". "}  # between the parts of a list, by its joint
FOLDER: Final = Path(__file__).parent
SLOT: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
OF_A_GAME: Final = (("the Dealer's", "the Banker's"), ("the box's", "the Player's"))
"""What `OwnWords.own` writes in place of what the source says."""


class Template(NamedTuple):
    """`literals` stand around `slots`, one more of them; `said`: the translation."""

    literals: tuple[str, ...]
    slots: tuple[str, ...]
    said: str

    @property
    def length(self) -> int:
        return sum(map(len, self.literals))


class Catalogue(NamedTuple):
    """`said`: each translation by its English text, and `fixed`: those without arguments, and marks between them.
    `starting`: templates that may fit a text, by its first two letters; `others`: those that may fit any.
    """

    said: dict[str, str]
    fixed: dict[str, str]
    starting: dict[str, tuple[Template, ...]]
    others: tuple[Template, ...]

    def text_of(self, given: Message) -> str | None:
        """Return the text of a message with its slots. None: it is not in the catalogue."""
        english = text_in_english(given)
        body = english.rstrip(".")
        text = self.said.get(body) if SLOT.sub("", body) else body
        return text if text is None or body == english else f"{text}{self.fixed['.']}"

    def listed(self, parts: Sequence[str], joint: str) -> str:
        """Return the parts of a list, or several sentences, as one text."""
        *before, last = parts or ("",)
        if joint == "sentences":
            return "".join(parts)
        if not before or joint in MARKS:
            return self.fixed[MARKS.get(joint, ", ")].join(parts)
        return f"{self.fixed[', '].join(before)}{self.fixed[f' {joint} ']}{last}"

    def candidates(self, text: str) -> tuple[Template, ...]:
        """Those that may fit, the longest first."""
        return self.starting.get(text[:2], self.others)


def read(language: str) -> dict[str, str]:
    """Template: translation."""
    words: dict[str, str] = json.loads((FOLDER / f"{language}.json").read_text("utf-8"))
    return words


def small_first(text: str) -> str:
    """A sentence begins with a capital where it stands alone, and with a small letter within another one."""
    return f"{text[:1].lower()}{text[1:]}"


@cache
def catalogue(language: str) -> Catalogue:
    fixed: dict[str, str] = {}
    starting: dict[str, list[Template]] = {}
    others: list[Template] = []
    words = _with_words_of_games(read(language))
    for key, said in words.items():
        if key.startswith(COMPOSED):
            continue
        parts = SLOT.split(key)
        template = Template((small_first(parts[0]), *parts[2::2]), tuple(parts[1::2]), said)
        if not template.slots:
            fixed[key] = said
            fixed.setdefault(template.literals[0], said)
        elif len(template.literals[0]) > 1:
            starting.setdefault(template.literals[0][:2], []).append(template)
        else:
            others.append(template)
    starts = {start: [*found, *others] for start, found in starting.items()}
    return Catalogue(
        words, fixed, {start: _longest_first(found) for start, found in starts.items()}, _longest_first(others)
    )


def _longest_first(templates: list[Template]) -> tuple[Template, ...]:
    return tuple(sorted(templates, key=lambda template: -template.length))


def _with_words_of_games(words: dict[str, str]) -> dict[str, str]:
    found = dict(words)
    for usual, own in OF_A_GAME:
        found |= {key.replace(usual, own): said for key, said in found.items() if usual in key}
    return found
