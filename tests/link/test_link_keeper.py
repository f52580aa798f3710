"""The link keeper: it reconnects after every loss, survives every exception, and delivers each end once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog

from firmware_bridge.commands import HoldExit
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import Answered, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.link_keeper import LinkKeeper, LinkState, wait_for_event
from firmware_bridge.transports.base import OnData, OnLost, Transport

from .parts import (
    BOOT,
    Bench,
    Desk,
    HandClock,
    NotingHost,
    Pty,
    SmallDevice,
    keeper_at,
    make_cardlink,
    open_descriptors,
    running,
    serial_url,
)

ENDED = (LinkState.LOST, LinkState.REFUSED, LinkState.ABSENT)
Logs = list[MutableMapping[str, Any]]


@pytest.fixture(autouse=True)
def logs() -> Iterator[Logs]:
    with structlog.testing.capture_logs() as lines:
        yield lines


@pytest.fixture
async def desk() -> Desk:
    return Desk()


@pytest.fixture
async def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


@pytest.fixture
def name(tmp_path: Path) -> Path:
    return tmp_path / "SHOE-1"


# -- on a real pseudo-terminal ------------------------------------------------------------------------------------


async def test_from_the_plug_to_an_acknowledged_report(desk: Desk, clock: HandClock, name: Path) -> None:
    """The test uses the event loop's waiting. The clock does not advance, so load cannot make the
    device appear silent.
    """
    device = SmallDevice()
    pty = Pty(name, device, desk.changes)
    keeper = LinkKeeper(
        serial_url(name),
        make_driver=make_cardlink,
        deliver=desk.deliver,
        on_health=desk.on_health,
        clock=clock,
        random=Random(7),  # jitter, repeatable
    )
    async with running(keeper):
        await desk.until_state(LinkState.READY)
        pty.send(device.report(1, messages.ButtonPressedReport(5100, "shuffle")))
        await desk.changes.until(lambda: isinstance(desk.heard[-1], Reported))
        assert 1 not in device.acknowledged, "acknowledged before the journal held it"
        keeper.acknowledge(BOOT, 1)
        assert keeper.command(9, HoldExit())
        await desk.changes.until(lambda: isinstance(desk.heard[-1], Answered))
        assert device.acknowledged[-1] == 1
        assert device.commands == [9]
        health = keeper.health
        assert health.statistics.frames_in == 5
        assert health.link == 1
        clock.advance(0.4)
        assert health.silent_for(clock()) == pytest.approx(0.4)
        assert health.statistics is not keeper.health.statistics
    assert [type(thing) for thing in desk.heard] == [LinkReady, Reported, Answered, LinkOver]
    assert [health.state for health in desk.healths] == ["connecting", "authenticating", "ready", "lost"]
    assert desk.healths[-1].code == "link-stopped"
    pty.hang_up()


async def test_a_hundred_cables_pulled_in_mid_frame(desk: Desk, clock: HandClock, name: Path) -> None:
    device = SmallDevice()
    half_a_frame = device.report(1, messages.ButtonPressedReport(5100, "shuffle"))[:-9]
    keeper = keeper_at(name, desk, clock)
    async with running(keeper):
        await desk.until_state(LinkState.ABSENT)
        before = open_descriptors()
        for pulled in range(1, 101):
            pty = Pty(name, device, desk.changes)
            clock.advance(6.0)
            await desk.until_state(LinkState.READY)
            pty.send(half_a_frame)
            pty.hang_up()
            health = await desk.until_state(*ENDED)
            assert (health.state, health.code) == (LinkState.LOST, "transport-lost")
            assert health.link == pulled
            assert open_descriptors() == before
    assert len(desk.ends) == 100


async def test_another_node_under_the_same_name(desk: Desk, clock: HandClock, name: Path) -> None:
    pty = Pty(name, SmallDevice(), desk.changes)
    holds_the_number = os.openpty()
    async with running(keeper_at(name, desk, clock)):
        await desk.until_state(LinkState.READY)
        pty.hang_up()
        await desk.until_state(LinkState.LOST)
        await clock.pass_next_wait()
        absent = await desk.until_state(LinkState.ABSENT)
        assert absent.code == "port-missing"
        assert absent.hint
        pty = Pty(name, SmallDevice(), desk.changes)
        clock.advance(6.0)
        assert (await desk.until_state(LinkState.READY)).link == 2
    pty.hang_up()
    for descriptor in holds_the_number:
        os.close(descriptor)


async def test_a_device_that_falls_silent(desk: Desk, clock: HandClock, name: Path) -> None:
    device = SmallDevice()
    pty = Pty(name, device, desk.changes)
    async with running(keeper_at(name, desk, clock)):
        since = (await desk.until_state(LinkState.READY)).since
        await _pass_until(desk, clock, LinkState.STALE)
        assert clock.now - since <= 2.5
        pty.send(device.status())
        await desk.until_state(LinkState.READY)
        since = clock.now
        await _pass_until(desk, clock, LinkState.LOST)
        assert clock.now - since <= 3.5
        assert desk.healths[-1].code == "device-silent"
        assert [end.code for end in desk.ends] == ["device-silent"]
    pty.hang_up()


async def test_staleness_is_noticed_without_a_wake_up_of_the_driver(desk: Desk, clock: HandClock) -> None:
    class Sleepy(NotingHost):
        def wake_at(self) -> float:
            return float("inf")

    bench = Bench(desk, clock, make_driver=lambda now: Sleepy(desk.changes, now))
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        await _pass_until(desk, clock, LinkState.STALE)
        await _pass_until(desk, clock, LinkState.LOST)


async def test_a_device_that_speaks_something_else(desk: Desk, clock: HandClock, name: Path) -> None:
    pty = Pty(name, changes=desk.changes)
    keeper = keeper_at(name, desk, clock)
    async with running(keeper):
        await desk.until_state(LinkState.AUTHENTICATING)
        await pty.until_received(1)
        pty.send(b"[Game]<Card:4S>" * 8)
        await desk.changes.until(lambda: keeper.health.statistics.bytes_in == 120)
        await _pass_until(desk, clock, LinkState.LOST)
        assert desk.healths[-1].code == "device-garbage"
        assert desk.healths[-1].last_heard is None
        assert not desk.heard, "a device that was never ready has no end to deliver"
    pty.hang_up()


async def test_a_port_that_opens_clears_why_it_could_not_be_opened(desk: Desk, clock: HandClock, name: Path) -> None:
    """A device that is slow to answer must not have the reason of its missing predecessor beside it."""
    keeper = keeper_at(name, desk, clock)
    async with running(keeper):
        absent = await desk.until_state(LinkState.ABSENT)
        assert absent.code == "port-missing"
        assert absent.hint
        pty = Pty(name, None, desk.changes)
        clock.advance(6.0)
        opened = await desk.until_state(LinkState.AUTHENTICATING)
        assert (opened.code, opened.sentence, opened.hint) == ("", "", "")
    pty.hang_up()


async def test_a_refused_device_stays_refused_until_replaced(desk: Desk, clock: HandClock, name: Path) -> None:
    pty = Pty(name, SmallDevice(key=bytes(32)), desk.changes)
    keeper = keeper_at(name, desk, clock)
    async with running(keeper):
        refused = await desk.until_state(LinkState.REFUSED)
        assert refused.code == "device-proof"
        before = len(desk.healths)
        for attempt in range(2, 5):
            assert 4.0 <= await clock.pass_next_wait() <= 6.0
            await desk.changes.until(lambda n=attempt: keeper.health.link == n)  # type: ignore[misc]  # a lambda's default
            await desk.changes.until(lambda: keeper.health.retry_at is not None)
        assert len(desk.healths) == before, "a repeated refusal is not new"
        assert keeper.health.since == refused.since
        pty.hang_up()
        pty = Pty(name, SmallDevice(), desk.changes)
        clock.advance(6.0)
        ready = await desk.until_state(LinkState.READY)
        assert ready.code == ready.sentence == ""
        assert [(end.code, end.refused) for end in desk.ends] == [("device-proof", True)], "delivered once"
    pty.hang_up()


async def _pass_until(desk: Desk, clock: HandClock, state: LinkState) -> None:
    while desk.healths[-1].state is not state:
        await clock.pass_next_wait()


# -- the pauses ---------------------------------------------------------------------------------------------------


async def test_pauses_double_to_five_seconds_with_jitter(desk: Desk, clock: HandClock, logs: Logs) -> None:
    bench = Bench(desk, clock)
    bench.plugged_in = False
    async with running(bench.keeper):
        await desk.until_state(LinkState.ABSENT)
        pauses = [await clock.pass_next_wait() for _ in range(9)]
        for pause, nominal in zip(pauses, [0.2, 0.4, 0.8, 1.6, 3.2, 5, 5, 5, 5], strict=True):
            assert 0.8 * nominal - 1e-9 <= pause <= 1.2 * nominal + 1e-9
        assert len({round(pause, 6) for pause in pauses[5:]}) == 4, "the jitter is missing"
        assert [health.state for health in desk.healths] == ["connecting", "absent"]
        assert desk.healths[-1].since == 1000.0
        bench.plugged_in = True
        clock.advance(6.0)
        await desk.until_state(LinkState.READY)
        bench.unplug()
        await desk.until_state(LinkState.LOST)
        assert await clock.pass_next_wait() <= 0.24 + 1e-9, "a link that was ready starts again with short pauses"
    assert [line["log_level"] for line in logs if line["event"] == "link.absent"][:2] == ["warning", "debug"]


async def test_a_device_that_is_refused_is_asked_rarely(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    bench.device = SmallDevice(key=bytes(32))
    async with running(bench.keeper):
        await desk.until_state(LinkState.REFUSED)
        assert 4.0 <= await clock.pass_next_wait() <= 6.0


# -- the end of a link, delivered once ----------------------------------------------------------------------------


async def test_cancelled_while_ready(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
    assert [end.code for end in desk.ends] == ["link-stopped"]
    assert bench.ends[0].closed
    assert bench.keeper.health.retry_at is None


async def test_cancelled_before_it_was_ready(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    async with running(bench.keeper):
        await desk.until_state(LinkState.AUTHENTICATING)
    assert not desk.heard
    assert bench.ends[0].closed


async def test_cancelled_while_it_opens(desk: Desk, clock: HandClock) -> None:
    async def never_open(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async with running(Bench(desk, clock, open_transport=never_open).keeper):
        await desk.until_state(LinkState.CONNECTING)
    assert desk.healths[-1].code == "link-stopped"


async def test_without_a_link_nothing_is_sent(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    bench.keeper.acknowledge(BOOT, 1)
    assert not bench.keeper.command(1, HoldExit())
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        bench.unplug()
        await desk.until_state(LinkState.LOST)
        bench.keeper.acknowledge(BOOT, 1)
        assert not bench.keeper.command(1, HoldExit())


async def test_data_at_the_end_of_a_link_is_delivered_before_the_end(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        report = bench.device.report(1, messages.ButtonPressedReport(5100, "shuffle"))
        bench.device._boot += 1  # a device that restarts and keeps its keys
        bench.far_ends[-1].write(report + bench.device.status() + report)
        await desk.changes.until(lambda: bool(desk.ends))
    assert [type(thing) for thing in desk.heard[:3]] == [LinkReady, Reported, LinkOver]
    assert desk.ends[0].code == "device-rebooted"


async def test_waiting_on_the_loop_ends_at_the_deadline_or_the_event() -> None:
    event = asyncio.Event()
    await wait_for_event(event, -1.0)
    event.set()
    await wait_for_event(event, float("inf"))
