"""Where a device of `cardshoe simulate` is plugged in: a pseudo-terminal or a TCP port; and its cable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Protocol

from simulators.devices.base import DeviceSide
from simulators.ports.pty import PtyFront
from simulators.ports.tcp import TcpFront


class Outlet(Protocol):
    """Where a device is plugged in."""

    @property
    def plugged(self) -> bool: ...

    async def plug(self) -> None:
        """Raises OSError."""

    async def unplug(self) -> None: ...


class PtyOutlet:
    """A pseudo-terminal under that path."""

    def __init__(self, front: PtyFront) -> None:
        self._front = front

    @property
    def plugged(self) -> bool:
        return self._front.plugged

    async def plug(self) -> None:
        self._front.plug()

    async def unplug(self) -> None:
        self._front.unplug()


@asynccontextmanager
async def plugged_in(
    device: DeviceSide, link: Path, tcp: tuple[str, int] | None
) -> AsyncGenerator[tuple[str, Outlet], None]:
    """The device at its front end; gives its URL and the outlet. Raises OSError."""
    if tcp is not None:
        listening = TcpFront(device, *tcp)
        await listening.plug()
        try:
            yield listening.url, listening
        finally:
            await listening.unplug()
        return
    front = PtyFront(device, link)
    front.plug()
    carrier = asyncio.create_task(front.run())
    try:
        yield f"serial://{link}", PtyOutlet(front)
    finally:
        carrier.cancel()
        with suppress(asyncio.CancelledError):
            await carrier
