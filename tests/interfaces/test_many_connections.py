"""Hundreds of connections at the socket of a server in this process: what others wait for."""

from __future__ import annotations

import asyncio
import json
import socket

import pytest_mock

from controller.api import door
from controller.api.client import connect_in_line
from controller.language import translating
from controller.language.translating import MOST_TRIED
from firmware_bridge.plain_text import LONGEST
from tests.interfaces.test_door import ANOTHER, OWN, PAUSE, Caller, Served, served

__all__ = ["served"]


async def test_a_full_line_of_refused_users_is_short(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    """The server rests after each batch of refused ones, so batches are what the last in line waits for."""
    await served.start()
    strangers = [socket.socket(socket.AF_UNIX) for _ in range(door.BACKLOG)]
    for stranger in strangers:  # the server has no turn meanwhile
        stranger.connect(str(served.path))
    mocker.patch.object(door, "peer_uid", side_effect=[ANOTHER] * door.BACKLOG + [OWN])
    rests = mocker.spy(served.server._door, "_pause_accepting")
    dealer = Caller(*await asyncio.open_unix_connection(sock=connect_in_line(str(served.path))))
    assert await dealer.ask("GET", "/healthz") == (200, b"ok\n")
    await dealer.close()
    for stranger in strangers:
        stranger.close()
    assert rests.call_count == door.BACKLOG / door.REFUSED_AT_ONCE == 8


async def test_a_user_whose_refusals_quote_anything_leaves_others_their_language(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    """Many different sentences, over several connections: they cost the event loop one budget of one user."""
    await served.start(people=(OWN, ANOTHER))
    served.server._shared.translator._clock = lambda: 0.0
    search = mocker.spy(translating, "_search")
    users = mocker.patch.object(door, "peer_uid", return_value=ANOTHER)
    for _ in range(3):
        attacker = await served.call()
        for number in range(12):
            person = f"{number} and {'? x y. , a and : box 1, the Dealer; or . ' * 20}"[:LONGEST]
            body = json.dumps(PAUSE | {"person": person}).encode()
            assert (await attacker.ask("POST", "/v1/operations?language=zh-Hans", body))[0] == 403
    assert sum(tried for _, tried in search.spy_return_list) <= 2 * MOST_TRIED
    users.return_value = OWN
    dealer = await served.call()
    body = json.dumps(PAUSE | {"person": "nobody"}).encode()
    _, answer = await dealer.ask("POST", "/v1/operations?language=zh-Hans", body)
    assert json.loads(answer)["sentence"].startswith("\u672c\u684c\u914d\u7f6e\u4e2d\u6ca1\u6709")
