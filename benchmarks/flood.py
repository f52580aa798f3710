"""Measures a dealer's operations and the daemon's memory under floods of 1, 24 and 500 connections.

    python -m benchmarks.flood [--operations 200] [--only NAME] [--memory 512]

Run as root: a real daemon is a process, the dealer is here, and each flood is a process of another user. A quiet block
of operations comes before each flooded one. A block ends after its operations or after `LONGEST` seconds. Figures are
milliseconds and multiples of the quiet ones; memory is the daemon's, in MB, before and at the end of the flood. The
daemon runs in a cgroup with the unit's `MemoryMax`. Goal: at most 2x the quiet figure and 0.25 s. `benchmarks.floods`
has more kinds of floods.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from benchmarks import percentile, resident
from benchmarks.floods import (
    FRIEND,
    GAP,
    STRANGER,
    Act,
    FloodConnection,
    be_refused,
    enrol,
    flooding,
    follow_without_reading,
    guess,
    keep_on,
    operate,
    prepare,
    request,
    send_half_a_body,
    send_half_a_head,
    serving,
)
from firmware_bridge import plain_text

MOST_MEMORY: Final = 512  # MB: MemoryMax of udev/cardshoe@.service
GROUPS: Final = (
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
    (Path("/sys/fs/cgroup"), "memory.max", "memory.peak", "memory.events"),
)
COUNTS: Final = (1, 24, 500)  # connections
LONGEST: Final = 6.0  # seconds of a block
AT_MOST: Final = 2.0  # times the quiet figure
SECONDS: Final = 0.25  # that an operation may take
CHUNKS: Final = 20_000  # chunks of one byte in one request
PARTS: Final = 30  # repetitions, for a long field name and thus a long refusal


async def be_refused_in_chinese(connection: FloodConnection) -> None:
    """Provoke a refusal that quotes the input. Each name is new."""
    name = uuid4().hex + ". ".join(f"box {number}, a and b; c: d or e? f" for number in range(PARTS))
    asked = json.dumps({name: 1}).encode()
    await connection.ask(request("/v1/screen/enrolment?language=zh-Hans", asked, connection.host))


async def be_unknown_in_chinese(connection: FloodConnection) -> None:
    """Provoke a refusal whose translated sentence quotes the input. Each sentence is new."""
    person = (uuid4().hex + "? x y. , ? and : box 1, the Dealer; or . " * PARTS)[: plain_text.LONGEST]
    asked = json.dumps({"id": str(uuid4()), "person": person, "pin": "", "name": "x"}).encode()
    await connection.ask(request("/v1/screen/enrolment?language=zh-Hans", asked, connection.host))


async def send_chunks(connection: FloodConnection) -> None:
    """Send a body in chunks of one byte, in as few pieces as the system takes."""
    head = request("/v1/screen/enrolment", b"x", connection.host).partition(b"Content-Length")[0]
    await connection.ask(head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * CHUNKS + b"0\r\n\r\n")


async def follow(connection: FloodConnection) -> None:
    """Read the stream of events to its end."""
    connection.writer.write(request("/v1/events", host=connection.host))
    while await connection.reader.read(2**16):
        pass
    raise EOFError


class MemoryGroup:
    """A memory cgroup, of version 1 or 2. Its processes may use `at_most` MB."""

    def __init__(self, at_most: int) -> None:
        root, limit, self._peak, self._kills = next(names for names in GROUPS if (names[0] / "cgroup.procs").exists())
        self._folder = root / f"cardshoe-flood-{os.getpid()}"
        self._folder.mkdir()
        (self._folder / limit).write_text(str(at_most * 2**20))

    def take(self, pid: int) -> None:
        (self._folder / "cgroup.procs").write_text(str(pid))

    def close(self) -> str:
        """Return the peak of the memory, and how many processes the kernel killed. All must have ended."""
        peak = int((self._folder / self._peak).read_text()) / 2**20
        kills = dict(line.split() for line in (self._folder / self._kills).read_text().splitlines())["oom_kill"]
        self._folder.rmdir()
        return f"{peak:.0f} MB at most, with what the kernel keeps of its files; killed for memory: {kills}"


class Flood(NamedTuple):
    user: int
    act: Act
    at_port: bool


FLOODS: Final = {
    "refused in Chinese": Flood(STRANGER, be_refused_in_chinese, at_port=True),
    "sentences in Chinese": Flood(STRANGER, be_unknown_in_chinese, at_port=True),
    "one-byte chunks": Flood(STRANGER, send_chunks, at_port=True),
    "one-byte chunks, socket": Flood(FRIEND, send_chunks, at_port=False),
    "event streams": Flood(STRANGER, follow, at_port=True),
    "streams that never read": Flood(STRANGER, follow_without_reading, at_port=True),
    "never read, socket": Flood(FRIEND, follow_without_reading, at_port=False),
    "half-sent heads": Flood(STRANGER, send_half_a_head, at_port=True),
    "half-sent heads, socket": Flood(FRIEND, send_half_a_head, at_port=False),
    "half-sent bodies": Flood(STRANGER, send_half_a_body, at_port=True),
    "wrong PINs": Flood(STRANGER, enrol, at_port=True),
    "wrong PINs, socket": Flood(FRIEND, guess, at_port=False),
    "refused operations": Flood(FRIEND, be_refused, at_port=False),
}


async def flood(path: str, name: str, connections: int) -> None:
    """Run a flood until killed."""
    user, act, at_port = FLOODS[name]
    port = int((Path(path).parent / "port").read_text())
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    print("begun", flush=True)

    def connect() -> Awaitable[FloodConnection]:
        return FloodConnection.to_port(port) if at_port else FloodConnection.to(path)

    await asyncio.gather(*(keep_on(act, connect, 0.05) for _ in range(connections)))


async def operate_flooded(path: str, name: str, connections: int, operations: int) -> list[float]:
    words = ("-m", "benchmarks.flood", "--flood", name, "--connections", str(connections), "--socket", path)
    async with flooding(*words):
        return await operate(path, operations, longest=LONGEST)


async def measure(folder: Path, names: list[str], operations: int, group: MemoryGroup | None) -> bool:
    """Print a line for each flood and number of connections. Return whether all meet the goal."""
    path = str(folder / "api.sock")
    good = True
    async with serving(folder, 2) as daemon:
        if group is not None:
            group.take(daemon.pid)
        for name in names:
            for connections in COUNTS:
                before = resident(daemon.pid)
                quiet = await operate(path, operations, longest=LONGEST)
                flooded = await operate_flooded(path, name, connections, operations)
                p50, p99 = ((percentile(quiet, part), percentile(flooded, part)) for part in (0.5, 0.99))
                after = resident(daemon.pid)
                print(
                    f"  {name:<24}{connections:>5}"
                    f"{p50[0] * 1e3:>8.1f}{p50[1] * 1e3:>9.1f}{p50[1] / p50[0]:>7.1f}x"
                    f"{p99[0] * 1e3:>8.1f}{p99[1] * 1e3:>9.1f}{p99[1] / p99[0]:>7.1f}x"
                    f"{before:>7.0f}{after:>7.0f}{after / before:>6.2f}x",
                    flush=True,
                )
                good &= p50[1] <= AT_MOST * p50[0] and p99[1] <= SECONDS
                await asyncio.sleep(1.5)  # lets lingering connections end
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description="A dealer's operation and the daemon's memory under floods")
    parser.add_argument("--operations", type=int, default=200)
    parser.add_argument("--only", action="append", choices=list(FLOODS))
    parser.add_argument("--memory", type=int, default=MOST_MEMORY, help="MB that the daemon may have; 0: no bound")
    parser.add_argument("--flood", choices=list(FLOODS), help=argparse.SUPPRESS)
    parser.add_argument("--connections", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--socket", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flood:
        asyncio.run(flood(given.socket, given.flood, given.connections))
        return 0
    if os.geteuid() != 0:
        raise SystemExit("the floods belong to other users: run this as root")
    print(f"flood: {given.operations} operations, one every {GAP * 1000:.0f} ms; milliseconds and MB")
    print(f"  {'':<24}{'':>5}{'p50':>8}{'flooded':>9}{'by':>8}{'p99':>8}{'flooded':>9}{'by':>8}{'MB':>7}{'after':>7}")
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        group = MemoryGroup(given.memory) if given.memory else None
        good = asyncio.run(measure(Path(name), given.only or list(FLOODS), given.operations, group))
    if group is not None:
        print(f"memory of the daemon's group, of {given.memory} MB: {group.close()}")
    print(f"goal: p50 at most {AT_MOST:.0f}x the quiet one, p99 at most {SECONDS} s: {'met' if good else 'missed'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
