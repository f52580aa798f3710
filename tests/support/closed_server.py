"""The end of an asyncio server that loses no connection.

A connection that asyncio has accepted while its server closes gets no transport, and nothing closes it: the next test
fails with a `ResourceWarning`. So the connections of the queue are taken before a server is closed.
"""

from __future__ import annotations

import asyncio

#: Rounds of the loop: select and accept, the transport, its `connection_made`, and one to spare.
ROUNDS = 4


async def close(server: asyncio.Server) -> None:
    for _ in range(ROUNDS):
        await asyncio.sleep(0)
    server.close()
