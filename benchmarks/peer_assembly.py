"""A daemon assembled from libraries, for comparison in P2. It runs in a venv of the peers.

    PEERS/bin/python -m benchmarks.peer_assembly DEVICE SOCKET JOURNAL

pyserial-asyncio-fast reads frames, transitions makes a step for each, structlog logs it, sqlite3 (WAL, FULL) stores it,
and websockets sends it to every subscriber, all in one loop. Nothing is decided, sealed or chained.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import sys
import time
from functools import partial

import serial_asyncio_fast
import structlog
from transitions import Machine
from websockets.asyncio.server import ServerConnection, broadcast, unix_serve

DELIMITER = b"\xc0"


class AssemblyTable:
    """The state that a report changes, and its storage."""

    def __init__(self, journal: str) -> None:
        self.machine = Machine(self, states=["idle", "busy"], initial="idle", auto_transitions=False)
        self.machine.add_transition("report", "idle", "busy")
        self.machine.add_transition("report", "busy", "idle")
        self.log = structlog.get_logger().bind(table="P2")
        self.subscribers: set[ServerConnection] = set()
        self.database = sqlite3.connect(journal, isolation_level=None)
        self.database.execute("PRAGMA journal_mode=WAL")
        self.database.execute("PRAGMA synchronous=FULL")
        self.database.execute("CREATE TABLE entry (number INTEGER PRIMARY KEY, utc_ns INTEGER, kind TEXT, body TEXT)")
        self.number = 0

    def take(self, frame: bytes) -> None:
        self.report()  # type: ignore[attr-defined]  # transitions makes it
        now = time.time_ns()
        given = json.dumps({"report": frame.hex()})
        event = json.dumps({"entry": self.number + 2, "utc_ns": now, "event": "device_noted", "state": self.state})  # type: ignore[attr-defined]  # transitions makes it
        execute = self.database.execute
        execute("BEGIN IMMEDIATE")
        execute("INSERT INTO entry VALUES (?, ?, ?, ?)", (self.number + 1, now, "input", given))
        execute("INSERT INTO entry VALUES (?, ?, ?, ?)", (self.number + 2, now, "event", event))
        execute("COMMIT")
        self.number += 2
        self.log.info("report.taken", entry=self.number)
        broadcast(self.subscribers, event)

    async def follow(self, subscriber: ServerConnection) -> None:
        self.subscribers.add(subscriber)
        try:
            await subscriber.wait_closed()
        finally:
            self.subscribers.discard(subscriber)


class AssemblyLine(asyncio.Protocol):
    def __init__(self, table: AssemblyTable) -> None:
        self.table = table
        self.held = b""

    def data_received(self, data: bytes) -> None:
        *frames, self.held = (self.held + data).split(DELIMITER)
        for frame in frames:
            if frame:
                self.table.take(frame)


async def main(device: str, socket: str, journal: str) -> None:
    logging.getLogger("transitions").setLevel(logging.WARNING)
    structlog.configure(
        processors=[structlog.processors.TimeStamper(fmt=None), structlog.processors.JSONRenderer(sort_keys=False)],
        logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        cache_logger_on_first_use=True,
    )
    table = AssemblyTable(journal)
    loop = asyncio.get_running_loop()
    await serial_asyncio_fast.create_serial_connection(loop, partial(AssemblyLine, table), device)
    async with unix_serve(table.follow, socket, compression=None, ping_interval=None):  # pings get no answer
        print("ready", flush=True)
        await loop.create_future()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
