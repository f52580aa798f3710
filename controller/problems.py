"""Problems that end a command: a sentence, a next step, and the exit code (docs/faults.md).

They have their own module because every command raises them.
"""

from __future__ import annotations

from typing import Any

import click

from controller.commands.language import terminal
from firmware_bridge.messages import AnyText, MessageError
from firmware_bridge.plain_text import plain


class ProblemError(click.ClickException):
    """Something that a person can fix: what is wrong, and what to do next, in the language of the command.

    A command passes on an error that it caught with its own hint, or with one that knows more.
    """

    exit_code = 1

    def __init__(self, said: AnyText | MessageError, hint: AnyText = "") -> None:
        super().__init__(str(said))
        self.said, self.hint = (said.message, hint or said.hint) if isinstance(said, MessageError) else (said, hint)
        self._say = terminal()

    def show(self, file: Any = None) -> None:
        hint = f"\n  {self._say(self.hint)}" if self.hint else ""
        for line in f"cardshoe: {self._say(self.said)}{hint}".split("\n"):
            click.echo(plain(line, len(line)), err=True)


class BadInputError(ProblemError):
    exit_code = 2


class DeviceProblemError(ProblemError):
    exit_code = 3


class JournalProblemError(ProblemError):
    exit_code = 4


class ConfigurationProblemError(ProblemError):
    exit_code = 78
