"""Hello, proofs, resume, and the one active link: docs/cardlink.md, "A link"."""

from __future__ import annotations

from typing import Final

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import HEADER, VERSION, FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind, encode_body
from simulators.bench.attempt import FrameCame
from simulators.bench.frames import ASKED_AGAIN, FrameHost
from simulators.bench.promise import check, promise

CANDIDATE_GONE: Final = 4.5  # seconds; docs/cardlink.md requires 3 s
LONG_ENOUGH: Final = 7.0  # seconds, after which the device repeats a frame only every 2 s
AT_ONCE: Final = 1.2  # seconds
LONGEST: Final = {"maker": 24, "model": 24, "serial": 31, "firmware": 16}  # bytes
MOST_CAPABILITIES: Final = 200  # bytes
MOST_BOOTS: Final = 4
UNKNOWN_KIND: Final = 0x7E
HOLD: Final = 2  # the tag of hold exit
FLAGS: Final = 2  # their offset in a header


def of_kind(came: list[FrameCame], kind: FrameKind) -> list[FrameCame]:
    return [one for one in came if one.frame.kind == kind]


class TestHandshakePromises:
    """A link is made, refused, and taken over."""

    @promise("Bodies", "Identity", "fields have their lengths, and the running boot is the last of at most 4 listed")
    async def test_the_identity_is_well_formed(self, host: FrameHost) -> None:
        said = (attempt := await host.greet()).said
        for field, longest in LONGEST.items():
            size = len(getattr(said, field).encode())
            check(0 < size <= longest, f"{field} has {size} bytes, of 1 to {longest}")
        check(sum(len(word) + 1 for word in said.capabilities) <= MOST_CAPABILITIES, "the capabilities are too long")
        check(said.kind in ("shuffler", "shoe"), f"the kind is {said.kind!r}")
        check(said.unit in ("sets", "singles", "both"), f"the unit is {said.unit!r}")
        check(said.report_memory >= 8, f"it keeps only {said.report_memory} reports")
        check(len(said.firmware_digest) == 64, "the firmware's digest does not have 64 digits")
        check(0 < len(said.kept) <= MOST_BOOTS, f"{len(said.kept)} boots are listed, of 1 to {MOST_BOOTS}")
        check(said.kept[-1].boot == attempt.boot != 0, "the running boot is not the last one listed, or is 0")
        check(all(kept.oldest <= kept.newest + 1 for kept in said.kept), "more reports are kept than were made")

    @promise("Versions", "", "the device speaks the versions that it names, in rising order with 1, and no others")
    async def test_the_versions_are_spoken(self, host: FrameHost) -> None:
        attempt = await host.greet()
        versions = attempt.said.versions
        check(VERSION in versions, f"version {VERSION} is not among the versions named ({versions})")
        check(versions == sorted(set(versions)), f"the versions are not named once each in rising order ({versions})")
        (proof,) = FrameReader().receive(attempt.host_proof())
        for version in versions:
            data = enclose(bytes([version]) + proof.content[1:])
            sentence = f"a host proof of version {version}, which the identity names, was not answered with a proof"
            answer = await host.ask(data, FrameKind.DEVICE_PROOF, sentence)
            check(answer.frame.version == version, f"the proof of version {version} has {answer.frame.version}")
        host.write(enclose(bytes([max(versions) + 1]) + proof.content[1:]))
        came = await host.listen(ASKED_AGAIN)
        check(not of_kind(came, FrameKind.DEVICE_PROOF), "a host proof of a version that is not named was answered")

    @promise("A link", "Device 1", "a repeated hello is answered with the same identity")
    async def test_the_same_hello_has_the_same_identity(self, host: FrameHost) -> None:
        first = await host.greet()
        again = await host.ask(first.hello, FrameKind.IDENTITY, "a repeated hello was not answered")
        check(again.frame.decoded == first.identity.decoded, "the identity differs when the hello is repeated")

    @promise("The device's nonce", "", "no two hellos are answered with the same nonce")
    @promise("A link", "Device 1", "another hello is answered with a fresh nonce")
    async def test_each_hello_has_a_fresh_nonce(self, host: FrameHost) -> None:
        attempts = [await host.greet() for _ in range(3)]
        first = await host.greet(attempts[0].nonce)
        nonces = {attempt.said.nonce for attempt in (*attempts, first)}
        check(all(len(nonce) == 16 for nonce in nonces), "a nonce does not have 16 bytes")
        check(len(nonces) == 4, "a nonce was used for two hellos")
        check(not nonces & {attempt.nonce for attempt in attempts}, "the device repeats the host's nonce as its own")

    @promise("A link", "Device 1", "the active link goes on while a hello makes a candidate")
    async def test_a_candidate_does_not_disturb_the_active_link(self, host: FrameHost) -> None:
        await host.settle()
        await host.greet()
        await host.until_statuses(2)
        answer = await host.order(messages.HoldExitOrder())
        check(answer.done or bool(answer.reason), "a command was not answered beside a candidate")

    @promise("A link", "Device 1", "the hello of the active link is ignored")
    async def test_the_active_links_hello_is_ignored(self, host: FrameHost) -> None:
        await host.settle()
        assert host.active is not None
        place = len(host.came)
        host.write(host.active.hello)
        came = await host.until_statuses(2, place)
        check(not of_kind(came, FrameKind.IDENTITY), "the hello of the active link was answered")

    @promise("A link", "Device 1", "another hello replaces the candidate: a proof for its identity is rejected")
    async def test_a_proof_for_a_replaced_identity_is_rejected(self, host: FrameHost) -> None:
        first, second = await host.greet(), await host.greet()
        sentence = "a proof for a replaced identity was not answered with a reject"
        reject = await host.ask(first.host_proof(), FrameKind.REJECT, sentence)
        check(reject.body.code == "proof", f"the reject of a proof for a replaced identity says {reject.body.code!r}")
        await host.prove(second)
        await host.resume(second)

    @promise("A link", "Device 2", "a wrong proof is answered with reject `proof`, and the candidate remains")
    async def test_a_wrong_proof_is_rejected_and_the_candidate_stays(self, host: FrameHost) -> None:
        attempt = await host.greet()
        sentence = "a wrong proof was not answered with a reject"
        reject = await host.ask(attempt.host_proof(right=False), FrameKind.REJECT, sentence)
        check(reject.body.code == "proof", f"the reject of a wrong proof says {reject.body.code!r}")
        await host.prove(attempt)
        await host.ask(attempt.host_proof(right=False), FrameKind.REJECT, sentence)
        await host.resume(attempt)

    @promise("A link", "Device 2", "a repeated host proof is answered again")
    async def test_a_proof_that_comes_again_is_answered_again(self, host: FrameHost) -> None:
        attempt = await host.greet()
        await host.prove(attempt)
        await host.prove(attempt)
        await host.resume(attempt)

    @promise("A link", "Device 3", "a resume without a host proof makes no link")
    async def test_a_resume_without_a_proof_makes_no_link(self, host: FrameHost) -> None:
        attempt = host.coming = await host.greet()
        host.seal(FrameKind.RESUME, encode_body(messages.ResumeBody(0, 0)), attempt=attempt)
        await host.listen(ASKED_AGAIN)
        check(host.active is None, "a resume without a host proof made a link")

    @promise(
        "A link", "Device 3", "a resume makes the candidate the active link, and the previous keys are no longer valid"
    )
    async def test_another_link_takes_the_place_of_the_first(self, host: FrameHost) -> None:
        await host.settle()
        first = host.active
        await host.link()
        check(host.active is not first, "the candidate did not become the active link")
        place = len(host.came)
        host.seal(FrameKind.COMMAND, encode_body([1, messages.HoldExitOrder()]), attempt=first)
        await host.until_statuses(2, place)
        check(not host.answers(1, place), "a command with the keys of the previous link was carried out")

    @promise(
        "A link", "Device 3", "after a resume on the active link the device starts again from the oldest report kept"
    )
    async def test_a_resume_on_the_active_link_begins_again(self, host: FrameHost) -> None:
        await host.settle()
        host.acknowledges = False
        await host.cause(2)
        due = host.held[1] + 1
        await host.listen(LONG_ENOUGH)
        place = len(host.came)
        await host.wait_for(lambda: next(iter(host.reports(place)), None), "reports were not sent again")
        resumed_at, place = host.now, len(host.came)
        host.seal(FrameKind.RESUME, encode_body(messages.ResumeBody(*host.held)))
        sentence = "a resume on the active link was not answered with a status and the oldest report kept"
        await host.wait_for(lambda: host.first(FrameKind.STATUS, place), sentence)
        first = await host.wait_for(
            lambda: next((one for one in host.reports(place) if one.frame.number == due), None), sentence
        )
        check(first.at - resumed_at <= AT_ONCE, f"{sentence} immediately, but after {first.at - resumed_at:.1f} s")
        counters = [one.counter for one in host.came if one.counter and one.body is not None]
        check(counters == sorted(set(counters)), "a counter went back after a resume")

    @promise("A link", "Device 3", "until a resume is understood, every frame is answered with sealed reject `message`")
    async def test_a_resume_that_is_not_understood_is_rejected(self, host: FrameHost) -> None:
        host.beats = False
        attempt = host.coming = await host.greet()
        await host.prove(attempt)
        for kind, body in (
            (FrameKind.RESUME, b"\x91\x01"),
            (FrameKind.ACK, encode_body(messages.AckBody(0))),
            (FrameKind.COMMAND, encode_body([9, messages.HoldExitOrder()])),
        ):
            place = len(host.came)
            host.seal(kind, body, attempt=attempt)
            sentence = f"frame {kind:#04x} after a resume that is not understood was not answered with a sealed reject"
            reject = await host.wait_for(lambda place=place: host.first(FrameKind.SEALED_REJECT, place), sentence)  # type: ignore[misc]  # mypy reads no default
            check(reject.body.code == "message", f"the sealed reject says {reject.body.code!r}")
        await host.listen(ASKED_AGAIN)
        since = host.came[host.linked_at :]
        check(not of_kind(since, FrameKind.STATUS), "a status was sent before a resume was understood")
        check(not host.answers(9), "a command was carried out before a resume was understood")
        await host.resume(attempt)
        host.beats = True

    @promise("A link", "Device 4", "an ack that is not understood acknowledges nothing, and is a sign of life")
    async def test_an_ack_that_is_not_understood_acknowledges_nothing(self, host: FrameHost) -> None:
        await host.settle()
        assert host.active is not None
        host.acknowledges = False
        await host.cause(1)
        due, place = host.held[1] + 1, len(host.came)
        host.seal(FrameKind.ACK, b"\x90", boot=host.active.boot, number=due)
        sentence = "an ack that is not understood was not answered with a sealed reject"
        reject = await host.wait_for(lambda: host.first(FrameKind.SEALED_REJECT, place), sentence)
        check(reject.body.code == "message", f"the sealed reject says {reject.body.code!r}")
        place = len(host.came)
        sentence = "an ack that is not understood covered a report"
        await host.wait_for(lambda: any(one.frame.number == due for one in host.reports(place)) or None, sentence)

    @promise("A link", "Device 4", "commands are accepted on the active link only")
    async def test_a_candidates_command_is_not_taken(self, host: FrameHost) -> None:
        await host.settle()
        attempt = await host.greet()
        await host.prove(attempt)
        place = len(host.came)
        host.seal(FrameKind.COMMAND, encode_body([2, messages.HoldExitOrder()]), attempt=attempt)
        came = await host.until_statuses(2, place)
        check(not host.answers(2, place) and not host.strange, "a command from a candidate was carried out")
        check(not of_kind(came, FrameKind.SEALED_REJECT), "a candidate's command was answered")

    @promise("A link", "Device 5", "a candidate is forgotten three seconds after its last hello or proof")
    async def test_a_candidate_is_forgotten(self, host: FrameHost) -> None:
        attempt = await host.greet()
        await host.listen(CANDIDATE_GONE)
        host.write(attempt.host_proof())
        came = await host.listen(ASKED_AGAIN)
        check(not of_kind(came, FrameKind.DEVICE_PROOF), f"a candidate was still known after {CANDIDATE_GONE} s")

    @promise("A link", "Device 5", "a recording of a link, played after the link is lost, does nothing")
    async def test_a_recording_does_nothing(self, host: FrameHost) -> None:
        begun = len(host.written)
        await host.settle()
        await host.order(messages.ReleaseExitOrder())
        recorded = host.written[begun:]
        await host.fall_silent()
        host.beats = False
        place = len(host.came)
        for data in recorded:
            host.write(data)
            await host.listen(0.02)
        came = host.came[place:] + await host.listen(ASKED_AGAIN)
        check(not of_kind(came, FrameKind.DEVICE_PROOF), "a recorded proof was accepted as the host's")
        check(all(one.frame.kind in CLEAR for one in came), "a recorded handshake made a link")

    @promise("A link", "", "a hello of another version, in header or body, is answered with reject `version`")
    async def test_a_hello_of_another_version_is_rejected(self, host: FrameHost) -> None:
        body = encode_body(messages.HelloBody(VERSION + 1, bytes(16)))
        other_header = enclose(HEADER.pack(VERSION + 1, FrameKind.HELLO, 0, 0, 0) + b"\x92whatever")
        for data in (other_header, enclose(HEADER.pack(VERSION, FrameKind.HELLO, 0, 0, 0) + body)):
            reject = await host.ask(data, FrameKind.REJECT, "a hello of another version was not answered with a reject")
            check(reject.body.code == "version", f"the reject of another version says {reject.body.code!r}")

    @promise("A link", "", "a clear body that is not understood is answered with reject `message`")
    async def test_a_hello_that_is_not_understood_is_rejected(self, host: FrameHost) -> None:
        data = enclose(HEADER.pack(VERSION, FrameKind.HELLO, 0, 0, 0) + b"\x91\x01")
        reject = await host.ask(data, FrameKind.REJECT, "a hello without a nonce was not answered with a reject")
        check(reject.body.code == "message", f"the reject of a hello without a nonce says {reject.body.code!r}")

    @promise("Frames", "Receiving", "a damaged frame is dropped and never ends a link")
    async def test_damaged_frames_end_nothing(self, host: FrameHost) -> None:
        await host.settle()
        hold = host.seal(FrameKind.COMMAND, encode_body([3, messages.HoldExitOrder()]), send=False)
        place = len(host.came)
        (frame,) = FrameReader().receive(hold)
        spoiled = bytearray(frame.decoded)
        spoiled[-6] ^= 1
        for data in (bytes(600), b"\xc0\xdb\xc0", b"\xc0" + bytes(spoiled).replace(b"\xc0", b"") + b"\xc0", hold[:-9]):
            host.write(data + b"\xc0")
        came = await host.until_statuses(3, place)
        check(not host.answers(3, place), "a damaged command was carried out")
        check(
            not of_kind(came, FrameKind.REJECT) + of_kind(came, FrameKind.SEALED_REJECT), "a damaged frame was answered"
        )

    @promise("Frames", "Receiving", "the next frame is read after one that is too long, however it ends")
    async def test_a_frame_after_an_over_long_one_is_read(self, host: FrameHost) -> None:
        await host.settle()
        for size in (513, 600, 70_000):
            host.write(b"\xc0" + bytes(size // 2))
            await host.listen(AT_ONCE)  # a transport gives up if the whole of the largest one waits to be sent
            host.write(bytes(size - size // 2) + b"\xc0")
            await host.link_after(size)  # the device ends a link on which nothing else fits for 3 s
            answer = await host.order(messages.ShowOrder(""))
            check(answer.done or bool(answer.reason), f"a command after a frame of {size} bytes was not answered")

    @promise("Compatibility", "", "elements that a device does not know are ignored, and so are kinds")
    async def test_what_a_newer_host_adds_is_ignored(self, host: FrameHost) -> None:
        attempt = host.coming = await host.greet(more=("new", None))
        await host.prove(attempt)
        host.seal(FrameKind.RESUME, encode_body([*host.held, "new", [1, None]]), attempt=attempt)
        place = len(host.came)
        await host.wait_for(lambda: host.first(FrameKind.STATUS, 0), "a resume with more elements was not understood")
        host.seal(UNKNOWN_KIND, b"of a newer version")
        host.seal(FrameKind.ACK, encode_body([host.sent_counter, b"new", [True]]))
        host.seal(FrameKind.COMMAND, encode_body([1, [HOLD, "new"], None]))
        check((await host.answer(1)).reason != "unknown", "an order with more elements was not understood")
        came = await host.until_statuses(2, place)
        check(not of_kind(came, FrameKind.SEALED_REJECT), "more elements, or an unknown kind, were rejected")

    @promise("Bodies", "", "an integer may have any width, except in a report")
    async def test_integers_of_any_width_are_read(self, host: FrameHost) -> None:
        await host.settle()
        place = len(host.came)
        for command_id, width, form in ((11, "64 bits", b"\xcf%s"), (12, "16 bits", b"\xcd%s")):
            size = 8 if form.startswith(b"\xcf") else 2
            packed = form % command_id.to_bytes(size, "big")
            host.seal(FrameKind.COMMAND, b"\x92" + packed + b"\x91" + form % HOLD.to_bytes(size, "big"))
            answer = await host.answer(command_id)
            check(answer.reason != "unknown", f"a command with integers of {width} was not understood")
        assert host.active is not None
        host.seal(FrameKind.ACK, b"\x91\xcf" + host.active.channel.heard.to_bytes(8, "big"))
        came = await host.until_statuses(2, place)
        check(not of_kind(came, FrameKind.SEALED_REJECT), "an ack with a wide integer was rejected")

    @promise(
        "Header values", "", "version, flags and boot of every frame are right; flags of a clear frame are ignored"
    )
    async def test_the_headers_are_right(self, host: FrameHost) -> None:
        await host.settle()
        hello = bytearray(FrameReader().receive((await host.greet()).hello)[0].content)
        hello[FLAGS] = 7
        sentence = "a hello with flags was not answered"
        await host.ask(enclose(bytes(hello)), FrameKind.IDENTITY, sentence)
        await host.order(messages.HoldExitOrder())
        assert host.active is not None
        for one in host.came:
            name = f"frame {one.frame.kind:#04x}"
            check(one.frame.version == VERSION, f"{name} has the version {one.frame.version}")
            check(one.frame.flags in ((0,) if one.frame.kind in CLEAR else (0, 1)), f"{name} has wrong flags")
            if one.frame.kind != FrameKind.REPORT:
                check(one.frame.boot == host.active.boot, f"{name} does not carry the running boot")
