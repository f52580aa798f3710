"""USB without a kernel: devices found by identity, refused in helpful sentences, unplugged without a trace."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import threading
from array import array
from collections.abc import AsyncIterator, Callable
from itertools import count
from typing import Any

import pytest
import pytest_mock
import usb.core
import usb.util

from firmware_bridge.device_url import parse_device_url
from firmware_bridge.errors import TransportUnavailableError, TwinDeviceError
from firmware_bridge.transports import usb as usb_transport
from firmware_bridge.transports import usb_lookup
from firmware_bridge.transports.base import Transport
from firmware_bridge.transports.registry import open_transport
from firmware_bridge.transports.usb import open_usb_device
from tests.support.usb_backend import BULK_IN, BULK_OUT, INTERRUPT_IN, SimulatedUsb, UsbGadget

from .rigs import SERIAL_NUMBER, UsbRig, usb_threads
from .test_link_faults import EXCEPTIONS

URL = parse_device_url(f"usb:///1209:0001/{SERIAL_NUMBER}")


@pytest.fixture
async def rig() -> AsyncIterator[UsbRig]:
    rig = UsbRig()
    yield rig
    await rig.end()


async def refusal(rig: UsbRig) -> TransportUnavailableError:
    """Try to open a device that cannot be opened, and return the error. Nothing may be held afterwards."""
    before = rig.held()
    with pytest.raises(TransportUnavailableError) as refused:
        await rig.open()
    await rig.released()
    assert rig.held() == before
    assert not any(gadget.handles for gadget in rig.bus.gadgets)
    assert refused.value.hint
    return refused.value


async def until_lost(rig: UsbRig) -> None:
    await rig.changes.until(lambda: bool(rig.wire.losses))
    await rig.released()
    assert len(rig.wire.losses) == 1
    assert not rig.gadget.handles


# -- the choice of the device -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library() -> None:
    """Load libusb once, so that what it keeps from its first use is not counted as a test's leak."""
    with contextlib.suppress(TransportUnavailableError):
        usb_lookup.libusb()


@pytest.mark.usefixtures("library")
async def test_a_missing_device_with_the_real_library() -> None:
    url = parse_device_url("usb:///1209:0001/NOT-HERE")
    with pytest.raises(TransportUnavailableError) as refused:
        await open_transport(url, on_data=lambda data: None, on_lost=lambda error: None)
    assert refused.value.code in ("usb-missing", "usb-library")


async def test_a_missing_device(rig: UsbRig) -> None:
    rig.gadget.unplug()
    refused = await refusal(rig)
    assert refused.code == "usb-missing"
    assert SERIAL_NUMBER in str(refused)


@pytest.mark.parametrize("serial", ["CARDSHOE-2", "CARDSHOE-11", "cardshoe-1", ""])
async def test_a_device_with_another_serial_number_does_not_match(rig: UsbRig, serial: str) -> None:
    rig.gadget.description.serial = serial
    refused = await refusal(rig)
    assert refused.code == "usb-other-serial"
    assert repr(serial) in str(refused)


@pytest.mark.parametrize(("vendor", "product"), [(0x1209, 2), (0x0403, 1)])
async def test_the_same_serial_number_of_another_make_does_not_match(rig: UsbRig, vendor: int, product: int) -> None:
    rig.gadget.description.vendor, rig.gadget.description.product = vendor, product
    assert (await refusal(rig)).code == "usb-missing"


async def test_it_is_found_among_others_and_the_others_are_closed(rig: UsbRig) -> None:
    others = [UsbGadget(serial) for serial in ("CARDSHOE-2", "", "CARDSHOE-3")]
    rig.bus.gadgets[:0] = others
    transport = await rig.open()
    assert [len(gadget.handles) for gadget in rig.bus.gadgets] == [0, 0, 0, 1]
    transport.close()


async def test_of_two_with_one_serial_number_none_is_used(rig: UsbRig) -> None:
    twin = UsbGadget(SERIAL_NUMBER)
    rig.bus.gadgets.append(twin)
    refused = await refusal(rig)
    assert refused.code == "usb-ambiguous"
    assert isinstance(refused, TwinDeviceError)
    twin.unplug()
    (await rig.open()).close()


async def test_one_without_a_readable_serial_number_hides_no_other(rig: UsbRig) -> None:
    mute = UsbGadget(SERIAL_NUMBER)
    mute.faults.serial_stalls = True
    rig.bus.gadgets.insert(0, mute)
    (await rig.open()).close()
    await rig.released()
    rig.gadget.unplug()
    assert (await refusal(rig)).code == "usb-failed"


async def test_a_missing_permission_names_the_node_and_the_remedy(rig: UsbRig) -> None:
    rig.gadget.admitted = False
    refused = await refusal(rig)
    assert refused.code == "usb-permission"
    assert "/dev/bus/usb/001/001" in str(refused)


async def test_a_device_in_use_and_free_again(rig: UsbRig, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(usb_lookup, "CLAIM_ATTEMPTS", 2)
    first = await rig.open()
    with pytest.raises(TransportUnavailableError) as refused:
        await rig.open()
    assert refused.value.code == "usb-busy"
    assert "fuser -v /dev/bus/usb/001/001" in str(refused.value.hint)
    assert len(rig.gadget.handles) == 1
    first.close()
    await rig.released()
    (await rig.open()).close()


async def test_a_link_just_ended_may_still_hold_it(rig: UsbRig) -> None:
    (await rig.open()).close()
    (await rig.open()).close()  # its threads still have their turn to end


async def test_a_kernel_driver_is_detached_and_restored(rig: UsbRig) -> None:
    rig.gadget.kernel_driver = True
    transport = await rig.open()
    assert not rig.gadget.kernel_driver
    transport.close()
    await rig.released()
    assert rig.gadget.kernel_driver


async def test_a_device_that_the_kernel_has_not_configured(rig: UsbRig) -> None:
    rig.gadget.device.control.configuration = 0
    (await rig.open()).close()
    assert rig.gadget.device.control.configuration == 1


async def test_a_device_without_a_vendor_interface(rig: UsbRig) -> None:
    rig.gadget.description.interface_class = 0x03
    assert (await refusal(rig)).code == "usb-interface"


async def test_a_machine_without_the_library(mocker: pytest_mock.MockerFixture) -> None:
    import usb.backend.libusb1

    mocker.patch.object(usb.backend.libusb1, "get_backend", return_value=None)
    with pytest.raises(TransportUnavailableError) as refused:
        usb_lookup.libusb.__wrapped__()
    assert refused.value.code == "usb-library"


@pytest.mark.parametrize("number", [errno.ENODEV, errno.EIO])
@pytest.mark.parametrize("call", ["claim_interface", "get_configuration", "open_device"])
async def test_unplugged_while_it_is_opened(
    rig: UsbRig, mocker: pytest_mock.MockerFixture, call: str, number: int
) -> None:
    mocker.patch.object(rig.bus, call, side_effect=usb.core.USBError("gone", -4, number))
    assert (await refusal(rig)).code == "usb-missing"


async def test_the_wait_for_a_device_without_answer_is_limited(rig: UsbRig, mocker: pytest_mock.MockerFixture) -> None:
    """If the device answers after all, it is released."""
    answers = threading.Event()
    real = rig.bus.claim_interface

    def claim_late(*given: Any) -> None:
        answers.wait()
        real(*given)

    mocker.patch.object(usb_transport, "OPEN_WITHIN", 0.05)
    mocker.patch.object(rig.bus, "claim_interface", side_effect=claim_late)
    with pytest.raises(TransportUnavailableError) as refused:
        await rig.open()
    assert refused.value.code == "usb-failed"
    answers.set()
    await rig.released()
    assert not rig.gadget.handles


async def test_cancelled_while_it_is_opened(rig: UsbRig, mocker: pytest_mock.MockerFixture) -> None:
    inside, answers = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()
    real = rig.bus.claim_interface

    def claim_late(*given: Any) -> None:
        loop.call_soon_threadsafe(inside.set)
        answers.wait()
        real(*given)

    mocker.patch.object(rig.bus, "claim_interface", side_effect=claim_late)
    opening = asyncio.create_task(rig.open())
    await inside.wait()
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    answers.set()
    await rig.released()
    assert not rig.gadget.handles


async def test_opened_and_cancelled_in_the_same_moment(rig: UsbRig) -> None:
    """The result is already scheduled on the loop when the caller is cancelled."""
    rig.gadget.kernel_driver = True
    opening = asyncio.create_task(rig.open())
    await asyncio.sleep(0)
    for thread in usb_threads():
        thread.join()  # its notice waits in the loop
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    await asyncio.sleep(0)
    assert not rig.gadget.handles
    assert rig.gadget.kernel_driver, "given back, and not just forgotten"


# -- data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packet", [8, 64, 512])
@pytest.mark.parametrize("length", [1, 63, 64, 65, 128, 511, 512, 1024, 4000, 4096])
async def test_a_transfer_is_handed_on_whole(rig: UsbRig, packet: int, length: int) -> None:
    rig.gadget.description.packet = packet
    transport = await rig.open()
    data = bytes(range(256)) * 16
    rig.gadget.send(data[:length])
    rig.gadget.send(b"!")
    await rig.wire.until(length + 1)
    assert rig.wire.pieces == [data[:length], b"!"]
    transport.close()


async def test_interrupt_data_is_delivered_whole_and_between_other_transfers(
    rig: UsbRig,
) -> None:
    transport = await rig.open()
    for _ in range(50):
        rig.gadget.send(b"b" * 300)
        rig.gadget.send(b"i" * 100, INTERRUPT_IN)
    await rig.wire.until(50 * 400)
    assert sorted(set(rig.wire.pieces)) == [b"b" * 300, b"i" * 100]
    transport.close()


async def test_a_transfer_cut_by_the_end_of_a_turn_is_reassembled(
    rig: UsbRig, mocker: pytest_mock.MockerFixture
) -> None:
    """A read that times out returns what it has; the next read returns the rest."""
    parts = iter([b"a" * 64, b"b" * 128, b"c" * 3, b"d" * 64, b"", b"e" * usb_transport.LARGEST_TRANSFER, b"f"])

    def read(handle: object, endpoint: int, interface: int, buffer: array[int], timeout: int) -> int:
        part = next(parts, None)
        if part is None:
            raise usb.core.USBTimeoutError("Operation timed out", -7, errno.ETIMEDOUT)
        buffer[: len(part)] = array("B", part)
        return len(part)

    rig.gadget.description.interrupt = False
    mocker.patch.object(usb_transport, "monotonic", side_effect=count())  # each read takes more than its turn
    mocker.patch.object(rig.bus, "bulk_read", side_effect=read)
    transport = await rig.open()
    await rig.changes.until(lambda: rig.wire.data.endswith(b"f"))
    whole = [b"a" * 64 + b"b" * 128 + b"c" * 3, b"d" * 64, b"e" * usb_transport.LARGEST_TRANSFER, b"f"]
    assert rig.wire.pieces == whole
    transport.close()


async def test_without_an_interrupt_endpoint(rig: UsbRig) -> None:
    rig.gadget.description.interrupt = False
    transport = await rig.open()
    rig.gadget.send(b"bulk")
    await rig.wire.until(4)
    transport.close()


@pytest.mark.parametrize("short", [1, 7, 63])
async def test_short_packets(rig: UsbRig, short: int) -> None:
    transport = await rig.open()
    data = bytes(range(200))
    rig.gadget.send(data, short=short)
    await rig.wire.until(200)
    assert rig.wire.data == data
    transport.close()


async def test_a_loop_that_lags_behind_holds_the_reader_back(rig: UsbRig) -> None:
    transport = await rig.open()
    ahead = usb_transport.READ_AHEAD
    for _ in range(ahead * 3):
        rig.gadget.send(b"x")
    waiting = rig.gadget.waiting(BULK_IN)
    assert waiting >= ahead * 3 - ahead - 1, "the loop did not turn, so no more than these can have been taken"
    await rig.wire.until(ahead * 3)
    transport.close()


async def test_a_device_that_reads_again(rig: UsbRig) -> None:
    transport = await rig.open()
    rig.gadget.change(takes_nothing=True)
    transport.write(b"first ")
    transport.write(b"second")
    await asyncio.sleep(0)
    assert not rig.received
    rig.gadget.change(takes_nothing=False)
    await rig.until_received(12)
    assert rig.received == b"first second"
    transport.close()


# -- the end ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [errno.ENODEV, errno.EIO])
async def test_every_error_for_an_unplugged_device_is_recognised(rig: UsbRig, number: int) -> None:
    rig.gadget.faults.unplug_errno = number
    await rig.open()
    rig.gadget.unplug()
    await until_lost(rig)
    assert str(rig.wire.losses[0]).endswith("is gone.")


@pytest.mark.parametrize("endpoint", [BULK_IN, BULK_OUT, INTERRUPT_IN])
async def test_a_stall_is_cleared_once(rig: UsbRig, endpoint: int) -> None:
    transport = await rig.open()
    rig.gadget.change(stalls={endpoint: 1})
    await exchange(rig, transport)
    rig.gadget.change(stalls={endpoint: 1})
    await exchange(rig, transport)
    assert not rig.wire.losses
    transport.close()


@pytest.mark.parametrize("endpoint", [BULK_IN, BULK_OUT, INTERRUPT_IN])
async def test_a_stall_after_a_stall_is_the_end(rig: UsbRig, endpoint: int) -> None:
    transport = await rig.open()
    rig.gadget.change(stalls={endpoint: 2})
    transport.write(b"x")
    await until_lost(rig)
    assert "Broken pipe" in str(rig.wire.losses[0])


async def exchange(rig: UsbRig, transport: Transport) -> None:
    received, heard = len(rig.received), len(rig.wire.data)
    transport.write(b"x")
    rig.gadget.send(b"b")
    rig.gadget.send(b"i", INTERRUPT_IN)
    await rig.until_received(received + 1)
    await rig.wire.until(heard + 2)


ENDPOINT_CALLS = ("bulk_read", "intr_read", "bulk_write", "clear_halt")


@pytest.mark.parametrize("call", ENDPOINT_CALLS)
async def test_any_exception_on_a_thread_is_a_loss(mocker: pytest_mock.MockerFixture, call: str) -> None:
    for make in (*EXCEPTIONS, *USB_ERRORS):
        error = make()
        if not isinstance(error, Exception):
            continue  # a thread is not cancelled
        rig = UsbRig()
        if call == "clear_halt":
            rig.gadget.faults.stalls = {BULK_IN: 1}
        mocker.patch.object(rig.bus, call, side_effect=error)
        transport = await rig.open()
        transport.write(b"x")
        await until_lost(rig)
        transport.close()
        await rig.end()


@pytest.mark.parametrize(
    "call", ["enumerate_devices", "get_device_descriptor", "open_device", "ctrl_transfer", "claim_interface"]
)
async def test_any_exception_while_opening_leaves_nothing_open(
    rig: UsbRig, mocker: pytest_mock.MockerFixture, call: str
) -> None:
    for make in (*EXCEPTIONS, *USB_ERRORS):
        error = make()
        if not isinstance(error, Exception):
            continue
        raising = mocker.patch.object(rig.bus, call, side_effect=error)
        with pytest.raises(Exception):  # noqa: B017, PT011  # the link keeper catches them all
            await rig.open()
        await rig.released()
        assert not rig.gadget.handles
        mocker.stop(raising)
    (await rig.open()).close()


USB_ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: usb.core.USBError("Entity not found", -5, errno.ENOENT),
    lambda: usb.core.USBError("Other error", -99, None),
    lambda: usb.core.USBError("Overflow", -8, errno.EOVERFLOW),
    lambda: usb.core.NoBackendError("No backend available"),
)


async def test_a_system_without_free_threads(rig: UsbRig, mocker: pytest_mock.MockerFixture) -> None:
    real = threading.Thread.start
    started: list[threading.Thread] = []

    def start(thread: threading.Thread) -> None:
        if len(started) == 2:  # the opener, and the first reader
            raise RuntimeError("can't start new thread")
        started.append(thread)
        real(thread)

    refusing = mocker.patch.object(threading.Thread, "start", autospec=True, side_effect=start)
    with pytest.raises(RuntimeError):
        await rig.open()
    mocker.stop(refusing)
    await rig.released()
    assert not rig.gadget.handles
    (await rig.open()).close()


def test_closing_after_the_loop_has_ended() -> None:
    async def leave_open() -> tuple[UsbGadget, Transport]:
        gadget = UsbGadget(SERIAL_NUMBER)
        bus = SimulatedUsb(gadget)
        return gadget, await open_usb_device(
            URL, on_data=lambda data: None, on_lost=lambda error: None, find_backend=lambda: bus
        )

    gadget, transport = asyncio.run(leave_open())
    gadget.send(b"never received")
    transport.close()
    for thread in usb_threads():
        thread.join()
    assert not gadget.handles
