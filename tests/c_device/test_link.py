"""Handshake, candidates, sealed frames and signs of life of the device in C: docs/cardlink.md, "A link"."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from typing import Final

import msgspec
import pytest

from tests.c_device.conversation import CDevice
from tests.c_device.small_host import (
    ACK,
    ANSWER,
    DEVICE_PROOF,
    HELLO,
    HOST_PROOF,
    IDENTITY,
    KEY,
    REJECT,
    REPORT,
    RESUME,
    SEALED_REJECT,
    STATUS,
    Frame,
    SmallHost,
    header,
    slip,
    unslip,
)
from tests.support import long_forms

pytestmark = pytest.mark.tool("gcc")

# The bytes with a meaning for MessagePack and the escapes, and a few others.
NONSENSE: Final = bytes.fromhex("00017f8090919fa0a1bfc0c1c2c3c4c5cccdcecfd0d9dadbdcdddeffe29c93")


def kinds(frames: list[Frame]) -> list[int]:
    return [frame.kind for frame in frames]


def codes(frames: list[Frame]) -> list[str]:
    assert set(kinds(frames)) <= {REJECT, SEALED_REJECT}
    return [frame.body[0] for frame in frames]


def test_handshake(shuffler: CDevice, program: Path) -> None:
    host = SmallHost(shuffler)
    status, started = host.link()
    version, kind, unit, *_ = host.fields
    assert (version, kind, unit) == (1, "shuffler", "sets")
    assert host.fields[5] == "C-1"
    assert host.fields[7] == hashlib.sha256(program.read_bytes()).hexdigest()
    assert host.fields[10] is True
    assert host.fields[13] == [[shuffler.boot, 1, 1]]
    assert host.boot == shuffler.boot != 0
    assert (status.kind, status.counter, status.boot, status.number) == (STATUS, 1, shuffler.boot, 1)
    assert status.status["exit_held"]
    assert status.status["heard"] == 1
    assert (started.kind, started.counter, started.boot, started.number) == (REPORT, 2, shuffler.boot, 1)
    assert started.body == [1, 0, "power"]
    assert shuffler.lines[-1] == "active"


def test_capabilities(shuffler: CDevice, shoe: CDevice) -> None:
    for device, own, other in (
        (shuffler, "dispenses_on_command", "dispenses_on_removal"),
        (shoe, "dispenses_on_removal", "dispenses_on_command"),
    ):
        host = SmallHost(device)
        host.say_hello()
        assert own in host.fields[8]
        assert other not in host.fields[8]


def test_the_same_hello_has_the_same_identity_and_another_a_fresh_nonce(shuffler: CDevice) -> None:
    host, other = SmallHost(shuffler), SmallHost(shuffler, b"nonce of host 02")
    host.say_hello()
    first = host.identity
    shuffler.tick(2900)
    shuffler.control("load")  # its report is not in the identity: that is sent unchanged
    host.say_hello()
    assert host.identity == first
    shuffler.tick(2900)  # counted from the last matching hello
    host.prove()
    other.say_hello()
    assert other.fields[12] != host.fields[12]
    assert other.fields[13] == [[shuffler.boot, 1, 2]]


def test_a_candidate_is_forgotten_after_three_seconds(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.say_hello()
    first = host.identity
    shuffler.tick(2990)
    assert kinds(host.exchange(host.proof())) == [DEVICE_PROOF]
    shuffler.tick(3000)
    assert host.exchange(host.proof()) == []
    host.make_keys()
    assert host.exchange(host.resume()) == []
    host.say_hello()
    assert host.identity != first


def test_a_wrong_proof_is_rejected_and_the_candidate_stays(shuffler: CDevice) -> None:
    wrong, host = SmallHost(shuffler, key=bytes(range(32))), SmallHost(shuffler)
    host.say_hello()
    wrong.identity = host.identity
    assert codes(host.exchange(wrong.proof())) == ["proof"]
    shuffler.tick(2000)
    assert codes(host.exchange(wrong.proof())) == ["proof"]
    host.prove()
    assert codes(host.exchange(wrong.proof())) == ["proof"]  # the proven identity also stays
    assert kinds(host.exchange(host.resume())) == [STATUS, REPORT]


def test_a_wrong_proof_does_not_prolong_the_candidate(shuffler: CDevice) -> None:
    wrong, host = SmallHost(shuffler, key=bytes(range(32))), SmallHost(shuffler)
    host.say_hello()
    wrong.identity = host.identity
    host.exchange(wrong.proof(), ms=2000)
    host.exchange(wrong.proof(), ms=1000)
    assert host.exchange(host.proof()) == []


def test_a_resume_counts_only_after_a_host_proof(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.say_hello()
    host.make_keys()
    assert host.exchange(host.resume()) == []
    host.prove()
    assert kinds(host.exchange(host.resume())) == [STATUS, REPORT]


def test_a_candidate_beside_the_active_link(shuffler: CDevice) -> None:
    host, other = SmallHost(shuffler), SmallHost(shuffler, b"nonce of host 02")
    host.link()
    other.say_hello()
    assert kinds(host.exchange(host.ack(1), ms=1000)) == [STATUS, STATUS]  # all acknowledged, then each second
    other.say_hello()
    other.prove()
    assert kinds(host.order(1, 3)) == [ANSWER]
    assert host.exchange(host.hello) == []  # equals the active link's
    assert shuffler.counts()[0] == 0
    assert kinds(other.exchange(other.resume())) == [STATUS]
    assert host.order(2, 3) == []  # its keys are gone
    assert shuffler.counts()[0] == 1
    assert kinds(other.order(1, 2)) == [ANSWER]  # ids belong to a link


def test_the_active_link_is_lost_as_if_no_hello_had_come(shuffler: CDevice) -> None:
    host, other = SmallHost(shuffler), SmallHost(shuffler, b"nonce of host 02")
    host.link()
    shuffler.tick(1500)
    other.say_hello()
    other.prove()
    assert "lost" in shuffler.tick(1500)
    assert kinds(other.exchange(other.resume())) == [STATUS, REPORT]  # the candidate has a timeout of its own


def test_a_recorded_handshake_cannot_be_used_again(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    host.sent = 0
    recorded = [host.hello, host.proof(), host.resume()]  # byte for byte what was sent
    shuffler.tick(3000)
    assert shuffler.lines[-1] == "lost"
    shuffler.read()
    shuffler.write(b"".join(map(slip, recorded)))
    shuffler.tick(0)
    identity, rejected = unslip(shuffler.read())
    assert (identity[1], rejected[1]) == (IDENTITY, REJECT)
    assert identity != host.identity


def test_a_repeated_sealed_frame_is_not_a_sign_of_life(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    order, ack = host.command(1, 3), host.ack(1)
    assert kinds(host.exchange(order, ack)) == [ANSWER, STATUS]
    assert host.exchange(order) == []
    assert kinds(host.exchange(ms=1500)) == [STATUS]
    assert host.exchange(ack, host.hello) == []
    assert shuffler.counts() == (0, 2, 0)
    assert "lost" in shuffler.tick(1500)


def test_a_frame_with_a_lower_counter_is_repeated_even_when_it_was_not_taken_before(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    late, ack = host.command(1, 3), host.ack()
    assert host.exchange(ack, late) == []
    assert shuffler.counts() == (0, 1, 0)


def test_forged_frames_are_counted_and_no_sign_of_life(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    shuffler.tick(2000)
    forged = bytearray(host.ack())
    forged[7] ^= 1  # the header is authenticated
    host.exchange(bytes(forged))
    assert shuffler.counts() == (1, 0, 0)
    assert "lost" in shuffler.tick(1000)


def test_an_unknown_kind_that_opens_is_a_sign_of_life(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    host.exchange(host.ack(), ms=2000)
    assert kinds(host.exchange(host.sealed(0x50, [1]))) == []
    assert "lost" not in shuffler.tick(2000)


def test_each_flag_has_its_counter_and_unknown_flags_are_dropped(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    one, two = host.sealed(ACK, [1], flags=1), host.sealed(ACK, [1])
    three = host.sealed(ACK, [1], flags=2)
    host.exchange(two, one, three, host.ack()[:27])
    assert shuffler.counts() == (0, 0, 0)


def test_an_echo_is_ignored(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    host.exchange(host.ack(), ms=1000)
    echoes = [host.sealed(kind, []) for kind in (SEALED_REJECT, REPORT, STATUS, ANSWER)]
    assert host.exchange(*echoes, host.identity, header(REJECT) + b"\x91\xa1x", ms=1990) != []
    assert shuffler.counts() == (0, 0, 0)
    assert "lost" in shuffler.tick(10)


def test_lost_after_three_seconds_of_silence_and_the_exit_is_held(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    assert kinds(host.order(1, 3)) == [ANSWER]
    assert shuffler.tick(2990) == []
    assert shuffler.tick(10) == ["lost"]
    shuffler.read()
    shuffler.tick(5000)
    assert shuffler.read() == b""
    again = SmallHost(shuffler, b"nonce of host 02")
    assert again.link()[0].status["exit_held"]


def test_lost_after_five_seconds_without_a_fresh_heard(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    stale = host.heard
    for _ in range(4):
        host.exchange(host.ack(), ms=1000)
    said: list[str] = []
    seconds = 0
    while not said:  # the frame that it names was sent 4 s ago, then longer: it is no longer fresh
        seconds += 1
        host.exchange(host.ack(heard=stale))
        said = shuffler.tick(1000)
    assert said == ["lost"]
    assert seconds == 6  # it was last fresh 5 s after the link was established, and then 5 s passed


@pytest.mark.parametrize("heard", [0, 1000])
def test_a_heard_that_names_no_frame_is_not_fresh(shuffler: CDevice, heard: int) -> None:
    host = SmallHost(shuffler)
    host.link()
    for _ in range(4):
        host.exchange(host.ack(heard=heard), ms=1000)
    host.exchange(host.ack(heard=heard))
    assert shuffler.tick(1000) == ["lost"]


def test_a_host_that_keeps_up_is_never_lost(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    statuses = [frame for frame in host.keep_up(20_000) if frame.kind == STATUS]
    uptimes = [frame.status["uptime"] for frame in statuses]
    assert uptimes[0] == 500  # everything that was kept at resume is acknowledged
    assert uptimes[1:] == list(range(1500, 20_001, 1000))
    assert "lost" not in shuffler.lines


def test_a_resume_on_the_active_link_begins_again(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    shuffler.control("load")
    assert kinds(host.read()) == [REPORT]
    frames = host.exchange(host.resume())
    assert [(frame.kind, frame.number) for frame in frames[1:]] == [(REPORT, 1), (REPORT, 2)]
    assert (frames[0].kind, frames[0].counter) == (STATUS, 4)


def test_other_versions_and_unknown_bodies(shuffler: CDevice) -> None:
    encode = msgspec.msgpack.encode
    host = SmallHost(shuffler)
    assert codes(host.exchange(header(HELLO, version=2))) == ["version"]
    assert codes(host.exchange(header(HELLO) + encode([2]))) == ["version"]
    for body in (
        b"",
        encode([]),
        encode([1]),
        encode([1, b"short"]),
        encode([1, "x" * 16]),
        encode([1, bytes(16)]) + b"x",
    ):
        assert codes(host.exchange(header(HELLO) + body)) == ["message"]
    assert codes(host.exchange(header(HOST_PROOF) + encode([1]))) == ["message"]
    assert host.exchange(header(HOST_PROOF, version=2) + encode([1])) == []
    more = header(HELLO) + encode([1, bytes(16), None, [True, [b"x"]], 7])
    assert kinds(host.exchange(more)) == [IDENTITY]
    host.link()
    for kind, sealed in ((RESUME, [1]), (ACK, []), (ACK, [2**32]), (ACK, [-1]), (0x30, ["x"])):
        assert codes(host.exchange(host.sealed(kind, sealed))) == ["message"]


def test_damaged_frames_are_counted_and_never_answered(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    damaged = bytearray(slip(host.hello))
    damaged[9] ^= 1
    shuffler.write(
        bytes(damaged) + b"\xc0\xc0short\xc0" + b"x" * 2000 + b"\xc0\xdb\xc0" + slip(host.hello + bytes(600))
    )
    shuffler.tick(0)
    assert shuffler.read() == b""
    assert shuffler.counts() == (0, 0, 5)
    for byte in slip(host.hello):  # in pieces
        shuffler.write(bytes([byte]))
    assert kinds(host.exchange()) == [IDENTITY]


def send_nonsense(shuffler: CDevice, chance: random.Random, nonce: bytes) -> None:
    host = SmallHost(shuffler, nonce)
    host.link()
    for _ in range(200):
        kind = chance.choice([HELLO, HOST_PROOF, RESUME, ACK, 0x30, chance.randrange(256)])
        body = chance.choice([b"", b"\x92\x01", b"\x91", b"\x92\x07\x92\x06"])
        body += bytes(chance.choice(NONSENSE) for _ in range(chance.choice([0, 1, 2, 5, 20, 470])))
        frame = host.sealed(kind, body) if kind not in (HELLO, HOST_PROOF) else header(kind) + body
        if chance.randrange(4) == 0:
            shuffler.write(bytes(chance.choice(NONSENSE) for _ in range(chance.randrange(1200))))
        shuffler.write(slip(frame))
        if kind not in (HELLO, HOST_PROOF):
            host.exchange(host.ack())
        shuffler.read()
    shuffler.tick(5000)
    again = SmallHost(shuffler, nonce[::-1])
    assert kinds(again.link())[0] == STATUS


@pytest.mark.parametrize("seed", range(4))
def test_invalid_input_ends_nothing(shuffler: CDevice, seed: int) -> None:
    """The sanitizers end the program on an out-of-bounds access; complete frames with random bodies get furthest."""
    send_nonsense(shuffler, random.Random(seed), b"nonce of host 01")


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_invalid_input_for_long_ends_nothing(shuffler: CDevice, seed: int) -> None:
    chance = long_forms.randomness(f"c_device {seed}")
    for _ in range(long_forms.count(200)):
        send_nonsense(shuffler, chance, chance.randbytes(16))


def test_reset_is_a_new_boot_with_nothing_kept(shuffler: CDevice) -> None:
    host = SmallHost(shuffler)
    host.link()
    shuffler.control("load")
    before = shuffler.boot
    shuffler.control("reset")
    assert shuffler.boot != before
    assert shuffler.start == 2
    shuffler.read()
    assert host.exchange(host.ack()) == []
    again = SmallHost(shuffler, b"nonce of host 02")
    again.durable = 2
    status, started = again.link()
    assert again.fields[13] == [[shuffler.boot, 1, 1]]
    assert started.body == [1, 0, "reset"]
    assert status.status["loaded"] == 0


def test_without_randomness_the_nonce_depends_on_start_and_draw(program: Path) -> None:
    nonces: list[bytes] = []
    for start in (1, 1, 2):
        with CDevice(program, "shoe", "C-2", KEY, start, virtual=True, random=False) as device:
            for hello in (b"nonce of host 01", b"nonce of host 02", b"nonce of host 01"):
                host = SmallHost(device, hello)
                host.say_hello()
                nonces.append(host.fields[12])
    assert nonces[:3] == nonces[3:6]
    assert len(set(nonces)) == 6


def test_in_real_time(program: Path) -> None:
    with CDevice(program, "shoe", "C-2", KEY) as device:
        assert kinds(SmallHost(device).link())[:2] == [STATUS, REPORT]
        assert device.wait_for("lost") == "lost"


@pytest.mark.parametrize("over", ["pty", "own pty"])
def test_over_a_pty_in_real_time(program: Path, over: str) -> None:
    with CDevice(program, "shoe", "C-2", KEY, over="pty" if over == "pty" else "own pty") as device:
        hello = SmallHost(device).hello
        for _ in range(2):  # a host that closes the port and opens it again
            with Path(device.port).open("r+b", buffering=0) as port:
                port.write(slip(hello))
                data = b""
                while not (data.endswith(b"\xc0") and len(data) > 1):
                    data += port.read(4096)
            assert unslip(data)[0][1] == IDENTITY
