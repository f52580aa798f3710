"""Serial ports: UART, USB CDC-ACM, converters, and the pty of a simulator.

pyserial opens the port and configures the line; then one descriptor is read and written on the event loop. A later
failure is TransportLostError; a failure to open is TransportUnavailableError with one of

    port-missing       the node does not exist, or nothing is behind it
    port-ambiguous     several ports have the serial number that the node is named after (TwinDeviceError)
    port-permission    the node belongs to a group that this user is not in
    port-busy          another program is using it
    port-failed        anything else: not a serial port, an unsupported speed
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import os
import termios
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Final

import serial

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.discovery import FoundPort, ListPorts
from firmware_bridge.errors import TransportLostError, TransportUnavailableError, TwinDeviceError, type_and_place
from firmware_bridge.messages import AnyText, message
from firmware_bridge.transports.base import GONE_HINT, OnData, OnLost, permission_hint
from firmware_bridge.transports.fd import DescriptorTransport
from firmware_bridge.usb_bus import USB_DEVICES, is_cardlink, seen_usb

_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO})
_NOT_ADMITTED: Final = frozenset({errno.EACCES, errno.EPERM})
_BUSY: Final = frozenset({errno.EBUSY, errno.EAGAIN})
_NAMED_BY_SERIAL: Final = PurePosixPath("/dev/cardshoe")  # where the udev rules name a device after its serial number


def list_ports() -> Iterable[FoundPort]:
    """Return the serial ports of this machine, as pyserial finds them."""
    from serial.tools.list_ports import comports

    found: Iterable[FoundPort] = comports()
    return found


async def open_serial_port(
    url: DeviceUrl,
    *,
    on_data: OnData,
    on_lost: OnLost,
    list_ports: ListPorts = list_ports,
    devices: Path = USB_DEVICES,
) -> SerialTransport:
    """Open the port at `url.path`. Raise TransportUnavailableError, leaving no descriptor open."""
    path = find_port(url.path, list_ports)
    refuse_twins(url.path, list_ports)
    try:
        descriptor = open_descriptor(path, url.baud)
    except TransportUnavailableError as error:
        if error.code == "port-missing" and (
            elsewhere := _no_driver_hint(url.path, devices) or _other_ports_hint(list_ports)
        ):
            error.hint = elsewhere
        raise
    try:
        return SerialTransport(descriptor, path, on_data, on_lost, listen_only=url.listen)
    except BaseException:
        os.close(descriptor)
        raise


def find_port(path: str, list_ports: ListPorts = list_ports) -> str:
    """Return the node to open: `path`, or if it is missing and named after a serial number, the port with that number.

    So a device is found without the udev rules and under any number (ttyUSB0, ttyUSB1). Only its proof shows its
    identity. Raise TransportUnavailableError (port-ambiguous) if several ports have the serial number, which happens
    with devices of one maker.
    """
    name = PurePosixPath(path)
    if name.parent != _NAMED_BY_SERIAL or Path(path).exists():
        return path
    found = sorted({port.device for port in list_ports() if port.serial_number == name.name})
    if len(found) > 1:
        raise _twins(name.name, found)
    return found[0] if found else path


def refuse_twins(path: str, list_ports: ListPorts = list_ports) -> None:
    """Raise TwinDeviceError if `path` is named after a serial number that several devices have.

    udev gives the name to one of them, and which one may change. The ports of one device count once.
    """
    name = PurePosixPath(path)
    if name.parent != _NAMED_BY_SERIAL:
        return
    ports = [port for port in list_ports() if port.serial_number == name.name]
    devices = {(getattr(port, "location", None) or port.device).partition(":")[0] for port in ports}
    if len(devices) > 1:
        raise _twins(name.name, sorted({port.device for port in ports}))


def _twins(serial_number: str, nodes: list[str]) -> TwinDeviceError:
    sentence = message("{nodes} have the same serial number {serial}.", nodes=tuple(nodes), serial=serial_number)
    hint = message(
        "Unplug the devices that do not belong to this table. If converters of one make share a serial "
        "number, name them by their place: /dev/serial/by-path."
    )
    return TwinDeviceError(sentence, hint, "port-ambiguous")


def _other_ports_hint(list_ports: ListPorts) -> AnyText:
    """Return the hint if cardlink devices are plugged in under other names. Their ports are not opened."""
    found = sorted(
        (port.serial_number, port.device)
        for port in list_ports()
        if port.serial_number and is_cardlink(port.vid or 0, port.pid or 0, port.serial_number)
    )
    if not found:
        return ""
    there = tuple(message("{serial} is at {node}", serial=serial, node=node) for serial, node in found)
    return message(
        '{there}. If that is the device, write url = "serial://{folder}/{serial}".',
        there=there,
        folder=str(_NAMED_BY_SERIAL),
        serial=found[0][0],
    )


def _no_driver_hint(path: str, devices: Path) -> AnyText:
    """Return the hint if the device is plugged in but no kernel driver made a port of it."""
    name = PurePosixPath(path)
    with contextlib.suppress(OSError):
        for seen in seen_usb(devices) if name.parent == _NAMED_BY_SERIAL else ():
            if seen.serial == name.name and not seen.has_port:
                url = f"usb:///{seen.vendor:04x}:{seen.product:04x}/{seen.serial}"
                return message(
                    "The device is plugged in, but this kernel gives it no port: load its driver (`modprobe cdc_acm`, "
                    'or `modprobe usbserial` for a converter), or write url = "{url}".',
                    url=url,
                )
    return ""


def open_descriptor(path: str, baud: int) -> int:
    """Return a descriptor of the port: raw, non-blocking, exclusive. Raise TransportUnavailableError if it cannot be
    opened.

    The kernel raises DTR at open. HUPCL is cleared, so that DTR stays up at close too: a device that resets on an edge
    of DTR does so at most once.
    """
    port = serial.Serial(exclusive=True)
    try:
        port.baudrate = baud
        port.port = path
        port.open()
        try:
            descriptor = os.dup(port.fileno())
        finally:
            port.close()  # closes its own descriptor and four pipe ends; the duplicate keeps the lock
        try:
            _set_line(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
    except (OSError, termios.error, ValueError, OverflowError) as error:
        raise _unavailable(path, baud, error) from error
    return descriptor


def _set_line(descriptor: int) -> None:
    line = termios.tcgetattr(descriptor)
    line[0] &= ~termios.BRKINT  # a break on the line must not discard received bytes
    line[2] &= ~termios.HUPCL
    # pyserial leaves VMIN at 0, where "nothing yet" and "unplugged" both read as no bytes.
    line[6][termios.VMIN] = 1
    line[6][termios.VTIME] = 0
    termios.tcsetattr(descriptor, termios.TCSANOW, line)
    os.set_blocking(descriptor, False)
    fcntl.ioctl(descriptor, termios.TIOCEXCL)  # pyserial's lock binds only programs that ask for it


def _unavailable(path: str, baud: int, error: Exception) -> TransportUnavailableError:
    """Return the sentence, the next step and the code for a port that did not open."""
    number = _error_number(error)
    if number in _MISSING:
        sentence = message("There is no serial port {path}.", path=path)
        hint = (
            message(
                "Plug the device in and switch it on. The URL serial:///dev/cardshoe/SERIAL finds it by its "
                "serial number."
            )
            if path.startswith("/dev/")
            else message(
                "Start the simulated device with the key file of [device]: cardshoe simulate --link {path} "
                "--key-file FILE",
                path=path,
            )
        )
        return TransportUnavailableError(sentence, hint, "port-missing")
    if number in _NOT_ADMITTED:
        return TransportUnavailableError(
            message("This user may not use the serial port {path}.", path=path),
            permission_hint(path),
            "port-permission",
        )
    if number in _BUSY:
        sentence = message("Another program is using the serial port {path}.", path=path)
        hint = message("Stop that program (`fuser -v {path}` shows it), or give this table another device.", path=path)
        return TransportUnavailableError(sentence, hint, "port-busy")
    if number == errno.ENOTTY:
        sentence = message("{path} is not a serial port.", path=path)
        return TransportUnavailableError(sentence, message("Correct the path in the device URL."), "port-failed")
    reason = os.strerror(number) if number else type_and_place(error)
    sentence = message(
        "The serial port {path} cannot be used at {baud} baud: {reason}.", path=path, baud=baud, reason=reason
    )
    hint = message(
        "Check the speed (baud=), then unplug the device and plug it in again; the kernel's log may say more."
    )
    return TransportUnavailableError(sentence, hint, "port-failed")


def _error_number(error: BaseException) -> int | None:
    """Return the system's error number, which pyserial sometimes leaves in the error that its own was raised from."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None and isinstance(error, termios.error):
        number = error.args[0]
    if number is None and error.__context__ is not None:
        return _error_number(error.__context__)
    return number


class SerialTransport(DescriptorTransport):
    """An open port. Owns the descriptor and closes it."""

    def __init__(
        self, descriptor: int, path: str, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False
    ) -> None:
        super().__init__(descriptor, on_data, on_lost, listen_only=listen_only)
        self._path = path

    def _release(self, descriptor: int, unsent: bool) -> None:
        _close(descriptor)

    def _gone(self) -> TransportLostError:
        return TransportLostError(message("The serial port {path} is gone.", path=self._path), GONE_HINT)

    def _stalled(self) -> TransportLostError:
        return TransportLostError(
            message("The device at {path} no longer accepts data.", path=self._path), GONE_HINT, "transport-stalled"
        )


def _close(descriptor: int) -> None:
    """Close in any state, without waiting for a device that takes no data."""
    with contextlib.suppress(OSError, termios.error):
        if _held_by_kernel(descriptor):
            # Closing would wait for these bytes: half a minute if the device does not take them.
            termios.tcflush(descriptor, termios.TCOFLUSH)
    with contextlib.suppress(OSError):
        # A pty outlives its last user and would stay exclusive.
        fcntl.ioctl(descriptor, termios.TIOCNXCL)
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _held_by_kernel(descriptor: int) -> int:
    """Return the bytes that the kernel has taken and not yet sent. Always 0 for a pty."""
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.TIOCOUTQ, count)
    return count[0]
