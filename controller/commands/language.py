"""The language of a command: that of `cardshoe --language`, of the command's own option, or of the locale.

Everything that a command prints is rendered in it: by `Page` and `write_out` (text.py), by `ProblemError`
(controller/problems.py), and by `terminal`. Two things stay in English: the texts of click, such as `--help` and
the refusal of an unknown option, because docs and man pages are made from them and click has no catalogue; and
`--json`, because programs read it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import click

from controller.language import Speaker, codes, known

LOCALE: Final = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first set variable decides
Command = TypeVar("Command", bound=Callable[..., Any])
_CHOSEN: Final = f"{__name__}.chosen"  # in the context of the whole command line


def language_option(command: Command, *, passed: bool = True) -> Command:
    """Add the option `--language`. The command gets it as an argument if `passed`."""
    return click.option(
        "--language",
        type=click.Choice(codes()),
        callback=_choose,
        expose_value=passed,
        show_default="of the locale",
        help="The language of what the command prints.",
    )(command)


def _choose(context: click.Context, _: click.Parameter, given: str | None) -> str:
    if given is not None:
        context.meta[_CHOSEN] = given
    return chosen_language()


def chosen_language() -> str:
    """Return the language of the command that runs, or of the locale if no option chooses one."""
    context = click.get_current_context(silent=True)
    chosen: str | None = None if context is None else context.meta.get(_CHOSEN)
    return chosen or of_locale(os.environ)


def of_locale(environment: Mapping[str, str]) -> str:
    """Return the language of the environment's locale.

    >>> of_locale({"LANG": "zh_CN.UTF-8"}), of_locale({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}), of_locale({})
    ('zh-Hans', 'en', 'en')
    """
    return known(next((environment[name] for name in LOCALE if environment.get(name)), None))


def terminal() -> Speaker:
    """Return what renders messages in the language of the command that runs."""
    return Speaker(chosen_language())
