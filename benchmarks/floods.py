"""Measures a dealer's operations while other users of the machine flood the daemon, and while the daemon's user reads
its live journal (`cardshoe journal verify` and `backup`, one run after the other).

    python -m benchmarks.floods [--operations 600] [--only NAME]

Run as root: a real daemon is a process, the dealer is here, and each flood is a process of another user. Quiet and
flooded blocks come in pairs, and every other pair begins with the flooded one, so that other load falls on both.
Figures are medians over the pairs: the quiet and the flooded 95th percentile, and the ratios of the 95th percentiles
and of the medians. The first line is a control: a process that only keeps one processor busy. Goal: the 95th percentile
at most 2x the quiet one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing, suppress
from math import inf
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

from benchmarks import percentile
from controller.api.client import connect_in_line
from controller.api.pins import SALT, hash_pin
from controller.api.tcp_listener import TcpListener
from controller.games.specification import Unit
from controller.journal.sealing import create_key_file
from simulators.demo.stage import configuration_text

STRANGER: Final = 65533  # a user that the configuration does not name
FRIEND: Final = 65534  # the user of another person, who is admitted
READERS: Final = tuple(range(60_001, 60_065))  # users who may look
FILLED: Final = 5000  # operations before the measurement: events to catch up on
PAIRS: Final = 6  # pairs, each of a quiet and a flooded block
BUSY: Final = "busy, does not dial"
BROWSERS: Final = "browsers: "  # prefix of floods at the port of screens
GAP: Final = 0.005  # seconds between two operations of the dealer; people are slower
CONNECTIONS: Final = 40  # the default for one flood; more than one user may have
WRONG: Final = "802615"
PERSON: Final = f"""
[[people]]
id = "friend"
name = "Friend"
role = "dealer"
uids = [{FRIEND}]
[[people]]
id = "target"
name = "Target"
role = "pit_supervisor"
pin_hash = "{hash_pin("640917", bytes(SALT))}"
[[readers]]
id = "wall"
uids = {list(READERS)}
"""


def request(path: str, body: bytes = b"", host: str = "table") -> bytes:
    verb = "POST" if body else "GET"
    head = f"{verb} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nX-Cardshoe: 1\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def operation(fields: dict[str, object], person: str = "", pin: str = "") -> bytes:
    asked = {"id": str(uuid4()), "round": 0, "operation": fields, "person": person, "pin": pin}
    return request("/v1/operations", json.dumps(asked).encode())


class FloodConnection:
    """A connection that sends a request and reads the whole answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str = "table") -> None:
        self.reader, self.writer, self.host = reader, writer, host

    @classmethod
    async def to(cls, path: str) -> FloodConnection:
        """Connect. If the socket's queue is full, the first read fails with EINVAL: an attacker dials again."""
        return cls(*await asyncio.open_unix_connection(path, limit=2**26))

    @classmethod
    async def in_line(cls, path: str) -> FloodConnection:
        """Connect like the dealer's program, which waits for a free connection."""
        connected = await asyncio.get_running_loop().run_in_executor(None, connect_in_line, path)
        return cls(*await asyncio.open_unix_connection(sock=connected, limit=2**26))

    @classmethod
    async def to_port(cls, port: int) -> FloodConnection:
        """Connect like a browser that is not an enrolled screen."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=2**26), f"localhost:{port}")

    async def ask(self, sent: bytes) -> bytes:
        self.writer.write(sent)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return await self.reader.readexactly(length)


# -- the floods: what one connection does repeatedly ---------------------------------------------------------------


async def stay(connection: FloodConnection) -> None:
    """Send nothing for as long as possible."""
    await connection.reader.read()


async def send_half_a_head(connection: FloodConnection) -> None:
    connection.writer.write(b"POST /v1/operations HTTP/1.1\r\nHost: ta")
    await connection.reader.read()


async def send_half_a_body(connection: FloodConnection) -> None:
    connection.writer.write(b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: 9000\r\n\r\n{")
    await connection.reader.read()


async def guess(connection: FloodConnection) -> None:
    await connection.ask(operation({"operation": "pause_table", "reason": "x"}, "target", WRONG))


async def be_refused(connection: FloodConnection) -> None:
    await connection.ask(operation({"operation": "conclude_round"}))


async def poll(connection: FloodConnection) -> None:
    await connection.ask(request("/v1/state", host=connection.host))


async def scrape(connection: FloodConnection) -> None:
    await connection.ask(request("/metrics"))


async def enrol(connection: FloodConnection) -> None:
    asked = {"id": str(uuid4()), "person": "target", "pin": WRONG, "name": "x"}
    await connection.ask(request("/v1/screen/enrolment", json.dumps(asked).encode(), connection.host))


async def call_by_another_name(connection: FloodConnection) -> None:
    await connection.ask(request("/v1/state", host="evil.example"))


async def follow_without_reading(connection: FloodConnection) -> None:
    connection.writer.write(request("/v1/events"))
    await connection.writer.drain()
    connection.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a Unix socket's transport reads
    await asyncio.sleep(60)


async def follow_and_leave(connection: FloodConnection) -> None:
    connection.writer.write(request("/v1/events"))
    await connection.reader.read(1)
    raise EOFError


async def catch_up(connection: FloodConnection) -> None:
    """Read all events from the first to the last, then begin again."""
    connection.writer.write(request("/v1/events"))
    await connection.reader.readuntil(b": up to date")
    raise EOFError


Act = Callable[[FloodConnection], Awaitable[None]]
FLOODS: Final[dict[str, tuple[int | tuple[int, ...], int, tuple[Act, ...]]]] = {  # users, connections of each
    BUSY: (STRANGER, 0, ()),
    "idle, not admitted": (STRANGER, 1100, (stay,)),
    "idle, admitted": (FRIEND, CONNECTIONS, (stay,)),
    "half-sent requests": (FRIEND, CONNECTIONS, (send_half_a_head, send_half_a_body)),
    "wrong PINs": (FRIEND, CONNECTIONS, (guess,)),
    "refused operations": (FRIEND, CONNECTIONS, (be_refused,)),
    "pollers of the state": (FRIEND, CONNECTIONS, (poll,)),
    "pollers of the metrics": (FRIEND, CONNECTIONS, (scrape,)),
    "streams that never read": (FRIEND, CONNECTIONS, (follow_without_reading,)),
    "streams begun and left": (FRIEND, CONNECTIONS, (follow_and_leave,)),
    "50 that catch up": (READERS[:10], 5, (catch_up,)),
    "500 that never read": (READERS[:63], 8, (follow_without_reading,)),
    "journal verify": (os.geteuid(), 0, ()),
    "journal backup": (os.geteuid(), 0, ()),
    "browsers: 500 idle": (STRANGER, 500, (stay,)),
    "browsers: half-sent requests": (STRANGER, 200, (send_half_a_head, send_half_a_body)),
    "browsers: pollers": (STRANGER, 200, (poll,)),
    "browsers: wrong PINs": (STRANGER, CONNECTIONS, (enrol,)),
    "browsers: another name": (STRANGER, 200, (call_by_another_name,)),
}
TOOLS: Final = {"journal verify": ("verify",), "journal backup": ("backup", "copy")}  # words of the command


def become(name: str) -> int:
    """Return the user of this child, and fork a process for each other user of the flood."""
    users = FLOODS[name][0]
    if isinstance(users, int):
        return users
    for uid in users[1:]:
        if os.fork() == 0:
            return uid
    return users[0]


async def flood(path: str, name: str, uid: int) -> None:
    """Run a flood until killed."""
    _, connections, acts = FLOODS[name]
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    print("begun", flush=True)
    while name == BUSY:
        pass
    while name in TOOLS:
        run_tool(Path(path).parent, TOOLS[name])

    port = int((Path(path).parent / "port").read_text())
    pause = 1.0 if uid == STRANGER else 0.05  # refused or closed: it reconnects

    def connect() -> Awaitable[FloodConnection]:
        return FloodConnection.to_port(port) if name.startswith(BROWSERS) else FloodConnection.to(path)

    await asyncio.gather(*(keep_on(acts[number % len(acts)], connect, pause) for number in range(connections)))


async def keep_on(act: Act, connect: Callable[[], Awaitable[FloodConnection]], pause: float) -> None:
    """Repeat an act on a connection, and connect again when it has ended."""
    while True:
        connection = None
        with suppress(OSError, EOFError, IndexError, ValueError):
            connection = await connect()
            while True:
                await act(connection)
                if act in (stay, send_half_a_head, send_half_a_body):
                    break
        if connection is not None:
            connection.writer.close()
        await asyncio.sleep(pause)


def run_tool(folder: Path, words: tuple[str, ...]) -> None:
    """Run a command that reads the journal while the daemon runs."""
    shutil.rmtree(folder / "copy", ignore_errors=True)
    command = [sys.executable, "-m", "controller", "journal", *words, "--journal", str(folder / "journal")]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


# -- the dealer --------------------------------------------------------------------------------------------------------


async def operate(path: str, operations: int, gap: float = GAP, longest: float = inf) -> list[float]:
    """Return the seconds of each of the dealer's operations, which are an even number, over `longest` seconds at
    most.
    """
    connection = await FloodConnection.in_line(path)
    times: list[float] = []
    ends = time.monotonic() + longest
    while len(times) % 2 or (len(times) < operations and time.monotonic() < ends):
        if gap:
            await asyncio.sleep(gap)
        fields: dict[str, object] = {"operation": "pause_table", "reason": "x"}
        sent = operation({"operation": "resume_table"} if len(times) % 2 else fields)
        began = time.perf_counter()
        answer = await connection.ask(sent)
        times.append(time.perf_counter() - began)
        if b'"accepted":true' not in answer:
            raise SystemExit(f"the dealer was refused: {answer.decode()}")
    connection.writer.close()
    return times


class Pair(NamedTuple):
    """The times of two blocks of operations, one after the other."""

    quiet: list[float]
    flooded: list[float]

    def ratio(self, part: float) -> float:
        return percentile(self.flooded, part) / percentile(self.quiet, part)


async def under(path: str, name: str, operations: int) -> list[Pair]:
    """Return the pairs of one flood."""
    pairs = []
    each = operations // PAIRS
    for number in range(PAIRS):
        if number % 2:
            flooded = await operate_flooded(path, name, each)
            pairs.append(Pair(await operate(path, each), flooded))
        else:
            quiet = await operate(path, each)
            pairs.append(Pair(quiet, await operate_flooded(path, name, each)))
    return pairs


async def operate_flooded(path: str, name: str, operations: int) -> list[float]:
    """Return the seconds of each operation under the flood, which ends with them."""
    async with flooding("-m", "benchmarks.floods", "--flood", name, "--socket", path):
        times = await operate(path, operations)
    await asyncio.sleep(0.5)
    return times


@asynccontextmanager
async def flooding(*words: str) -> AsyncIterator[None]:
    """Run a flood, a Python program of its own, until the block ends."""
    child = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert child.stdout is not None
        await child.stdout.readline()
        await asyncio.sleep(1.0)
        yield
        if child.returncode is not None:
            raise SystemExit(f"the flood ended by itself: {' '.join(words)}")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # also the processes of the other users
        await child.wait()


@asynccontextmanager
async def serving(folder: Path, first: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a daemon with `first` operations before anything is measured."""
    daemon = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller", "run", "--config", str(folder / "table.toml"),
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while True:
            with suppress(OSError):
                await operate(str(folder / "api.sock"), first, 0.0)
                break
            if daemon.returncode is not None:
                raise SystemExit("the daemon ended before it was asked anything")
            await asyncio.sleep(0.05)
        yield daemon
    finally:
        daemon.send_signal(signal.SIGTERM)
        await daemon.wait()


async def measure(folder: Path, names: list[str], operations: int) -> float:
    """Print a line for each flood. Return the worst ratio, without the control's."""
    path = str(folder / "api.sock")
    worst = 0.0
    async with serving(folder, FILLED):
        for name in names:
            pairs = await under(path, name, operations)
            beside, late = (
                statistics.median(percentile(block, 0.95) for block in blocks) for blocks in zip(*pairs, strict=True)
            )
            late_by, middle = (statistics.median(pair.ratio(part) for pair in pairs) for part in (0.95, 0.5))
            print(f"  {name:<28}{beside * 1e3:>9.2f}{late * 1e3:>9.2f}{late_by:>8.1f}x{middle:>8.1f}x", flush=True)
            if name != BUSY:
                worst = max(worst, late_by)
    return worst


def prepare(folder: Path) -> None:
    text = configuration_text(Unit.SETS).replace("{folder}", str(folder))
    with closing(TcpListener(0)) as free:
        port = free.port
    (folder / "port").write_text(str(port))
    (folder / "table.toml").write_text(f"{text}{PERSON}[api.http]\nport = {port}\n")
    create_key_file(folder / "journal.key")
    (folder / "device.keys").touch(0o600)
    folder.chmod(0o755)


def main() -> int:
    parser = argparse.ArgumentParser(description="A dealer's operation under floods of other users")
    parser.add_argument("--operations", type=int, default=600)
    parser.add_argument("--only", action="append", choices=list(FLOODS))
    parser.add_argument("--flood", choices=list(FLOODS), help=argparse.SUPPRESS)
    parser.add_argument("--socket", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flood:
        asyncio.run(flood(given.socket, given.flood, become(given.flood)))
        return 0
    if os.geteuid() != 0:
        raise SystemExit("the floods belong to other users: run this as root")
    print(f"floods: {given.operations} operations, one every {GAP * 1000:.0f} ms; milliseconds")
    print(f"  {'':<28}{'p95':>9}{'flooded':>9}{'p95 by':>9}{'p50 by':>9}")
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        worst = asyncio.run(measure(Path(name), given.only or list(FLOODS), given.operations))
    print(f"worst p95: {worst:.1f}x; goal: at most 2x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
