"""P9: one event to ten subscribers of the API, until the last of them has it.

    python -m benchmarks.p9_subscribers [--events 600] [--subscribers 10]

The real server of the API runs in a separate process, without the table: an event is published as the table publishes
one that is durable, and the subscribers are displays at the port of screens. They read in this process, in one thread.
The floor, measured in the same run and alternately: a raw asyncio TCP server that writes as many bytes to as many
connections. A byte on a pipe tells each server to publish, and the time is measured from that byte. Goal: 1.5 times the
floor.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Final, cast

from benchmarks import percentile
from controller.api.feed import EventFeed, Published
from controller.api.people import People
from controller.api.screen_port import WebSetting
from controller.api.server import ApiServer
from controller.api.tcp_listener import TcpListener
from controller.daemon.host import HostClock
from controller.table.state import TableState

GOAL: Final = 1.5
BLOCK: Final = 20  # events of each server, in turn, so that other load on the machine affects both
WARM_UP: Final = 50
GAP: Final = 0.002  # seconds from one event to the next
JOURNAL: Final = "5e" * 16
TEXT: Final = b'{"entry":%d,"utc_ns":1795460648000000000,"round":3,"event":"boxes_occupied","boxes":[1,2,3]}'
FRAMED: Final = 66  # bytes that the API sends in addition to the text: id, end of the event, chunk


class QuietTable:
    """A table that is only asked for its events."""

    def __init__(self) -> None:
        self.feed = EventFeed(self._read)
        self.journal = JOURNAL
        self.entry = 0
        self.state = TableState()

    async def _read(self, after: int, until: int) -> list[Published]:
        return []

    async def refused_at_door(self, what: str, caller: object, count: int) -> None:
        """Do nothing: nobody is refused."""

    def publish(self) -> None:
        self.entry += 1
        self.feed.publish([Published(self.entry, TEXT % self.entry)])


async def serve_api(folder: Path) -> None:
    listener = TcpListener(0)
    setting = WebSetting(listener, "BENCH", ())
    table = QuietTable()
    server = ApiServer(cast("Any", table), People((), ()), folder / "api.sock", HostClock().now, screens=setting)
    await server.start()
    await _when_told(table.publish, listener.port)
    await server.close()


async def serve_floor() -> None:
    writers: list[asyncio.StreamWriter] = []
    count = 0

    async def follow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n: up to date\n\n")
        writers.append(writer)

    def publish() -> None:
        nonlocal count
        count += 1
        data = TEXT % count + b" " * FRAMED + b"\n"
        for writer in writers:
            writer.write(data)

    server = await asyncio.start_server(follow, "127.0.0.1", 0)
    await _when_told(publish, server.sockets[0].getsockname()[1])


async def _when_told(publish: Any, port: int) -> None:
    """Publish once for each byte of the standard input, until it ends."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    def read() -> None:
        data = os.read(0, 1)
        if data:
            publish()
        else:
            loop.remove_reader(0)
            ended.set()

    loop.add_reader(0, read)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await ended.wait()


class MeasuredServer:
    """A server's process, and its subscribers."""

    def __init__(self, kind: str, folder: Path, subscribers: int) -> None:
        command = [sys.executable, "-m", __spec__.name, "--serve", kind, str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        port = int(self._process.stdout.readline())
        self._selector = selectors.DefaultSelector()
        self._sockets = [self._follow(port) for _ in range(subscribers)]
        self._count = 0

    def _follow(self, port: int) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", port))
        one.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % port)
        data = b""
        while b": up to date" not in data:
            more = one.recv(65536)
            if not more:
                raise SystemExit(f"the server refused a subscriber: {data.decode()}")
            data += more
        self._selector.register(one, selectors.EVENT_READ)
        return one

    def times(self, events: int) -> list[float]:
        """Return the seconds from the byte to the last subscriber, for each event."""
        assert self._process.stdin is not None
        pipe, found = self._process.stdin.fileno(), []
        for _ in range(events):
            time.sleep(GAP)  # events occur one at a time, as at a table
            self._count += 1
            awaited = b'"entry":%d,' % self._count
            tails = dict.fromkeys(self._sockets, b"")
            began = time.perf_counter()
            os.write(pipe, b".")
            while tails:
                for key, _ in self._selector.select():
                    one = cast("socket.socket", key.fileobj)
                    data = tails.get(one, b"") + one.recv(65536)
                    if one in tails:
                        tails[one] = data
                        if awaited in data:
                            del tails[one]
            found.append(time.perf_counter() - began)
        return found

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        for one in self._sockets:
            one.close()
        self._selector.close()
        self._process.wait()


def measure(folder: Path, events: int, subscribers: int) -> dict[str, list[float]]:
    with (
        closing(MeasuredServer("api", folder, subscribers)) as api,
        closing(MeasuredServer("floor", folder, subscribers)) as floor,
    ):
        servers = {"raw asyncio TCP": floor, "the API": api}
        for one in servers.values():
            one.times(WARM_UP)
        found: dict[str, list[float]] = {name: [] for name in servers}
        for _ in range(events // BLOCK):
            for name, one in servers.items():
                found[name] += one.times(BLOCK)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="P9: one event to many subscribers")
    parser.add_argument("--events", type=int, default=600)
    parser.add_argument("--subscribers", type=int, default=10)
    parser.add_argument("--serve", nargs=2, metavar=("WHAT", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        what, folder = given.serve
        asyncio.run(serve_api(Path(folder)) if what == "api" else serve_floor())
        return 0
    with tempfile.TemporaryDirectory() as name:
        found = measure(Path(name), given.events, given.subscribers)
    print(f"P9: {given.events} events to {given.subscribers} subscribers, until the last has each; microseconds")
    print(f"  {'':<18}{'p50':>9}{'p99':>9}")
    for name, times in found.items():
        print(f"  {name:<18}{statistics.median(times) * 1e6:>9.0f}{percentile(times, 0.99) * 1e6:>9.0f}")
    floor, api = found.values()
    ratio = statistics.median(api) / statistics.median(floor)
    late = percentile(api, 0.99) / percentile(floor, 0.99)
    print(f"goal: {GOAL}x of the floor; {'met' if ratio <= GOAL else 'missed'} with {ratio:.2f}x (p99 {late:.2f}x)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
