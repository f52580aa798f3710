"""`cardshoe floor`: finds its commands by name. Each command has its own module, so this module is short."""

from __future__ import annotations

from typing import Final

import click

from controller.commands.found_commands import FoundCommands

FOUND_IN: Final = {  # name -> module:attribute, imported when it is used
    "watch": ("controller.commands.floor.watch", "watch"),
    "serve": ("controller.commands.floor.serve", "serve"),
    "store": ("controller.commands.floor.store", "store"),
    "audit": ("controller.commands.floor.audit", "audit"),
}
OTHERS: Final = "cardshoe.commands.floor"  # entry points
SUMMARIES: Final = {
    "watch": "Show many tables in a terminal.",
    "serve": "Show many tables as a page for a pit manager.",
    "store": "Write the journals of all tables into a database.",
    "audit": "Compare a table's journal with what the store has of it.",
    "try": "Try a whole floor on this machine.",
}


@click.group(cls=FoundCommands, found_in=FOUND_IN, summaries=SUMMARIES, others=OTHERS)
def floor() -> None:
    """Work with many tables, through the broker to which their daemons report ([floor] of their configuration).

    None of these commands operates a table.
    """
