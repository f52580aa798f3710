"""The tree of errors that leave this package.

    BridgeError                 something about the device or the connection; has a `code` and a `hint`
    ├── BadDeviceUrlError       the URL names nothing that can exist          (code device-url)
    │   └── DriverMissingError  a driver of another package cannot be used    (code driver)
    ├── TransportLostError      the connection is gone: cable unplugged       (code transport-lost)
    ├── TransportUnavailableError   the connection cannot be opened: no such port, no permission, in use
    │   └── TwinDeviceError     several devices are what the URL names: refused, and no absence
    ├── KeyFileError            the key file cannot be read                   (code key-file)
    └── CardTableError          the table of identifiers cannot be used       (code card-table)

A driver raises none of them for what a device sends: garbage is counted, and a device that must not be used is
reported as refused. Any other exception that leaves this package is a bug.
"""


class BridgeError(Exception):
    """A sentence for people (`str`), a `hint` what to do next, and a `code` for machines (see docs/faults.md)."""

    code = "device"

    def __init__(self, sentence: str, hint: str = "", code: str = "") -> None:
        super().__init__(sentence)
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
    """Each has its own code. One of them at least is not the device: none is used until a person has looked."""


class KeyFileError(BridgeError):
    code = "key-file"


class CardTableError(BridgeError):
    code = "card-table"


class DriverMissingError(BadDeviceUrlError):
    code = "driver"
