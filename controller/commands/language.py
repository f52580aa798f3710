"""The option `--language` of commands that show a table, and the words that they share with the console.

It is a separate module because the simulators' commands use it, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from controller.language import ENGLISH, known, languages, translated
from controller.language.catalogue import page_word
from firmware_bridge.messages import Message

LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first set variable decides
Command = TypeVar("Command", bound=Callable[..., Any])


def language_option(command: Command) -> Command:
    return click.option(
        "--language",
        type=click.Choice(tuple(languages())),
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
    """Renders messages in one language.

    >>> from firmware_bridge.messages import message
    >>> Terminal("zh-Hans")(message("round {number}", number=3)), Terminal("en")(message("round {number}", number=3))
    ('第3局', 'round 3')
    """

    def __init__(self, language: str = ENGLISH) -> None:
        self.language = language

    def __call__(self, said: str | Message) -> str:
        """Return a message in this language. A text from the table is already in it."""
        return said if isinstance(said, str) else translated(said, self.language)

    def of_table(self, word: str | Message) -> str:
        """Return a word that is the same in every answer of the table, such as a kind of irregularity."""
        return self(Message(word) if isinstance(word, str) else word)

    def of_console(self, key: str, **args: str | int) -> str:
        """Return the console's words for a key."""
        return page_word(key, self.language, args)
