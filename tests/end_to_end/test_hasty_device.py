"""A device on a real pseudo-terminal that sends reports without waiting for acknowledgements."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
import pytest_mock

from controller.api.client import ApiClient
from controller.daemon.device_guards import CODE, MOST_WAITING
from controller.table.events import DeviceLost
from controller.table.inputs import DeviceReported
from controller.table.operations import PauseTable
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink.messages import ButtonPressedReport
from simulators.devices import cardlink
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewClient
from simulators.ports.pty import PtyFront
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.silent_device import KEY, SERIAL
from tests.end_to_end.stage import Stage, short_folder

AT_ONCE = 500  # reports that are made as soon as the line has taken the previous ones
REPORTS = 40_000
GROWTH = 16 * 1024  # KiB of the daemon's memory; all those reports in its queue would take three times as much


class PatientPty(PtyFront):
    """A terminal that loses nothing: it writes later what a full line cannot take, and then calls `ran_dry`."""

    unsent = b""

    def ran_dry(self) -> None:
        """Called when nothing is left to write."""

    def _write(self, data: bytes) -> None:
        self.unsent += data
        if self.unsent and self.plugged:
            asyncio.get_running_loop().add_writer(self._master, self._go_on)

    def _go_on(self) -> None:
        with suppress(BlockingIOError):
            self.unsent = self.unsent[os.write(self._master, self.unsent) :]
        if not self.unsent:
            asyncio.get_running_loop().remove_writer(self._master)
            self.ran_dry()


class Hasty:
    """The device on its terminal."""

    def __init__(self, port: Path) -> None:
        self._clock = asyncio.get_running_loop().time
        profile = Profile("shuffler", SERIAL, full_capabilities("shuffler", stages=False), memory=REPORTS + 100)
        self.device = SimulatedDevice(
            profile, key=KEY, random=Random(1), fresh=Random(2), clock=self._clock, pace=Tempo(0)
        )
        self.front = PatientPty(self.device, port)
        self.front.ran_dry = self._report  # type: ignore[method-assign]
        self.left = 0

    def flood(self) -> None:
        self.left = REPORTS
        self._report()

    def _report(self) -> None:
        for _ in range(min(self.left, AT_ONCE)):
            self.left -= 1
            pressed = ButtonPressedReport(self.device.mechanism.clock.uptime_ms, "x" * 32)
            self.device.link.report(pressed, self._clock())
        self.device.changed()


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            yield stage


def memory(pid: int) -> int:
    """Return the most KiB of memory that a process has used."""
    (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


async def test_a_device_that_ignores_its_window_is_refused(stage: Stage, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(cardlink, "WINDOW", REPORTS)
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    hasty = Hasty(stage.port)
    hasty.front.plug()
    carrying = asyncio.create_task(hasty.front.run())
    daemon = await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        await stage.events_until(client, "status_agrees")
        before = memory(daemon.pid)
        hasty.flood()
        await stage.events_until(client, "device_lost")
        view = await client.state()
        assert str(view.service_cause).startswith("The device has sent more reports than hands")
        voice = CrewClient(client, Random(5))
        assert not (await voice.send(voice.request(CREW[0], view.round, PauseTable("lunch")))).code
        assert memory(daemon.pid) < before + GROWTH
    carrying.cancel()
    assert await daemon.end() == 0
    evidence = Evidence(stage)
    assert [one.code for one in evidence.of(DeviceLost)] == [CODE]
    reported = sum(isinstance(entry.value, DeviceReported) for entry in evidence._entries)
    assert hasty.device.link.last_number > reported + MOST_WAITING
