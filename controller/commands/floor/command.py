"""`cardshoe floor`: finds its commands by name; each has a module of its own."""

from __future__ import annotations

import importlib
from typing import Final

import click

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "watch": ("watch", "watch"),
    "serve": ("serve", "serve"),
}
SUMMARIES: Final = {
    "watch": "Show many tables in a terminal.",
    "serve": "Show many tables as a page for a pit manager.",
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
    """Work with many tables, through the broker to which their daemons report ([floor] of their configuration).

    No command of it operates a table.
    """
