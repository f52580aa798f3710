"""Frames that are forged, played back or have other flags, and the program in the device: docs/cardlink.md, "Sealed
frames", "The program in the device".
"""

from __future__ import annotations

import hmac
import secrets
from typing import Any, Final

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import VERSION, FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import SALT_SIZE, FrameKind, encode_body
from simulators.bench.frames import BEAT, QUIET, FrameHost
from simulators.bench.promise import check, promise

ATTESTED_WITHIN: Final = 10.0  # seconds: docs/cardlink.md, "The program in the device"
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

    @promise("Sealed frames", "Receiving 1", "a frame of another version than the link's is dropped")
    async def test_another_version_is_dropped(self, host: FrameHost) -> None:
        await host.settle()
        assert host.active is not None
        place = len(host.came)
        body = encode_body([8, messages.HoldExitOrder()])
        host.seal(FrameKind.COMMAND, body, send=False)  # uses up a counter, which is then used for the other version
        other = host.active.sealer(VERSION + 1, host.sent_counter - 1)
        host.write(enclose(other.seal(FrameKind.COMMAND, host.active.boot, 0, body)))
        await host.until_statuses(2, place)
        answers = [one for one in host.came[place:] if one.frame.kind in (FrameKind.ANSWER, FrameKind.SEALED_REJECT)]
        check(not answers, f"a command under version {VERSION + 1} was answered")

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

    @promise(
        "The program in the device", "Device 1", "the digest is of the program and the salt, and the same each time"
    )
    @promise("The program in the device", "Device 2", "statuses go on meanwhile")
    @promise("The program in the device", "Device 3", "a challenge that comes again is answered again")
    async def test_the_program_is_shown(self, host: FrameHost) -> None:
        await host.settle()
        check_can_attest(host)
        salt, place = secrets.token_bytes(SALT_SIZE), len(host.came)
        first = await attested(host, salt, 0, 64)
        check(len(first) == 32, f"the digest of the first 64 bytes has {len(first)} bytes")
        check(await attested(host, salt, 0, 64) == first, "a repeated challenge has another digest")
        check(await attested(host, secrets.token_bytes(SALT_SIZE), 0, 64) != first, "another salt has the same digest")
        check(await attested(host, salt, 0, 64) == first, "the same challenge after another one has another digest")
        check(await attested(host, salt, 1, 63) != first, "another range has the same digest")
        none = hmac.digest(salt, b"", "sha256")
        check(await attested(host, salt, 0, 0) == none, "the digest of no bytes is not that of no bytes")
        await host.until_statuses(2, place)

    @promise("The program in the device", "Device 4", "a range beyond the program has no digest, a bad salt a reject")
    async def test_what_cannot_be_shown(self, host: FrameHost) -> None:
        await host.settle()
        check_can_attest(host)
        for offset, length in ((2**32 - 1, 1), (0, 2**32 - 1), (2**32 - 1, 2**32 - 1)):
            digest = await attested(host, secrets.token_bytes(SALT_SIZE), offset, length)
            check(not digest, f"{length} bytes from {offset} on have a digest")
        place = len(host.came)
        host.seal(FrameKind.CHALLENGE, encode_body([bytes(SALT_SIZE - 1), 0, 1]))
        sentence = "a salt of 31 bytes was not answered with a sealed reject"
        await host.wait_for(lambda: host.first(FrameKind.SEALED_REJECT, place), sentence)

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


def check_can_attest(host: FrameHost) -> None:
    assert host.active is not None
    if "attests" not in host.active.said.capabilities:
        host.cannot("the device does not declare `attests`")


async def attested(host: FrameHost, salt: bytes, offset: int, length: int) -> bytes:
    """Return the digest with which the device answers a challenge."""
    place = len(host.came)
    host.seal(FrameKind.CHALLENGE, encode_body(messages.ChallengeBody(salt, offset, length)))

    def answer() -> bytes | None:
        bodies = [one.body for one in host.came[place:] if isinstance(one.body, messages.AttestationBody)]
        return next((body.digest for body in bodies if body.salt == salt), None)

    return await host.wait_for(answer, "a challenge was not answered", ATTESTED_WITHIN)


def check_shortest(plain: bytes) -> None:
    """Fail unless the MessagePack is the shortest form of its values."""
    values: Any = msgspec.msgpack.decode(plain)
    check(msgspec.msgpack.encode(values) == plain, f"the report {values[0]} is longer than it has to be")
