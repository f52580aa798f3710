"""What `cardshoe simulate` was told to let go wrong, armed at a device, and the console that arms more."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import click
import msgspec

from controller.commands.main import BadInputError
from simulators.cli.fault_console import Console, Outlet, converse
from simulators.devices.fault_injection import Rig
from simulators.devices.fault_presets import PRESETS
from simulators.devices.faults import BadFaultError, ChosenFault, parse_fault
from simulators.ports.outlets import plugged_in


class Trouble(msgspec.Struct, frozen=True):
    """`console`: standard input is read."""

    faults: tuple[ChosenFault, ...] = ()
    preset: str = ""
    console: bool = False

    @property
    def of_cards(self) -> bool:
        """Whether cards, and not only the line, are concerned."""
        return bool(self.preset or self.console or any(chosen.fault.arms for chosen in self.faults))


def read_trouble(faults: tuple[str, ...], preset: str | None, console: bool | None) -> Trouble:
    """What the options say; without a word about it there is a console in a terminal. Raises `BadInputError`."""
    try:
        chosen = tuple(parse_fault(text) for text in faults)
    except BadFaultError as error:
        raise BadInputError(str(error), error.hint) from error
    return Trouble(chosen, preset or "", sys.stdin.isatty() if console is None else console)


@asynccontextmanager
async def running(
    rig: Rig, trouble: Trouble, link: Path, tcp: tuple[str, int] | None, say: Callable[[str], None] = click.echo
) -> AsyncGenerator[str, None]:
    """The rig at its front end with all of this armed; gives the URL. Raises `BadInputError`, OSError."""
    try:
        for chosen in trouble.faults:
            rig.arm(chosen)
        if trouble.preset:
            rig.use(PRESETS[trouble.preset])
    except BadFaultError as error:
        raise BadInputError(str(error), error.hint) from error
    tasks: set[asyncio.Task[None]] = set()
    async with plugged_in(rig.line, link, tcp) as (url, outlet):
        rig.line.on_cut = lambda: tasks.add(asyncio.create_task(_pull(rig, outlet, trouble, say)))
        if trouble.console:
            tasks.add(asyncio.create_task(converse(Console(rig, outlet), sys.stdin.fileno(), say)))
        try:
            yield url
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def _pull(rig: Rig, outlet: Outlet, trouble: Trouble, say: Callable[[str], None]) -> None:
    """The cable comes out, and where nobody could put it in by a word, in again."""
    await outlet.unplug()
    if trouble.console:
        say("The cable came out in the middle of a frame. `plug` puts it in.")
    else:
        rig.line.join()
        try:
            await outlet.plug()
        except OSError as error:
            say(f"The cable came out and cannot be put in again: {error.strerror or error}. Start it anew.")
