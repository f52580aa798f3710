"""The option `--language` of commands that show a table, and the words that they share with the console."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from controller.language import ENGLISH, LANGUAGES, known, translated
from controller.language.catalogue import FOLDER
from controller.messages import Message

LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first set variable decides
WORDS: Final = Path(__file__).parents[1] / "console/words"
Command = TypeVar("Command", bound=Callable[..., Any])


def language_option(command: Command) -> Command:
    return click.option(
        "--language",
        type=click.Choice(LANGUAGES),
        default=lambda: of_locale(os.environ),
        show_default="of the locale",
        help="The language of what the table says.",
    )(command)


def of_locale(environment: Mapping[str, str]) -> str:
    """Return the language of the environment's locale.

    >>> of_locale({"LANG": "zh_CN.UTF-8"}), of_locale({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}), of_locale({})
    ('zh-Hans', 'en', 'en')
    """
    return known(next((environment[name] for name in LOCALE if environment.get(name)), None))


class Terminal:
    """The words of commands in one language: their own, the console's, and the table's.

    >>> Terminal("zh-Hans")("round {number}", number=3), Terminal("en")("round {number}", number=3)
    ('第3局', 'round 3')
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = language
        self._own = {} if language == ENGLISH else _own_words(language)

    def __call__(self, template: str, **values: object) -> str:
        said = self._own.get(template)
        return template.format(**values) if said is None else said.format(**values)

    def of_table(self, text: str | Message) -> str:
        """Return a word of the table (a place, title, kind or disposition) or of the commands."""
        return self._own.get(str(text)) or translated(str(text), self.language)

    def of_console(self, key: str, english: str) -> str:
        """Return a word of the console's buttons and places."""
        return english if self.language == ENGLISH else console_word(key, self.language)

    def in_brackets(self, text: str) -> str:
        return self("({text})", text=text)


def console_word(key: str, language: str) -> str:
    """Return the console's word for a key, or the last part of the key if it has none."""
    return _words(language).get(key, key.rpartition(".")[2].replace("_", " "))


@cache
def _own_words(language: str) -> dict[str, str]:
    words: dict[str, str] = json.loads((FOLDER / f"terminal.{language}.json").read_text("utf-8"))
    return words


@cache
def _words(language: str) -> dict[str, str]:
    words: dict[str, str] = json.loads((WORDS / f"{language}.json").read_text("utf-8"))
    return words
