"""Hundreds of connections at the socket of a server in this process: how long others wait."""

from __future__ import annotations

import asyncio
import socket

import pytest_mock

from controller.api import connections, unix_socket
from controller.api.client import connect_in_line
from tests.interfaces.test_listener import ANOTHER, OWN, Caller, Served, served

__all__ = ["served"]


async def test_a_full_queue_of_refused_users_is_served_quickly(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    """The server rests after each batch of refused users, so the last in line waits for whole batches."""
    await served.start()
    strangers = [socket.socket(socket.AF_UNIX) for _ in range(connections.BACKLOG)]
    for stranger in strangers:  # the server does not get a turn meanwhile
        stranger.connect(str(served.path))
    mocker.patch.object(unix_socket, "peer_uid", side_effect=[ANOTHER] * connections.BACKLOG + [OWN])
    rests = mocker.spy(served.server._acceptor, "_pause_accepting")
    dealer = Caller(*await asyncio.open_unix_connection(sock=connect_in_line(str(served.path))))
    assert await dealer.ask("GET", "/healthz") == (200, b"ok\n")
    await dealer.close()
    for stranger in strangers:
        stranger.close()
    assert rests.call_count == connections.BACKLOG / unix_socket.REFUSED_AT_ONCE == 8
