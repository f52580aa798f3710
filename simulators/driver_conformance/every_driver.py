"""The tests. Subclass `OneWayConformance` for the driver of a one-way device, else `DriverConformance`.

The tests do no I/O: bytes go from one side to the other in pieces that a test chooses, on its own
clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from random import Random
from typing import ClassVar, Final, Protocol, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firmware_bridge import observations
from firmware_bridge.cards import DECK, Card
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, RunSelfTest, Show, Shuffle, UnloadStub
from firmware_bridge.drivers.base import Answered, Driver, Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.setting import DeviceLine, DriverSetting
from firmware_bridge.observations import AnyObservation, GapSuspected, NotUnderstood
from simulators.devices.base import DeviceSide
from simulators.devices.mechanism import Mechanism


def plain(seen: AnyObservation) -> str:
    match seen:
        case observations.CardDrawn(card=card, foreign=foreign):
            if card is not None:
                return f"card {card.expose().code}"
            return "foreign card" if foreign else "unread card"
        case observations.Jammed(zone=zone):
            return f"stop: {zone}"
        case observations.JamCleared(zone=zone):
            return f"freed: {zone}"
        case observations.Alarmed(alarm=alarm):
            return f"alarm: {alarm}"
        case observations.Noted(what=what):
            return f"noted: {what}"
        case observations.GapSuspected():
            return "gap suspected"
        case observations.NotUnderstood():
            return "not understood"
        case observations.Started():
            return "started"
    raise AssertionError(f"none of these drivers reports {type(seen).__name__}")


def reports(heard: Iterable[Heard]) -> list[Reported]:
    return [thing for thing in heard if isinstance(thing, Reported)]


def texts_of(heard: Iterable[Heard]) -> list[str]:
    return [plain(report.observation) for report in reports(heard)]


def cards(heard: Iterable[Heard]) -> list[str]:
    """Return the cards alone, an unread one as "?"."""
    drawn = [report.observation for report in reports(heard)]
    return [
        "?" if one.card is None else one.card.expose().code for one in drawn if isinstance(one, observations.CardDrawn)
    ]


COMMANDS: Final[tuple[AnyCommand, ...]] = (
    Dispense(3), HoldExit(), ReleaseExit(), Shuffle(), UnloadStub(), Show("x"), RunSelfTest()
)  # fmt: skip
_nonces = count(1)
many_classes = settings(  # each driver is a subclass; a slow machine must not fail a test
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow]
)


class Shoe(DeviceSide, Protocol):
    """A device's side with a mechanism from which cards are drawn."""

    mechanism: Mechanism


class StepClock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Wire:
    """A driver and a device, and what the driver heard. `size` bytes arrive together; `noise` comes before the device's
    bytes.
    """

    def __init__(self, driver: Driver, device: Shoe, clock: StepClock, size: int = 4096, noise: bytes = b"") -> None:
        self.driver = driver
        self.device = device
        self.clock = clock
        self.size = size
        self.noise = noise
        self.heard: list[Heard] = []
        self.written = b""

    def run(self, seconds: float = 0.0) -> None:
        """Let both converse until neither has anything to send, then let time pass, and repeat."""
        for wait in (0.0, seconds):
            self.clock.now += wait
            for _ in range(100):
                self.device.tick()
                self.take(self.driver.tick(self.clock.now))
                sent = self.driver.outgoing()
                self.written += sent
                if sent:
                    self.device.receive(sent)
                data = self.device.outgoing()
                if not data and not sent:
                    break
                self.feed(self.noise + data)

    def feed(self, data: bytes) -> None:
        for start in range(0, len(data), self.size):
            self.take(self.driver.receive(data[start : start + self.size], self.clock.now))

    def take(self, heard: Sequence[Heard]) -> None:
        for thing in heard:
            self.heard.append(thing)
            if isinstance(thing, Reported):
                self.driver.acknowledge(thing.boot, thing.number, self.clock.now)


class DriverConformance:
    """Tests of any driver. `make_device` makes a shoe, `make_driver` the driver; `noise` may come between reports."""

    make_driver: ClassVar[Callable[..., Driver]]
    noise: ClassVar[bytes] = b"\x00\xff~~\r\n"
    query: ClassVar[dict[str, bool]] = {}
    card_table: ClassVar[dict[str, Card]] = {}

    def make_device(self, clock: StepClock) -> Shoe:
        raise NotImplementedError

    def setting(self, held: tuple[int, int] = (0, 0), **url: bool) -> DriverSetting:
        return DriverSetting(
            next(_nonces).to_bytes(4, "big") + bytes(12),
            DeviceLine("SHOE-9", **{**self.query, **url}),
            self.key_of,
            held,
            self.card_table,
            True,
        )

    def key_of(self, serial: str) -> bytes | None:
        return None

    def wire(self, **given: object) -> Wire:
        clock = StepClock()
        device = self.make_device(clock)
        wire = Wire(self.driver(clock), device, clock, **given)  # type: ignore[arg-type]  # size and noise
        wire.run()
        self.release(wire)
        return wire

    def driver(self, clock: StepClock, held: tuple[int, int] = (0, 0), **url: bool) -> Driver:
        return type(self).make_driver(self.setting(held, **url), clock.now)

    def release(self, wire: Wire) -> None:
        """Let the shoe give cards."""

    def draw(self, wire: Wire, number: int) -> list[str]:
        """Draw cards, each sent before the next is drawn, and return what they were."""
        drawn: list[str] = []
        for _ in range(number):
            drawn += [card.code for card in wire.device.mechanism.draw()]
            wire.run()
        return drawn

    def load(self, wire: Wire, seed: int = 7) -> None:
        wire.device.mechanism.load(Random(seed).sample(DECK, len(DECK)), deck=1)
        wire.run()

    # -- for every driver -------------------------------------------------------------------------------------------

    def test_it_is_ready_once_and_first(self) -> None:
        wire = self.wire()
        assert [type(thing) for thing in wire.heard].count(LinkReady) == 1
        assert isinstance(wire.heard[0], LinkReady)
        assert wire.heard[0].identity.kind == "shoe"
        assert wire.heard[0].identity.simulated

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 4096])
    def test_a_decks_cards_come_in_order_and_once_in_any_pieces(self, size: int) -> None:
        wire = self.wire(size=size)
        self.load(wire)
        drawn = self.draw(wire, 52)
        assert len(drawn) == 52
        assert cards(wire.heard) == drawn

    def test_garbage_between_changes_no_card(self) -> None:
        wire = self.wire()
        wire.noise = self.noise
        self.load(wire)
        drawn = self.draw(wire, 52)
        assert cards(wire.heard) == drawn
        assert wire.driver.statistics.frames_corrupt

    def test_reports_are_numbered_by_one(self) -> None:
        wire = self.wire()
        self.load(wire)
        self.draw(wire, 20)
        numbers = [report.number for report in reports(wire.heard)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len({report.boot for report in reports(wire.heard)}) == 1

    def test_every_report_has_its_bytes(self) -> None:
        wire = self.wire()
        self.load(wire)
        self.draw(wire, 5)
        assert all(report.evidence.open() for report in reports(wire.heard))

    def test_no_face_shows_in_what_is_printed(self) -> None:
        wire = self.wire()
        self.load(wire)
        drawn = self.draw(wire, 52)
        shown = " ".join(map(repr, wire.heard))
        assert not [code for code in drawn if code in shown]

    @many_classes
    @given(st.binary(max_size=300), st.integers(1, 300))
    def test_no_bytes_raise(self, data: bytes, size: int) -> None:
        driver = self.driver(StepClock())
        for start in range(0, len(data), size):
            for thing in driver.receive(data[start : start + size], 0.0):
                assert isinstance(thing, get_args(Heard))
        for now in (1.0, 5.0, 60.0):
            assert all(isinstance(thing, get_args(Heard)) for thing in driver.tick(now))

    @many_classes
    @given(st.data())
    def test_a_stream_that_is_cut_off_or_changed_raises_nothing_and_makes_up_no_card(self, data: st.DataObject) -> None:
        """A changed byte may cost a card; the others come, in order."""
        wire = self.wire()
        self.load(wire)
        before = len(cards(wire.heard))
        drawn = [card.code for _ in range(6) for card in wire.device.mechanism.draw()]
        stream = bytearray(wire.device.outgoing())
        # The length of sealed data may change from run to run, and the draw must not depend on it.
        place = data.draw(st.integers(0, 2**16)) % len(stream)
        if data.draw(st.booleans()):
            del stream[place:]
        else:
            stream[place] ^= 1 << data.draw(st.integers(0, 7))
        wire.feed(bytes(stream))
        heard = cards(wire.heard)[before:]
        assert self.is_lawful(drawn, heard)

    def is_lawful(self, drawn: list[str], heard: list[str]) -> bool:
        """Return whether what was heard is what was drawn, perhaps with some cards missing."""
        left = iter(drawn)
        return all(card in left for card in heard)


class OneWayConformance(DriverConformance):
    """Further tests for the driver of a one-way device."""

    def test_its_capabilities_name_what_the_device_cannot_do(self) -> None:
        (ready,) = (thing for thing in self.wire().heard if isinstance(thing, LinkReady))
        capabilities, status = ready.identity.capabilities, ready.status
        no = ("counts", "acknowledges", "retains_reports", "senses_orientation", "senses_double_draw", "senses_tray")
        assert [getattr(capabilities, name) for name in no] == [False] * len(no)
        assert (ready.identity.unit, ready.identity.serial, ready.identity.deck_size) == ("singles", "SHOE-9", 52)
        assert (status.last_report, status.loaded, status.shuffle) == (0, 0, 0)
        assert status.boot == ready.identity.boot != 0

    def test_cards_have_no_place_in_the_deck_and_no_time(self) -> None:
        wire = self.wire()
        self.load(wire)
        self.draw(wire, 3)
        for report in reports(wire.heard)[-3:]:
            seen = report.observation
            assert report.uptime_ms is None
            assert [getattr(seen, name) for name in ("shuffle", "ordinal", "remaining", "deck")] == [0, 0, 0, 0]
            assert getattr(seen, "face_up", ...) is None

    def test_silence_proves_nothing(self) -> None:
        wire = self.wire()
        heard = len(wire.heard)
        wire.run(seconds=1e6)
        assert not wire.driver.is_stale(wire.clock.now)
        assert wire.driver.wake_at() > wire.clock.now
        assert wire.heard[heard:] == []

    def test_after_a_hang_up_it_begins_again_and_what_was_not_received_is_lost(self) -> None:
        wire = self.wire()
        self.load(wire)
        first = self.draw(wire, 5)
        wire.device.mechanism.draw()
        wire.device.outgoing()  # no link is open
        again = Wire(self.driver(wire.clock, held=(7, 9)), wire.device, wire.clock)
        again.run()
        second = self.draw(again, 5)
        assert (cards(wire.heard), cards(again.heard)) == (first, second)
        assert reports(again.heard)[0].number == 1
        assert reports(again.heard)[0].boot != reports(wire.heard)[0].boot

    def test_a_driver_that_listens_writes_nothing(self) -> None:
        clock = StepClock()
        wire = Wire(self.driver(clock, listen=True, arm=False), self.make_device(clock), clock)
        wire.run()
        for command_id, command in enumerate(COMMANDS, start=1):
            wire.driver.command(command_id, command, clock.now)
            wire.run(seconds=5.0)
        self.load(wire)
        drawn = self.draw(wire, 3)
        assert cards(wire.heard) == drawn
        assert wire.written == b""
        assert wire.driver.statistics.bytes_out == 0

    def test_a_command_that_it_cannot_carry_out_is_refused_with_a_reason(self) -> None:
        clock = StepClock()
        wire = Wire(self.driver(clock, arm=False), self.make_device(clock), clock)
        wire.run()
        for command_id, command in enumerate(COMMANDS, start=1):
            wire.driver.command(command_id, command, clock.now)
            wire.run()
        answers = [thing for thing in wire.heard if isinstance(thing, Answered)]
        assert [answer.command_id for answer in answers] == list(range(1, len(COMMANDS) + 1))
        assert all(not answer.done and answer.reason for answer in answers)
        assert wire.written == b""

    def test_the_link_never_ends_by_itself(self) -> None:
        wire = self.wire()
        wire.feed(bytes(range(256)) * 200)
        wire.run(seconds=100.0)
        assert not [thing for thing in wire.heard if isinstance(thing, LinkOver)]

    def test_noise_does_not_fill_the_journal(self) -> None:
        """Noise is only counted after a while; the next card is reported as usual."""
        wire = self.wire()
        self.load(wire)
        before = len(reports(wire.heard))
        noise = Random(3)
        for _ in range(400):
            wire.feed(self.hiss(noise.randbytes(100)))
            wire.run(seconds=3.0)
        strange = reports(wire.heard)[before:]
        assert 0 < len(strange) < 400 / 4
        assert all(not isinstance(report.observation, GapSuspected) for report in strange)
        wire.feed(b"\n")
        wire.run(seconds=3.0)
        drawn = self.draw(wire, 1)
        assert cards(wire.heard)[-1:] == drawn

    def test_damage_is_reported_with_its_bytes(self) -> None:
        """Damage to every copy of a card does not pass for silence."""
        wire = self.wire()
        self.load(wire)
        self.draw(wire, 1)
        before = len(reports(wire.heard))
        wire.device.mechanism.draw()
        wire.feed(self.damage(wire.device.outgoing()))
        wire.run(seconds=3.0)
        self.draw(wire, 1)
        strange = reports(wire.heard)[before:]
        assert any(isinstance(one.observation, NotUnderstood) and one.evidence.open() for one in strange)

    def hiss(self, data: bytes) -> bytes:
        """Make noise for this line from bytes of any value."""
        return data

    def damage(self, data: bytes) -> bytes:
        """Damage every telegram in these bytes."""
        raise NotImplementedError
