"""`cardshoe watch`: follows a running table."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click

from controller.api.client import ApiClient, TableUnreachableError
from controller.commands.live import show_live
from controller.commands.narration import tell
from controller.commands.vocabulary import words_of
from controller.problems import ProblemError


@click.command()
@click.option("--socket", type=click.Path(path_type=Path), required=True, help="The daemon's socket ([api] socket).")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line.")
@click.option("--after", type=int, help="Begin after this journal entry; left out: with new events only.")
def watch(socket: Path, as_json: bool, after: int | None) -> None:
    """Show a running table, live in a terminal, line by line elsewhere. Interrupt to end."""
    try:
        asyncio.run(_watch(socket, as_json, after))
    except KeyboardInterrupt:
        return
    except TableUnreachableError as error:
        raise ProblemError(str(error), "Is the daemon running? Name its socket with --socket.") from error


async def _watch(socket: Path, as_json: bool, after: int | None) -> None:
    async with ApiClient(socket) as client:
        start = (await client.state()).entry if after is None else after
        if as_json or not sys.stdout.isatty():
            await print_events(client, start, as_json=as_json)
        else:
            await show_live(client, start, asyncio.Event())
    click.echo("The daemon has ended.", err=True)


async def print_events(client: ApiClient, after: int, *, as_json: bool) -> None:
    """Print until the daemon ends."""
    words = words_of((await client.state()).game)
    async for event in client.events(after):
        if event is not None:
            line = json.dumps(event, separators=(",", ":")) if as_json else tell(event, words)
            if line:
                click.echo(line)
