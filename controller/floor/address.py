"""The address of the casino's broker, and the certificate with which a program on this machine connects to it."""

from __future__ import annotations

from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from firmware_bridge.addresses import WRITE_IN_FULL, is_misread, misread
from firmware_bridge.messages import MessageError, message

PLAIN: Final = "mqtt"
ENCRYPTED: Final = "mqtts"
PORTS: Final = {PLAIN: 1883, ENCRYPTED: 8883}
_OWN_HOSTS: Final = ("localhost", "ip6-localhost")


class BadBrokerError(MessageError):
    """Raised for an address that cannot be used."""


class Address(NamedTuple):
    """The address of the broker. `encrypted` means TLS with a certificate on each side."""

    host: str
    port: int
    encrypted: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{ENCRYPTED if self.encrypted else PLAIN}://{host}:{self.port}"


class Credentials(NamedTuple):
    """The files for TLS: the authority that signs the broker's certificate, this program's certificate, and its key."""

    ca: Path
    certificate: Path
    key: Path


class Broker(NamedTuple):
    """A broker's address with the files for TLS. `credentials` is None if the address is not encrypted."""

    address: Address
    credentials: Credentials | None


def parse_broker(url: str) -> Address:
    """Parse `mqtts://HOST[:PORT]`, or `mqtt://` for a broker on this machine only. Raise `BadBrokerError`.

    >>> parse_broker("mqtts://broker.example:8884")
    Address(host='broker.example', port=8884, encrypted=True)
    """
    try:
        found = urlsplit(url)
        host, port = found.hostname or "", found.port
    except ValueError as error:
        raise BadBrokerError(message("{url} is not the address of a broker.", url=repr(url)), _WRITE) from error
    if found.scheme not in PORTS or not host or found.path.strip("/") or found.query or found.fragment:
        raise BadBrokerError(message("{url} is not the address of a broker.", url=repr(url)), _WRITE)
    if found.username is not None or found.password is not None:
        raise BadBrokerError(
            message("A broker knows a table by its certificate, not by a name and a password."), _WRITE
        )
    if is_misread(host):
        raise BadBrokerError(misread(host), WRITE_IN_FULL)
    if found.scheme == PLAIN and not _is_own(host):
        raise BadBrokerError(
            message("{host} is another machine, and mqtt:// is not encrypted.", host=host),
            message("Write {encrypted}://{host} and name the files.", encrypted=ENCRYPTED, host=host),
        )
    return Address(host, port or PORTS[found.scheme], found.scheme == ENCRYPTED)


def _is_own(host: str) -> bool:
    if host in _OWN_HOSTS:
        return True
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return False


_WRITE: Final = message("Write mqtts://HOST:8883, or mqtt://localhost:1883 for a broker on this machine.")
