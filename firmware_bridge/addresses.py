"""Addresses in networks: those that could be misread, and those of this machine.

A module of its own, because device URLs, the transport, the configuration and the floor need the same answer.
"""

from __future__ import annotations

import re
import socket
from ipaddress import IPv4Address, ip_address
from typing import Final

from firmware_bridge.messages import Message, message

_NUMBER = r"(?:[0-9]+|0[xX][0-9a-fA-F]*)"
_LIKE_IPV4 = re.compile(rf"(?:[^.]*\.)*{_NUMBER}\.?")

WRITE_IN_FULL: Final = message(
    "Write the four decimal numbers in full and without leading zeros, such as {example}.", example="10.5.32.24"
)


def misread(host: str) -> Message:
    """Return the sentence about a host for which `is_misread` is true."""
    return message("{host} looks like an IPv4 address but is not written as one.", host=repr(host))


def is_misread(host: str) -> bool:
    """Return whether a host looks like an IPv4 address but is not written as four decimal numbers.

    The system's resolver reads such texts: a number with a leading zero as octal, and short forms as one long number.

    >>> [is_misread(host) for host in ("10.5.32.24", "10.5.32.024", "127.1", "0x7f000001", "pit7.example", "::1")]
    [False, True, True, True, False, False]
    """
    if ":" in host or _LIKE_IPV4.fullmatch(host) is None:
        return False
    try:
        IPv4Address(host)
    except ValueError:
        return True
    return False


def is_own(address: str) -> bool:
    """Return whether an IP address belongs to this machine, where the other end of a connection is a program. A socket
    can be bound only to such an address.
    """
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    found = getattr(found, "ipv4_mapped", None) or found
    if found.is_loopback or found.is_unspecified:
        return True
    family = socket.AF_INET if found.version == 4 else socket.AF_INET6
    scope = f"%{address.partition('%')[2]}" if "%" in address else ""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(socket.getaddrinfo(f"{found}{scope}", 0, family, socket.SOCK_DGRAM)[0][4])
        except OSError:
            return False
    return True
