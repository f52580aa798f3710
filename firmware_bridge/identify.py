"""Asks a device for its identity: connect, do the handshake, disconnect. No acknowledgement or command is sent."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys

import msgspec
import structlog

from firmware_bridge.capabilities import DeviceIdentity, KeyUsed, shortcomings
from firmware_bridge.device_keys import DeviceKeys
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import Driver, Heard, LinkOver, LinkReady
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import ANY_DEVICE, DriverSetting
from firmware_bridge.errors import BridgeError
from firmware_bridge.link import Link, LinkState
from firmware_bridge.link_keeper import wait_for_event
from firmware_bridge.messages import AnyText
from firmware_bridge.transports.base import OpenTransport
from firmware_bridge.transports.registry import open_transport


class Identification(msgspec.Struct, frozen=True):
    """A device's identity, or None with `code`, `sentence` and `hint`. `cannot` has a sentence for each capability that
    it lacks; `key` says which of two keys it has."""

    identity: DeviceIdentity | None
    cannot: tuple[AnyText, ...] = ()
    code: str = ""
    sentence: AnyText = ""
    hint: AnyText = ""
    key: KeyUsed = ""


async def identify(
    url: DeviceUrl, keys: DeviceKeys, *, open_transport: OpenTransport = open_transport
) -> Identification:
    """Ask the device at `url`, for as long as its driver's handshake takes. No report is acknowledged."""
    clock = asyncio.get_running_loop().time
    heard: asyncio.Queue[Heard] = asyncio.Queue()

    async def wait(event: asyncio.Event, deadline: float) -> None:
        await wait_for_event(event, deadline - clock())

    def on_state(state: LinkState) -> None:
        """Do nothing: only the outcome matters."""

    def make_driver(now: float) -> Driver:
        return make(DriverSetting(secrets.token_bytes(16), url.line, keys.get, next_key_of=keys.next.get), now)

    try:
        make = load_driver(url.driver)
    except BridgeError as error:
        return Identification(None, code=error.code, sentence=error.message, hint=error.hint)
    link = Link(
        clock=clock,
        wait=wait,
        deliver=heard.put_nowait,
        on_state=on_state,
        log=structlog.wrap_logger(structlog.PrintLogger(sys.stderr)),  # logs only bugs
        policy=ANY_DEVICE,
    )
    running = asyncio.create_task(link.run(open_transport, url, make_driver))
    first_heard = asyncio.create_task(heard.get())
    try:
        await asyncio.wait({running, first_heard}, return_when=asyncio.FIRST_COMPLETED)
        first = first_heard.result() if first_heard.done() else None
    finally:
        for task in (running, first_heard):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        over = link.finish()
    return _identification(first, over, link.hint)


def _identification(first: Heard | None, over: LinkOver, hint: AnyText) -> Identification:
    if isinstance(first, LinkReady):
        return Identification(first.identity, shortcomings(first.identity.capabilities), key=first.key)
    return Identification(None, code=over.code, sentence=over.sentence, hint=hint)
