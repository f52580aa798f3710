"""Numbers, window, acknowledgement: docs/cardlink.md, "Reports"."""

from __future__ import annotations

import itertools
from typing import Final

from firmware_bridge.drivers.cardlink import messages
from simulators.bench.attempt import FrameCame
from simulators.bench.frames import FrameHost
from simulators.bench.promise import check, promise

WINDOW: Final = 8
FIRST_WAIT: Final = 0.2  # seconds
LONGEST_WAIT: Final = 2.0  # seconds
LATE: Final = 1.0  # seconds that a device may take beyond a wait, on a loaded machine or a slow line
WATCHED: Final = 9.0  # seconds, for waits of 0.2, 0.4, 0.8, 1.6, 2, 2


def numbers(came: list[FrameCame]) -> list[int]:
    """Return the numbers of these reports, each once, in the order of first arrival."""
    return list(dict.fromkeys(one.frame.number for one in came))


async def with_unacknowledged(host: FrameHost, number: int) -> tuple[int, int]:
    """Make a link with unacknowledged reports. Return the number of the first and the index where they begin."""
    await host.settle()
    host.acknowledges = False
    due, place = host.held[1] + 1, len(host.came)
    await host.cause(number)
    return due, place


class TestReportPromises:
    """Reports are numbered, kept, sent again, and forgotten once they are acknowledged."""

    @promise("Reports", "Device 1", "numbers rise by one, and reports are kept over a new link with the same body")
    @promise("Header values", "", "a report has its boot and number in the header")
    async def test_numbers_rise_by_one_and_are_kept_over_a_new_link(self, host: FrameHost) -> None:
        due, place = await with_unacknowledged(host, 4)
        await host.wait_for(
            lambda: len(numbers(host.reports(place))) >= 4 or None, "reports that were caused are missing"
        )
        first = {one.frame.number: one for one in host.reports(place)}
        check(
            list(first) == list(range(due, due + len(first))), f"numbers do not rise by one from {due}: {list(first)}"
        )
        assert host.active is not None
        check({one.frame.boot for one in first.values()} == {host.active.boot}, "a report has another boot")
        await host.link()
        again_at = host.linked_at
        await host.wait_for(
            lambda: set(numbers(host.reports(again_at))) >= set(first) or None,
            "unacknowledged reports were not sent again on a new link",
        )
        again = {one.frame.number: one for one in host.reports(again_at)}
        check(all(again[n].plain == one.plain for n, one in first.items()), "a report was sent again with another body")

    @promise("Reports", "Device 2", "the window is the oldest 8 reports, and nothing beyond it is sent")
    async def test_at_most_eight_are_sent(self, host: FrameHost) -> None:
        due, place = await with_unacknowledged(host, WINDOW + 4)
        await host.until_statuses(3)
        sent = numbers(host.reports(place))
        check(len(sent) <= WINDOW, f"{len(sent)} reports were sent without an acknowledgement, of at most {WINDOW}")
        check(sent == list(range(due, due + WINDOW)), f"the window is not the oldest {WINDOW} in order: {sent}")

    @promise("Reports", "Device 3", "the window is sent again after 200 ms, then after twice as long, at most 2 s")
    async def test_it_sends_again_and_waits_longer_each_time(self, host: FrameHost) -> None:
        due, place = await with_unacknowledged(host, 3)
        await host.listen(WATCHED)
        came = host.reports(place)
        times = [one.at for one in came if one.frame.number == due]
        check(len(times) > 1, f"report {due} was not sent again within {WATCHED} s although nothing acknowledged it")
        check(len(times) >= 5, f"report {due} was sent {len(times)} times in {WATCHED} s, at least 5 times is right")
        wait = FIRST_WAIT
        for before, after in itertools.pairwise(times):
            said = f"report {due} was sent again after {after - before:.2f} s, not after {wait:.1f} s"
            check(wait / 2 <= after - before <= wait + LATE, said)
            wait = min(2 * wait, LONGEST_WAIT)
        last = numbers([one for one in came if one.at >= times[-2]])
        check(last == [due, due + 1, due + 2], f"what was sent again is not the whole window, oldest first: {last}")

    @promise("Reports", "Device 3", "an acknowledgement that moves on sets the wait back to 200 ms")
    async def test_an_ack_makes_the_wait_short_again(self, host: FrameHost) -> None:
        due, _ = await with_unacknowledged(host, 3)
        await host.listen(WATCHED - LONGEST_WAIT)  # the wait is 2 s by now
        host.ack(host.active.boot if host.active else 0, due)
        acked_at, place = host.now, len(host.came)
        again = await host.wait_for(
            lambda: next(iter(host.reports(place)), None), "nothing was sent again after an ack"
        )
        check(again.at - acked_at <= FIRST_WAIT + LATE, f"the wait was still {again.at - acked_at:.1f} s after an ack")

    @promise("Reports", "Device 4", "an ack covers its report and those before, makes room, and ends the sending")
    async def test_acks_free_the_window(self, host: FrameHost) -> None:
        due, place = await with_unacknowledged(host, WINDOW + 4)
        boot = host.active.boot if host.active else 0
        await host.wait_for(lambda: len(numbers(host.reports(place))) >= WINDOW or None, "the window was not sent")
        host.ack(boot, due + 2)
        host.held = (boot, due + 2)
        moved = await host.wait_for(
            lambda: next((one for one in host.reports(place) if one.frame.number == due + WINDOW + 2), None),
            f"an ack of three reports did not bring three more: report {due + WINDOW + 2} did not come",
        )
        await host.until_statuses(2)
        later = numbers([one for one in host.reports(place) if one.at > moved.at])
        check(min(later, default=due + 3) >= due + 3, "an acknowledged report was sent again")
        check(max(later, default=0) <= due + WINDOW + 2, "more came than the window holds")
        host.acknowledges = True
        await host.settle()
        place = len(host.came)
        await host.until_statuses(3, place)
        check(not host.reports(place), "reports were sent again after all of them were acknowledged")

    @promise("Reports", "Device 4", "an ack with number 0, of an unknown boot or of a number not made covers nothing")
    async def test_acks_of_nothing_cover_nothing(self, host: FrameHost) -> None:
        due, place = await with_unacknowledged(host, 2)
        assert host.active is not None
        for boot, number in ((host.active.boot, 0), (host.active.boot, due + 1000), (host.active.boot ^ 1, due + 1)):
            place = len(host.came)
            host.ack(boot, number)
            await host.until_statuses(3, place)
            sentence = f"an ack of number {number} of boot {boot:08x} covered reports"
            check(set(numbers(host.reports(place))) == {due, due + 1}, sentence)

    @promise("Reports", "Device 4", "a resume is an ack: what it names is not sent again")
    async def test_a_resume_acknowledges(self, host: FrameHost) -> None:
        due, _ = await with_unacknowledged(host, 3)
        assert host.active is not None
        boot = host.active.boot
        await host.link((boot, due + 1))
        place = host.linked_at
        host.held = (boot, due + 1)
        first = await host.wait_for(lambda: next(iter(host.reports(place)), None), "nothing came after a resume")
        check(first.frame.number == due + 2, f"after a resume that names {due + 1} report {first.frame.number} came")

    @promise("Signs of life", "Host lost", "the device keeps its reports when the host is lost")
    async def test_reports_are_kept_without_a_host(self, host: FrameHost) -> None:
        due, _ = await with_unacknowledged(host, 2)
        await host.fall_silent()
        await host.link()
        place = host.linked_at
        first = await host.wait_for(
            lambda: next(iter(host.reports(place)), None), "reports are gone after the host was lost"
        )
        check(first.frame.number == due, f"report {first.frame.number} came first after the host was lost, not {due}")

    @promise("Bodies", "Reports", "a report is understood, and its clock does not go back")
    async def test_reports_are_understood(self, host: FrameHost) -> None:
        place = len(host.came)
        await host.settle()
        await host.cause(2)
        bodies = [one for one in host.came[place:] if one.frame.kind == 0x20 and one.plain]
        check(all(one.body is not None for one in bodies), "the body of a report is not understood")
        boot = host.active.boot if host.active else 0
        times = [one.body.uptime_ms for one in bodies if one.frame.boot == boot]
        check(times == sorted(times), "the clock of a report is behind that of the previous report")
        check(all(not isinstance(one.body, messages.ReportsLostReport) for one in bodies), "reports were lost")
