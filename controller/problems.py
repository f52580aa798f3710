"""Problems that end a command: a sentence, a next step, and the exit code (docs/faults.md).

They have their own module because every command raises them.
"""

from __future__ import annotations

from typing import Any

import click

from firmware_bridge.messages import AnyText
from firmware_bridge.plain_text import plain


class ProblemError(click.ClickException):
    """Something that a person can fix: a sentence with what is wrong, and what to do next."""

    exit_code = 1

    def __init__(self, sentence: AnyText, hint: AnyText = "") -> None:
        super().__init__(str(sentence))
        self.hint = str(hint)

    def show(self, file: Any = None) -> None:
        hint = f"\n  {self.hint}" if self.hint else ""
        for line in f"cardshoe: {self.message}{hint}".split("\n"):
            click.echo(plain(line, len(line)), err=True)


class BadInputError(ProblemError):
    exit_code = 2


class DeviceProblemError(ProblemError):
    exit_code = 3


class JournalProblemError(ProblemError):
    exit_code = 4


class ConfigurationProblemError(ProblemError):
    exit_code = 78
