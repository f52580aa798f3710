"""Frames that are forged, played back or have other flags: docs/cardlink.md, "Sealed frames"."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import FrameKind, encode_body
from simulators.bench.frames import BEAT, QUIET, FrameHost
from simulators.bench.promise import check, promise

STALE_WITHIN: Final = 9.0  # seconds; docs/cardlink.md requires 5 s


def forged(data: bytes) -> bytes:
    """Return the same frame with a wrong tag and a good CRC."""
    (frame,) = FrameReader().receive(data)
    return enclose(frame.content[:-1] + bytes([frame.content[-1] ^ 1]))


def echoed(frame: bytes) -> bytes:
    return enclose(frame[:-4])


class TestSealingPromises:
    """The device hears only the holder of the key, and each frame once."""

    @promise("Sealed frames", "Sending", "each frame has a counter of its own, from 1, one more each time")
    async def test_no_counter_is_used_twice(self, host: FrameHost) -> None:
        await host.settle()
        host.acknowledges = False
        await host.cause(3)
        await host.until_statuses(3)
        counters = [one.counter for one in host.came if one.counter and one.body is not None]
        check(not host.strange, "a frame came whose counter was used before, or that the key does not open")
        if not host.reader.corrupt:
            start = counters.index(1) if 1 in counters else 0
            check(counters[start:] == list(range(1, len(counters) - start + 1)), "counters do not rise by one from 1")

    @promise("Sealed frames", "Receiving 1", "a frame of the device's own, as an echo, is ignored")
    async def test_an_echo_is_ignored(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        for one in [one for one in host.came if one.counter][-3:]:
            host.write(echoed(one.frame.decoded))
        came = await host.until_statuses(2, place)
        check(not any(one.frame.kind == FrameKind.SEALED_REJECT for one in came), "an echo was answered")
        await host.status()

    @promise("Sealed frames", "Receiving 2", "frames with other flags than 0 and 1 are dropped")
    async def test_other_flags_are_dropped(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        body = encode_body([4, messages.HoldExitOrder()])
        host.seal(FrameKind.COMMAND, body, flags=2)
        host.write(enclose(FrameReader().receive(host.seal(FrameKind.COMMAND, b"", send=False))[0].content[:20]))
        await host.until_statuses(2, place)
        check(not host.answers(4, place), "a command with flags 2 was carried out")

    @promise("Sealed frames", "Receiving 3", "a frame with a wrong tag changes nothing and is not answered")
    async def test_a_forged_frame_changes_nothing(self, host: FrameHost) -> None:
        await host.settle()
        await host.order(messages.HoldExitOrder())
        host.acknowledges = False
        await host.cause(1)
        place = len(host.came)
        release = encode_body([5, messages.ReleaseExitOrder()])
        ack = encode_body(messages.AckBody(0))
        assert host.active is not None
        host.write(forged(host.seal(FrameKind.COMMAND, release, send=False)))
        host.write(forged(host.seal(FrameKind.ACK, ack, boot=host.active.boot, number=host.held[1] + 1, send=False)))
        await host.until_statuses(3, place)
        check(not host.answers(5, place), "a forged command was answered")
        check((await host.status()).exit_held, "a forged command released the exit")
        again = [one for one in host.reports(place) if one.frame.number == host.held[1] + 1]
        check(len(again) > 0, "a forged ack covered a report")

    @promise("Sealed frames", "Receiving 4", "a frame that is played back is not accepted, and no counter goes back")
    async def test_a_frame_played_back_is_not_taken(self, host: FrameHost) -> None:
        await host.settle()
        release = host.seal(FrameKind.COMMAND, encode_body([6, messages.ReleaseExitOrder()]))
        await host.answer(6)
        kept_back = host.seal(FrameKind.COMMAND, encode_body([7, messages.ReleaseExitOrder()]), send=False)
        await host.order(messages.HoldExitOrder())
        place = len(host.came)
        host.write(release)
        host.write(kept_back)
        await host.until_statuses(2, place)
        check(not host.answers(6, place), "a command that was played back was carried out again")
        check(not host.answers(7, place), "a frame was accepted after a later one from the host")

    @promise("Header values", "", "a command of another boot is ignored, without an answer")
    @promise("Sealed frames", "Receiving 5", "the boot of a command is looked at")
    async def test_a_command_of_another_boot_is_ignored(self, host: FrameHost) -> None:
        await host.settle()
        assert host.active is not None
        place = len(host.came)
        other = host.command(messages.HoldExitOrder(), boot=host.active.boot ^ 1)
        came = await host.until_statuses(2, place)
        check(not host.answers(other, place), "a command of another boot was answered")
        check(
            not any(one.frame.kind == FrameKind.SEALED_REJECT for one in came), "a command of another boot was answered"
        )

    @promise("Sealed frames", "Lengths", "every integer of a report has its shortest form, and a card is one byte")
    async def test_reports_have_the_shortest_form(self, host: FrameHost) -> None:
        place = len(host.came)
        await host.settle()
        await host.cause(2)
        for came in host.reports(place):
            check_shortest(came.plain)

    @promise("Sealed frames", "Receiving", "forged frames are not a sign of life: the host is still lost")
    async def test_forged_frames_are_no_sign_of_life(self, host: FrameHost) -> None:
        await host.settle()
        body = encode_body(messages.AckBody(0))
        await host.fall_silent(lambda: host.write(forged(host.seal(FrameKind.ACK, body, send=False))))

    @promise("Signs of life", "Fresh", "a host whose `heard` stays behind for 5 s is lost")
    @promise("Signs of life", "lost after", "the device goes without a sign of life for 3 s, a fresh `heard` for 5 s")
    async def test_a_host_that_hears_nothing_is_lost(self, host: FrameHost) -> None:
        await host.settle()
        host.beats = False
        begun = host.now
        while host.now < begun + STALE_WITHIN:
            host.ack(heard=0)
            await host.listen(BEAT)
        host.active = None
        check(not await host.listen(QUIET), f"the link stood for {STALE_WITHIN} s though the host had heard nothing")


def check_shortest(plain: bytes) -> None:
    """Fail unless the MessagePack is the shortest form of its values."""
    values: Any = msgspec.msgpack.decode(plain)
    check(msgspec.msgpack.encode(values) == plain, f"the report {values[0]} is longer than it has to be")
