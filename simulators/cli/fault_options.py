"""The fault options of `cardshoe simulate`: reads them, arms the faults, and runs the console that arms more."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import msgspec

from controller.commands.text import write_out
from controller.problems import BadInputError
from firmware_bridge.messages import AnyText, message
from simulators.cli.fault_console import Console, converse
from simulators.devices.fault_injection import PRESETS, FaultInjector
from simulators.devices.faults import BadFaultError, ChosenFault, parse_fault
from simulators.ports.outlets import Outlet, Place, PluggedIn, plugged_in


class FaultOptions(msgspec.Struct, frozen=True):
    """The fault options. With `console`, standard input is read."""

    faults: tuple[ChosenFault, ...] = ()
    preset: str = ""
    console: bool = False

    @property
    def of_cards(self) -> bool:
        """Return whether faults concern cards, not only the line."""
        return bool(self.preset or self.console or any(chosen.fault.of_cards for chosen in self.faults))


def read_fault_options(faults: tuple[str, ...], preset: str | None, console: bool | None) -> FaultOptions:
    """Read the options. By default there is a console in a terminal. Raise `BadInputError` if an option is invalid."""
    try:
        chosen = tuple(parse_fault(text) for text in faults)
    except BadFaultError as error:
        raise BadInputError(error) from error
    return FaultOptions(chosen, preset or "", sys.stdin.isatty() if console is None else console)


@asynccontextmanager
async def running(
    injector: FaultInjector,
    options: FaultOptions,
    place: Place,
    say: Callable[[AnyText], None] = write_out,
) -> AsyncGenerator[PluggedIn, None]:
    """Yield the device at its front end with these faults armed. Raise `BadInputError` and OSError."""
    try:
        for chosen in options.faults:
            injector.arm(chosen)
        if options.preset:
            injector.use(PRESETS[options.preset])
    except BadFaultError as error:
        raise BadInputError(error) from error
    tasks: set[asyncio.Task[None]] = set()
    async with plugged_in(injector, place, say) as found:
        outlet = found.outlet
        injector.line.on_cut = lambda: tasks.add(
            asyncio.create_task(_pull(injector, outlet, say, stays_out=options.console))
        )
        injector.on_hub_reset = lambda: tasks.add(asyncio.create_task(_pull(injector, outlet, say, stays_out=False)))
        if options.console:
            tasks.add(asyncio.create_task(converse(Console(injector, outlet), sys.stdin.fileno(), say)))
        try:
            yield found
        finally:
            for task in tasks:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def _pull(injector: FaultInjector, outlet: Outlet, say: Callable[[AnyText], None], *, stays_out: bool) -> None:
    """Pull the cable. If no console can plug it in again, plug it in immediately."""
    await outlet.unplug()
    if stays_out:
        say(message("The cable came out in the middle of a frame. `plug` puts it in."))
    else:
        injector.line.join()
        try:
            await outlet.plug()
        except OSError as error:
            why = error.strerror or str(error)
            say(
                message(
                    "The cable came out and cannot be put in again: {why}. Start `cardshoe simulate` again.", why=why
                )
            )
