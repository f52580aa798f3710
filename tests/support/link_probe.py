"""A program that keeps a link to the device at a URL and prints what it receives, one JSON object a line, until ended.

    python -m tests.support.link_probe usb:///1209:0001/CARDSHOE-1 KEY_IN_HEX [system]

`system` uses the system's libusb instead of the one in a Python package. The packaged libusb learns of plugs only from
the kernel, but umockdev imitates only udev. The program uses the project's link keeper, transports and hot-plug watch,
and nothing else from the tests.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from functools import partial
from random import Random
from time import monotonic
from typing import Any

import msgspec
from usb.backend.libusb1 import get_backend

from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.base import Heard, Reported
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.hotplug import watch
from firmware_bridge.link_keeper import Health, LinkKeeper
from firmware_bridge.transports.registry import open_transport
from firmware_bridge.transports.usb import open_usb_device


def say(**what: Any) -> None:
    sys.stdout.write(msgspec.json.encode(what).decode() + "\n")
    sys.stdout.flush()


class Probe:
    def __init__(self, url: str, key: bytes, *, system: bool) -> None:
        self._held = (0, 0)
        self._state = ""
        self._keeper = LinkKeeper(
            parse_device_url(url),
            make_driver=lambda now: CardlinkHost(
                nonce=os.urandom(16), key_of=lambda serial: key, held=self._held, now=now
            ),
            deliver=self._deliver,
            on_health=self._on_health,
            clock=monotonic,
            random=Random(7),
            open_transport=partial(open_usb_device, find_backend=get_backend) if system else open_transport,
        )
        self._url = parse_device_url(url)

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self._keeper.run()), loop.create_task(watch(self._url, self._keeper.try_now))]
        ended = asyncio.Event()
        loop.add_reader(0, ended.set)  # end of standard input: a request to end, or the parent has ended
        await ended.wait()
        loop.remove_reader(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for thread in threading.enumerate():
            if thread.name.startswith("cardshoe-usb"):
                await asyncio.to_thread(thread.join)  # gives the device back

    def _deliver(self, heard: Heard) -> None:
        if isinstance(heard, Reported):
            self._held = (heard.boot, heard.number)
            self._keeper.acknowledge(heard.boot, heard.number)
            say(reported=type(heard.observation).__name__, number=heard.number)

    def _on_health(self, health: Health) -> None:
        if health.state.value != self._state:
            self._state = health.state.value
            say(state=self._state, code=health.code, sentence=health.sentence)


if __name__ == "__main__":
    asyncio.run(Probe(sys.argv[1], bytes.fromhex(sys.argv[2]), system="system" in sys.argv).run())
