"""Every fault of the registry over USB: those of cards and of the line, and those that only USB has."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Final

import pytest

from simulators.devices.fault_injection import FaultInjector
from simulators.devices.faults import BY_NAME, FAULTS, BadFaultError, Side, parse_fault
from tests.protocol import test_faults as elsewhere
from tests.protocol.fault_course import FaultCourse
from tests.protocol.test_faults import AT, CARDLINK, CARDS, IN_A_ROW, nothing_lost

from .usb_course import UsbCourse


def played(side: Side, *faults: str, later: str = "") -> UsbCourse:
    """Play a course over USB, as `tests.protocol.test_faults.played` does."""
    course = UsbCourse(side, *faults)
    course.load()
    if later:
        course.take(2 if side == "shuffler" else 30)
        course.arm(later)
    course.take(4 if side == "shuffler" else CARDS, at_once=later.startswith(IN_A_ROW))
    return course


@pytest.mark.parametrize(("name", "side"), elsewhere.CASES)
def test_a_fault_of_cards_or_of_the_line_has_its_effect_over_usb(name: str, side: Side) -> None:
    fault = BY_NAME[name]
    if fault.of == "nothing":
        course = played(side, f"{name}=1")
    elif fault.of == "frame":
        course = played(side, later=f"{name}@1")
    else:
        course = played(side, f"{name}@{AT}")
    elsewhere.CHECKS[name](course)


def halted(course: UsbCourse) -> None:
    assert course.errors == [errno.EPIPE]
    assert course.links == 1
    nothing_lost(course)


def in_short_packets(course: UsbCourse) -> None:
    assert course.links == 1
    nothing_lost(course)


def lost_with(number: int) -> Callable[[UsbCourse], None]:
    def check(course: UsbCourse) -> None:
        assert course.errors == [number]
        assert course.links == 2
        if course.side in CARDLINK:
            nothing_lost(course)
        else:
            assert len(course.cards) == course.asked - 1

    return check


def found_later(course: UsbCourse) -> None:
    assert course.not_found == ["usb-failed"]
    nothing_lost(course)


CHECKS: Final[dict[str, Callable[[UsbCourse], None]]] = {
    "halt": halted,
    "short-packets": in_short_packets,
    "babble": lost_with(errno.EOVERFLOW),
    "hub-reset": lost_with(errno.ENODEV),
    "slow-enumeration": found_later,
}


def test_no_fault_of_usb_is_without_its_test() -> None:
    assert set(CHECKS) == {fault.name for fault in FAULTS if fault.usb}


@pytest.mark.parametrize(("name", "side"), [(one.name, side) for one in FAULTS if one.usb for side in one.shows])
def test_a_fault_of_usb_has_its_registered_effect_on_the_host(name: str, side: Side) -> None:
    fault = BY_NAME[name]
    if fault.of == "frame":
        course = played(side, later=f"{name}@1")
    else:
        course = played(side, f"{name}@1" if fault.of == "request" else f"{name}=7")
    CHECKS[name](course)
    assert course.injector.armed() == (["short-packets=7"] if name == "short-packets" else [])


@pytest.mark.parametrize("text", ["halt@3", "babble@2", "hub-reset@1", "short-packets=5", "slow-enumeration@2"])
def test_it_is_armed_disarmed_and_named(text: str) -> None:
    injector = UsbCourse("shoe").injector
    injector.arm(parse_fault(text))
    assert injector.armed() == [text]
    injector.disarm(parse_fault(text).fault)
    assert injector.armed() == []


def test_a_device_without_usb_has_no_such_fault() -> None:
    injector: FaultInjector = FaultCourse("shoe").injector
    with pytest.raises(BadFaultError, match="Only a device on USB can show babble") as refused:
        injector.arm(parse_fault("babble@1"))
    assert "--usbip" in str(refused.value.hint)


@pytest.mark.parametrize("text", ["short-packets", "short-packets@3", "halt=0.5", "slow-enumeration=2"])
def test_a_misspelt_fault_is_refused(text: str) -> None:
    with pytest.raises(BadFaultError):
        parse_fault(text)
