"""`cardshoe floor try`: starts a whole floor with servers from Debian packages, and shuts it down again."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from asyncio import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from controller.commands.floor.floor_options import driver
from controller.commands.text import write_out
from controller.problems import ProblemError
from firmware_bridge.messages import counted, message

if TYPE_CHECKING:
    from simulators.floor_trial.servers import Servers
    from simulators.floor_trial.trial import FloorTrial, Stored

ENDLESS: Final = 100_000  # rounds at each table, until Ctrl-C
MOST: Final = 16  # tables


@click.command(name="try")
@click.option("--tables", type=click.IntRange(1, MOST), default=4, show_default=True, help="How many.")
@click.option("--rounds", type=click.IntRange(1, ENDLESS),
              help="The number of rounds at each table; the command ends when all of them are in the store.  "
                  "[default: until Ctrl-C]")  # fmt: skip
@click.option("--seed", type=int, default=7, show_default=True, help="The seed of decks, boxes, mishaps and choices.")
@click.option("--fast", is_flag=True, help="Without waiting: motions and people take no time.")
@click.option("--open", "console", is_flag=True, help="Open the floor's page in a browser.")
def try_floor(tables: int, rounds: int | None, seed: int, fast: bool, console: bool) -> None:
    """Try a whole floor on this machine: broker, database, store, page, and tables that simulated people deal.

    It needs the Debian packages mosquitto and postgresql, and the extra floor (requirements-floor.txt). Everything runs
    in a folder of its own under the user's temporary files, reached from this machine alone, and is taken down again at
    the end. A broker that you kill runs again after ten seconds.
    """
    from simulators.demo.processes import StageError
    from simulators.floor_trial.servers import find_servers

    servers = find_servers()
    with driver():
        import psycopg  # noqa: F401  # needed by the store; fails before anything is started
    with tempfile.TemporaryDirectory(prefix="cardshoe-floor-") as name, suppress(KeyboardInterrupt, CancelledError):
        try:
            asyncio.run(_run(Path(name), servers, tables, rounds, seed, fast=fast, console=console))
        except StageError as error:
            raise ProblemError(error) from error


async def _run(
    folder: Path, servers: Servers, tables: int, rounds: int | None, seed: int, *, fast: bool, console: bool
) -> None:
    import webbrowser

    from simulators.floor_trial.trial import floor_trial

    _end_once_by_signal()
    async with floor_trial(folder, servers, tables=tables, rounds=rounds or ENDLESS, seed=seed, fast=fast) as floor:
        write_out(message("The floor: {address}", address=floor.page))
        watch = f"cardshoe floor watch --broker localhost:{floor.broker.port}"
        write_out(message("In a terminal: {command}", command=watch))
        write_out(message("The database: {command}", command=f"psql '{floor.database}'"))
        if rounds is None:
            write_out(message("Ctrl-C takes it down."))
        else:
            each = counted("1 round", "{count} rounds", rounds)
            write_out(counted("1 table with {rounds}.", "{count} tables with {rounds} each.", tables, rounds=each))
        if console and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
            await asyncio.to_thread(webbrowser.open, floor.page)
        if rounds is None:
            await floor.unless_one_fails(asyncio.Event().wait())
        for one in await floor.unless_one_fails(_until_stored(floor)):
            alarms = counted("1 alarm", "{count} alarms", one.alarms)
            stored = message(
                "{name}: in the store up to entry {entry}, {alarms}",
                name=one.table, entry=f"{one.entry:,}", alarms=alarms,
            )  # fmt: skip
            write_out(stored)


def _end_once_by_signal() -> None:
    """Cancel the running task at the first signal.

    Further signals are ignored, because they would leave processes behind, and none interrupts a write, which Python
    would repeat at its end.
    """
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None

    def end() -> None:
        if not task.cancelling():
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # SIGHUP: the terminal was closed
        loop.add_signal_handler(number, end)


async def _until_stored(floor: FloorTrial) -> list[Stored]:
    """Wait until all rounds are played and in the store."""
    from simulators.floor_trial.trial import until_stored

    ends = await asyncio.gather(*(table.finished_at() for table in floor.tables.values()))
    return await until_stored(floor.database, dict(zip(floor.tables, ends, strict=True)))
