"""Device URLs: where a device is and which protocol it speaks. Every command and file uses the same form.

    scheme:[//host:port]/path?driver=&baud=&listen=1&arm=1&seed=&shuffle=

    serial:///dev/cardshoe/SERIAL        a serial port, by the name that udev gave it
    usb:///VID:PID/SERIAL                a USB device without a serial converter
    tcp://host:port/?driver=NAME         a serial server
    sim:///shuffler?seed=7               a simulated device in this process

A URL holds no secrets: keys are kept in separate files.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

import msgspec

from firmware_bridge.addresses import WRITE_IN_FULL, is_misread, misread
from firmware_bridge.drivers.registry import DRIVERS, USUAL_BAUD, RegisteredDriver, registered_driver
from firmware_bridge.drivers.setting import DeviceLine
from firmware_bridge.errors import BadDeviceUrlError
from firmware_bridge.messages import Message, message
from firmware_bridge.plain_text import whole_number

DEFAULT_DRIVER: Final = "cardlink"
SLOWEST_BAUD: Final = 50
FASTEST_BAUD: Final = 4_000_000
LARGEST_SEED: Final = 2**64 - 1

_EXAMPLES: Final = {
    "serial": "serial:///dev/cardshoe/SERIAL",
    "usb": "usb:///VID:PID/SERIAL",
    "tcp": "tcp://host:port/",
    "sim": "sim:///shuffler?seed=7",
}
_KEYS: Final = {
    "serial": frozenset({"driver", "baud", "listen", "arm"}),
    "usb": frozenset({"driver", "listen"}),
    "tcp": frozenset({"driver", "listen", "arm"}),
    "sim": frozenset({"driver", "listen", "seed", "shuffle"}),
}
SCHEMES: Final = tuple(_EXAMPLES)
_USB_PATH: Final = re.compile(r"/([0-9A-Fa-f]{4}):([0-9A-Fa-f]{4})/(.+)", re.ASCII)


class DeviceUrl(msgspec.Struct, frozen=True):
    """A parsed device URL. `str` returns its text without defaults.

    `host` and `port` are for tcp only. `baud` is in bits per second; the driver has a default. `listen` means that
    nothing is ever written. `arm` lets a driver that only listens by default send its commands. `seed` is for simulated
    devices; with None the simulator chooses. `shuffle` is the model by which a simulated shuffler shuffles.
    """

    scheme: str
    host: str = ""
    port: int | None = None
    path: str = ""
    driver: str = DEFAULT_DRIVER
    baud: int = USUAL_BAUD
    listen: bool = False
    arm: bool = False
    seed: int | None = None
    shuffle: str = ""

    @property
    def known_as(self) -> str:
        """The name of a device that reports no serial number: the last part of the path, or host:port."""
        return f"{self.host}:{self.port}" if self.port is not None else self.path.rstrip("/").rpartition("/")[2]

    @property
    def line(self) -> DeviceLine:
        """The part of the URL that a driver needs."""
        return DeviceLine(self.known_as, self.listen, self.arm)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        authority = "" if self.port is None else f"{host}:{self.port}"
        keys = {
            "driver": "" if self.driver == DEFAULT_DRIVER else self.driver,
            "baud": "" if self.baud == _default_baud(self.driver) else str(self.baud),
            "listen": "1" if self.listen else "",
            "arm": "1" if self.arm else "",
            "seed": "" if self.seed is None else str(self.seed),
            "shuffle": self.shuffle,
        }
        query = "&".join(f"{key}={quote(value, safe=':')}" for key, value in keys.items() if value)
        return f"{self.scheme}://{authority}{quote(self.path, safe='/:')}" + (f"?{query}" if query else "")


class UsbName(msgspec.Struct, frozen=True):
    """The identity in a usb URL. Vendor and product alone name only the make."""

    vendor: int
    product: int
    serial: str

    @property
    def pair(self) -> str:
        return f"{self.vendor:04x}:{self.product:04x}"


def usb_name(path: str) -> UsbName:
    """Parse the path of a usb URL. Raise BadDeviceUrlError if it is malformed.

    >>> usb_name("/1209:0001/CARDSHOE-0042").serial
    'CARDSHOE-0042'
    """
    found = _USB_PATH.fullmatch(path)
    if found is None:
        raise BadDeviceUrlError(
            message("The path {path} does not name a USB device.", path=repr(path)),
            message(
                "Write {example}, VID and PID as four hexadecimal digits each; `lsusb -v` shows all three.",
                example=_EXAMPLES["usb"],
            ),
        )
    return UsbName(int(found[1], 16), int(found[2], 16), found[3])


def parse_device_url(text: str) -> DeviceUrl:
    """Parse a device URL. Raise BadDeviceUrlError, whose hint says what to write instead.

    >>> parse_device_url("serial:///dev/ttyACM0?baud=9600").baud
    9600
    """
    parts = _split(text)
    host, port = _authority(parts)
    values = _query(parts)
    row = registered_driver(values.get("driver", DEFAULT_DRIVER))
    url = DeviceUrl(
        scheme=parts.scheme,
        host=host,
        port=port,
        path=_path(parts),
        driver=row.name,
        baud=_whole_number(values, "baud", SLOWEST_BAUD, FASTEST_BAUD) or row.baud,
        listen=bool(_whole_number(values, "listen", 0, 1)),
        arm=bool(_whole_number(values, "arm", 0, 1)),
        seed=_whole_number(values, "seed", 0, LARGEST_SEED),
        shuffle=values.get("shuffle", ""),
    )
    _check_writing(url, row)
    return url


def _check_writing(url: DeviceUrl, row: RegisteredDriver) -> None:
    """Refuse `listen` or `arm` where the driver does not support it, and both together."""
    if url.listen and not row.can_listen:
        raise BadDeviceUrlError(
            message("The driver {driver} has to answer its device, so it cannot only listen.", driver=url.driver),
            message("Leave out listen=1, or name the driver that the device speaks with driver=."),
        )
    if url.arm and not row.can_arm:
        raise BadDeviceUrlError(
            message("The driver {driver} has no commands to arm.", driver=url.driver), message("Leave out arm=1.")
        )
    if url.arm and url.listen:
        raise BadDeviceUrlError(
            message("listen=1 means that nothing is ever written, and arm=1 that commands may be sent."),
            message("Leave one of them out."),
        )


def _default_baud(driver: str) -> int:
    """Return the speed that `str` leaves out: none for a driver of another package, to avoid importing it."""
    row = DRIVERS.get(driver)
    return 0 if row is None else row.baud


def _split(text: str) -> SplitResult:
    if not text.isprintable() or " " in text:
        raise BadDeviceUrlError(
            message("The device URL {text} contains spaces or characters that cannot be printed.", text=repr(text)),
            message("Remove them; write a space in a path as %20."),
        )
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise BadDeviceUrlError(
            message("{text} is not a device URL: {why}.", text=repr(text), why=str(error)), _write_one_of()
        ) from None
    if parts.scheme not in SCHEMES:
        if text.startswith("/"):
            raise BadDeviceUrlError(
                message("{text} is a path, not a device URL.", text=repr(text)),
                message("Write serial://{text}", text=text),
            )
        why = (
            message("{scheme} is not a kind of device", scheme=repr(parts.scheme))
            if parts.scheme
            else message("its kind of device is missing")
        )
        raise BadDeviceUrlError(
            message("{text} is not a device URL: {why}.", text=repr(text), why=why), _write_one_of()
        )
    if parts.fragment:
        raise BadDeviceUrlError(
            message("The device URL {text} has a part after '#', which has no meaning in it.", text=repr(text)),
            message("Remove it; write a '#' in a path as %23."),
        )
    return parts


def _write_one_of() -> Message:
    return message("Write it like one of these: {values:list}.", values=tuple(_EXAMPLES.values()))


def _authority(parts: SplitResult) -> tuple[str, int | None]:
    """Return the host and port if the scheme has them."""
    example = _EXAMPLES[parts.scheme]
    if "@" in parts.netloc:
        raise BadDeviceUrlError(
            message("A device URL must not contain a user name or password."),
            message("Keys are kept in separate files; write it like {example}.", example=example),
        )
    if parts.scheme != "tcp":
        if parts.netloc:
            sentence = message(
                "A {scheme} device has no host, but the URL names {netloc} as one.",
                scheme=parts.scheme,
                netloc=repr(parts.netloc),
            )
            raise BadDeviceUrlError(
                sentence,
                message(
                    "Begin the path with three slashes: {scheme}:///{path}",
                    scheme=parts.scheme,
                    path=_probable_path(parts),
                ),
            )
        return "", None
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host or not port:
        raise BadDeviceUrlError(
            message("A tcp device needs a host and a port from 1 to 65535, not {netloc}.", netloc=repr(parts.netloc)),
            message("Write it like {example}.", example=example),
        )
    if is_misread(host):
        raise BadDeviceUrlError(misread(host), WRITE_IN_FULL)
    return host, port


def _probable_path(parts: SplitResult) -> str:
    """Return the path that was probably meant when only two slashes precede it."""
    return parts.netloc + parts.path


def _path(parts: SplitResult) -> str:
    path = unquote(parts.path)
    if not path.isprintable():
        raise BadDeviceUrlError(
            message("The path {path} contains characters that cannot be printed.", path=repr(path)),
            message("Check the digits after each '%'."),
        )
    if parts.scheme == "tcp":
        if path not in ("", "/"):
            raise BadDeviceUrlError(
                message("A tcp device has no path, but the URL names {path}.", path=repr(path)),
                message("Write it like {example}.", example=_EXAMPLES["tcp"]),
            )
        return "/"
    if not path.strip("/"):
        raise BadDeviceUrlError(
            message("The {scheme} URL does not say which device.", scheme=parts.scheme),
            message("Write it like {example}.", example=_EXAMPLES[parts.scheme]),
        )
    if not path.startswith("/") or path.startswith("//"):
        raise BadDeviceUrlError(
            message("The path {path} must begin with exactly one slash.", path=repr(path)),
            message("Write it like {example}.", example=_EXAMPLES[parts.scheme]),
        )
    if parts.scheme == "usb":
        usb_name(path)
    return path


def _query(parts: SplitResult) -> dict[str, str]:
    try:
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query), errors="strict")
    except ValueError:
        raise BadDeviceUrlError(
            message("The part after the '?' cannot be read: {query}.", query=repr(parts.query)),
            message("Write key=value pairs joined by '&'."),
        ) from None
    known = _KEYS[parts.scheme]
    values: dict[str, str] = {}
    for key, value in pairs:
        if key not in known:
            raise BadDeviceUrlError(
                message("A {scheme} URL has no key {key}.", scheme=parts.scheme, key=repr(key)),
                message("The keys are: {known:list}.", known=tuple(sorted(known))),
            )
        if key in values:
            raise BadDeviceUrlError(
                message("The key {key} appears twice in the device URL.", key=repr(key)),
                message("Leave one of them out."),
            )
        if not value:
            raise BadDeviceUrlError(
                message("The key {key} has no value.", key=repr(key)),
                message("Write {key}=VALUE, or leave it out.", key=key),
            )
        values[key] = value
    return values


def _whole_number(values: dict[str, str], key: str, smallest: int, largest: int) -> int | None:
    """Return the value of a key, or None if the key is absent."""
    text = values.get(key)
    if text is None:
        return None
    number = whole_number(text, largest)
    if number is not None and number >= smallest:
        return number
    raise BadDeviceUrlError(
        message(
            "{key}={text} is not a whole number from {smallest} to {largest}.",
            key=key,
            text=text,
            smallest=smallest,
            largest=largest,
        ),
        message("Correct it, or leave {key}= out.", key=key),
    )
