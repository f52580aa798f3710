"""`cardshoe journal backup`: makes a complete copy, also while the table deals."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import click

from controller.commands.journal.copies import MANIFEST, back_up
from controller.commands.journal.options import Asked, journal_options, opened
from controller.commands.text import many, write_out
from controller.daemon.host import HostClock


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@journal_options
def backup(folder: Path, asked: Asked) -> None:
    """Copy the journal into FOLDER, which must be empty or missing, also while the table deals.

    Everything up to one moment is in it. The keys are not: keep journal.key and signing.key apart from it.
    """
    with opened(asked) as source:
        now = HostClock().now().utc_ns
        made = back_up(source, folder, program=version("cardshoe"), utc_ns=now, progress=say)
    number, _, _ = made.head.partition(":")
    write_out(
        f"{many(len(made.files), 'file', 'files')}, to entry {number}: {folder}. {MANIFEST} says how they are checked."
    )
    write_out(f"head {made.head}")
    if folder.stat().st_dev == asked.path.stat().st_dev:
        say(f"warning: {folder} is on the journal's own disk, and goes with it. Is the other disk mounted (findmnt)?")


def say(line: str) -> None:
    """Print progress, separately from the command's output."""
    click.echo(line, err=True)
