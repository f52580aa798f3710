"""`cardshoe floor watch`: the floor in a terminal, drawn as a screen or printed line by line."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import click

from controller.commands.floor.floor_options import broker_options, find_broker, place_options
from controller.commands.language import language_option
from controller.commands.text import in_terminal, say, write_out
from firmware_bridge.messages import message

if TYPE_CHECKING:
    from controller.commands.floor.telling import Telling
    from controller.floor.follower import FloorFollower


from collections.abc import Iterator

from controller.commands.floor.telling import Telling
from controller.floor.floor_view import Matter
from controller.floor.follower import FloorFollower
from controller.floor.page_stream import story_lines

DRAWN_EVERY: Final = 1.0  # seconds, so that ages stay current
LEAST_BETWEEN: Final = 0.5  # seconds between two screens
AFTER: Final = 1.0  # seconds for the broker's kept messages to arrive, before lines are written


@click.command()
@broker_options
@place_options("site", "pit", "table")
@language_option
def watch(
    broker_url: str,
    ca: Path | None,
    certificate: Path | None,
    key: Path | None,
    site: str | None,
    pit: str | None,
    table: str | None,
    language: str,
) -> None:
    """Show many tables, live in a terminal; elsewhere a line for each change that needs a person.

    Open irregularities come first, the oldest on top. With --table the events at that table are shown,
    too. The command continues while the broker is unreachable. Interrupt to end.
    """
    from controller.commands.floor.telling import Telling
    from controller.daemon.host import HostClock
    from controller.floor.follower import FloorFollower, FollowedPart

    broker = find_broker(broker_url, ca, certificate, key)
    clock = HostClock()
    part = FollowedPart(site or "+", pit or "+", table or "+", stories=bool(table))
    follower = FloorFollower(broker, part, lambda: clock.now().boottime_ns, SystemRandom(), Silent())
    with suppress(KeyboardInterrupt):
        asyncio.run(_watch(follower, Telling(language, clock), story=bool(table)))


class Silent:
    """A log that prints nothing, because the screen shows the same."""

    def info(self, event: str, **values: Any) -> None:
        """Ignore the event."""

    def warning(self, event: str, **values: Any) -> None:
        """Print that the broker is away, unless a screen is drawn."""
        if "sentence" in values and not in_terminal():
            say(message("{parts:sentences}", parts=(values["sentence"], values["hint"])))


async def _watch(follower: FloorFollower, telling: Telling, *, story: bool) -> None:
    show = _draw if in_terminal() else _print
    both = [asyncio.create_task(one) for one in (follower.run(), show(follower, telling, story=story))]
    try:
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for one in both:
            if one.done():
                one.result()
    finally:
        for one in both:
            one.cancel()
        await asyncio.gather(*both, return_exceptions=True)


async def _draw(follower: FloorFollower, telling: Telling, *, story: bool) -> None:
    from rich.live import Live

    from controller.commands.floor.screen import FloorScreen

    screen = FloorScreen(follower, telling, story=story)
    with Live(auto_refresh=False) as live:
        while True:
            live.update(screen.render(live.console.width, live.console.height - 1), refresh=True)
            await asyncio.sleep(LEAST_BETWEEN)
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAWN_EVERY - LEAST_BETWEEN):
                    await follower.news()


async def _print(follower: FloorFollower, telling: Telling, *, story: bool) -> None:

    lines = FloorLines(follower, telling, story=story)
    while follower.floor.away and not follower.floor.why:
        await follower.news()
    await asyncio.sleep(AFTER)
    while True:
        for line in lines.new():
            write_out(line)
        await follower.news()


class FloorLines:
    """Lines about changes on the floor. With `story` they include the events at the tables."""

    def __init__(self, follower: FloorFollower, telling: Telling, *, story: bool) -> None:
        self._follower = follower
        self._telling = telling
        self._story = story
        self._matters: dict[str, Matter] = {}
        self._headline = ""
        self._said: set[str] = set()

    def new(self) -> Iterator[str]:
        """Yield the matters that have come up since the last call."""
        floor, telling = self._follower.floor, self._telling
        sentence, _ = telling.headline(floor)
        if sentence != self._headline:
            self._headline = sentence
            yield sentence
        matters = {one.key: one for one in floor.matters}
        for key, matter in matters.items():
            if key not in self._matters:
                yield f"{matter.row}: {telling.about(matter)}"
        for key, matter in self._matters.items():
            if key not in matters:
                yield f"{matter.row}: {telling.say('said.over', what=telling.about(matter))}"
        self._matters = matters
        if self._story:
            yield from self._what_happened()

    def _what_happened(self) -> Iterator[str]:
        said: set[str] = set()
        for place in self._follower.floor.tables:
            for line in reversed(story_lines(self._follower, place, self._telling.speaker)):
                key = f"{'/'.join(place)} {line.key}"
                said.add(key)
                if key not in self._said:
                    yield f"{'/'.join(place)}: {self._telling.time(line.utc_ns, seconds=True)} {line.text}"
        self._said = said
