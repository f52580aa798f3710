"""The tree of errors that leave this package.

    BridgeError                 a problem with the device or its connection; has a `code` and a `hint`
    ├── BadDeviceUrlError       the URL names nothing that can exist          (code device-url)
    │   └── DriverMissingError  a driver of another package cannot be used    (code driver)
    ├── TransportLostError      the connection is gone: cable unplugged       (code transport-lost)
    ├── TransportUnavailableError   the connection cannot be opened: no such port, no permission, in use
    │   └── TwinDeviceError     the URL matches several devices: refused, not absent
    ├── KeyFileError            the key file cannot be read                   (code key-file)
    ├── CardTableError          the table of identifiers cannot be used       (code card-table)
    └── ImageError              the approved image cannot be read             (code device-image)

A driver raises none of them for bytes from a device: garbage is counted, and a device that must not be used is reported
as refused. Any other exception that leaves this package is a bug.

The text of an exception may name a card: `int(b"4H")` says "invalid literal for int() with base 10: b'4H'", and the
error of any decoder may quote its input. So logs show the type of an exception and where it was raised, and the whole
traceback is sealed.
"""

from __future__ import annotations

import traceback
from typing import Final

from firmware_bridge.cards import Evidence
from firmware_bridge.messages import MessageError


class BridgeError(MessageError):
    """A message for people, a `hint` with the next step, and a `code` for machines (docs/faults.md)."""

    code = "device"


class BadDeviceUrlError(BridgeError):
    code = "device-url"


class TransportLostError(BridgeError):
    code = "transport-lost"


class TransportUnavailableError(BridgeError):
    code = "transport-unavailable"


class TwinDeviceError(TransportUnavailableError):
    """Raised, with its own code, when several devices match: none is used until a person has looked."""


class KeyFileError(BridgeError):
    code = "key-file"


class CardTableError(BridgeError):
    code = "card-table"


class ImageError(BridgeError):
    code = "device-image"


class DriverMissingError(BadDeviceUrlError):
    code = "driver"


OURS: Final = ("firmware_bridge", "controller", "simulators")
UNKNOWN: Final = "unknown"
LONGEST_TRACEBACK: Final = 4096  # bytes


def place_of(error: BaseException) -> str:
    """Return the module and line in this project that raised the error, or that called the foreign code which did."""
    place = UNKNOWN
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in OURS:
            place = f"{module}:{line}"
    return place


def error_fields(error: BaseException) -> dict[str, str]:
    """Return the type and place as fields of a log line."""
    return {"error": type(error).__name__, "place": place_of(error)}


def type_and_place(error: BaseException) -> str:
    """Return the type and place for a sentence, with the name of a module that is not installed."""
    missing = f" {error.name}" if isinstance(error, ModuleNotFoundError) and error.name else ""
    return f"{type(error).__name__}{missing} at {place_of(error)}"


def sealed_traceback(error: BaseException) -> Evidence:
    """Return the whole traceback, to be sealed in a size that reveals nothing about its text."""
    return Evidence(
        "".join(traceback.format_exception(error)).encode(errors="replace")[-LONGEST_TRACEBACK:], LONGEST_TRACEBACK
    )
