"""`cardshoe audit`: finds its commands by name; each has a module of its own."""

from __future__ import annotations

from typing import Final

import click

from controller.commands.found_commands import FoundCommands

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "run": ("shuffle_audit.commands.run", "run"),
    "plan": ("shuffle_audit.commands.plan", "plan"),
    "monitor": ("shuffle_audit.commands.monitor", "monitor"),
}
OTHERS: Final = "cardshoe.commands.audit"  # entry points
SUMMARIES: Final = {
    "run": "Say of decks in files whether they were shuffled well.",
    "plan": "Count the decks that it takes to find a bad shuffle.",
    "monitor": "Watch a shuffler deck after deck, and raise an alarm.",
}


@click.group(cls=FoundCommands, found_in=FOUND_IN, summaries=SUMMARIES, others=OTHERS)
def audit() -> None:
    """Find out whether a shuffler shuffles, by the orders of whole decks before and after.

    Without the order in nothing can be seen, and no verdict is given.
    """
