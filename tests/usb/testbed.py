"""A simulated device on USB/IP and the umockdev testbed that has attached it, for tests that run in neither."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from simulators.devices.base import Tempo
from simulators.devices.fault_injection import FaultInjector
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.usbip import UsbIpFront
from simulators.usb.control import UsbPlan
from simulators.usb.descriptors import UsbDescription
from simulators.usb.usb_device import Transfer, UsbDeviceSide
from simulators.usb.usb_front import UsbFront
from tests.link.parts import KEY, Changes
from tests.link.rigs import SERIAL_NUMBER

ROOT = Path(__file__).parents[2]
BUS = ROOT / "tests" / "support" / "umockdev_bus.py"
BULK_URL = f"usb:///1209:0001/{SERIAL_NUMBER}"
SERIAL_URL = f"serial:///dev/cardshoe/{SERIAL_NUMBER}"


class Testbed:
    """The bus in a separate process. `said`: all output of it and its program, oldest first."""

    __test__ = False

    def __init__(self, process: asyncio.subprocess.Process, shoe: Shoe) -> None:
        self.shoe = shoe
        self.said: list[dict[str, Any]] = []
        self._process = process
        self._changes = shoe.changes

    async def attach(self) -> int:
        """Attach the device, and return its address."""
        seen = len(self.said)
        self._ask(attach=self.shoe.server.port)
        return int((await self.until(lambda one: "attached" in one, seen))["attached"])

    def run(self, *program: str) -> None:
        self._ask(run=list(program))

    def probe(self, url: str, *how: str) -> None:
        """Run the link probe there."""
        self.run(sys.executable, "-m", "tests.support.link_probe", url, KEY.hex(), *how)

    async def output(self, *program: str) -> tuple[int, str]:
        """Return exit code and standard output of a program that ends."""
        seen = len(self.said)
        self.run(*program)
        ended = await self.until(lambda one: "exit" in one, seen)
        return int(ended["exit"]), "\n".join(one["out"] for one in self.said[seen:] if "out" in one)

    async def stop(self, *, at_once: bool = False) -> None:
        """Stop the program, in an orderly way unless it is to be killed. A killed node is not opened again."""
        seen = len(self.said)
        self._ask(stop=at_once)
        await self.until(lambda one: "exit" in one, seen)

    async def wait(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition is true, here or there."""
        await self._changes.until(lambda: condition() or self._process.returncode is not None)
        assert condition(), f"it has ended: {self.said[-20:]}"

    async def settles(self) -> None:
        """Wait until the host has acknowledged all that the shoe has reported."""
        await self.wait(lambda: self.shoe.device.idle)

    async def heard(self, since: int = 0, **what: Any) -> dict[str, Any]:
        """Return the probe's next line with these fields, beginning at the line with that number."""
        return await self.until(lambda one: what.items() <= _of_probe(one).items(), since)

    async def until(self, wanted: Callable[[dict[str, Any]], bool], since: int = 0) -> dict[str, Any]:
        found: list[dict[str, Any]] = []

        def is_there() -> bool:
            found[:] = [one for one in self.said[since:] if wanted(one)]
            ended = any("exit" in one for one in self.said[since:])
            return bool(found) or ended or self._process.returncode is not None

        await self._changes.until(is_there)
        assert found, f"it has ended: {self.said[-20:]}"
        return found[0]

    async def follow(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            self.said.append(json.loads(line))
            self._changes.note()
        await self._process.wait()
        self._changes.note()

    async def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    def _ask(self, **what: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(what).encode() + b"\n")


def _of_probe(line: dict[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(line["out"]) if line.get("out", "").startswith("{") else {}
    return said


class NotingUsb(UsbDeviceSide):
    """A device that notes each transfer that begins or is sent. `sent`: the endpoints of those to the host."""

    def __init__(self, description: UsbDescription, changes: Changes) -> None:
        super().__init__(description)
        self.sent: list[int] = []
        self._changes = changes

    def send(self, data: bytes, endpoint: int, short: int = 0) -> None:
        self.sent.append(endpoint)
        super().send(data, endpoint, short)
        self._changes.note()

    def submit(self, transfer: Transfer) -> None:
        super().submit(transfer)
        self._changes.note()


class Shoe:
    """A shoe with a deck in it, on a USB/IP server of this process."""

    def __init__(self, description: UsbDescription) -> None:
        self.changes = Changes()
        loop = asyncio.get_running_loop()
        profile = Profile("shoe", SERIAL_NUMBER, full_capabilities("shoe"))
        self.device = SimulatedDevice(
            profile, key=KEY, random=Random(1), fresh=Random(2), clock=loop.time, pace=Tempo(0)
        )  # fmt: skip
        self.injector = FaultInjector(self.device, seed=1, clock=loop.time, usb=UsbPlan())
        self.usb = NotingUsb(description, self.changes)
        self.front = UsbFront(self.injector.line, self.usb, device=self.device, plan=self.injector.usb)
        self.server = UsbIpFront(self.front, self.usb, port=0)
        self.device.mechanism.load(self.device.mechanism.shuffled_by_hand(), deck=1)

    def draw(self) -> int:
        """Draw a card, and return the number of its report."""
        self.device.mechanism.draw(forced=True)
        return self.device.link.last_number


@asynccontextmanager
async def attached(description: UsbDescription | None = None) -> AsyncIterator[Testbed]:
    """Yield a testbed that has attached a shoe."""
    shoe = Shoe(description or UsbDescription(SERIAL_NUMBER))
    await shoe.server.listen()
    await shoe.server.plug()
    wrapper = shutil.which("umockdev-wrapper")
    assert wrapper is not None
    process = await asyncio.create_subprocess_exec(
        wrapper, "/usr/bin/python3", str(BUS), cwd=ROOT, env={**os.environ, "PYTHONPATH": ""},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    testbed = Testbed(process, shoe)
    following = asyncio.create_task(testbed.follow())
    try:
        await testbed.attach()
        yield testbed
    finally:
        await testbed.end()
        await following
        await shoe.server.close()
