"""The outlets for a device of `cardshoe simulate` (a pseudo-terminal, a TCP port or USB/IP) and its cable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple, Protocol

from firmware_bridge.device_url import DEFAULT_DRIVER
from firmware_bridge.messages import AnyText
from simulators.devices.fault_injection import FaultInjector
from simulators.ports.pty import PtyFront
from simulators.ports.tcp import TcpFront
from simulators.ports.usbip import UsbIpFront
from simulators.usb.descriptors import UsbDescription
from simulators.usb.usb_device import UsbDeviceSide
from simulators.usb.usb_front import UsbFront


class Outlet(Protocol):
    """A place where a device can be plugged in."""

    @property
    def plugged(self) -> bool: ...

    async def plug(self) -> None:
        """Plug the device in. Raise OSError if that fails."""

    async def unplug(self) -> None: ...


class PtyOutlet:
    """A pseudo-terminal under a path."""

    def __init__(self, front: PtyFront) -> None:
        self._front = front

    @property
    def plugged(self) -> bool:
        return self._front.plugged

    async def plug(self) -> None:
        self._front.plug()

    async def unplug(self) -> None:
        self._front.unplug()


class Place(NamedTuple):
    """A place to plug in: USB/IP at that host and port, else TCP, else a pseudo-terminal under that path."""

    link: Path
    tcp: tuple[str, int] | None = None
    usbip: tuple[str, int] | None = None


class PluggedIn(NamedTuple):
    """A plugged-in device. `url` opens it. `hint` says what a person must do first, if anything."""

    url: str
    outlet: Outlet
    hint: str = ""


@asynccontextmanager
async def plugged_in(
    injector: FaultInjector, place: Place, say: Callable[[AnyText], None] = lambda line: None
) -> AsyncGenerator[PluggedIn, None]:
    """Yield the device behind its line at its front end. `say` is called with a line for each USB/IP client that is
    refused.

    Raise OSError.
    """
    if place.usbip is not None:
        async with _on_usb(injector, place.usbip, say) as found:
            yield found
    elif place.tcp is not None:
        listening = TcpFront(injector.line, *place.tcp)
        await listening.plug()
        try:
            yield PluggedIn(listening.url, listening)
        finally:
            await listening.unplug()
    else:
        front = PtyFront(injector.line, place.link)
        front.plug()
        carrier = asyncio.create_task(front.run())
        try:
            yield PluggedIn(f"serial://{place.link}", PtyOutlet(front))
        finally:
            carrier.cancel()
            with suppress(asyncio.CancelledError):
                await carrier


@asynccontextmanager
async def _on_usb(
    injector: FaultInjector, where: tuple[str, int], say: Callable[[AnyText], None]
) -> AsyncGenerator[PluggedIn, None]:
    speaks_cardlink = injector.driver == DEFAULT_DRIVER
    description = UsbDescription(injector.mechanism.profile.serial, interrupt=speaks_cardlink)
    usb = UsbDeviceSide(description)
    front = UsbFront(injector.line, usb, device=injector.device, driver=injector.driver, plan=injector.usb)
    front.on_hub_reset = lambda: injector.on_hub_reset()
    server = UsbIpFront(front, usb, *where, say=say)
    await server.listen()
    try:
        await server.plug()
        url = f"usb:///{description.vendor:04x}:{description.product:04x}/{description.serial}"
        yield PluggedIn(url, server, server.command)
    finally:
        await server.close()
