"""`cardshoe journal`: finds its commands by name. Each command has its own module, so this module is short."""

from __future__ import annotations

from typing import Final

import click

from controller.commands.found_commands import FoundCommands

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "show": ("controller.commands.journal.rounds_shown", "show"),
    "list": ("controller.commands.journal.rounds_shown", "list_rounds"),
    "report": ("controller.commands.journal.report", "report"),
    "stats": ("controller.commands.journal.stats", "stats"),
    "export": ("controller.commands.journal.export", "export"),
    "follow": ("controller.commands.journal.export", "follow"),
    "backup": ("controller.commands.journal.backups", "backup"),
    "restore": ("controller.commands.journal.backups", "restore"),
    "verify": ("controller.commands.journal.verify", "verify"),
    "new-key": ("controller.commands.journal.new_key", "new_key"),
}
SUMMARIES: Final = {
    "show": "Show a round: hands, irregularities, who decided, its course.",
    "list": "List rounds of a day, all or those of interest.",
    "report": "Report on a day or a shift, as text or as a page to print.",
    "stats": "Sizes, numbers and rates.",
    "export": "Write events as JSON Lines or CSV.",
    "follow": "Print events as they are recorded.",
    "backup": "Copy the journal, also while the table deals.",
    "restore": "Restore a backup after checking that it is complete.",
    "verify": "Check that nothing was changed, removed or added.",
    "new-key": "Replace the signing key; the previous key endorses it.",
}


@click.group(cls=FoundCommands, found_in=FOUND_IN, summaries=SUMMARIES)
def journal() -> None:
    """Read what a table recorded. The key is not needed, and the table may be running.

    No command shows a card that was never exposed.
    """
