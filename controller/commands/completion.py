"""`cardshoe completion`: prints the script that lets a shell complete commands and options."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from controller.commands.text import write_out
from controller.problems import ProblemError

SHELLS: Final = ("bash", "zsh", "fish")
PROGRAM: Final = "cardshoe"


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what SHELL reads to complete commands and options.

    bash: cardshoe completion bash > ~/.local/share/bash-completion/completions/cardshoe. zsh: into a file _cardshoe in
    a folder of $fpath. fish: into ~/.config/fish/completions/cardshoe.fish.
    """
    found = get_completion_class(shell)
    if found is None:
        raise ProblemError(f"This version of click completes nothing in {shell}.", "Install the pinned requirements.")
    write_out(found(ctx.find_root().command, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source().strip())
