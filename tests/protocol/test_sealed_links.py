"""Links that someone on the line attacks: no frame that is inserted, replayed or delayed is accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from zlib import crc32

import pytest

from firmware_bridge.commands import Dispense, ReleaseExit
from firmware_bridge.drivers.base import Contradicted, Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.framing import (
    CRC,
    END,
    ESCAPE,
    ESCAPED_END,
    ESCAPED_ESCAPE,
    HEADER,
    VERSION,
    FrameReader,
    enclose,
)
from firmware_bridge.drivers.cardlink.host import LinkStep
from firmware_bridge.drivers.cardlink.messages import CLEAR, FrameKind
from firmware_bridge.drivers.cardlink.sealing import (
    FRESH_WITHIN,
    GRACE,
    INTERRUPT,
    LOST_WITHOUT,
    NOTED_AGAIN_AFTER,
    FrameSealer,
    Freshness,
)
from simulators.devices.faulty_line import LineFaults

from .parts import (
    BOOT,
    KEY,
    BenchDevice,
    channel_of,
    converse,
    frame,
    host_before,
    kinds_in,
    linked,
    make_host,
    only,
    over,
    sealed,
)
from .table import Table


class Wire:
    """A host and a device with an established link, and every frame that passed, by its sender."""

    def __init__(self, **device: object) -> None:
        self.device = BenchDevice(**device)  # type: ignore[arg-type]  # its own parameters
        self.host = make_host()
        self.of_host: list[bytes] = []
        self.of_device: list[bytes] = []
        self.heard: list[Heard] = []
        self.pass_on(0.0)

    def pass_on(self, now: float) -> None:
        """Forward frames until neither side has anything to send."""
        while True:
            sent = self.host.outgoing()
            self.of_host += whole(sent)
            said = self.device.exchange(sent, now)
            self.of_device += whole(said)
            if not sent and not said:
                return
            self.heard += self.host.receive(said, now)

    def live(self, until: float, since: float = 0.0) -> None:
        """Let both continue, a tenth of a second at a time."""
        for tenth in range(round(since * 10), round(until * 10) + 1):
            self.heard += self.host.tick(tenth / 10)
            self.device.link.tick(tenth / 10)
            self.pass_on(tenth / 10)


def whole(data: bytes) -> list[bytes]:
    return [enclose(read.content) for read in FrameReader().receive(data)]


def kind_of(data: bytes) -> int:
    return FrameReader().receive(data)[0].kind


def notes(heard: list[Heard]) -> list[int]:
    return [thing.number for thing in heard if isinstance(thing, Contradicted) and thing.what == "forged_frames"]


# -- recorded frames ---------------------------------------------------------------------------------------------------


def test_a_hosts_frame_is_not_accepted_twice() -> None:
    wire = Wire()
    wire.host.command(5, ReleaseExit(), 0.1)
    wire.pass_on(0.1)
    for recorded in wire.of_host * 2:
        if kind_of(recorded) not in CLEAR:
            assert wire.device.exchange(recorded, 0.2) == b""
    assert wire.device.carried_out == [(5, messages.ReleaseExitOrder())]
    assert channel_of(wire.device).repeated == 2 * 3  # resume, ack, command
    wire.pass_on(0.3)
    assert wire.device.link.linked


def test_a_recorded_link_is_worthless_after_a_restart_with_stuck_randomness() -> None:
    """The start counter in flash changes the nonce, so neither proof nor keys of the recording are valid."""
    for stuck in (b"", b"r" * 16):
        wire = Wire(random=lambda stuck=stuck: stuck)
        wire.host.command(5, ReleaseExit(), 0.1)
        wire.pass_on(0.1)
        wire.device.link.reboot(BOOT, keep_reports=True)  # even the boot is repeated
        said = b"".join(wire.device.exchange(recorded, 1.0) for recorded in wire.of_host)
        assert kinds_in(said) == [FrameKind.IDENTITY, FrameKind.REJECT]
        assert wire.device.carried_out == [(5, messages.ReleaseExitOrder())]
        assert not wire.device.link.linked


def test_a_replayed_host_proof_ends_nothing() -> None:
    """The hello and proof of an earlier link create a candidate that cannot continue, next to the established link."""
    wire = Wire()
    earlier = [one for one in wire.of_host if kind_of(one) in CLEAR]
    later = linked(wire.device, now=1.0)
    said = b"".join(wire.device.exchange(recorded, 1.1) for recorded in earlier)
    assert kinds_in(said) == [FrameKind.IDENTITY, FrameKind.REJECT]
    later.command(6, ReleaseExit(), 1.2)
    converse(later, wire.device, 1.2)
    assert wire.device.carried_out == [(6, messages.ReleaseExitOrder())]


def test_old_keys_open_nothing_once_a_new_link_is_established() -> None:
    wire = Wire()
    linked(wire.device, now=1.0)
    wire.host.command(7, Dispense(3), 1.1)
    assert wire.device.exchange(wire.host.outgoing(), 1.1) == b""
    assert wire.device.carried_out == []
    assert channel_of(wire.device).forged == 1


def test_an_unfinished_link_takes_nothing_from_the_established_one() -> None:
    """The hellos are A, B, A: candidates come and go, and each hello that is not the candidate's gets another nonce."""
    wire = Wire()
    hellos = [make_host().outgoing() for _ in range(2)]
    identities = [wire.device.exchange(hellos[place], 0.5) for place in (0, 1, 0, 0)]
    assert [kinds_in(one) for one in identities] == [[FrameKind.IDENTITY]] * 4
    assert identities[2] == identities[3]
    assert len(set(identities)) == 3
    wire.host.command(8, ReleaseExit(), 0.6)
    wire.pass_on(0.6)
    assert wire.device.carried_out == [(8, messages.ReleaseExitOrder())]


# -- inserted frames ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", sorted(CLEAR))
def test_clear_frames_are_ignored_by_a_host_with_an_established_link(kind: FrameKind) -> None:
    """Their boot does not matter, and they do not count as signs of life."""
    wire = Wire()
    for second in range(1, 4):
        wire.host.receive(frame(kind, messages.RejectBody("proof"), boot=BOOT + second), second - 0.1)
    assert over(list(wire.host.tick(3.0))).code == "device-silent"


def test_an_unknown_clear_kind_does_not_keep_a_dead_device_alive() -> None:
    host = Wire().host
    for second in range(1, 4):
        assert host.receive(frame(0x77), second - 0.1) == []
    assert over(list(host.tick(3.0))).code == "device-silent"


@pytest.mark.parametrize("kind", [FrameKind.STATUS, FrameKind.REPORT, FrameKind.ANSWER, FrameKind.SEALED_REJECT])
def test_an_unsealed_frame_that_should_be_sealed_counts_as_forged(kind: FrameKind) -> None:
    wire = Wire()
    wire.host.receive(frame(kind, b"\x90" * 40), 0.1)
    assert channel_of(wire.host).forged == 1
    wire.host.receive(frame(kind, b""), 0.1)  # too short to be sealed: dropped, and not even counted
    assert channel_of(wire.host).forged == 1
    assert wire.heard == [wire.heard[0]]


def test_no_sealed_frame_is_accepted_before_the_proofs() -> None:
    wire = Wire()
    recorded = [one for one in wire.of_device if kind_of(one) not in CLEAR]
    host = make_host()
    device = BenchDevice()
    reply = device.exchange(host.outgoing(), 0.0)
    for data in recorded:
        assert host.receive(data, 0.0) == []
    assert host.receive(reply, 0.0) == []
    assert isinstance(only(converse(host, device, 0.0)), LinkReady)


@pytest.mark.parametrize("kind", [FrameKind.RESUME, FrameKind.ACK, FrameKind.COMMAND])
def test_a_device_without_a_host_accepts_no_sealed_frame(kind: FrameKind) -> None:
    wire = Wire()
    data = sealed(wire.host, kind, messages.ResumeBody(0, 0), now=4.0)
    wire.device.link.tick(3.0)
    assert wire.device.exchange(data, 4.0) == b""
    assert not wire.device.link.linked


def test_every_bit_of_a_sealed_frame_counts() -> None:
    wire = Wire()
    channel = channel_of(wire.host)
    wire.device.link.report(messages.CardDrawnReport(1, 7, 1, 51, 1, 40), 0.1)
    (good,) = FrameReader().receive(wire.device.link.outgoing())
    before = channel.heard
    for bit in range(8 * len(good.content)):
        content = bytearray(good.content)
        content[bit // 8] ^= 1 << bit % 8
        heard = wire.host.receive(enclose(bytes(content)), 0.1)
        assert not any(isinstance(thing, Reported) for thing in heard), f"bit {bit} may be changed"
    assert channel.heard == before
    (report,) = wire.host.receive(enclose(good.content), 0.2)
    assert isinstance(report, Reported)


@pytest.mark.parametrize("size", [34, 513])
def test_frames_of_other_sizes_are_dropped(size: int) -> None:
    wire = Wire()
    good = sealed(wire.device, FrameKind.STATUS, wire.device.status(3))
    content = FrameReader().receive(good)[0].content
    assert wire.host.receive(enclose_any((content + bytes(size))[: size - 4]), 0.1) == []
    assert channel_of(wire.host).forged == 0


def enclose_any(content: bytes) -> bytes:
    """Enclose a body as `enclose` does, without its limit."""
    decoded = content + CRC.pack(crc32(content))
    return END + decoded.replace(ESCAPE, ESCAPED_ESCAPE).replace(END, ESCAPED_END) + END


def test_ten_thousand_forgeries_are_one_fault_and_change_nothing() -> None:
    wire = Wire()
    wire.live(GRACE + 1)
    random = Random(1)
    for number in range(10_000):
        body = random.randbytes(random.randint(20, 60))
        kind = random.choice([FrameKind.REPORT, FrameKind.STATUS, FrameKind.ANSWER, FrameKind.SEALED_REJECT])
        wire.heard += wire.host.receive(frame(kind, body, number=number), GRACE + 1)
    assert notes(wire.heard) == [1]
    assert not any(isinstance(thing, LinkOver | Reported) for thing in wire.heard)
    wire.live(GRACE + 1 + NOTED_AGAIN_AFTER, since=GRACE + 1.1)
    assert notes(wire.heard) == [1, 10_000]
    wire.host.command(9, ReleaseExit(), 65.0)
    wire.pass_on(65.0)
    assert wire.device.carried_out == [(9, messages.ReleaseExitOrder())]


def test_a_forgery_in_the_first_seconds_is_reported_and_left_over_frames_are_not() -> None:
    left_over = frame(FrameKind.STATUS, bytes(30))
    device = BenchDevice()
    host, first = host_before(LinkStep.FIRST_STATUS, device)
    assert notes(list(host.receive(left_over + first, 0.1))) == []
    assert notes(list(host.receive(sealed_by_nobody(INTERRUPT), 0.2))) == [], "that endpoint has sent nothing yet"
    assert notes(list(host.receive(left_over, 0.3))) == [1]


def sealed_by_nobody(flags: int) -> bytes:
    return enclose(HEADER.pack(VERSION, FrameKind.STATUS, flags, BOOT, 0) + bytes(40))


def test_endless_forgeries_lead_to_a_new_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("firmware_bridge.drivers.cardlink.sealing.MOST_FORGED", 100)
    wire = Wire()
    heard = [thing for _ in range(100) for thing in wire.host.receive(frame(FrameKind.STATUS, bytes(30)), 0.1)]
    assert over(heard[-1:]).code == "device-forged-frames"
    for _ in range(100):
        wire.device.exchange(frame(FrameKind.COMMAND, bytes(30)), 0.1)
    assert not wire.device.link.linked
    assert wire.device.hosts_lost == 1


@pytest.mark.parametrize("line", [LineFaults(), LineFaults(loss=0.1), LineFaults(flip=0.002), LineFaults(stall=0.1)])
@pytest.mark.parametrize("seed", range(5))
def test_new_links_in_the_middle_of_reports_do_not_count_as_forgery(line: LineFaults, seed: int) -> None:
    table = Table(line, seed, restarts=0.1, pause=0.01)
    noted: list[Heard] = []
    hear = table._hear

    def note(heard: Sequence[Heard]) -> None:
        noted.extend(heard)
        hear(heard)

    table._hear = note  # type: ignore[method-assign]  # the test also listens
    table.play(300)
    assert table.links > 2
    assert notes(noted) == []


# -- delayed frames ----------------------------------------------------------------------------------------------------


def test_delayed_frames_end_the_link_on_either_side() -> None:
    """A box delivers everything six seconds late, without a gap: neither side takes it for an established link."""
    wire = Wire()
    wire.live(1.0)
    late: list[tuple[float, bytes, bytes]] = []
    ended: dict[str, float] = {}
    for tenth in range(11, 200):
        now = tenth / 10
        heard = list(wire.host.tick(now))
        wire.device.link.tick(now)
        late.append((now + 6.0, wire.host.outgoing(), wire.device.link.outgoing()))
        # The earlier traffic continues: repeats of the last good frame would be dropped, so the box sends what it kept.
        while late and late[0][0] <= now:
            _, of_host, of_device = late.pop(0)
            wire.device.link.receive(of_host, now)
            heard += wire.host.receive(of_device, now)
        if any(isinstance(thing, LinkOver) for thing in heard):
            ended.setdefault("host", now)
        if not wire.device.link.linked:
            ended.setdefault("device", now)
    assert ended["host"] <= 1.0 + LOST_WITHOUT + 0.1
    assert ended["device"] <= 1.0 + LOST_WITHOUT + 0.1


def test_one_direction_that_is_slowed_down_gradually_ends_the_link() -> None:
    """Signs of life keep coming, later and later: the silence of three seconds never happens."""
    wire = Wire()
    wire.live(1.0)
    box: list[tuple[float, bytes]] = []
    now, end = 1.0, None
    while end is None and now < 60:
        now = round(now + 0.1, 1)
        heard = list(wire.host.tick(now))
        wire.device.link.receive(wire.host.outgoing(), now)
        wire.device.link.tick(now)
        box.append((now + (now - 1.0) / 2, wire.device.link.outgoing()))
        while box and box[0][0] <= now:
            heard += wire.host.receive(box.pop(0)[1], now)
        end = next((thing for thing in heard if isinstance(thing, LinkOver)), None)
    assert end is not None
    assert end.code == "device-delayed"
    assert now < 1.0 + 3 * (FRESH_WITHIN + LOST_WITHOUT)


def test_freshness_of_heard_frames() -> None:
    freshness = Freshness()
    freshness.sent(1, 0.0)
    freshness.begin(0.0)
    assert freshness.ends_at() == LOST_WITHOUT
    freshness.sent(2, 3.0)
    freshness.hear(1, 4.0)
    assert freshness.ends_at() == 4.0 + LOST_WITHOUT
    freshness.hear(1, 6.0)  # sent six seconds ago
    assert freshness.ends_at() == 4.0 + LOST_WITHOUT
    freshness.hear(2, 8.0)
    assert freshness.ends_at() == 8.0 + LOST_WITHOUT
    freshness.hear(2, 8.1)
    assert freshness.ends_at() == 8.0 + LOST_WITHOUT


# -- properties --------------------------------------------------------------------------------------------------------


def test_no_counter_is_used_twice_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Links break, the device reboots, and candidates come. With equal keys, equal counters would be a repeat."""
    used: Counter[tuple[bytes, int]] = Counter()
    make, seal = FrameSealer.__init__, FrameSealer.seal

    def remember_key(self: FrameSealer, key: bytes, version: int) -> None:
        make(self, key, version)
        self.key_of_test = key  # type: ignore[attr-defined]  # the sealer itself keeps none

    def count(self: FrameSealer, *args: object, **named: object) -> bytes:
        made = seal(self, *args, **named)  # type: ignore[arg-type]  # forwarded
        used[self.key_of_test, self.counter] += 1  # type: ignore[attr-defined]
        return made

    monkeypatch.setattr(FrameSealer, "__init__", remember_key)
    monkeypatch.setattr(FrameSealer, "seal", count)
    for seed in range(6):
        used.clear()  # each table counts its nonces from the beginning
        table = Table(LineFaults(loss=0.05, flip=0.001), seed, restarts=0.05)
        for part in range(3):
            table.play(60)
            table.reboot(keep_reports=part != 1)
        assert len({key for key, _ in used}) > 5
        assert set(used.values()) == {1}


@pytest.mark.parametrize("card", [0, 1, 13, 14, 26, 39, 52, 127])
def test_every_card_makes_a_frame_of_one_length(card: int) -> None:
    sealer = FrameSealer(KEY)
    bodies = (
        messages.CardDrawnReport(1, 7, 1, 51, 1, card),
        messages.SetDispensedReport(1, 7, 1, 49, 1, [card, 1, card]),
        messages.CardsDrawnTogetherReport(1, 7, 1, 50, 1, False, [card, card]),
        messages.FaceUpFoundReport(1, 7, 1, 1, card),
    )
    lengths = [len(sealer.seal(FrameKind.REPORT, BOOT, 1, messages.encode_body(body))) for body in bodies]
    assert lengths == [40, 42, 42, 38]


def test_a_counter_is_used_up_by_a_body_that_is_not_understood() -> None:
    wire = Wire()
    spoilt = sealed(wire.device, FrameKind.STATUS, b"\xc1")
    before = channel_of(wire.host).heard
    assert over(list(wire.host.receive(spoilt, 0.1))).code == "device-message"
    assert channel_of(wire.host).heard == before + 1


def test_a_link_whose_counters_are_used_up_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    wire = Wire()
    channel_of(wire.host)._sealer.counter = 0xFFFF_FFFF - 2
    ended: list[Heard] = []
    for second in range(1, 6):
        wire.device.link.tick(float(second))
        ended += wire.host.tick(float(second))
        wire.pass_on(float(second))
    assert over([thing for thing in ended if isinstance(thing, LinkOver)]).code == "device-counters"
