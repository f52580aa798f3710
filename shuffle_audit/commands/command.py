"""`cardshoe audit`: the group, which imports a command when it is used."""

from __future__ import annotations

import traceback
from typing import Any, Final

import click

from controller.commands.found_commands import FoundCommands
from controller.problems import ProblemError

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "run": ("shuffle_audit.commands.run", "run"),
    "plan": ("shuffle_audit.commands.plan", "plan"),
    "monitor": ("shuffle_audit.commands.monitor", "monitor"),
}
OTHERS: Final = "cardshoe.commands.audit"  # entry points
SUMMARIES: Final = {
    "run": "Judge whether decks in files were shuffled well.",
    "plan": "Count the decks that it takes to find a bad shuffle.",
    "monitor": "Watch a shuffler deck after deck, and raise an alarm.",
}


FAILED: Final = 70
"""Exit code for errors: 0 and 1 are reserved for verdicts and alarms."""


class FailedError(ProblemError):
    exit_code = FAILED


class AuditCommands(FoundCommands):
    """Commands whose errors never exit with 0 or 1, which are verdicts. Unexpected errors also show a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ProblemError as error:
            if error.exit_code != ProblemError.exit_code:
                raise
            raise FailedError(error.message, error.hint) from error
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            traceback.print_exc()
            sentence = f"An unexpected error occurred: {type(error).__name__}: {error}."
            raise FailedError(sentence, "Nothing was concluded. Report this error with the lines above.") from error


@click.group(cls=AuditCommands, found_in=FOUND_IN, summaries=SUMMARIES, others=OTHERS)
def audit() -> None:
    """Find out whether a shuffler shuffles, by the orders of whole decks before and after.

    Without the order in only the cards that come out can show a fault; if they show none, there is no verdict.
    """
