"""A running table drawn in a terminal until the daemon ends: `cardshoe watch` and the demonstration show it."""

from __future__ import annotations

import asyncio

from controller.api.client import ApiClient, TableUnreachableError
from controller.commands.narration import tell
from controller.commands.vocabulary import words_of
from controller.games.own_words import OwnWords

REFRESH = 0.5  # seconds between two screens while nothing happens: the age of the device's last report counts on


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
