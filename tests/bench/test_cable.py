"""A simulated cable that cannot be plugged in again reports this, and does not stay unplugged silently."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from random import Random

from firmware_bridge.messages import AnyText
from simulators.cli.fault_options import FaultOptions, running
from simulators.devices.bee_tek import BeeTekDevice
from simulators.devices.fault_injection import FaultInjector
from simulators.devices.faults import parse_fault
from simulators.ports.outlets import Place

PATIENCE = 20.0  # seconds until the test fails


async def test_the_place_where_it_was_plugged_in_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "soon gone"
    folder.mkdir()
    device = BeeTekDevice(random=Random(1))
    injector = FaultInjector(device, driver="bee_tek", seed=1, clock=asyncio.get_running_loop().time)
    said: asyncio.Queue[AnyText] = asyncio.Queue()
    options = FaultOptions((parse_fault("unplug@1"),))
    async with running(injector, options, Place(folder / "device"), said.put_nowait):
        device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
        shutil.rmtree(folder)
        device.mechanism.draw()
        async with asyncio.timeout(PATIENCE):
            assert "cannot be put in again" in str(await said.get())
