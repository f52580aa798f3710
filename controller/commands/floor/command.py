"""`cardshoe floor`: finds its commands by name; each has a module of its own."""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from typing import Final

import click

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "watch": ("watch", "watch"),
    "serve": ("serve", "serve"),
    "store": ("store", "store"),
    "audit": ("audit", "audit"),
}
OTHERS: Final = "cardshoe.commands.floor"  # entry points
SUMMARIES: Final = {
    "watch": "Show many tables in a terminal.",
    "serve": "Show many tables as a page for a pit manager.",
    "store": "Write the journals of all tables into a database.",
    "audit": "Compare a table's journal with what the store has of it.",
    "try": "Try a whole floor on this machine.",
}


class FloorCommands(click.Group):
    """None is imported for a list of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*FOUND_IN, *(point.name for point in entry_points(group=OTHERS))]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in FOUND_IN:
            return next((point.load() for point in entry_points(group=OTHERS) if point.name == name), None)
        module, attribute = FOUND_IN[name]
        command: click.Command = getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES[name]) for name in self.list_commands(ctx)])


@click.group(cls=FloorCommands)
def floor() -> None:
    """Work with many tables, through the broker to which their daemons report ([floor] of their configuration).

    No command of it operates a table.
    """
