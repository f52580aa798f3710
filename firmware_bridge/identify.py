"""Ask a device who it is: open it, do the handshake, hear its identity, let it go. Nothing is acknowledged or told."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
from collections.abc import Callable

import msgspec
import structlog

from firmware_bridge.capabilities import DeviceIdentity, shortcomings
from firmware_bridge.device_policy import ANY_DEVICE
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import DeviceReady, Driver, Heard, LinkOver
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.errors import BridgeError
from firmware_bridge.link import Link, LinkState
from firmware_bridge.link_keeper import wait_for_event
from firmware_bridge.transports.base import OpenTransport
from firmware_bridge.transports.registry import open_transport


class Account(msgspec.Struct, frozen=True):
    """What a device said of itself, or why it did not: then `code`, `sentence` and `hint` say so and there is no
    identity. `cannot`: what it cannot tell or do, and what happens instead."""

    identity: DeviceIdentity | None
    cannot: tuple[str, ...] = ()
    code: str = ""
    sentence: str = ""
    hint: str = ""


async def ask(
    url: DeviceUrl, key_of: Callable[[str], bytes | None], *, open_transport: OpenTransport = open_transport
) -> Account:
    """Ask the device at `url`, for as long as its driver's handshake takes. What it reports meanwhile it keeps."""
    clock = asyncio.get_running_loop().time
    heard: asyncio.Queue[Heard] = asyncio.Queue()

    async def wait(event: asyncio.Event, deadline: float) -> None:
        await wait_for_event(event, deadline - clock())

    def on_state(state: LinkState) -> None:
        """Only the outcome counts."""

    def make_driver(now: float) -> Driver:
        return make(DriverSetting(secrets.token_bytes(16), url.line, key_of), now)

    try:
        make = load_driver(url.driver)
    except BridgeError as error:
        return Account(None, code=error.code, sentence=str(error), hint=error.hint)
    link = Link(
        clock=clock,
        wait=wait,
        deliver=heard.put_nowait,
        on_state=on_state,
        log=structlog.wrap_logger(structlog.PrintLogger(sys.stderr)),  # a fault of ours only
        trust=ANY_DEVICE,
    )
    living = asyncio.create_task(link.live(open_transport, url, make_driver))
    hearing = asyncio.create_task(heard.get())
    try:
        await asyncio.wait({living, hearing}, return_when=asyncio.FIRST_COMPLETED)
        first = hearing.result() if hearing.done() else None
    finally:
        for task in (living, hearing):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        over = link.finish()
    return _account(first, over, link.hint)


def _account(first: Heard | None, over: LinkOver, hint: str) -> Account:
    if isinstance(first, DeviceReady):
        return Account(first.identity, shortcomings(first.identity.capabilities))
    return Account(None, code=over.code, sentence=over.sentence, hint=hint)
