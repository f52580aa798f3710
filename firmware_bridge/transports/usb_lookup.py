"""Finds the USB device that a URL names by its descriptors, opens it and claims its interface.

Every function in this module blocks while the device answers, and runs on its own thread. A failure is
TransportUnavailableError with one of

    usb-missing        no device with this vendor, product and serial number
    usb-other-serial   a device with this vendor and product is there, with another serial number
    usb-ambiguous      several devices have this vendor, product and serial number (TwinDeviceError)
    usb-permission     the node belongs to a group that this user is not in
    usb-busy           another program is using the interface
    usb-interface      the device has no vendor interface with a bulk IN and a bulk OUT endpoint
    usb-library        libusb cannot be used on this machine
    usb-failed         anything else
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, Final, TypeAlias

import msgspec
import usb.core
import usb.util

from firmware_bridge.device_url import DeviceUrl, UsbName, usb_name
from firmware_bridge.discovery import FoundUsbDevice
from firmware_bridge.errors import TransportUnavailableError, TwinDeviceError
from firmware_bridge.messages import AnyText, message
from firmware_bridge.transports.base import permission_hint

FindBackend: TypeAlias = Callable[[], Any]

GONE: Final = frozenset({errno.ENODEV, errno.EIO, errno.ESHUTDOWN})  # host controllers differ in which one they report
VENDOR_CLASS: Final = 0xFF
CLAIM_EVERY: Final = 0.02  # seconds
CLAIM_ATTEMPTS: Final = 50  # one second: a link that has just ended may hold the interface that long

_NOT_ADMITTED: Final = frozenset({errno.EACCES, errno.EPERM})
_REPLUG: Final = message("Unplug the device and plug it in again; the kernel's log may say more.")


@cache
def libusb() -> Any:
    """Return the backend of this process. Its library comes in a Python package, so that pip can install it.

    libusb keeps a thread and a few descriptors from its first use on. Raise TransportUnavailableError if it cannot be
    loaded.
    """
    import libusb_package
    import usb.backend.libusb1

    backend = usb.backend.libusb1.get_backend(find_library=libusb_package.find_library)
    if backend is None:
        raise TransportUnavailableError(
            message("USB devices cannot be used on this machine: libusb does not start."),
            message("Reinstall the package libusb-package, or connect the device through a serial converter."),
            "usb-library",
        )
    return backend


def list_usb(find_backend: FindBackend = libusb) -> list[FoundUsbDevice]:
    """Return the devices that a usb URL could name: with a vendor interface that has a bulk IN and a bulk OUT endpoint.

    Only these are opened for their serial number, and closed again. Raise TransportUnavailableError.
    """
    return [_found_device(device) for device in _find_all(find_backend()) if _could_speak(device)]


def _find_all(backend: Any, **which: int) -> Iterator[Any]:
    """Yield the devices with these descriptors."""
    try:
        yield from usb.core.find(find_all=True, backend=backend, **which)
    except usb.core.USBError as error:
        sentence = message("The USB devices of this machine cannot be listed: {reason}.", reason=_reason(error))
        raise TransportUnavailableError(sentence, _REPLUG, "usb-failed") from error


def _could_speak(device: Any) -> bool:
    try:
        return any(
            interface.bInterfaceClass == VENDOR_CLASS
            and _endpoint(interface, "bulk", True) is not None
            and _endpoint(interface, "bulk", False) is not None
            for configuration in device
            for interface in configuration
        )
    except (usb.core.USBError, NotImplementedError):  # it was unplugged, or the system gives no descriptors
        return False


def _found_device(device: Any) -> FoundUsbDevice:
    name = UsbName(device.idVendor, device.idProduct, "")
    serial = ""
    problem: AnyText = ""
    try:
        serial = _serial_of(device)
    except usb.core.USBError as error:
        refusal = _unavailable(name, device, error)
        problem = refusal.with_hint
    finally:
        _close(device)
    place = f"USB bus {device.bus} address {device.address}"
    return FoundUsbDevice(name.vendor, name.product, serial, place, problem)


class OpenUsb(msgspec.Struct, frozen=True):
    """An open device whose interface is claimed. Endpoints are pyusb's; `interrupt_in` may be None."""

    device: Any
    interface: int
    bulk_in: Any
    bulk_out: Any
    interrupt_in: Any
    detached: bool

    def release(self) -> None:
        """Release everything. No read or write may follow: pyusb would open the device again."""
        with contextlib.suppress(Exception):  # in any state: the device may be unplugged
            usb.util.release_interface(self.device, self.interface)
        if self.detached:
            with contextlib.suppress(Exception):
                self.device.attach_kernel_driver(self.interface)
        with contextlib.suppress(Exception):
            usb.util.dispose_resources(self.device)


def open_usb(url: DeviceUrl, find_backend: FindBackend = libusb) -> OpenUsb:
    """Find, open and claim what `url` names. Raise TransportUnavailableError, leaving nothing open."""
    name = usb_name(url.path)
    device = _find(name, find_backend())
    try:
        return _claim(device, name)
    except usb.core.USBError as error:
        _close(device)
        raise _unavailable(name, device, error) from error
    except BaseException:
        _close(device)
        raise


def _find(name: UsbName, backend: Any) -> Any:
    """Return the device of that name. Others with the same vendor and product are closed again."""
    found: list[Any] = []
    try:
        serials, refusal = _look_for(name, backend, found)
        if len(found) > 1:
            raise _twins(name, found)
    except BaseException:
        for device in found:
            _close(device)
        raise
    if found:
        return found[0]
    if refusal is not None:
        raise refusal  # the device that could not be read may be the one
    if serials:
        sentence = message(
            "No USB device {pair} has the serial number {serial}; found {serials}.",
            pair=name.pair,
            serial=name.serial,
            serials=tuple(repr(serial) for serial in serials),  # in quotes: one may be empty or have blanks
        )
        hint = message(
            "Plug in the right device. To use another device instead, name it in the device URL and pair it."
        )
        raise TransportUnavailableError(sentence, hint, "usb-other-serial")
    sentence = message(
        "There is no USB device {pair} with the serial number {serial}.", pair=name.pair, serial=name.serial
    )
    hint = message("Plug the device in and switch it on; `lsusb` shows what is there.")
    raise TransportUnavailableError(sentence, hint, "usb-missing")


def _look_for(name: UsbName, backend: Any, found: list[Any]) -> tuple[list[str], TransportUnavailableError | None]:
    """Open the devices of that name into `found`. Return the serial numbers of others, and why a device has none."""
    serials: list[str] = []
    refusal: TransportUnavailableError | None = None
    for device in _find_all(backend, idVendor=name.vendor, idProduct=name.product):
        try:
            serial = _serial_of(device)
        except usb.core.USBError as error:
            _close(device)
            if error.errno not in GONE:
                refusal = _unavailable(name, device, error)
            continue
        except BaseException:
            _close(device)
            raise
        if serial == name.serial:
            found.append(device)
            continue
        _close(device)
        serials.append(serial)
    return serials, refusal


def _twins(name: UsbName, found: list[Any]) -> TwinDeviceError:
    places = tuple(
        message("USB bus {bus} address {address}", bus=device.bus, address=device.address) for device in found
    )
    sentence = message(
        "Several USB devices {pair} have the serial number {serial}: {places}.",
        pair=name.pair,
        serial=name.serial,
        places=places,
    )
    hint = message(
        "Only one of them can be the device. Unplug the devices that do not belong to this table, and "
        "keep them for the investigation."
    )
    return TwinDeviceError(sentence, hint, "usb-ambiguous")


def _serial_of(device: Any) -> str:
    """Open the device and return its serial number, or "" if none can be read. Raise USBError."""
    if not device.iSerialNumber:
        return ""
    # device.serial_number would hide why a device did not open.
    languages = usb.util.get_langids(device)
    if not languages:
        return ""
    try:
        return str(usb.util.get_string(device, device.iSerialNumber, languages[0]))
    except UnicodeDecodeError:
        return ""


def _claim(device: Any, name: UsbName) -> OpenUsb:
    configuration = _configuration(device)
    for interface in configuration:
        if interface.bInterfaceClass != VENDOR_CLASS:
            continue
        bulk_in, bulk_out = _endpoint(interface, "bulk", True), _endpoint(interface, "bulk", False)
        if bulk_in is None or bulk_out is None:
            continue
        number = interface.bInterfaceNumber
        detached = _detach_kernel_driver(device, number)
        _claim_in_time(device, number)
        if interface.bAlternateSetting:
            device.set_interface_altsetting(number, interface.bAlternateSetting)
        return OpenUsb(device, number, bulk_in, bulk_out, _endpoint(interface, "interrupt", True), detached)
    raise TransportUnavailableError(
        message(
            "The USB device {pair} {serial} has no interface for this program.", pair=name.pair, serial=name.serial
        ),
        message("It needs a vendor interface (class FF) with a bulk IN and a bulk OUT endpoint."),
        "usb-interface",
    )


def _configuration(device: Any) -> Any:
    try:
        return device.get_active_configuration()
    except usb.core.USBError as error:
        if error.errno is not None:
            raise
    device.set_configuration()  # pyusb's error without a number: the kernel has not chosen a configuration
    return device.get_active_configuration()


def _endpoint(interface: Any, kind: str, inward: bool) -> Any:
    kinds = {"bulk": usb.util.ENDPOINT_TYPE_BULK, "interrupt": usb.util.ENDPOINT_TYPE_INTR}
    direction = usb.util.ENDPOINT_IN if inward else usb.util.ENDPOINT_OUT
    for endpoint in interface:
        address, attributes = endpoint.bEndpointAddress, endpoint.bmAttributes
        if usb.util.endpoint_direction(address) == direction and usb.util.endpoint_type(attributes) == kinds[kind]:
            return endpoint
    return None


def _detach_kernel_driver(device: Any, interface: int) -> bool:
    try:
        if not device.is_kernel_driver_active(interface):
            return False
    except NotImplementedError:  # only Linux has such drivers
        return False
    device.detach_kernel_driver(interface)
    return True


def _claim_in_time(device: Any, interface: int) -> None:
    for _ in range(CLAIM_ATTEMPTS):
        try:
            usb.util.claim_interface(device, interface)
        except usb.core.USBError as error:
            if error.errno != errno.EBUSY:
                raise
            threading.Event().wait(CLAIM_EVERY)
        else:
            return
    usb.util.claim_interface(device, interface)


def _unavailable(name: UsbName, device: Any, error: usb.core.USBError) -> TransportUnavailableError:
    device_name = {"pair": name.pair, "serial": name.serial}
    node = f"/dev/bus/usb/{device.bus or 0:03}/{device.address or 0:03}"
    if error.errno in _NOT_ADMITTED:
        sentence = message("This user may not use the USB device {pair} at {node}.", pair=name.pair, node=node)
        return TransportUnavailableError(sentence, permission_hint(node), "usb-permission")
    if error.errno == errno.EBUSY:
        hint = message("Stop that program (`fuser -v {node}` shows it), or give this table another device.", node=node)
        return TransportUnavailableError(
            message("The USB device {pair} {serial} is in use by another program.", **device_name), hint, "usb-busy"
        )
    if error.errno in GONE:
        hint = message("Plug it in again and check the cable. The program reconnects automatically.")
        return TransportUnavailableError(
            message("The USB device {pair} {serial} was unplugged while it was opened.", **device_name),
            hint,
            "usb-missing",
        )
    return TransportUnavailableError(
        message("The USB device {pair} {serial} cannot be used: {reason}.", **device_name, reason=_reason(error)),
        _REPLUG,
        "usb-failed",
    )


def _reason(error: usb.core.USBError) -> str:
    return os.strerror(error.errno) if error.errno else str(error.strerror)


def _close(device: Any) -> None:
    with contextlib.suppress(Exception):  # in any state
        usb.util.dispose_resources(device)
