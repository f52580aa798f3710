"""The bench as a pytest plug-in: `pytest --device URL` runs the conformance class against what the URL names.

Without `--device` the same tests run against a simulated shuffler on a pseudo-terminal.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cardshoe")
    group.addoption("--device", metavar="URL", help="the device on the bench; a simulator unless given")
    group.addoption("--device-keys", metavar="FILE", help="its key file (docs/bench.md)")


@pytest_asyncio.fixture
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[object, None]:
    """A `simulators.bench.Bench`, its link not yet waited for. The simulator has a deck in it; so should a device."""
    import asyncio

    from firmware_bridge.cards import DECK
    from firmware_bridge.device_keys import read_device_keys
    from simulators.bench import open_bench, seeded, simulated_device
    from simulators.device import SimulatedDevice
    from simulators.mechanism import Profile
    from simulators.pace import Pace
    from simulators.simulate import capabilities_of

    url = request.config.getoption("--device")
    if url:
        file = request.config.getoption("--device-keys")
        if not file:
            raise pytest.UsageError("Name the device's key file with --device-keys.")
        async with open_bench(url, read_device_keys(Path(file))) as made:
            yield made
        return
    key = b"bench" + bytes(27)
    profile = Profile("shuffler", "CARDSHOE-BENCH", capabilities_of("shuffler"))
    clock = asyncio.get_running_loop().time
    device = SimulatedDevice(profile, key=key, random=seeded(1), fresh=seeded(2), clock=clock, pace=Pace(0))
    device.mechanism.load(list(DECK), deck=1)
    async with (
        simulated_device(device, tmp_path / "device") as simulated,
        open_bench(simulated, {profile.serial: key}) as made,
    ):
        yield made
