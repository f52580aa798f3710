"""`cardshoe journal`: finds its commands by name; each has a module of its own."""

from __future__ import annotations

import importlib
from typing import Final

import click

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "show": ("show", "show"),
    "list": ("list_rounds", "list_rounds"),
    "report": ("report", "report"),
    "stats": ("stats", "stats"),
    "export": ("export", "export"),
    "follow": ("follow", "follow"),
    "backup": ("backup", "backup"),
    "restore": ("restore", "restore"),
    "verify": ("verify", "verify"),
    "new-key": ("new_key", "new_key"),
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


class JournalCommands(click.Group):
    """None is imported for a list of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(FOUND_IN)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in FOUND_IN:
            return None
        module, attribute = FOUND_IN[name]
        command: click.Command = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in self.list_commands(ctx)])


@click.group(cls=JournalCommands)
def journal() -> None:
    """Read what a table recorded, without its key and beside a table that runs.

    A card that was never exposed is shown by no command.
    """
