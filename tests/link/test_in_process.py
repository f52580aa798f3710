"""Simulated devices found by entry point: the same device at every opening, with a key that the docs publish."""

from __future__ import annotations

import asyncio
import gc
import os
import re
import tomllib
import weakref
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from firmware_bridge.cards import DECK
from firmware_bridge.commands import Shuffle
from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Answered, Driver, LinkReady, Reported
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.link import MakeDriver
from firmware_bridge.link_keeper import LinkKeeper, LinkState
from firmware_bridge.observations import DeckLoaded
from firmware_bridge.transports.base import OnData, OnLost, OpenTransport
from firmware_bridge.transports.registry import ENTRY_POINTS, TRANSPORTS, find_transport
from simulators.devices.faulty_line import FaultyLine
from simulators.devices.line_reader import simulated_identifiers
from simulators.devices.one_way_shoes import ONE_WAY_SHOES
from simulators.driver_conformance.every_driver import cards
from simulators.ports.in_process import front_of, open_simulated_device, simulated_key, simulated_serial
from simulators.ports.memory import MemoryFront, MemoryTransport

from .parts import Desk, HandClock, running

ROOT = Path(__file__).parents[2]


@pytest.fixture
async def desk() -> Desk:
    return Desk()


@pytest.fixture
async def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


def cardlink(now: float) -> CardlinkHost:
    return CardlinkHost(nonce=os.urandom(16), key_of=simulated_key, held=(0, 0), now=now)


def keeper_of(
    text: str,
    desk: Desk,
    clock: HandClock,
    open_transport: OpenTransport = open_simulated_device,
    make_driver: MakeDriver = cardlink,
) -> LinkKeeper:
    return LinkKeeper(
        parse_device_url(text), make_driver=make_driver, deliver=desk.deliver, on_health=desk.on_health, clock=clock,
        wait=clock.wait, random=Random(7), open_transport=open_transport,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["shuffler", "shoe"])
async def test_from_the_url_to_a_device_with_a_deck_in_it(desk: Desk, clock: HandClock, kind: str) -> None:
    async with running(keeper_of(f"sim:///{kind}?seed=7", desk, clock)):
        await desk.until_state(LinkState.READY)
        await desk.changes.until(lambda: any(isinstance(one, Reported) for one in desk.heard[-1:]))
    (ready,) = [thing for thing in desk.heard if isinstance(thing, LinkReady)]
    assert ready.identity.simulated
    assert ready.identity.kind == kind
    assert ready.identity.serial == simulated_serial(kind)
    assert any(isinstance(one, Reported) and isinstance(one.observation, DeckLoaded) for one in desk.heard)


@pytest.mark.parametrize("driver", ONE_WAY_SHOES)
async def test_a_one_way_shoe(desk: Desk, clock: HandClock, driver: str) -> None:
    """Output before a link is open is lost; later output is received exactly once."""
    url = parse_device_url(f"sim:///shoe?driver={driver}&seed=7")

    def make_driver(now: float) -> Driver:
        return load_driver(driver)(DriverSetting(bytes(16), url.line, card_table=simulated_identifiers()), now)

    mechanism = front_of(url).device.mechanism
    mechanism.draw()
    async with running(keeper_of(str(url), desk, clock, make_driver=make_driver)):
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        (drawn,) = mechanism.draw()
        await desk.changes.until(lambda: bool(cards(desk.heard)))
    assert cards(desk.heard) == [drawn.code]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("sim:///shuffler?driver=bee_tek", "sim:///shoe?driver=bee_tek"),
        ("sim:///tray", "sim:///shoe"),
        ("sim:///shoe?shuffle=cut", "sim:///shuffler"),
        ("sim:///shuffler?shuffle=cuts", "as one of them"),
    ],
)
async def test_an_unknown_device(text: str, hint: str) -> None:
    with pytest.raises(TransportUnavailableError) as refused:
        front_of(parse_device_url(text))
    assert hint in str(refused.value.hint)


async def test_opened_again_it_is_the_same_device(desk: Desk, clock: HandClock) -> None:
    keeper = keeper_of("sim:///shuffler?seed=7", desk, clock)
    boots = []
    async with running(keeper):
        for _ in range(3):
            await desk.until_state(LinkState.READY)
            boots.append([thing for thing in desk.heard if isinstance(thing, LinkReady)][-1].identity.boot)
            keeper.drop("test", "Once more.")
            await desk.until_state(LinkState.LOST)
            await clock.pass_next_wait()
    assert len(set(boots)) == 1
    assert len(boots) == 3


async def test_a_seed_orders_the_deck_and_names_the_device() -> None:
    def front(text: str) -> MemoryFront:
        return front_of(parse_device_url(text))

    first, other = front("sim:///shoe?seed=7"), front("sim:///shoe?seed=8")
    assert first is front("sim:///shoe?seed=7")
    assert first is not front("sim:///shuffler?seed=7")
    assert first.device.mechanism.inside != other.device.mechanism.inside
    assert len(first.device.mechanism.inside) == 52


async def test_a_shuffler_uses_the_model_that_its_url_names() -> None:
    """A cut keeps the cyclic order of a deck; a device with another shuffle gives a different result."""
    device = front_of(parse_device_url("sim:///shuffler?seed=7&shuffle=cut")).device
    assert device is not front_of(parse_device_url("sim:///shuffler?seed=7")).device
    device.mechanism.load(list(DECK))
    for _ in range(3):
        before = list(device.mechanism.inside)
        assert device.mechanism.carry_out(1, Shuffle()).done
        at = before.index(device.mechanism.inside[0])
        assert device.mechanism.inside == [*before[at:], *before[:at]]
    assert device.mechanism.inside != list(DECK)


def test_a_device_ends_with_its_loop() -> None:
    async def connect() -> weakref.ref[MemoryFront]:
        url = parse_device_url("sim:///shoe?seed=7")
        transport = await open_simulated_device(url, on_data=lambda data: None, on_lost=lambda error: None)
        transport.close()
        await asyncio.sleep(0)
        return weakref.ref(front_of(url))

    gc.freeze()  # only what follows is searched, which keeps this fast
    try:
        left = asyncio.run(connect())
        for _ in range(2):  # the loop, then what only it had kept
            gc.collect()
    finally:
        gc.unfreeze()
    assert left() is None


async def test_one_host_at_a_time() -> None:
    url = parse_device_url("sim:///shuffler?seed=7")
    given: dict[str, Any] = {"on_data": lambda data: None, "on_lost": lambda error: None}
    first = await open_simulated_device(url, **given)
    with pytest.raises(TransportUnavailableError) as refused:
        await open_simulated_device(url, **given)
    assert refused.value.code == "port-busy"
    first.close()
    await asyncio.sleep(0)
    (await open_simulated_device(url, **given)).close()


async def test_unplugged_and_plugged_in_again(desk: Desk, clock: HandClock) -> None:
    keeper = keeper_of("sim:///shuffler?seed=9", desk, clock)
    async with running(keeper):
        await desk.until_state(LinkState.READY)
        front_of(parse_device_url("sim:///shuffler?seed=9")).unplug()
        assert (await desk.until_state(LinkState.LOST)).code == "transport-lost"
        await clock.pass_next_wait()
        assert (await desk.until_state(LinkState.READY)).link == 2
        assert keeper.command(1, Shuffle())
        await desk.changes.until(lambda: any(isinstance(thing, Answered) and thing.done for thing in desk.heard))


async def test_a_faulty_line_also_works_in_memory(desk: Desk, clock: HandClock) -> None:
    """The cable is pulled in the middle of the device's second frame; when it is plugged in again, the link is
    restored.
    """
    device = front_of(parse_device_url("sim:///shuffler?seed=11")).device
    line = FaultyLine(device, random=Random(1), clock=lambda: 0.0)
    front = MemoryFront(device, line)
    line.cut_at = 2

    def pull() -> None:
        asyncio.get_running_loop().call_soon(front.unplug)

    line.on_cut = pull

    async def open_front(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> MemoryTransport:
        return front.connect(on_data, on_lost)

    async with running(keeper_of("sim:///shuffler?seed=11", desk, clock, open_front)):
        assert (await desk.until_state(LinkState.LOST)).code == "transport-lost"
        line.join()
        await clock.pass_next_wait()
        assert (await desk.until_state(LinkState.READY)).link == 2


async def test_a_device_that_is_not_simulated_here() -> None:
    with pytest.raises(TransportUnavailableError) as refused:
        front_of(parse_device_url("sim:///roulette"))
    assert "sim:///shuffler" in str(refused.value.hint)


async def test_a_device_that_speaks_something_else_here() -> None:
    with pytest.raises(TransportUnavailableError) as refused:
        front_of(DeviceUrl("sim", path="/shoe", driver="another"))
    assert "another" in str(refused.value)


def test_the_docs_give_its_keys() -> None:
    text = (ROOT / "docs/simulators.md").read_text()
    given = dict(re.findall(r"^ *(CARDSHOE-SIM-[A-Z]+) ([0-9a-f]{64})$", text, re.MULTILINE))
    serials = [simulated_serial(kind) for kind in ("shoe", "shuffler")]
    assert given == {serial: simulated_key(serial).hex() for serial in serials}


# -- found by entry point -----------------------------------------------------------------------------------------


def test_the_simulators_bring_their_row() -> None:
    rows = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][ENTRY_POINTS]
    module, _, name = rows["sim"].partition(":")
    assert (module, name) == (open_simulated_device.__module__, open_simulated_device.__name__)


def brought(**rows: Any) -> Any:
    """Return entry points of another package."""

    def look_up(*, group: str, name: str) -> list[Any]:
        assert group == ENTRY_POINTS
        return [SimpleNamespace(value=f"their.module:{name}", load=rows[name])] if name in rows else []

    return look_up


def test_an_entry_point_is_loaded_only_on_demand() -> None:
    def fail() -> OpenTransport:
        raise AssertionError

    assert find_transport("sim", brought(sim=lambda: open_simulated_device, other=fail)) is open_simulated_device


def test_no_package_replaces_the_transports_of_this_program() -> None:
    for scheme in TRANSPORTS:
        assert find_transport(scheme, brought(serial=None, tcp=None, usb=None)).__module__.startswith("firmware_bridge")


def test_a_missing_transport() -> None:
    with pytest.raises(TransportUnavailableError) as refused:
        find_transport("sim", brought())
    assert refused.value.code == "transport-unavailable"
    assert "serial:" in str(refused.value.hint)


@pytest.mark.parametrize("error", [ImportError("no such module"), AttributeError("x"), SyntaxError("x")])
def test_a_failed_import_gives_its_reason(error: Exception) -> None:
    def fail() -> OpenTransport:
        raise error

    with pytest.raises(TransportUnavailableError) as refused:
        find_transport("sim", brought(sim=fail))
    assert type(error).__name__ in str(refused.value)
    assert "their.module:sim" in str(refused.value.hint)
