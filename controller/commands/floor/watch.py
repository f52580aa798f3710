"""`cardshoe floor watch`: the floor in a terminal."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from typing import TYPE_CHECKING, Any, Final

import click

from controller.commands.floor.options import broker_options, find_broker, place_options
from controller.commands.language import language_option
from controller.commands.text import in_terminal, write_out

if TYPE_CHECKING:
    from controller.commands.floor.telling import Telling
    from controller.floor.follower import FloorFollower

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

    Open irregularities come first, the oldest on top. With --table also what happens at that table. It goes on while
    the broker is away. Interrupt to end.
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
            click.echo(f"{values['sentence']} {values['hint']}", err=True)


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
    from controller.commands.floor.lines import FloorLines

    lines = FloorLines(follower, telling, story=story)
    while follower.floor.away and not follower.floor.why:
        await follower.news()
    await asyncio.sleep(AFTER)
    while True:
        for line in lines.new():
            write_out(line)
        await follower.news()
