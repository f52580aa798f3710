"""The tree of errors that leave this package.

    BridgeError                 a problem with the device or its connection; has a `code` and a `hint`
    ├── BadDeviceUrlError       the URL names nothing that can exist          (code device-url)
    │   └── DriverMissingError  a driver of another package cannot be used    (code driver)
    ├── TransportLostError      the connection is gone: cable unplugged       (code transport-lost)
    ├── TransportUnavailableError   the connection cannot be opened: no such port, no permission, in use
    │   └── TwinDeviceError     the URL matches several devices: refused, not absent
    ├── KeyFileError            the key file cannot be read                   (code key-file)
    └── CardTableError          the table of identifiers cannot be used       (code card-table)

A driver raises none of them for bytes from a device: garbage is counted, and a device that must not be used is reported
as refused. Any other exception that leaves this package is a bug.
"""

from firmware_bridge.messages import AnyText


class BridgeError(Exception):
    """A message for people, a `hint` with the next step, and a `code` for machines (docs/faults.md)."""

    code = "device"

    def __init__(self, said: AnyText, hint: AnyText = "", code: str = "") -> None:
        super().__init__(str(said))
        self.message = said
        self.hint = hint
        if code:
            self.code = code


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


class DriverMissingError(BadDeviceUrlError):
    code = "driver"
