"""The endpoint for a device's frames: it depends on how the host last sent, and on the kind of frame."""

from __future__ import annotations

import struct
from random import Random

import pytest

from firmware_bridge.drivers.cardlink.framing import encode_frame
from firmware_bridge.drivers.cardlink.sealing import INTERRUPT
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.usb.descriptors import BULK_IN, BULK_OUT, INTERRUPT_IN, SERIAL_IN, SERIAL_OUT, UsbDescription
from simulators.usb.usb_device import Transfer, UsbDeviceSide
from simulators.usb.usb_front import UsbRouter

REPORT = encode_frame(0x10, 7, 3, b"\xc0\xdb report")
STATUS = encode_frame(0x11, 7, 0, b"status", flags=INTERRUPT)


class Routed:
    """A router whose device sends what the test wants. `heard` holds what the device received."""

    def __init__(self, *, interrupt: bool = True) -> None:
        profile = Profile("shoe", "CARDSHOE-1", full_capabilities("shoe"))
        self.device = SimulatedDevice(
            profile, key=bytes(32), random=Random(1), fresh=Random(2), clock=lambda: 0.0, pace=Tempo(0)
        )  # fmt: skip
        self.usb = UsbDeviceSide(UsbDescription("CARDSHOE-1", interrupt=interrupt))
        self.heard: list[bytes] = []
        self.router = UsbRouter(self.usb, self.device, self.heard.append)
        self.control(0x00, 9, 1)

    def control(self, kind: int, request: int, value: int = 0, index: int = 0) -> None:
        self.usb.submit(Transfer(0, setup=struct.pack("<BBHHH", kind, request, value, index, 0)))

    def write(self, endpoint: int) -> None:
        self.usb.submit(Transfer(endpoint, data=b"hello"))

    def sent_on(self, data: bytes) -> dict[int, bytes]:
        """Return what can be read, by endpoint."""
        self.router.send(data)
        found: dict[int, bytes] = {}
        for endpoint in (BULK_IN, INTERRUPT_IN, SERIAL_IN):
            while self.usb.waiting(endpoint):
                transfer = Transfer(endpoint, length=4096)
                self.usb.submit(transfer)
                found[endpoint] = found.get(endpoint, b"") + transfer.received
        return found


def test_a_status_is_sent_on_interrupt_and_everything_else_on_bulk() -> None:
    assert Routed().sent_on(REPORT + STATUS + REPORT) == {BULK_IN: REPORT * 2, INTERRUPT_IN: STATUS}


def test_each_frame_is_a_separate_transfer() -> None:
    routed = Routed()
    routed.router.send(REPORT * 3)
    transfers = [Transfer(BULK_IN, length=4096) for _ in range(3)]
    for transfer in transfers:
        routed.usb.submit(transfer)
    assert [transfer.received for transfer in transfers] == [REPORT] * 3


def test_without_an_interrupt_endpoint_everything_is_sent_on_bulk() -> None:
    routed = Routed(interrupt=False)
    assert routed.sent_on(REPORT + STATUS) == {BULK_IN: REPORT + STATUS}
    assert not routed.device.link.interrupt


def test_the_device_answers_where_it_was_spoken_to() -> None:
    routed = Routed()
    for out, inward in ((SERIAL_OUT, SERIAL_IN), (BULK_OUT, BULK_IN), (SERIAL_OUT, SERIAL_IN)):
        routed.write(out)
        assert routed.sent_on(REPORT) == {inward: REPORT}
        assert routed.device.link.interrupt == (inward == BULK_IN)
    assert routed.heard == [b"hello"] * 3


def test_frames_go_to_a_port_only_while_it_is_open() -> None:
    """A one-way device, to which nobody writes, can be read there."""
    routed = Routed()
    routed.control(0x21, 0x22, 3, 1)
    assert routed.sent_on(REPORT) == {SERIAL_IN: REPORT}
    routed.control(0x21, 0x22, 2, 1)
    assert routed.sent_on(REPORT) == {BULK_IN: REPORT}


@pytest.mark.parametrize("again", ["reset", "plug"])
def test_plugged_in_again_it_is_the_vendor_interface(again: str) -> None:
    routed = Routed()
    routed.control(0x21, 0x22, 3, 1)
    getattr(routed.usb, again)()
    routed.control(0x00, 9, 1)
    assert routed.sent_on(REPORT) == {BULK_IN: REPORT}


@pytest.mark.parametrize("damaged", [REPORT[:9], REPORT[2:], b"\xc0\xc0", b"noise"])
def test_bytes_that_are_not_a_frame_are_sent_on_bulk(damaged: bytes) -> None:
    assert Routed().sent_on(damaged) == {BULK_IN: damaged}
