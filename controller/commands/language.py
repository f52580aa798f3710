"""The option `--language` of commands that show a table, and their words that are the console's too."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from controller.language import LANGUAGES, known

LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first one that is set decides
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
    """
    >>> of_locale({"LANG": "zh_CN.UTF-8"}), of_locale({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}), of_locale({})
    ('zh-Hans', 'en', 'en')
    """
    return known(next((environment[name] for name in LOCALE if environment.get(name)), None))


def console_word(key: str, language: str) -> str:
    """What the console says; the last part of the key where it has no word."""
    return _words(language).get(key, key.rpartition(".")[2].replace("_", " "))


@cache
def _words(language: str) -> dict[str, str]:
    words: dict[str, str] = json.loads((WORDS / f"{language}.json").read_text("utf-8"))
    return words
