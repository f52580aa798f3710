"""The bench as a pytest plug-in: `pytest --device URL` runs the bench's tests against the device at that URL.

Without `--device` they run against a simulated shuffler on a pseudo-terminal. The fixtures run coroutines on a separate
loop, so that pytest does not need a plug-in for asyncio.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from firmware_bridge.cards import Card
    from firmware_bridge.device_url import DeviceUrl
    from simulators.bench.bench import Bench
    from simulators.bench.frames import FrameHost
    from simulators.bench.promise import Measurement
    from simulators.bench.promises.dealing import DeckRecord
    from simulators.bench.recognition import Sample

T = TypeVar("T")
SAY: pytest.StashKey[Callable[[str], None]] = pytest.StashKey()
MEASURED: pytest.StashKey[list[Measurement]] = pytest.StashKey()
UNREACHABLE: pytest.StashKey[str] = pytest.StashKey()  # why the device was not reached, or empty
DEALT: pytest.StashKey[DeckRecord | BaseException] = pytest.StashKey()
OPERATOR_HAS = 30  # seconds for each act, by default


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("cardshoe")
    group.addoption("--device", metavar="URL", help="the device on the bench; by default a simulator")
    group.addoption("--device-keys", metavar="FILE", help="the file with its key")
    group.addoption("--device-cards", metavar="FILE", help="the table of a line reader's identifiers")
    group.addoption(
        "--draws", metavar="N", type=int, default=0, help="the number of cards that a person will draw when asked"
    )
    group.addoption("--recognition", metavar="DECKS", type=int, default=0,
                    help="the number of decks in a known order that a person will draw")  # fmt: skip
    group.addoption("--order", metavar="FILE", help="their order; by default that of a new deck")
    group.addoption("--recognition-limit", metavar="PERCENT", type=float,
                    help="the largest share of cards not recognised, by the upper bound")  # fmt: skip
    group.addoption("--operator", metavar="SECONDS", type=int, default=0, nargs="?", const=OPERATOR_HAS,
                    help="a person is present and has this many seconds for each act")  # fmt: skip


class OnBench(NamedTuple):
    """The device on the bench. With `strict`, a missing capability is a failure."""

    url: str
    keys: Mapping[str, bytes]
    cards: Mapping[str, Card]
    strict: bool


@pytest.fixture
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[object]:
    """Yield a `Bench` whose link may not be up yet. The simulator has a deck in it; so should a device."""
    from simulators.bench.bench import open_bench

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Bench, None]:
        async with (
            _on_bench(request.config, tmp_path) as device,
            open_bench(device.url, device.keys, device.cards) as made,
        ):
            made.strict = device.strict
            made.draws = request.config.getoption("--draws")
            made.sample = _sample(request.config)
            made.say = _say(request.config)
            yield made

    with _reached(request), _running(opened()) as (runner, made):
        made.run = runner.run
        yield made
        _record(request, made.measurements)


@pytest.fixture
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[object]:
    """Yield a `FrameHost` whose connection is open, without a link."""
    with _reached(request), _running(_hosting(request.config, tmp_path)) as (runner, made):
        made.run = runner.run
        yield made
        _record(request, made.measurements)


@pytest.fixture
def dealt(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[object]:
    """Yield what the device reported of one deck. The first test that needs it deals it; all tests judge it."""
    from simulators.bench.promises.dealing import DeckDealer

    stash = request.config.stash
    if DEALT not in stash:
        with _reached(request), _running(_hosting(request.config, tmp_path)) as (runner, host):
            try:
                stash[DEALT] = runner.run(DeckDealer(host).deal())
            except (AssertionError, pytest.skip.Exception) as error:
                stash[DEALT] = error
    found = stash[DEALT]
    if isinstance(found, BaseException):
        raise found
    found.measurements.clear()
    yield found
    _record(request, found.measurements)


@asynccontextmanager
async def _hosting(config: pytest.Config, folder: Path) -> AsyncGenerator[FrameHost, None]:
    from firmware_bridge.device_url import DEFAULT_DRIVER, parse_device_url
    from simulators.bench.frames import FrameHost

    async with _on_bench(config, folder) as device:
        url = parse_device_url(device.url)
        if url.driver != DEFAULT_DRIVER:
            pytest.skip(f"{url.driver} promises less than cardlink")
        made = FrameHost(url, device.keys, operator=config.getoption("--operator"))
        made.say = _say(config)
        await made.open()
        try:
            yield made
        finally:
            made.close()


@contextmanager
def _running(opening: AbstractAsyncContextManager[T]) -> Iterator[tuple[asyncio.Runner, T]]:
    """Open something on a loop that runs only while a test asks it to."""
    with asyncio.Runner() as runner:
        made = runner.run(_call(opening.__aenter__))
        try:
            yield runner, made
        finally:
            runner.run(_call(opening.__aexit__, None, None, None))


async def _call(entered: Callable[..., Any], *arguments: object) -> Any:
    return await entered(*arguments)


@asynccontextmanager
async def _on_bench(config: pytest.Config, folder: Path) -> AsyncGenerator[OnBench, None]:
    """Yield the device that `--device` names, or a simulated shuffler on a pseudo-terminal."""
    from firmware_bridge.cards import DECK
    from firmware_bridge.device_url import parse_device_url
    from simulators.bench.bench import seeded, simulated_device
    from simulators.devices.base import Tempo
    from simulators.devices.mechanism import Profile, full_capabilities
    from simulators.devices.simulated_device import SimulatedDevice

    url = config.getoption("--device")
    if url:
        parsed = parse_device_url(url)
        yield OnBench(url, *_named_files(config, url), parsed.scheme == "sim" and parsed.path == "/shuffler")
        return
    key = b"bench" + bytes(27)
    profile = Profile("shuffler", "CARDSHOE-BENCH", full_capabilities("shuffler"), program=bytes(range(256)))
    clock = asyncio.get_running_loop().time
    device = SimulatedDevice(profile, key=key, random=seeded(1), fresh=seeded(2), clock=clock, pace=Tempo(0))
    device.mechanism.load(list(DECK), deck=1)
    async with simulated_device(device, folder / "device") as simulated:
        yield OnBench(simulated, {profile.serial: key}, {}, True)


def _sample(config: pytest.Config) -> Sample | None:
    from simulators.bench.recognition import LIMIT, KnownOrdersError, Sample, read_orders

    decks, order = config.getoption("--recognition"), config.getoption("--order")
    if not decks:
        return None
    try:
        limit = config.getoption("--recognition-limit")
        return Sample(decks, read_orders(Path(order) if order else None), LIMIT if limit is None else limit)
    except KnownOrdersError as error:
        raise pytest.UsageError(str(error)) from error


@contextmanager
def _reached(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check once that the device answers at all, and check it again after a failed test."""
    config = request.config
    if config.getoption("--device"):
        if UNREACHABLE not in config.stash:
            config.stash[UNREACHABLE] = _why_unreachable(request)
        if config.stash[UNREACHABLE]:
            pytest.fail(config.stash[UNREACHABLE], pytrace=False)
    yield


def _why_unreachable(request: pytest.FixtureRequest) -> str:
    from simulators.bench.bench import UnreachableError, reach

    url = request.config.getoption("--device")
    try:
        identity = asyncio.run(reach(url, *_named_files(request.config, url))).identity
    except UnreachableError as error:
        return str(error)
    note = request.getfixturevalue("record_testsuite_property")
    for name in ("maker", "model", "serial", "firmware", "firmware_digest"):
        note(name, getattr(identity, name))
    return ""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Check the device again after a failed test, which may have left it unresponsive."""
    report: Any = yield
    if report.failed and item.config.stash.get(UNREACHABLE, None) == "":
        del item.config.stash[UNREACHABLE]
    return report  # required of a hook's wrapper


def _say(config: pytest.Config) -> Callable[[str], None]:
    """Return the function that asks a person: on standard error, past pytest's capture."""

    def say(sentence: str) -> None:
        capture = config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture is not None else nullcontext():
            print(sentence, file=sys.stderr, flush=True)  # noqa: T201

    return config.stash.get(SAY, say)


def _named_files(config: pytest.Config, url: str) -> tuple[Mapping[str, bytes], Mapping[str, Card]]:
    """Return the keys and the card table that a device needs. Raise `pytest.UsageError` if one is not named."""
    from firmware_bridge.device_url import DEFAULT_DRIVER, parse_device_url

    parsed = parse_device_url(url)
    keys, cards = config.getoption("--device-keys"), config.getoption("--device-cards")
    if parsed.scheme != "sim" and parsed.driver == DEFAULT_DRIVER and not keys:
        raise pytest.UsageError("Name the device's key file with --device-keys.")
    if parsed.scheme != "sim" and parsed.driver == "line_reader" and not cards:
        raise pytest.UsageError("Name the table of the reader's identifiers with --device-cards.")
    return read_files(parsed, Path(keys) if keys else None, Path(cards) if cards else None)


def read_files(url: DeviceUrl, keys: Path | None, cards: Path | None) -> tuple[Mapping[str, bytes], Mapping[str, Card]]:
    """Read a device's key and a reader's cards. Raise `KeyFileError` and `CardTableError`."""
    from firmware_bridge.card_table import read_card_table
    from firmware_bridge.device_keys import read_device_keys
    from simulators.devices.line_reader import simulated_identifiers
    from simulators.ports.in_process import KINDS, simulated_key, simulated_serial

    if url.scheme == "sim":
        serials = [simulated_serial(kind) for kind in KINDS.values()]
        return {serial: simulated_key(serial) for serial in serials}, simulated_identifiers()
    return read_device_keys(keys) if keys else {}, read_card_table(cards) if cards else {}


def _record(request: pytest.FixtureRequest, measured: list[Measurement]) -> None:
    """Add measurements to the test's result, and thus to JUnit's file: value, unit and limit."""
    for one in measured:
        properties = {"": one.value, " unit": one.unit, " limit": one.limit}
        request.node.user_properties += [(one.name + part, value) for part, value in properties.items()]
    request.config.stash.setdefault(MEASURED, []).extend(measured)
