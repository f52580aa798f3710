"""`cardshoe floor`: finds its commands by name; each has a module of its own."""

from __future__ import annotations

import importlib
from typing import Final

import click

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "store": ("store", "store"),
    "audit": ("audit", "audit"),
}
SUMMARIES: Final = {
    "store": "Write the journals of all tables into a database.",
    "audit": "Compare a table's journal with what the store has of it.",
}


class FloorCommands(click.Group):
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


@click.group(cls=FloorCommands)
def floor() -> None:
    """The floor of a casino: what its tables publish through a broker.

    Nothing here can operate a table.
    """
