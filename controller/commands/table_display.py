"""A running table drawn in a terminal until the daemon ends, for `cardshoe watch` and the demonstration."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from controller.api.bodies import EventId
from controller.api.client import ApiClient, TableUnreachableError
from controller.api.narration import line_of
from controller.api.screen_lines import as_people_say
from controller.api.view import TableView
from controller.commands.vocabulary import words_of
from controller.games.own_words import OwnWords
from controller.language import ENGLISH, Speaker
from controller.table.phases import SERVICE_WORDS, Service
from firmware_bridge.messages import message, sentences

REFRESH = 0.5  # seconds between two screens while nothing happens, to update the age of the device's last report
KEPT = 50  # lines; more than a screen shows


class Followed:
    """The newest events as lines, and the last event received."""

    def __init__(self, after: EventId, language: str) -> None:
        self.last = after
        self._language = language
        self.lines: list[str] = []
        self.news = asyncio.Event()

    async def follow(self, client: ApiClient, words: OwnWords) -> None:
        names = await client.people()
        with suppress(TableUnreachableError):  # the daemon ended before this began
            async for event in client.events(self.last):
                if event is not None:
                    self.last = EventId(self.last.journal, event["entry"])
                    if line := line_of(as_people_say(event, names), words):
                        self.lines = [*self.lines, Speaker(self._language)(line)][-KEPT:]
                self.news.set()


async def show_live(client: ApiClient, after: EventId, stop: asyncio.Event, language: str = ENGLISH) -> EventId:
    """Draw the table until the daemon ends or `stop` is set. Return the last event received.

    Raise `NoTableError`.
    """
    from rich.live import Live

    from controller.commands.screen import render

    followed = Followed(after, language)
    view = await _view(client)
    if view is None:
        return after
    following = asyncio.create_task(followed.follow(client, words_of(view.game)))
    stopping = asyncio.create_task(stop.wait())
    try:
        with Live(auto_refresh=False, screen=False) as live:
            while view is not None and not following.done() and not stop.is_set():
                followed.news.clear()
                live.update(render(view, followed.lines, live.console.height - 1, language), refresh=True)
                waiting = asyncio.create_task(followed.news.wait())
                await asyncio.wait({waiting, following, stopping}, timeout=REFRESH, return_when="FIRST_COMPLETED")
                waiting.cancel()
                view = await _view(client)
    finally:
        following.cancel()
        stopping.cancel()
    if following.done():
        following.result()  # raises if a program other than a daemon answered
    return followed.last


async def _view(client: ApiClient) -> TableView | None:
    """Return the table, or None if no daemon answers."""
    try:
        return await client.state()
    except TableUnreachableError:
        return None


def how_it_stands(view: TableView, language: str = ENGLISH) -> str:
    """Return one line that says which table this is, and why nothing may happen at present."""
    say, service = Speaker(language), Service(view.service)
    phase = say.keyed(f"phase.{view.phase}")
    stands = message("Table {table}: {phase}.", table=view.table, phase=phase)
    if service is not Service.IN_SERVICE:
        stands = message(
            "Table {table}: {phase}, {service}: {cause}.",
            table=view.table, phase=phase, service=SERVICE_WORDS[service], cause=view.service_cause,
        )  # fmt: skip
    return say(sentences(stands, message("{step}", step=view.next_step) if view.next_step else None))
