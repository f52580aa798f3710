"""`cardshoe watch`: follows a running table."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import click

from controller.api.client import ApiClient, TableUnreachableError
from controller.commands.main import ProblemError
from controller.commands.narration import tell
from controller.commands.vocabulary import words_of
from controller.games.own_words import OwnWords

REFRESH = 0.5  # seconds at which ages are shown anew when nothing happens


@click.command()
@click.option("--socket", type=click.Path(path_type=Path), required=True, help="The daemon's socket ([api] socket).")
@click.option("--json", "as_json", is_flag=True, help="Print events as JSON, one a line.")
@click.option("--after", type=int, help="Begin after this journal entry; without it with what happens from now on.")
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


async def show_live(client: ApiClient, after: int, stop: asyncio.Event) -> None:
    """Draw the table until the daemon ends or `stop` is set."""
    from rich.live import Live

    from controller.commands.screen import render

    try:
        words = words_of((await client.state()).game)
    except TableUnreachableError:
        return
    lines: list[str] = []
    news = asyncio.Event()
    following = asyncio.create_task(_gather(client, after, lines, news, words))
    stopping = asyncio.create_task(stop.wait())
    try:
        with Live(auto_refresh=False, screen=False) as live:
            while not following.done() and not stop.is_set():
                try:
                    view = await client.state()
                except TableUnreachableError:
                    return
                live.update(render(view, lines, live.console.height - 1), refresh=True)
                news.clear()
                waiting = asyncio.create_task(news.wait())
                await asyncio.wait({waiting, following, stopping}, timeout=REFRESH, return_when="FIRST_COMPLETED")
                waiting.cancel()
    finally:
        following.cancel()
        stopping.cancel()


async def _gather(client: ApiClient, after: int, lines: list[str], news: asyncio.Event, words: OwnWords) -> None:
    async for event in client.events(after):
        if event is not None and (line := tell(event, words)):
            lines.append(line)
            del lines[:-50]
        news.set()
