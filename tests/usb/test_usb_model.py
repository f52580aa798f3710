"""The model of a USB device is tested against chapter 9 of USB 2.0 and the requests of a serial port, with packets and
transfers.
"""

from __future__ import annotations

import errno
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.usb.descriptors import (
    BULK_IN,
    BULK_OUT,
    INTERRUPT_IN,
    KEYBOARD_REPORT,
    SERIAL_IN,
    SERIAL_OUT,
    UsbDescription,
    configuration_descriptor,
)
from simulators.usb.usb_device import QUEUE_LIMIT, Transfer, UsbDeviceSide

SERIAL = "CARDSHOE-SIM-1"


def device(*, configured: bool = True, **description: Any) -> UsbDeviceSide:
    made = UsbDeviceSide(UsbDescription(SERIAL, **description))
    if configured:
        assert control(made, 0x00, 9, 1) == b""
    return made


def control(
    of: UsbDeviceSide, kind: int, request: int, value: int = 0, index: int = 0, *, length: int = 255, data: bytes = b""
) -> bytes | int:
    """Return the answer, or the error's number."""
    size = length if kind & 0x80 else len(data)
    transfer = Transfer(0, setup=struct.pack("<BBHHH", kind, request, value, index, size), data=data)
    of.submit(transfer)
    assert transfer.status is not None
    return transfer.status or bytes(transfer.received)


def read(of: UsbDeviceSide, endpoint: int, length: int = 4096) -> Transfer:
    transfer = Transfer(endpoint, length=length)
    of.submit(transfer)
    return transfer


STALL = errno.EPIPE


# -- descriptors --------------------------------------------------------------------------------------------------


def walk(raw: bytes) -> list[tuple[int, bytes]]:
    """Return the kind and bytes of each descriptor. Each must end where the next begins."""
    found = []
    while raw:
        assert 2 <= raw[0] <= len(raw)
        found.append((raw[1], raw[: raw[0]]))
        raw = raw[raw[0] :]
    return found


@pytest.mark.parametrize("packet", [8, 16, 32, 64, 512])
@pytest.mark.parametrize("foreign", [(), ("keyboard",), ("keyboard", "network", "storage")])
@pytest.mark.parametrize("serial_port", [True, False])
def test_a_configuration_is_whole_and_its_numbers_are_true(
    packet: int, foreign: tuple[Any, ...], serial_port: bool
) -> None:
    about = UsbDescription(SERIAL, packet=packet, foreign=foreign, serial_port=serial_port)
    raw = configuration_descriptor(about)
    total, interfaces, value, _, attributes, power = struct.unpack_from("<HBBBBB", raw, 2)
    assert (total, value, attributes, power) == (len(raw), 1, 0x80, 50)
    found = walk(raw)
    numbers = [one[2] for kind, one in found if kind == 4]
    assert numbers == list(range(interfaces))
    assert [sum(kind == 5 for kind, _ in found)] == [sum(one[4] for kind, one in found if kind == 4)]
    addresses = [one[2] for kind, one in found if kind == 5]
    assert len(set(addresses)) == len(addresses)
    assert {address & 0x0F for address in addresses} <= set(range(1, 16))
    bulk = {struct.unpack_from("<H", one, 4)[0] for kind, one in found if kind == 5 and one[3] == 2}
    assert bulk == {packet}


def test_the_serial_port_is_one_function_and_its_parts_name_each_other() -> None:
    found = walk(configuration_descriptor(UsbDescription(SERIAL)))
    (association,) = [one for kind, one in found if kind == 11]
    assert (association[2], association[3], association[4:6]) == (1, 2, b"\2\2")
    (union,) = [one for kind, one in found if kind == 0x24 and one[2] == 6]
    assert union[3:] == b"\1\2"
    (calls,) = [one for kind, one in found if kind == 0x24 and one[2] == 1]
    assert calls[4] == 2


def test_descriptors_are_cut_to_the_requested_length() -> None:
    made = device(configured=False)
    whole = control(made, 0x80, 6, 0x0200)
    assert isinstance(whole, bytes)
    for length in (0, 1, 9, len(whole)):
        assert control(made, 0x80, 6, 0x0200, length=length) == whole[:length]
    assert control(made, 0x80, 6, 0x0300) == b"\4\3\x09\4"
    assert control(made, 0x80, 6, 0x0303, 0x0409) == bytes((2 + 28, 3)) + SERIAL.encode("utf-16-le")
    assert control(made, 0x80, 6, 0x0304) == STALL
    assert control(made, 0x80, 6, 0x0201) == STALL
    assert control(made, 0x80, 6, 0x0F00) == STALL, "no BOS: it is of USB 2.0"


def test_only_a_high_speed_device_has_a_qualifier() -> None:
    assert control(device(), 0x80, 6, 0x0600) == STALL
    qualifier = control(device(packet=512), 0x80, 6, 0x0600)
    assert isinstance(qualifier, bytes)
    assert qualifier[:2] == b"\x0a\6"


def test_without_a_serial_number_its_index_is_zero() -> None:
    made = UsbDeviceSide(UsbDescription(""))
    found = control(made, 0x80, 6, 0x0100)
    assert isinstance(found, bytes)
    assert found[16] == 0
    assert control(made, 0x80, 6, 0x0303) == STALL


# -- standard requests --------------------------------------------------------------------------------------------


def test_a_device_is_configured_and_deconfigured() -> None:
    made = device(configured=False)
    assert control(made, 0x80, 8, length=1) == b"\0"
    assert read(made, BULK_IN).status == STALL, "not configured, it has endpoint 0 alone"
    assert control(made, 0x81, 10, length=1) == STALL
    assert control(made, 0x00, 9, 2) == STALL
    assert control(made, 0x00, 9, 1) == b""
    assert control(made, 0x80, 8, length=1) == b"\1"
    assert control(made, 0x81, 10, 0, 2, length=1) == b"\0"
    assert control(made, 0x81, 10, 0, 3, length=1) == STALL
    assert control(made, 0x00, 9, 0) == b""
    assert control(made, 0x80, 8, length=1) == b"\0"


def test_an_address_is_taken_and_lost_at_a_reset() -> None:
    made = device()
    assert control(made, 0x00, 5, 127) == b""
    assert control(made, 0x00, 5, 128) == STALL
    made.reset()
    assert (made.control.address, made.control.configuration) == (0, 0)


@pytest.mark.parametrize("again", ["clear", "configuration", "interface"])
def test_a_halt_lasts_until_it_is_cleared(again: str) -> None:
    made = device()
    assert control(made, 0x02, 3, 0, BULK_IN) == b""
    assert control(made, 0x82, 0, 0, BULK_IN, length=2) == b"\1\0"
    made.send(b"x", BULK_IN)
    assert [read(made, BULK_IN).status for _ in range(3)] == [STALL] * 3
    if again == "clear":
        assert control(made, 0x02, 1, 0, BULK_IN) == b""
    elif again == "configuration":
        assert control(made, 0x00, 9, 1) == b""
    else:
        assert control(made, 0x01, 11, 0, 0) == b""
    assert control(made, 0x82, 0, 0, BULK_IN, length=2) == b"\0\0"
    assert read(made, BULK_IN).received == b"x"


def test_a_transfer_that_waits_ends_with_the_halt() -> None:
    made = device()
    waiting = read(made, BULK_IN)
    assert waiting.status is None
    made.halt(BULK_IN)
    assert waiting.status == STALL


@pytest.mark.parametrize(
    ("kind", "request_", "value", "index"),
    [
        (0x80, 0x33, 0, 0),
        (0x82, 12, 0, BULK_IN),  # synch frame
        (0x00, 7, 0x0100, 0),  # set descriptor
        (0x00, 3, 1, 0),  # remote wakeup, which it does not have
        (0x02, 1, 0, 0x8F),  # unknown endpoint
        (0x02, 1, 1, BULK_IN),  # unknown feature
        (0x82, 0, 0, 0x0F),
        (0x81, 0, 0, 9),
        (0x01, 11, 1, 0),  # unknown setting
        (0x01, 11, 0, 9),
        (0xC0, 1, 0, 0),
        (0x40, 1, 0, 0),
        (0x21, 0x22, 1, 0),  # a serial port's request, to the vendor interface
        (0xA1, 0x21, 0, 0),
        (0x21, 0x99, 0, 1),
        (0x81, 6, 0x2200, 0),  # a keyboard's report descriptor
    ],
)
def test_an_unknown_request_is_stalled(kind: int, request_: int, value: int, index: int) -> None:
    made = device()
    before = control(made, 0x80, 8, length=1)
    assert control(made, kind, request_, value, index) == STALL
    assert control(made, 0x80, 8, length=1) == before


def test_it_is_bus_powered_and_wakes_nobody() -> None:
    assert control(device(), 0x80, 0, length=2) == b"\0\0"
    assert control(device(), 0x81, 0, 0, 1, length=2) == b"\0\0"
    assert control(device(), 0x82, 0, 0, 0, length=2) == b"\0\0"


@given(setup=st.binary(min_size=8, max_size=8), data=st.binary(max_size=64))
def test_any_setup_is_answered_within_the_requested_length(setup: bytes, data: bytes) -> None:
    made = device()
    transfer = Transfer(0, setup=setup, data=data)
    made.submit(transfer)
    assert transfer.status in (0, STALL)
    assert len(transfer.received) <= struct.unpack_from("<H", setup, 6)[0]


# -- the serial port's requests -----------------------------------------------------------------------------------


def test_a_line_coding_is_kept() -> None:
    made = device()
    coding = struct.pack("<IBBB", 9600, 2, 1, 7)
    assert control(made, 0x21, 0x20, 0, 1, data=coding) == b""
    assert control(made, 0xA1, 0x21, 0, 1, length=7) == coding
    assert control(made, 0x21, 0x20, 0, 1, data=coding[:6]) == STALL
    assert control(made, 0x21, 0x23, 0xFFFF, 1) == b"", "a break"


def test_the_device_is_informed_of_dtr_changes() -> None:
    made = device()
    told: list[bool] = []
    made.on_line = told.append
    for value in (3, 1, 2, 0, 1):
        assert control(made, 0x21, 0x22, value, 1) == b""
    assert told == [True, False, True]


def test_a_keyboard_gives_its_report() -> None:
    made = device(foreign=("keyboard",))
    assert control(made, 0x81, 6, 0x2200, 3) == KEYBOARD_REPORT


# -- packets and transfers ----------------------------------------------------------------------------------------


@given(st.lists(st.binary(min_size=1, max_size=300), min_size=1, max_size=8), st.sampled_from([8, 64, 512]))
def test_each_transfer_ends_where_the_devices_did(sent: list[bytes], packet: int) -> None:
    made = device(packet=packet)
    for data in sent:
        made.send(data, INTERRUPT_IN)
        made.send(data[::-1], SERIAL_IN)
    assert [bytes(read(made, INTERRUPT_IN).received) for _ in sent] == sent
    assert [bytes(read(made, SERIAL_IN).received) for _ in sent] == [data[::-1] for data in sent]
    assert read(made, INTERRUPT_IN).status is None


def test_transfers_that_wait_are_served_in_their_order() -> None:
    made = device()
    done: list[bytes] = []
    for _ in range(3):
        made.submit(Transfer(BULK_IN, length=64, on_done=lambda one: done.append(bytes(one.received))))
    for data in (b"1", b"2", b"3"):
        made.send(data, BULK_IN)
    assert done == [b"1", b"2", b"3"]


def test_the_next_transfer_may_be_asked_for_where_one_ends() -> None:
    made = device()
    done: list[bytes] = []

    def again(transfer: Transfer) -> None:
        done.append(bytes(transfer.received))
        made.submit(Transfer(BULK_IN, length=64, on_done=again))

    made.submit(Transfer(BULK_IN, length=64, on_done=again))
    for data in (b"1", b"2", b"3"):
        made.send(data, BULK_IN)
    assert done == [b"1", b"2", b"3"]


def test_a_cancelled_transfer_keeps_what_it_had() -> None:
    made = device()
    transfer = read(made, BULK_IN)
    made.send(b"x" * 64, BULK_IN)
    assert made.cancel(transfer) is False, "it ended with the packet of no bytes"
    other = read(made, BULK_IN)
    assert made.cancel(other) is True
    assert (other.status, made.cancel(other)) == (errno.ECONNRESET, False)
    made.send(b"y", BULK_IN)
    assert read(made, BULK_IN).received == b"y"


def test_packets_beyond_a_full_queue_are_lost() -> None:
    made = device()
    for _ in range(QUEUE_LIMIT + 5):
        made.send(b"x", BULK_IN)
    assert made.waiting(BULK_IN) == QUEUE_LIMIT


@pytest.mark.parametrize("endpoint", [BULK_OUT, SERIAL_OUT])
def test_the_device_hears_on_which_endpoint_the_host_wrote(endpoint: int) -> None:
    made = device()
    heard: list[tuple[int, bytes]] = []
    made.on_out = lambda where, data: heard.append((where, data))
    transfer = Transfer(endpoint, data=b"hello")
    made.submit(transfer)
    assert (heard, transfer.status, transfer.moved) == ([(endpoint, b"hello")], 0, 5)


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_a_pulled_cable_leaves_whole_packets(cut: int) -> None:
    made = device()
    heard: list[bytes] = []
    made.on_out = lambda where, data: heard.append(data)
    made.faults.unplug_after = cut
    out = Transfer(BULK_OUT, data=bytes(200))
    made.submit(out)
    if cut == 0:
        assert out.status == 0
        return
    assert b"".join(heard) == bytes(cut // 64 * 64)
    assert (out.status, made.plugged, made.moved) == (errno.ESHUTDOWN, False, cut)
    assert read(made, BULK_IN).status == errno.ESHUTDOWN


def test_unplugging_ends_every_transfer_and_leaves_nothing() -> None:
    made = device()
    waiting = [read(made, endpoint) for endpoint in (BULK_IN, INTERRUPT_IN, SERIAL_IN)]
    made.send(b"late", BULK_IN)
    made.unplug()
    assert [one.status for one in waiting] == [0, errno.ESHUTDOWN, errno.ESHUTDOWN]
    made.send(b"lost", BULK_IN)
    made.plug()
    assert (made.waiting(BULK_IN), made.control.configuration, made.plugs) == (0, 0, 2)
