"""The device at the other end is the configured device; otherwise no table waits for its cards."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.drivers.base import Driver, Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.cardlink.framing import encode_frame
from firmware_bridge.drivers.detect import detect_driver, what_to_check
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DevicePolicy, DriverSetting
from firmware_bridge.errors import TwinDeviceError
from firmware_bridge.link import GARBAGE_AFTER, PROVEN_AFTER
from firmware_bridge.link_keeper import FIRST_PAUSE, LinkKeeper, LinkState
from firmware_bridge.observations import CardDrawn
from firmware_bridge.transports.base import OnData, OnLost, Transport
from simulators.ports.memory import MemoryTransport, memory_pair

from .parts import Bench, Desk, HandClock, running

CARD = b"[Game]<Card:4S>\r\n"
GARBAGE = b"\xfe\x80\x00" * GARBAGE_AFTER
SHOE = parse_device_url("serial:///dev/cardshoe/BT-1?driver=bee_tek")


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


class Line:
    """A keeper of a one-way shoe, and the other end of its line."""

    def __init__(self, desk: Desk, clock: HandClock, policy: DevicePolicy | None = None) -> None:
        self.far: list[MemoryTransport] = []
        self.ready_after: list[int] = []  # bytes received on the link when it was delivered as ready
        self._desk = desk
        given: dict[str, Any] = {} if policy is None else {"policy": policy}
        self.keeper = LinkKeeper(
            SHOE, make_driver=self._make, deliver=self._deliver, on_health=desk.on_health, clock=clock, wait=clock.wait,
            random=Random(7), open_transport=self._open, **given,
        )  # fmt: skip

    async def hang_up(self, link: int) -> None:
        await self._desk.changes.until(lambda: len(self.far) >= link)
        self.far[link - 1].close()

    def _make(self, now: float) -> Driver:
        return load_driver("bee_tek")(DriverSetting(bytes(range(16)), SHOE.line), now)

    def _deliver(self, heard: Heard) -> None:
        if isinstance(heard, LinkReady):
            self.ready_after.append(self.keeper.health.statistics.bytes_in)
        self._desk.deliver(heard)

    async def _open(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        near, far = memory_pair(on_data, on_lost, lambda data: None, lambda error: None)
        self.far.append(far)
        self._desk.changes.note()
        return near

    async def send(self, data: bytes, link: int) -> None:
        """Send from the device on the link of that number."""
        await self._desk.changes.until(lambda: len(self.far) >= link)
        self.far[link - 1].write(data)


# -- pinned ----------------------------------------------------------------------------------------------------------


async def test_a_device_that_is_not_the_pinned_one_is_never_ready(desk: Desk, clock: HandClock) -> None:
    """This does not depend on whether its driver checks the pin."""
    bench = Bench(desk, clock, policy=DevicePolicy(serial="SHOE-2"))
    async with running(bench.keeper):
        health = await desk.until_state(LinkState.REFUSED)
        assert health.code == "device-other-serial"
        assert "this table uses only SHOE-2" in str(health.sentence)
        for _ in range(3):
            await clock.pass_next_wait()
            await desk.changes.until(lambda: bench.keeper.health.retry_at is not None)
        assert [type(thing) for thing in desk.heard] == [LinkOver], "delivered once, and nothing else"


async def test_the_pinned_device_is_ready(desk: Desk, clock: HandClock) -> None:
    async with running(Bench(desk, clock, policy=DevicePolicy(serial="SHOE-1")).keeper):
        await desk.until_state(LinkState.READY)


async def test_a_shoe_without_a_number_is_compared_by_its_url(desk: Desk, clock: HandClock) -> None:
    async with running(Line(desk, clock, DevicePolicy(serial="BT-2")).keeper):
        await clock.pass_next_wait()
        health = await desk.until_state(LinkState.REFUSED)
        assert "The connected device is BT-1" in str(health.sentence)
        assert [end.code for end in desk.ends] == ["device-other-serial"]


# -- another device, or another speed --------------------------------------------------------------------------------


async def test_a_doubted_shoe_is_trusted_again_only_once_understood(desk: Desk, clock: HandClock) -> None:
    """The shoe counts as ready when the port is open. Bytes that do not fit its protocol show that it is another
    device.
    """
    line = Line(desk, clock)
    async with running(line.keeper):
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        await line.send(GARBAGE, 1)
        health = await desk.until_state(LinkState.REFUSED)
        assert health.code == "device-garbage"
        assert "baud=" in str(health.sentence)
        heard = len(desk.heard)
        assert desk.heard[-1] == LinkOver(health.code, health.sentence, True)
        await clock.pass_next_wait()
        await line.send(b"\xfe\x80", 2)
        assert line.keeper.health.state is LinkState.REFUSED
        assert len(desk.heard) == heard, "neither ready nor a report"
        await line.send(CARD, 2)
        await desk.until_state(LinkState.READY)
        ready, *reports = desk.heard[heard:]
        assert isinstance(ready, LinkReady)
        drawn = [one for one in reports if isinstance(one, Reported) and isinstance(one.observation, CardDrawn)]
        assert len(drawn) == 1, "the card that proved it is reported"


async def test_garbage_after_something_was_understood_ends_nothing(desk: Desk, clock: HandClock) -> None:
    line = Line(desk, clock)
    async with running(line.keeper):
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        await line.send(CARD + GARBAGE, 1)
        assert line.keeper.health.state is LinkState.READY


async def test_the_beginning_of_an_item_ends_nothing(desk: Desk, clock: HandClock) -> None:
    line = Line(desk, clock)
    async with running(line.keeper):
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        await line.send(b"x" * (GARBAGE_AFTER - 1), 1)
        assert line.keeper.health.state is LinkState.READY


async def test_doubt_outlives_a_silent_link(desk: Desk, clock: HandClock) -> None:
    """Whatever ended that link, nothing has shown since then that it is the right device."""
    line = Line(desk, clock)
    async with running(line.keeper):
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        await line.send(GARBAGE, 1)
        await desk.until_state(LinkState.REFUSED)
        await clock.pass_next_wait()
        await line.hang_up(2)
        await desk.until_state(LinkState.LOST)
        await clock.pass_next_wait()
        before = len(desk.heard)
        await desk.changes.until(lambda: len(line.far) == 3)
        await clock.pass_next_wait()
        await line.send(CARD, 3)
        await desk.until_state(LinkState.READY)
        await desk.changes.until(lambda: isinstance(desk.heard[-1], Reported))
        states = [health.state for health in desk.healths]
        assert states.count(LinkState.READY) == 2
        assert line.ready_after == [0, len(CARD)]
        assert [type(thing) for thing in desk.heard[before:]] == [LinkReady, Reported]


async def test_a_connection_that_closes_immediately_is_tried_ever_less_often(desk: Desk, clock: HandClock) -> None:
    """A serial server that has another host may accept the connection and hang up: each time it seems ready."""
    line = Line(desk, clock)
    pauses = []
    async with running(line.keeper):
        for link in range(1, 7):
            await clock.pass_next_wait()
            await desk.until_state(LinkState.READY)
            await line.hang_up(link)
            await desk.until_state(LinkState.LOST)
            pauses.append(await clock.pass_next_wait())
    assert pauses[-1] > 10 * pauses[0]


async def test_an_established_link_is_restored_immediately(desk: Desk, clock: HandClock) -> None:
    line = Line(desk, clock)
    async with running(line.keeper):
        for link in range(1, 7):
            await clock.pass_next_wait()
            await desk.until_state(LinkState.READY)
            clock.advance(PROVEN_AFTER)
            await line.hang_up(link)
            await desk.until_state(LinkState.LOST)
            assert await clock.pass_next_wait() < 2 * FIRST_PAUSE


async def test_a_cardlink_device_behind_another_driver_is_named(desk: Desk, clock: HandClock) -> None:
    line = Line(desk, clock)
    async with running(line.keeper):
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        await line.send(encode_frame(0x10, 7, 0, bytes(30)) * 5, 1)
        health = await desk.until_state(LinkState.REFUSED)
        assert "driver=cardlink" in str(health.sentence)


@pytest.mark.parametrize(
    ("data", "driver"),
    [
        (CARD, "bee_tek"),
        (b"[Manual Burn Cards]<Manual Burn Cards>", "bee_tek"),
        (b"<W0x01>", "bee_tek"),
        (b"\x051D\x90\xa1\x0377" * 3, "angel_eye"),
        (b"\r\nE28068940000500B\r\n", "line_reader"),
        (b"noise" + encode_frame(0x10, 7, 3), "cardlink"),
        (bytes(range(256)), ""),
        (b"\xc0\xc0\xc0", ""),
        (b"", ""),
    ],
)
def test_whose_bytes_they_may_be(data: bytes, driver: str) -> None:
    assert detect_driver(data) == driver
    assert "baud=" in str(what_to_check(data, driver)), "a driver's own bytes, unread, are a matter of the line"
    assert (f"driver={driver};" in str(what_to_check(data, "another"))) is bool(driver)


async def test_two_devices_with_one_identity_are_refused_and_reported_once(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    twins = True

    async def open_transport(url: DeviceUrl, **given: Any) -> Transport:
        if twins:
            raise TwinDeviceError("Two devices have one serial number.", "Unplug one.", "usb-ambiguous")
        return await bench.open(url, **given)

    keeper = Bench(desk, clock, open_transport=open_transport).keeper
    async with running(keeper):
        refused = await desk.until_state(LinkState.REFUSED)
        assert (refused.code, refused.hint) == ("usb-ambiguous", "Unplug one.")
        await clock.pass_next_wait()
        await clock.pass_next_wait()
        assert [(over.code, over.refused) for over in desk.ends] == [("usb-ambiguous", True)]
        twins = False
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)


def test_a_line_of_seven_bits_is_named() -> None:
    frames = b"".join(encode_frame(0x10, 7, number, bytes(range(0xA0, 0xB0))) for number in range(4))
    assert "8 data bits" in str(what_to_check(bytes(byte & 0x7F for byte in frames), "cardlink"))
    assert "baud=" in str(what_to_check(bytes(byte & 0xF0 for byte in frames), "cardlink"))
