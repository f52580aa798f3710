"""At a real table: a device with the right key that reports without end, and one that returns with stored reports."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from random import Random

import msgspec
import pytest

from controller.api.client import ApiClient
from controller.api.pins import SALT, hash_pin
from controller.api.view import TableView
from controller.daemon.device_guards import AT_ONCE, CODE
from controller.table.events import DeviceLost
from controller.table.inputs import DeviceConnected, DeviceReported
from controller.table.operations import ReturnToService
from controller.table.phases import Service
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink.messages import ButtonPressedReport
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewClient
from simulators.ports.tcp import TcpFront
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.silent_device import KEY, SERIAL, Handled
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_other_ways import make_real

SUPERVISOR = CREW[1]
AHEAD = 200  # reports that the flood has ready
KEPT = 2_000  # reports of a long outage: twice the memory of a device


class Flood:
    """A device that claims to be real, at a TCP port, and a daemon of a real table."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._clock = asyncio.get_running_loop().time
        self.device = SimulatedDevice(
            Profile("shuffler", SERIAL, full_capabilities("shuffler", stages=False), memory=KEPT + 100),
            key=KEY, random=Random(1), fresh=Random(2), clock=self._clock, pace=Tempo(0),
        )  # fmt: skip
        identity = self.device.mechanism.identity
        self.device.mechanism.identity = lambda: msgspec.structs.replace(  # type: ignore[method-assign]
            identity(), simulated=False
        )
        self.side = Handled(self.device)
        self.front = TcpFront(self.side)
        self._links = 0
        hear = self.front.admits

        def admits(connection: asyncio.Transport) -> bool:
            self._links += 1
            self._news.set()
            return hear(connection)

        self.front.admits = admits  # type: ignore[method-assign]
        self.left = 0  # reports still to be sent
        self._news = asyncio.Event()
        self.side.received = self._go_on

    def _go_on(self) -> None:
        while self.left and self.device.link.unacknowledged < AHEAD:
            self.report(1)
            self.left -= 1
        self._news.set()

    def report(self, count: int) -> None:
        for _ in range(count):
            self.device.link.report(ButtonPressedReport(self.device.mechanism.clock.uptime_ms, "x" * 32), self._clock())
        self.device.changed()

    async def start(self) -> None:
        write_device_keys(self.stage.device_keys, {SERIAL: KEY})
        await self.front.plug()
        self.stage.configure(url=self.front.url)
        make_real(self.stage)
        text = self.stage.configuration.read_text()
        right = f'\\1"{hash_pin(SUPERVISOR.pin, bytes(SALT))}"'
        self.stage.configuration.write_text(re.sub(rf'(id = "{SUPERVISOR.id}"[^[]*?pin_hash = )".*?"', right, text))
        await self.stage.start_daemon()

    def flood(self, count: int) -> None:
        self.left = count
        self._go_on()

    async def asked_again(self) -> None:
        """Wait until the host has connected, or tried to, two more times."""
        for _ in range(2):
            links = self._links
            async with asyncio.timeout(PATIENCE):
                while self._links == links:
                    self._news.clear()
                    await self._news.wait()

    async def done(self, client: ApiClient) -> TableView:
        """Return the state once everything is acknowledged and reconciled, or the device is refused.

        The last report is acknowledged before the device's next status ends the reconciliation.
        """
        async with asyncio.timeout(4 * PATIENCE):
            while True:
                self._news.clear()
                idle = not self.left and self.device.idle
                view = await client.state()
                reconciled = idle and view.service != Service.RECONCILING
                if reconciled or str(view.service_cause).startswith("The device has sent more"):
                    return view
                await self._news.wait()


@pytest.fixture
async def flood() -> AsyncIterator[Flood]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            made = Flood(stage)
            yield made
            await made.front.unplug()


def journaled(stage: Stage, kind: type) -> int:
    """Return the number of journaled inputs of that kind."""
    return sum(isinstance(entry.value, kind) for entry in Evidence(stage)._entries)


async def test_a_device_that_floods_is_refused_until_a_person_returns_the_table(flood: Flood) -> None:
    stage = flood.stage
    await flood.start()
    async with ApiClient(stage.socket) as client:
        flood.flood(AT_ONCE + 2_000)
        view = await flood.done(client)
        assert (view.service, flood.left > 0) == ("out_of_service", True)
        assert str(view.next_step).startswith("Call the pit supervisor: the shuffler cannot be used.")
        await flood.asked_again()
        assert (await client.state()).entry == view.entry
        voice = CrewClient(client, Random(5))
        assert (await voice.send(voice.request(SUPERVISOR, view.round, ReturnToService()))).accepted
        view = await flood.done(client)
        assert (view.service, flood.left, flood.device.link.unacknowledged) == ("in_service", 0, 0)
    assert await stage.daemon.end() == 0
    assert journaled(stage, DeviceReported) == flood.device.link.last_number
    assert journaled(stage, DeviceConnected) == 2
    assert [one.code for one in Evidence(stage).of(DeviceLost)] == [CODE, "returned-to-service", "link-stopped"]


async def test_reports_that_a_device_kept_over_an_outage_are_taken(flood: Flood) -> None:
    flood.report(KEPT)
    await flood.start()
    async with ApiClient(flood.stage.socket) as client:
        view = await flood.done(client)
    assert (view.service, view.device.connected, flood.device.link.unacknowledged) == ("in_service", True, 0)
    assert await flood.stage.daemon.end() == 0
    assert journaled(flood.stage, DeviceReported) == flood.device.link.last_number > KEPT
