"""Statuses, the loss of the host, and the exit: docs/cardlink.md, "Signs of life" and "Status"."""

from __future__ import annotations

import itertools
from typing import Final

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.messages import FrameKind
from simulators.bench.attempt import FrameCame
from simulators.bench.frames import FrameHost
from simulators.bench.promise import Measurement, check, promise

SIGN_OF_LIFE_WITHIN: Final = 2.0  # seconds; docs/cardlink.md requires 1 s
AT_ONCE: Final = 0.6  # seconds; sooner than the next regular status
TRIES: Final = 3


class TestLifePromises:
    """Statuses come, are true, and end when the host is gone."""

    @promise("Signs of life", "sends", "a status each second")
    async def test_a_status_comes_each_second(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        await host.until_statuses(5, place)
        times = [one.at for one in host.came[place:] if one.frame.kind == FrameKind.STATUS]
        gaps = [after - before for before, after in itertools.pairwise(times)]
        check(sum(gaps) / len(gaps) > 0.5, f"statuses come every {sum(gaps) / len(gaps):.2f} s, not each second")
        host.measure(Measurement("longest time between two statuses", max(gaps), "s", SIGN_OF_LIFE_WITHIN))

    @promise("Signs of life", "sends", "a status as soon as all that was kept at the resume is acknowledged")
    async def test_a_status_comes_when_all_is_acknowledged(self, host: FrameHost) -> None:
        waits: list[float] = []
        for _ in range(TRIES):  # a loaded machine is late now and then; a device without this is always late
            await host.settle()
            host.acknowledges = False
            await host.cause(1)
            await host.link()
            last = await host.wait_for(
                lambda: next(
                    (one for one in reversed(host.came) if one.frame.kind == FrameKind.REPORT and one.body), None
                ),
                "unacknowledged reports were not sent again on a new link",
            )
            await host.until_statuses(1)
            acked_at, place = host.now, len(host.came)
            host.held = (last.frame.boot, last.frame.number)
            host.ack()
            waits.append((await next_status(host, place)).at - acked_at)
            if waits[-1] <= AT_ONCE:
                return
        check(False, f"the status came {min(waits):.2f} s after everything was acknowledged, not at once")

    @promise("Signs of life", "Host lost", "the device holds its exit, and a command alone releases it")
    async def test_the_exit_is_held_when_the_host_is_lost(self, host: FrameHost) -> None:
        await host.settle()
        if not (await host.order(messages.ReleaseExitOrder())).done:
            host.cannot("the device does not release its exit")
        check(not (await host.status()).exit_held, "`exit_held` is true after release exit was answered as done")
        await host.fall_silent()
        status = await host.link()
        check(status.exit_held, "the exit is not held after the host was lost")
        check((await host.status()).exit_held, "the exit was released by a new link alone")

    @promise("Signs of life", "lost after", "the device stops sending 3 s after the last sign of life, hellos or not")
    async def test_it_stops_sending_without_a_host(self, host: FrameHost) -> None:
        await host.settle()
        await host.greet()
        await host.fall_silent()

    @promise("Bodies", "Status", "`exit_held` is what the last hold or release made it")
    async def test_exit_held_is_true(self, host: FrameHost) -> None:
        await host.settle()
        for order, held in (
            (messages.HoldExitOrder(), True),
            (messages.ReleaseExitOrder(), False),
            (messages.HoldExitOrder(), True),
        ):
            if not (await host.order(order)).done:
                host.cannot("the device does not hold its exit")
            word = "hold" if held else "release"
            check((await host.status()).exit_held == held, f"`exit_held` is {not held} after {word} exit was done")

    @promise(
        "Bodies",
        "Status",
        "`last_report` is the newest report, `heard` is one of the host's counters, and clocks advance",
    )
    async def test_last_report_and_heard_are_true(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        before = await host.status()
        await host.cause(2)
        after = await host.status()
        await host.wait_for(lambda: len(host.reports(place)) >= 2 or None, "reports that were caused are missing")
        newest = max(one.frame.number for one in host.reports(place))
        check(after.last_report == newest, f"`last_report` is {after.last_report}, the newest report is {newest}")
        check(after.uptime_ms >= before.uptime_ms, "`uptime_ms` went back")
        check(after.heard > before.heard, "`heard` stays where it was while the host sends")
        check(after.heard <= host.sent_counter, f"`heard` is {after.heard}, but the host has sent {host.sent_counter}")

    @promise("Bodies", "Status", "`last_command` is the last card-moving command that was done")
    async def test_last_command_is_the_last_that_was_done(self, host: FrameHost) -> None:
        await host.settle()
        command_id = host.command(messages.RunSelfTestOrder())
        if not (await host.answer(command_id)).done:
            host.cannot("the device does not run its self-test")
        last = (await host.status()).last_command
        check(last == command_id, f"`last_command` is {last} after the self-test {command_id}")
        await host.order(messages.HoldExitOrder())
        refused = await host.order(messages.DispenseOrder(3))
        check(not refused.done, "a set was dispensed while the exit is held")
        last = (await host.status()).last_command
        check(last == command_id, f"a command that was refused, or moves no card, made `last_command` {last}")

    @promise("Header values", "", "a status has the running boot and the newest report in its header")
    async def test_a_status_names_the_newest_report_in_its_header(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        await host.until_statuses(2, place)
        boot = host.active.boot if host.active else 0
        for one in host.came[place:]:
            if isinstance(one.body, messages.StatusBody):
                check(one.frame.boot == boot, "a status has another boot in its header")
                check(one.frame.number == one.body.last_report, "the number of a status differs from its `last_report`")


async def next_status(host: FrameHost, place: int) -> FrameCame:
    return await host.wait_for(lambda: host.first(FrameKind.STATUS, place), "no status came")
