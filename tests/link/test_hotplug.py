"""A device is tried as soon as it is plugged in; unplugging and plugging in quickly is not missed."""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from pathlib import Path

import pytest

from firmware_bridge import hotplug
from firmware_bridge.device_url import UsbName, parse_device_url
from firmware_bridge.hotplug import port_presence, presence_of, usb_presence, watch, watch_presence
from firmware_bridge.link_keeper import LinkState

from .parts import Bench, Desk, HandClock, Pty, SmallDevice, keeper_at, running


@pytest.fixture
async def desk() -> Desk:
    return Desk()


@pytest.fixture
async def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


class Looks:
    """The result of each look at the devices, and the number of hot-plug events before it. The last look ends it."""

    def __init__(self, *seen: Hashable) -> None:
        self.words: list[int] = []
        self._seen = list(seen)
        self._count = 0

    async def told_at(self) -> list[int]:
        with pytest.raises(asyncio.CancelledError):
            await watch_presence(self._look, self._note, pause=self._pause)
        return self.words

    def _look(self) -> Hashable:
        seen = self._seen[self._count]
        if isinstance(seen, Exception):
            raise seen
        return seen

    def _note(self) -> None:
        self.words.append(self._count)

    async def _pause(self, seconds: float) -> None:
        assert seconds == hotplug.CHECK_EVERY
        self._count += 1
        if self._count == len(self._seen):
            raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("seen", "told_at"),
    [
        ((None, None, "a", "a", "a"), [2]),
        (("a", "a", "a"), []),
        (("a", "b"), [1]),  # out and in again between two looks
        (("a", None, "a"), [2]),
        (("a", None, None), []),
        (("a", OSError(), "a"), [2]),
        ((None, ValueError(), RuntimeError(), "a"), [3]),
    ],
)
async def test_a_new_device_is_announced(seen: tuple[Hashable, ...], told_at: list[int]) -> None:
    assert await Looks(*seen).told_at() == told_at


@pytest.mark.parametrize("url", ["tcp://10.0.0.9:4001/", "sim:///shoe"])
async def test_a_transport_without_hot_plug_is_not_watched(url: str) -> None:
    await watch(parse_device_url(url), pytest.fail)


# -- watched devices ----------------------------------------------------------------------------------------------


async def test_a_port_recreated_under_its_name_counts_as_new(tmp_path: Path) -> None:
    name = tmp_path / "SHOE-1"
    presence = presence_of(parse_device_url(f"serial://{name}"))
    assert presence is not None
    with pytest.raises(OSError, match="No such file"):
        presence()
    first = Pty(name)
    seen = presence()
    assert presence() == seen
    second = Pty(name)
    assert presence() not in (None, seen)
    first.hang_up()
    second_seen = port_presence(str(second.node))
    second.node.chmod(0o600)
    assert port_presence(str(second.node)) != second_seen, "opened to its group, it is worth another try"
    name.symlink_to(second.node)
    second.hang_up()


def usb_folder(folder: Path, name: str, **words: str) -> Path:
    device = folder / name
    device.mkdir()
    for word, text in words.items():
        (device / word).write_text(text + "\n")
    return device


def test_a_usb_device_is_identified_without_opening_it(tmp_path: Path) -> None:
    name = UsbName(0x1209, 1, "CARDSHOE-1")
    usb_folder(tmp_path, "1-0:1.0", bInterfaceClass="ff")
    usb_folder(tmp_path, "usb1", idVendor="1d6b", idProduct="0002", serial="0000:00:14.0", busnum="1", devnum="1")
    usb_folder(tmp_path, "1-1", idVendor="1209", idProduct="0001", serial="CARDSHOE-2", busnum="1", devnum="4")
    usb_folder(tmp_path, "1-2", idVendor="1209", idProduct="0001", busnum="1", devnum="5")
    usb_folder(tmp_path, "1-3", idVendor="junk", idProduct="0001", serial="CARDSHOE-1", busnum="1", devnum="6")
    nodes = tmp_path / "nodes"
    assert usb_presence(name, tmp_path, nodes) is None
    device = usb_folder(tmp_path, "1-4", idVendor="1209", idProduct="0001", serial="CARDSHOE-1", busnum="1", devnum="7")
    assert usb_presence(name, tmp_path, nodes) == ((1, 7, 0),)
    (device / "devnum").write_text("8\n")
    assert usb_presence(name, tmp_path, nodes) == ((1, 8, 0),), "plugged in again it has another number"
    node = nodes / "001" / "008"
    node.parent.mkdir(parents=True)
    node.touch(0o600)
    seen = usb_presence(name, tmp_path, nodes)
    node.chmod(0o660)
    assert usb_presence(name, tmp_path, nodes) != seen, "opened to its group, it is worth another try"


# -- the keeper ---------------------------------------------------------------------------------------------------


async def test_a_plugged_in_device_is_tried_immediately(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    bench.plugged_in = False
    async with running(bench.keeper):
        for _ in range(6):
            await clock.pass_next_wait()
        now = clock.now
        bench.plugged_in = True
        bench.keeper.try_now()
        await desk.until_state(LinkState.READY)
        assert clock.now == now


async def test_a_false_announcement_costs_one_attempt(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    bench.plugged_in = False
    async with running(bench.keeper):
        await clock.pass_next_wait()
        bench.keeper.try_now()
        bench.keeper.try_now()
        assert await clock.pass_next_wait() > 0


async def test_an_established_link_is_left_alone(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        bench.keeper.try_now()
        await clock.pass_next_wait()
        assert bench.keeper.health.state is LinkState.READY
        assert bench.keeper.health.link == 1


async def test_unplugged_and_plugged_in_before_the_loss_is_noticed(
    desk: Desk, clock: HandClock, tmp_path: Path
) -> None:
    """The event comes while the old link still seems to be up. It counts for the pause that follows."""
    name = tmp_path / "SHOE-1"
    keeper = keeper_at(name, desk, clock)
    pty = Pty(name, SmallDevice(), desk.changes)
    async with running(keeper):
        for link in range(1, 20):
            ready = await desk.until_state(LinkState.READY)
            assert ready.link == link
            now = clock.now
            pty.hang_up()
            pty = Pty(name, SmallDevice(), desk.changes)
            keeper.try_now()
            assert keeper.health.state is LinkState.READY, "the loss was not noticed yet"
            await desk.changes.until(lambda seen=link: keeper.health.link > seen)  # type: ignore[misc]  # a lambda's default
            assert clock.now == now, "it waited out its pause"
        await desk.until_state(LinkState.READY)
    assert len(desk.ends) == 20, "each link has its end"
    pty.hang_up()
