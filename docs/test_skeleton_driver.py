"""The skeleton's driver does what every driver must, and what its own page promises. docs/a_new_driver.md, step 8."""

from __future__ import annotations

from random import Random

import pytest
from skeleton_device import SkeletonDevice
from skeleton_driver import DRIVER, ENDS_WITHIN

from firmware_bridge.drivers.base import Driver
from firmware_bridge.drivers.setting import DeviceLine, DriverSetting
from simulators.driver_conformance.every_driver import OneWayConformance, Shoe, StepClock, texts_of


class TestSkeleton(OneWayConformance):
    """Inherits the tests. `noise` is what may lie between two lines of this device."""

    @staticmethod
    def make_driver(setting: DriverSetting, now: float) -> Driver:
        return DRIVER.load()(setting, now)

    noise = b"~~\xff\n"

    def make_device(self, clock: StepClock) -> Shoe:
        return SkeletonDevice(random=Random(1))  # noqa: S311  # a test repeats itself

    def hiss(self, data: bytes) -> bytes:
        return data + b"\n"

    def damage(self, data: bytes) -> bytes:
        return data.replace(b",", b";")


def driver() -> Driver:
    return DRIVER.load()(DriverSetting(bytes(range(16)), DeviceLine("SKELETON-1")), 0.0)


@pytest.mark.parametrize(
    ("lines", "heard"),
    [
        (b"07,KD,22\n", ["card KD"]),
        (b"07,KD,22\r\n08,??,12\n", ["card KD", "unread card"]),
        (b"07,JAM,6B\n08,FREE,B6\n", ["stop: exit", "freed: exit"]),
        (b"99,KD,2D\n00,KD,1B\n", ["card KD", "card KD"]),
        (b"07,KD,22\n09,KD,24\n", ["card KD", "gap suspected", "card KD"]),
        (b"07,KD,00\n", ["not understood"]),
        (b"07,ZZ,47\n", ["not understood"]),
    ],
)
def test_lines_mean_what_the_skeletons_page_says(lines: bytes, heard: list[str]) -> None:
    assert texts_of(driver().receive(lines, 0.0)) == heard


def test_a_line_that_does_not_end_is_reported() -> None:
    skeleton = driver()
    assert texts_of(skeleton.receive(b"07,KD", 1.0)) == []
    assert skeleton.wake_at() == 1.0 + ENDS_WITHIN
    assert texts_of(skeleton.tick(1.0 + ENDS_WITHIN)) == ["not understood"]
    assert texts_of(skeleton.receive(b"08,KD,23\n", 9.0)) == ["card KD"]
