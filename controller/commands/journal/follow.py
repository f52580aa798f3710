"""`cardshoe journal follow`: events as they are recorded, from the files, without the daemon's socket."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import click
import msgspec

from controller.commands.journal.decisions import line_of, read
from controller.commands.journal.options import Asked, journal_options, mark_of, opened
from controller.commands.journal.source import Source
from controller.commands.journal.words import step
from controller.commands.text import write_out

LOOK_EVERY: Final = 0.5  # seconds, during which the reader keeps no file of the journal open
MAX_ENTRY: Final = 2**63 - 1


@click.command()
@journal_options
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line, as the API publishes them.")
@click.option("--after", type=click.IntRange(0, MAX_ENTRY), help="Begin after this entry; left out: with new events.")
def follow(asked: Asked, as_json: bool, after: int | None) -> None:
    """Print events as they are recorded, until interrupted. Goes on when the daemon ends and starts again."""
    try:
        with opened(asked) as source:
            last = source.last_entry() if after is None else after
            follow_from(source, last, asked, as_json=as_json, wait=lambda: time.sleep(LOOK_EVERY))
    except KeyboardInterrupt:
        return


def follow_from(source: Source, after: int, asked: Asked, *, as_json: bool, wait: Callable[[], object]) -> None:
    """Print what comes after an entry, and check again after each `wait`, forever."""
    table = source.opening(source.file(-1))
    said: list[str] = []
    while True:
        for stored in source.decisions(after):
            decided = read(stored)
            for happened in decided.events:
                table.take(decided, happened)
                if happened.entry <= after:
                    continue
                if as_json:
                    write_out(msgspec.json.encode(happened.event).decode())
                elif text := step(line_of(decided, happened), table.words):
                    changed = "" if stored.holds else "CHANGED "
                    write_out(f"{asked.clock.hour(decided.utc_ns)} {happened.entry} {changed}{text}")
            after = stored.last
        if source.misplaced != said:
            said = source.misplaced
            click.echo(mark_of(source), err=True)
        wait()
        source.look_again()
