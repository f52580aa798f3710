"""`cardshoe journal`: finds its commands by name. Each has its own module."""

from __future__ import annotations

from typing import Final

import click

from controller.commands.found_commands import FoundCommands

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "show": ("controller.commands.journal.show", "show"),
    "list": ("controller.commands.journal.list_rounds", "list_rounds"),
    "report": ("controller.commands.journal.report", "report"),
    "stats": ("controller.commands.journal.stats", "stats"),
    "export": ("controller.commands.journal.export", "export"),
    "follow": ("controller.commands.journal.follow", "follow"),
    "backup": ("controller.commands.journal.backup", "backup"),
    "restore": ("controller.commands.journal.restore", "restore"),
    "verify": ("controller.commands.journal.verify", "verify"),
    "new-key": ("controller.commands.journal.new_key", "new_key"),
}
SUMMARIES: Final = {
    "show": "Tell a round: hands, irregularities, who decided, its course.",
    "list": "List rounds of a day, all or those of interest.",
    "report": "Account of a day or a shift, as text or as a page to print.",
    "stats": "Sizes, numbers and rates.",
    "export": "Write events as JSON Lines or CSV.",
    "follow": "Print events as they are recorded.",
    "backup": "Copy the journal, also while the table deals.",
    "restore": "Put a backup back, once it is found to be whole.",
    "verify": "Check that nothing was changed, removed or added.",
    "new-key": "Replace the key that signs, endorsed by the one before.",
}


@click.group(cls=FoundCommands, found_in=FOUND_IN, summaries=SUMMARIES)
def journal() -> None:
    """Read what a table recorded, without its key and beside a table that runs.

    A card that was never exposed is shown by no command.
    """
