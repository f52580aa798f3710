"""Text from a device is limited in length and free of control characters, whatever driver reads it."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from firmware_bridge import observations
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.cards import Evidence
from firmware_bridge.drivers.base import Answered, Heard, LinkOver, LinkReady, Reported, StatusHeard
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.messages import FrameKind
from firmware_bridge.drivers.cardlink.translate import identity_of, status_of
from firmware_bridge.drivers.registry import DRIVERS, LONGEST_SENTENCE, MOST, PlainDriver, load_driver, made_plain
from firmware_bridge.drivers.setting import DeviceLine, DriverSetting
from firmware_bridge.plain_text import LONGEST, is_plain
from tests.protocol.parts import BOOT, BenchDevice, frame, linked, make_host, sealed

EVIL: Final = "\x1b[2J\x00\u202e" + "A" * 60_000
STATUS: Final = messages.StatusBody(0, 1, 7, 52, 0, 52, 0, False, True, False, 0, 0, [EVIL] * 1000)


def texts_in(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for one in value for text in texts_in(one)]
    return [text for name in getattr(value, "__struct_fields__", ()) for text in texts_in(getattr(value, name))]


def identity() -> DeviceIdentity:
    device = BenchDevice(serial=EVIL)
    return replace(identity_of(device._identity(bytes(16), []), BOOT), maker=EVIL, model=EVIL, firmware=EVIL)


def reported(observation: observations.AnyObservation) -> Reported:
    return Reported(BOOT, 1, 0, observation, Evidence(EVIL.encode()))


@pytest.mark.parametrize(
    "heard",
    [
        LinkReady(identity(), status_of(STATUS, BOOT)),
        StatusHeard(status_of(STATUS, BOOT)),
        Answered(7, False, EVIL),
        LinkOver("device-rejects-host", EVIL),
        reported(observations.Started(EVIL)),
        reported(observations.Jammed(EVIL)),
        reported(observations.SelfTestFinished(False, EVIL)),
        reported(observations.Tampered(EVIL)),
        reported(observations.ButtonPressed(EVIL)),
        reported(observations.Alarmed(EVIL)),
        reported(observations.Noted(EVIL)),
        reported(observations.GapSuspected(EVIL)),
    ],
    ids=lambda heard: type(getattr(heard, "observation", heard)).__name__,
)
def test_every_text_of_a_device_is_plain(heard: Heard) -> None:
    shown = made_plain(heard)
    assert type(shown) is type(heard)
    assert all(is_plain(text, LONGEST_SENTENCE) for text in texts_in(shown))
    longest = LONGEST_SENTENCE if isinstance(heard, LinkOver) else LONGEST
    assert max(map(len, texts_in(shown))) <= longest
    assert len(texts_in(shown)) <= MOST + 20
    if isinstance(shown, Reported):
        assert shown.evidence.open() == EVIL.encode(), "evidence is as it came"


def test_plain_text_is_not_changed() -> None:
    heard = reported(observations.Jammed("transport"))
    assert made_plain(heard) is heard


@pytest.mark.parametrize("name", DRIVERS)
def test_no_driver_of_the_registry_is_without_it(name: str) -> None:
    assert isinstance(load_driver(name)(DriverSetting(bytes(16), DeviceLine("SHOE")), 0.0), PlainDriver)


def test_over_the_wire() -> None:
    device = BenchDevice()
    host = PlainDriver(linked(device))
    (heard,) = host.receive(sealed(device, FrameKind.REPORT, messages.JammedReport(1, "\x1b[2Jexit"), number=1), 0.1)
    assert isinstance(heard, Reported)
    assert heard.observation == observations.Jammed("\N{REPLACEMENT CHARACTER}[2Jexit")
    reject = messages.RejectBody("busy\x1b[31m", "no\x00thing")
    for driver, data in (
        (host, sealed(device, FrameKind.SEALED_REJECT, reject)),
        (PlainDriver(make_host()), frame(FrameKind.REJECT, reject)),
    ):
        (over,) = driver.receive(data, 0.2)
        assert isinstance(over, LinkOver)
        assert over.code == "device-rejects-host"
        assert is_plain(str(over.sentence), LONGEST_SENTENCE)
