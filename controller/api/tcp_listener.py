"""The port of screens: sockets that listen on this machine's own addresses only."""

from __future__ import annotations

import errno
import os
import socket
from typing import Final

from controller.api.connections import BACKLOG
from firmware_bridge.messages import Message, MessageError, message

OWN_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
TRIES: Final = 16  # attempts to find a port that is free on both addresses
NO_ADDRESS: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)  # the machine has no IPv6


PORT_HINT: Final = message(
    "End the program that uses it (`ss -ltnp` names it), or name another port under [api.http] port."
)


class PortRefusedError(MessageError):
    """Reports an unusable `[api.http] port`. `why` says what is wrong with it."""

    def __init__(self, port: int, why: Message) -> None:
        super().__init__(message("[api.http] port: {port} {why}.", port=port, why=why), PORT_HINT)
        self.why = why


class TcpListener:
    """Sockets that listen at one port of 127.0.0.1 and, if the machine has it, ::1. `port` 0 means any free port."""

    def __init__(self, port: int) -> None:
        for _ in range(TRIES if not port else 1):
            try:
                self.sockets = _listen(port)
            except OSError as error:
                refused = error
            else:
                self.port = int(self.sockets[0].getsockname()[1])
                return
        raise PortRefusedError(port, _why(refused))

    def close(self) -> None:
        for listening in self.sockets:
            listening.close()


def why_not_free(port: int) -> Message | None:
    """Return why no program can listen at a port now, or None if it is free. The test does not listen."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            _bind(family, address, port).close()
        except OSError as error:
            if error.errno not in NO_ADDRESS:
                return _why(error)
    return None


def _why(error: OSError) -> Message:
    if error.errno == errno.EADDRINUSE:
        return message("is in use")
    return message("cannot be opened: {why}", why=os.strerror(error.errno or 0))


def _listen(port: int) -> tuple[socket.socket, ...]:
    first = _listen_at(socket.AF_INET, "127.0.0.1", port)
    try:
        return first, _listen_at(socket.AF_INET6, "::1", int(first.getsockname()[1]))
    except OSError as error:
        if error.errno in NO_ADDRESS:
            return (first,)
        first.close()
        raise


def _listen_at(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    listening = _bind(family, address, port)
    try:
        listening.listen(BACKLOG)
    except BaseException:
        listening.close()
        raise
    return listening


def _bind(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setblocking(False)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind((address, port))
    except BaseException:
        bound.close()
        raise
    return bound
