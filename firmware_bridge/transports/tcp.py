"""Raw TCP, as serial servers use it: the bytes of a line and nothing else.

A network may fail without notice. TCP detects a dead peer within about ten seconds, whether bytes wait to be
acknowledged (TCP_USER_TIMEOUT) or nothing is sent (keep-alive). It cannot detect a peer whose program hangs, or a
serial server whose cable to the device is cut: the driver does, by missing signs of life.

A failure to connect is TransportUnavailableError with one of

    tcp-name           the name is unknown
    tcp-refused        the machine is there and nothing listens on that port, or it accepts no further connection
    tcp-unreachable    nothing answered in time, or there is no route
    tcp-failed         anything else
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import struct
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from firmware_bridge.addresses import is_own
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportLostError, TransportUnavailableError, type_and_place
from firmware_bridge.messages import message
from firmware_bridge.transports.base import OnData, OnLost
from firmware_bridge.transports.blocking import run_in_thread
from firmware_bridge.transports.fd import DescriptorTransport

CONNECT_WITHIN: Final = 3.0  # seconds, for all addresses of a name together
KEEP_ALIVE: Final = (  # seconds of silence before the first probe, seconds between probes, number of unanswered probes
    (socket.TCP_KEEPIDLE, 4),
    (socket.TCP_KEEPINTVL, 2),
    (socket.TCP_KEEPCNT, 3),
)
UNACKNOWLEDGED_MS: Final = 10_000  # how long sent bytes may stay unacknowledged

_REFUSED: Final = frozenset({errno.ECONNREFUSED, errno.ECONNRESET, errno.ECONNABORTED})
_UNREACHABLE: Final = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.ETIMEDOUT, errno.ENONET}
)
_GONE_HINT: Final = message("Check the serial server, its power and the network. The program reconnects automatically.")

_Address: TypeAlias = tuple[int, int, int, str, Any]  # family, kind, protocol, name, argument of connect


async def open_tcp(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> TcpTransport:
    """Connect to `url.host`. Raise TransportUnavailableError, leaving no descriptor open."""
    assert url.port is not None, "a tcp URL has a port"
    place = f"[{url.host}]:{url.port}" if ":" in url.host else f"{url.host}:{url.port}"
    try:
        async with asyncio.timeout(CONNECT_WITHIN):
            connection = await _connect(url.host, url.port)
    except (OSError, UnicodeError) as error:  # includes TimeoutError; a name with an empty part is not valid IDNA
        raise _unavailable(url, place, error) from error
    try:
        return TcpTransport(connection, place, on_data, on_lost, listen_only=url.listen)
    except BaseException:
        connection.close()
        raise


async def _connect(host: str, port: int) -> socket.socket:
    """Return a connection to the first address that accepts one. Raise the error from the last address."""
    loop = asyncio.get_running_loop()
    addresses = await _resolve(host, port)
    for family, kind, protocol, _, address in addresses[:-1]:
        try:
            return await _connect_to(loop, family, kind, protocol, address)
        except OSError:
            continue
    family, kind, protocol, _, address = addresses[-1]
    return await _connect_to(loop, family, kind, protocol, address)


async def _resolve(host: str, port: int) -> Sequence[_Address]:
    numeric = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    try:
        return socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=numeric
        )  # does not ask a name server, so it is quick
    except socket.gaierror:
        # Not on the loop's own threads: a silent name server would keep them busy.
        return await run_in_thread(
            lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), name="cardshoe-name"
        )


async def _connect_to(
    loop: asyncio.AbstractEventLoop, family: int, kind: int, protocol: int, address: Any
) -> socket.socket:
    connection = socket.socket(family, kind, protocol)
    try:
        connection.setblocking(False)
        _set_up(connection)
        await loop.sock_connect(connection, address)
        if connection.getsockname() == connection.getpeername():
            # Nothing listened, and the kernel happened to choose this very port for this end.
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    except BaseException:
        connection.close()
        raise
    return connection


def _set_up(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEP_ALIVE:
        connection.setsockopt(socket.IPPROTO_TCP, option, value)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS)


def _unavailable(url: DeviceUrl, place: str, error: OSError | UnicodeError) -> TransportUnavailableError:
    """Return the sentence, the next step and the code for a connection that was not made."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return TransportUnavailableError(
            message("The name {host} is unknown.", host=url.host),
            message(
                "Correct it in the device URL, check that the name server can be reached, or write the serial "
                "server's IP address."
            ),
            "tcp-name",
        )
    if error.errno in _REFUSED:
        return TransportUnavailableError(
            message("{place} refuses the connection.", place=place),
            message(
                "Check the port number, and whether the serial server has another connection open: most accept "
                "only one."
            ),
            "tcp-refused",
        )
    if error.errno in _UNREACHABLE or isinstance(error, TimeoutError):
        return TransportUnavailableError(
            message("{place} cannot be reached.", place=place),
            message(
                "Check the address, the serial server's power and the network: does `ping {host}` answer?",
                host=url.host,
            ),
            "tcp-unreachable",
        )
    reason = os.strerror(error.errno) if error.errno else type_and_place(error)
    return TransportUnavailableError(
        message("The connection to {place} cannot be made: {reason}.", place=place, reason=reason),
        message("Check the device URL; the log may say more."),
        "tcp-failed",
    )


class TcpTransport(DescriptorTransport):
    """A connection. Owns the socket and closes it."""

    def __init__(
        self, connection: socket.socket, place: str, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False
    ) -> None:
        super().__init__(connection.fileno(), on_data, on_lost, listen_only=listen_only)
        peer_is_here = is_own(connection.getpeername()[0])
        connection.detach()
        self._place = place
        self.peer_is_here = peer_is_here
        """The other end is on this machine, so that it is a program."""

    def _release(self, descriptor: int, unsent: bool) -> None:
        connection = socket.socket(fileno=descriptor)
        if unsent:
            # The peer takes no data. Reset, so that neither kernel keeps the connection: most servers accept only one.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def _gone(self) -> TransportLostError:
        return TransportLostError(message("The connection to {place} is gone.", place=self._place), _GONE_HINT)

    def _stalled(self) -> TransportLostError:
        return TransportLostError(
            message("{place} no longer accepts data.", place=self._place), _GONE_HINT, "transport-stalled"
        )
