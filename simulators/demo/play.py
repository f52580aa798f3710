"""Runs the demonstration: the plan of its seed, the processes, and their events, followed to the end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from controller.api.bodies import BEGINNING
from controller.api.client import ApiClient
from controller.api.narration import line_of
from controller.commands.vocabulary import words_of
from controller.games.specification import Unit
from controller.language import ENGLISH, Speaker
from firmware_bridge.messages import message
from firmware_bridge.plain_text import plain
from simulators.demo.account import RunAccount
from simulators.demo.known_screens import enrol, known, place, remember
from simulators.demo.stage import DemoStage, free_port
from simulators.people.crew import CREW
from simulators.people.plan import plan_rounds

NOT_REPEATABLE: Final = frozenset(
    {"utc_ns", "boot", "start", "host_boot", "uid", "commitment", "salt", "configuration"}
)


class DemoOptions(msgspec.Struct, frozen=True):
    game_id: str
    rounds: int
    fast: bool
    seed: int
    unit: Unit
    on_removal: bool
    stages: bool
    wagers: bool
    as_json: bool
    full: bool
    console: bool  # people may watch in a browser
    visitor: bool  # a person deals there
    supervisor_after: float  # seconds until a simulated supervisor decides
    port: int  # the preferred port of the console
    language: str = ENGLISH


async def play(asked: DemoOptions) -> RunAccount:
    """Show the run on the screen or as lines, and return its account. Raise `StageError`."""
    plan = plan_rounds(
        asked.seed, asked.unit, asked.rounds, game_id=asked.game_id, stages=asked.stages, wagers=asked.wagers
    )
    account = RunAccount(plan)
    options = [*(["--fast"] if asked.fast else []), *(["--on-removal"] if asked.on_removal else [])]
    options += [*([] if asked.stages else ["--no-stages"]), *(["--wagers"] if asked.wagers else [])]
    if asked.visitor:
        options += ["--hands", "--supervisor-after", str(asked.supervisor_after)]
    port = free_port(asked.port) if asked.console else 0
    with tempfile.TemporaryDirectory(prefix="cardshoe-demo-") as name:
        stage = DemoStage(
            Path(name),
            unit=asked.unit,
            seed=asked.seed,
            rounds=asked.rounds,
            options=options,
            game_id=asked.game_id,
            port=port,
            language=asked.language,
        )
        async with stage, ApiClient(stage.socket, language=asked.language) as client:
            if asked.visitor:
                await enrol(client, known(place()))
            if asked.console:
                await show_console(f"http://localhost:{port}/", Speaker(asked.language), visitor=asked.visitor)
            await _follow(asked, stage, client, account)
            if asked.visitor:
                ended = Speaker(asked.language)(message("All rounds dealt."))
                await client.show_seen(plain(ended))
                click.echo(ended)
            if asked.console and not asked.visitor:
                say = Speaker(asked.language)
                click.echo(say(message("All rounds are played. The console stays open until Ctrl-C.")))
                await asyncio.Event().wait()
    return account


async def _follow(asked: DemoOptions, stage: DemoStage, client: ApiClient, account: RunAccount) -> None:
    """Show events until the entry at which the simulated people finished: the device stays, so nothing follows."""
    live = not (asked.as_json or asked.visitor) and sys.stdout.isatty()
    stop = asyncio.Event()
    drawing = asyncio.create_task(_draw(client, stop, asked.language)) if live else None
    taken = FollowedTo()
    printed = None if live or asked.visitor else asked
    taking = asyncio.create_task(_take_events(client, account, taken, printed, _progress(asked)))
    try:
        end = await stage.finished_at(click.echo)
        while taken.entry < end and not taking.done():
            taken.news.clear()
            waiting = asyncio.create_task(taken.news.wait())
            await asyncio.wait({waiting, taking}, return_when="FIRST_COMPLETED")
            waiting.cancel()
        if taken.entry < end:
            stage.fail("run")
    finally:
        stop.set()
        if drawing is not None:
            await drawing
        taking.cancel()
        with suppress(asyncio.CancelledError):
            await taking


async def show_console(address: str, say: Speaker, *, visitor: bool) -> None:
    """Print where the console is, with what a visitor needs at it, and open it if there is a screen."""
    click.echo(say(message("The console: {address}", address=address)))
    if visitor:
        dealer, supervisor, manager = CREW
        lines = (
            message(
                'If the page shows "Enrol this screen", tap it: any name, id {id}, PIN {pin}. '
                "You are the dealer, {name}: PIN {own}.",
                id=supervisor.id,
                pin=supervisor.pin,
                name=dealer.name,
                own=dealer.pin,
            ),
            message(
                "{supervisor} and {manager} come when they are needed. When the screen asks for one of them, enter "
                "PIN {pin} for {supervisor} or {pin_of_manager} for {manager}.",
                supervisor=supervisor.name,
                manager=manager.name,
                pin=supervisor.pin,
                pin_of_manager=manager.pin,
            ),
            message("The cards move by themselves. What only your eyes could see is printed here, and on the page:"),
        )
        click.echo("\n".join(map(say, lines)))
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin":
        await asyncio.to_thread(webbrowser.open, address)  # waits for a browser that runs in a terminal


def _progress(asked: DemoOptions) -> Callable[[int], None] | None:
    """Return a function that shows progress on the terminal while stdout goes elsewhere, or None if it is not
    needed.
    """
    if asked.visitor or sys.stdout.isatty() or not sys.stderr.isatty():
        return None
    say = Speaker(asked.language)

    def show(round_number: int) -> None:
        end = "\n" if round_number >= asked.rounds else ""
        done = message("round {done} of {rounds}", done=round_number, rounds=asked.rounds)
        sys.stderr.write(f"\r{say(done)}{end}")
        sys.stderr.flush()

    return show


class FollowedTo:
    """The entry up to which events have been followed."""

    def __init__(self) -> None:
        self.entry = 0
        self.news = asyncio.Event()


async def _take_events(client: ApiClient, account: RunAccount, taken: FollowedTo, printed: DemoOptions | None,
                       progress: Callable[[int], None] | None = None) -> None:  # fmt: skip
    async for event in client.events():
        if event is not None:
            account.take(event)
            remember(event, place())
            if printed is not None:
                _print(event, printed)
            if event["event"] == "round_began" and progress is not None:
                progress(event["round"])
            taken.entry = event["entry"]
            taken.news.set()


async def _draw(client: ApiClient, stop: asyncio.Event, language: str) -> None:
    from controller.commands.table_display import show_live

    await show_live(client, BEGINNING, stop, language)


def _print(event: dict[str, Any], asked: DemoOptions) -> None:
    if asked.as_json:
        shown = event if asked.full else _repeatable(event)
        click.echo(json.dumps(shown, separators=(",", ":")))
    elif line := line_of(event, words_of(asked.game_id)):
        click.echo(Speaker(asked.language)(line))


def _repeatable(value: Any) -> Any:
    """Remove everything that does not depend on the seed alone."""
    if isinstance(value, dict):
        return {key: _repeatable(part) for key, part in value.items() if key not in NOT_REPEATABLE}
    return [_repeatable(part) for part in value] if isinstance(value, list) else value
