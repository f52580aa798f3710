"""The bench as a pytest plug-in: `pytest --device URL` runs the conformance class against what the URL names.

Without `--device` the same tests run against a simulated shuffler on a pseudo-terminal.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_asyncio import fixture

    from firmware_bridge.cards import Card
    from firmware_bridge.device_url import DeviceUrl
    from simulators.bench.measurement import Measurement
else:
    fixture = pytest.fixture
    with suppress(ImportError):  # every pytest here loads this plug-in: without the extra `test` it must do no harm
        from pytest_asyncio import fixture

SAY: pytest.StashKey[Callable[[str], None]] = pytest.StashKey()
MEASURED: pytest.StashKey[list[Measurement]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cardshoe")
    group.addoption("--device", metavar="URL", help="the device on the bench; a simulator unless given")
    group.addoption("--device-keys", metavar="FILE", help="the file with its key")
    group.addoption("--device-cards", metavar="FILE", help="the table of a line reader's identifiers")
    group.addoption("--draws", metavar="N", type=int, default=0, help="how many cards a person will draw when asked")


@fixture
async def bench(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[object, None]:
    """A `Bench`, its link not yet waited for. The simulator has a deck in it; so should a device."""
    import asyncio

    from firmware_bridge.cards import DECK
    from simulators.bench.bench import open_bench, seeded, simulated_device
    from simulators.devices.mechanism import Profile, full_capabilities
    from simulators.devices.pace import Pace
    from simulators.devices.simulated_device import SimulatedDevice

    url = request.config.getoption("--device")
    if url:
        async with open_bench(url, *_named_files(request.config, url)) as made:
            made.strict = made.url.scheme == "sim" and made.url.path == "/shuffler"
            made.draws = request.config.getoption("--draws")
            made.say = request.config.stash.get(SAY, made.say)
            yield made
        _record(request, made.measurements)
        return
    key = b"bench" + bytes(27)
    profile = Profile("shuffler", "CARDSHOE-BENCH", full_capabilities("shuffler"))
    clock = asyncio.get_running_loop().time
    device = SimulatedDevice(profile, key=key, random=seeded(1), fresh=seeded(2), clock=clock, pace=Pace(0))
    device.mechanism.load(list(DECK), deck=1)
    async with (
        simulated_device(device, tmp_path / "device") as simulated,
        open_bench(simulated, {profile.serial: key}) as made,
    ):
        made.strict = True
        yield made
    _record(request, made.measurements)


def _named_files(config: pytest.Config, url: str) -> tuple[Mapping[str, bytes], Mapping[str, Card]]:
    """The keys and the card table that a device needs. Raises `pytest.UsageError` where one is not named."""
    from firmware_bridge.device_url import DEFAULT_DRIVER, parse_device_url

    parsed = parse_device_url(url)
    keys, cards = config.getoption("--device-keys"), config.getoption("--device-cards")
    if parsed.scheme != "sim" and parsed.driver == DEFAULT_DRIVER and not keys:
        raise pytest.UsageError("Name the device's key file with --device-keys.")
    if parsed.scheme != "sim" and parsed.driver == "line_reader" and not cards:
        raise pytest.UsageError("Name the table of the reader's identifiers with --device-cards.")
    return read_files(parsed, Path(keys) if keys else None, Path(cards) if cards else None)


def read_files(url: DeviceUrl, keys: Path | None, cards: Path | None) -> tuple[Mapping[str, bytes], Mapping[str, Card]]:
    """A device's key and a reader's cards. Raises `KeyFileError` and `CardTableError`."""
    from firmware_bridge.card_table import read_card_table
    from firmware_bridge.device_keys import read_device_keys
    from simulators.devices.line_reader import simulated_identifiers
    from simulators.ports.in_process import KINDS, simulated_key, simulated_serial

    if url.scheme == "sim":
        serials = [simulated_serial(kind) for kind in KINDS.values()]
        return {serial: simulated_key(serial) for serial in serials}, simulated_identifiers()
    return read_device_keys(keys) if keys else {}, read_card_table(cards) if cards else {}


def _record(request: pytest.FixtureRequest, measured: list[Measurement]) -> None:
    """With the test's result, and so in JUnit's file."""
    request.node.user_properties += [(one.name, str(one)) for one in measured]
    request.config.stash.setdefault(MEASURED, []).extend(measured)
