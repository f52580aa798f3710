"""P2: the delay from the last byte of a report on a pty to its durable event at a subscriber on a Unix socket.

    python -m benchmarks.p2_delay [--reports 400] [--peers PEERS/bin/python] [--profile FILE]

A real daemon runs as a process; the device's end of the pty and the subscriber are in this program. `--peers` names the
Python of a venv with `benchmarks/peers.txt`; the assembly of libraries in `peer_assembly.py` then gets the same
reports, in turn with the daemon. There are two gaps: a closed loop with 1 ms after each event, and 20 ms, about the
rate of a dealer's device at its busiest.

Floor: a bare round trip over a pty between two threads, and one pwrite with fdatasync of an input's size in the
journal. Goal: p50 and p99 no slower than the assembly.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import pty
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random, SystemRandom
from typing import Final, Protocol

from benchmarks import percentile
from controller.games.specification import Unit
from controller.journal.sealing import create_key_file
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink import messages
from simulators.demo.stage import configuration_text
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice

SERIAL: Final = "P2-SHOE"
ENTRY: Final = 1500  # bytes of an input with its events in the journal, roughly
GAPS: Final = (0.001, 0.02)  # seconds from an event to the next report
BLOCK: Final = 20  # reports, of the daemon and the assembly in turn, so that other load falls on both
EVENT: Final = b'"device_noted"'
FRAME: Final = bytes(range(1, 33)) + b"\xc0"
FOLLOW: Final = b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n"
UPGRADE: Final = (
    b"GET / HTTP/1.1\r\nHost: table\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: " + base64.b64encode(bytes(16)) + b"\r\n\r\n"
)


def open_pty(folder: Path) -> int:
    """Return the device's end; the other end is at `device` in the folder."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    (folder / "device").symlink_to(os.ttyname(slave))
    return master


class Sender(Protocol):
    def report(self) -> float:
        """Write a report immediately and return the time."""


class PtyLine:
    """The simulated device on its pty."""

    def __init__(self, folder: Path) -> None:
        self._master = open_pty(folder)
        key = Random(1).randbytes(32)
        write_device_keys(folder / "device.keys", {SERIAL: key})
        loop = asyncio.get_running_loop()
        self.device = SimulatedDevice(
            Profile("shoe", SERIAL, full_capabilities("shoe")),
            key=key,
            random=Random(2),
            fresh=SystemRandom(),
            clock=loop.time,
            pace=Tempo(0.0),
        )
        loop.add_reader(self._master, self._readable)

    def _readable(self) -> None:
        self.device.receive(os.read(self._master, 4096))
        self._write()

    def _write(self) -> None:
        if data := self.device.outgoing():
            os.write(self._master, data)

    async def live(self) -> None:
        while True:
            self.device.tick()
            self._write()
            await asyncio.sleep(min(self.device.nap(), GAPS[-1] / 2))

    def report(self) -> float:
        """Report a pressed button, which causes no decision but is journaled and published."""
        self.device.link.report(messages.ButtonPressedReport(1, "red"), asyncio.get_running_loop().time())
        data = self.device.outgoing()
        began = time.perf_counter()
        os.write(self._master, data)
        return began


class BareLine:
    """A line with bytes and a delimiter, which the assembly takes for a report."""

    def __init__(self, folder: Path) -> None:
        self._master = open_pty(folder)

    def report(self) -> float:
        began = time.perf_counter()
        os.write(self._master, FRAME)
        return began


class Subscriber(threading.Thread):
    """Reads a stream of events as bytes, and notes when each awaited event arrived."""

    def __init__(self, path: Path, request: bytes) -> None:
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._socket.sendall(request)
        self._loop = asyncio.get_running_loop()
        self.came = 0.0
        self.news = asyncio.Event()

    def run(self) -> None:
        tail = b""
        while data := self._socket.recv(65536):
            now = time.perf_counter()
            tail = (tail + data)[-4096:]
            if EVENT in tail:
                tail = b""
                self.came = now
                self._loop.call_soon_threadsafe(self.news.set)


class MeasuredDaemon:
    """A daemon, its device and its subscriber."""

    def __init__(self, sender: Sender, subscriber: Subscriber) -> None:
        self._sender = sender
        self._subscriber = subscriber
        subscriber.start()

    async def delays(self, reports: int, gap: float) -> list[float]:
        """Return the seconds from the write to the event, for each report."""
        delays = []
        for _ in range(reports):
            await asyncio.sleep(gap)
            self._subscriber.news.clear()
            began = self._sender.report()
            await self._subscriber.news.wait()
            delays.append(self._subscriber.came - began)
        return delays


@asynccontextmanager
async def daemon(folder: Path, profile: Path | None, more: str = "") -> AsyncIterator[MeasuredDaemon]:
    """Run a daemon. `more` has sections of its configuration."""
    line = PtyLine(folder)
    (folder / "table.toml").write_text(configuration_text(Unit.SINGLES, more=more).replace("{folder}", str(folder)))
    create_key_file(folder / "journal.key")
    living = asyncio.create_task(line.live())
    profiled = [] if profile is None else ["-m", "cProfile", "-o", str(profile)]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *profiled, "-m", "controller", "run", "--config", str(folder / "table.toml"),
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (line.device.idle and line.device.link.last_number and (folder / "api.sock").exists()):
            if process.returncode is not None:
                raise SystemExit("the daemon ended before it was asked anything")
            await asyncio.sleep(GAPS[-1])
        yield MeasuredDaemon(line, Subscriber(folder / "api.sock", FOLLOW))
    finally:
        living.cancel()
        process.send_signal(signal.SIGTERM)
        await process.wait()


@asynccontextmanager
async def assembly(folder: Path, python: Path) -> AsyncIterator[MeasuredDaemon]:
    line = BareLine(folder)
    words = [str(folder / name) for name in ("device", "api.sock", "journal")]
    process = await asyncio.create_subprocess_exec(
        str(python), "-m", "benchmarks.peer_assembly", *words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        if not await process.stdout.readline():
            raise SystemExit("the assembly ended: install benchmarks/peers.txt into its venv")
        yield MeasuredDaemon(line, Subscriber(folder / "api.sock", UPGRADE))
    finally:
        process.kill()
        await process.wait()


async def measure(measured: dict[str, MeasuredDaemon], reports: int) -> dict[tuple[str, float], list[float]]:
    """Return the delays of each program at each gap."""
    found: dict[tuple[str, float], list[float]] = {(name, gap): [] for gap in GAPS for name in measured}
    await asyncio.sleep(0.5)
    for one in measured.values():
        await one.delays(50, GAPS[0])  # a warm-up
    for gap in GAPS:
        for _ in range(reports // BLOCK):
            for name, one in measured.items():
                found[name, gap] += await one.delays(BLOCK, gap)
    return found


async def run(
    folder: Path, reports: int, peers: Path | None, profile: Path | None
) -> dict[tuple[str, float], list[float]]:
    async with daemon(folder / "daemon", profile) as ours:
        if peers is None:
            return await measure({"daemon": ours}, reports)
        async with assembly(folder / "assembly", peers) as theirs:
            return await measure({"daemon": ours, "assembly": theirs}, reports)


def floor_pty(count: int) -> list[float]:
    """Time a report's bytes over a pty to another thread, and a byte back over a socket."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    here, there = socket.socketpair(socket.AF_UNIX)

    def echo() -> None:
        for _ in range(count):
            os.read(slave, 4096)
            there.send(b".")

    thread = threading.Thread(target=echo)
    thread.start()
    times = []
    for _ in range(count):
        time.sleep(0.001)  # lets the other thread wait, as the daemon does
        began = time.perf_counter()
        os.write(master, bytes(32))
        here.recv(1)
        times.append(time.perf_counter() - began)
    thread.join()
    for descriptor in (master, slave):
        os.close(descriptor)
    here.close()
    there.close()
    return times


def floor_disk(count: int, folder: Path) -> list[float]:
    descriptor = os.open(folder / "floor", os.O_RDWR | os.O_CREAT)
    try:
        os.posix_fallocate(descriptor, 0, count * ENTRY)
        times = []
        for number in range(count):
            began = time.perf_counter()
            os.pwrite(descriptor, bytes(ENTRY), number * ENTRY)
            os.fdatasync(descriptor)
            times.append(time.perf_counter() - began)
        return times
    finally:
        os.close(descriptor)


def main() -> int:
    parser = argparse.ArgumentParser(description="P2: from the wire to a subscriber")
    parser.add_argument("--reports", type=int, default=400)
    parser.add_argument("--peers", type=Path, help="the Python of a venv with benchmarks/peers.txt")
    parser.add_argument("--profile", type=Path, help="cProfile's figures of the daemon, for pstats")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("daemon", "assembly"):
            (folder / each).mkdir()
        wire, disk = floor_pty(given.reports), floor_disk(given.reports, folder)
        delays = asyncio.run(run(folder, given.reports, given.peers, given.profile))
    print(f"P2: {given.reports} reports at each gap; microseconds")
    print(f"  {'':<34}{'p50':>9}{'p99':>9}")
    rows = [("pty alone", wire), ("pwrite + fdatasync", disk)]
    rows += [(f"{name}, {gap * 1000:.0f} ms", times) for (name, gap), times in delays.items()]
    for what, times in rows:
        print(f"  {what:<34}{statistics.median(times) * 1e6:>9.0f}{percentile(times, 0.99) * 1e6:>9.0f}")
    for gap in GAPS if given.peers is not None else ():
        ours, theirs = delays["daemon", gap], delays["assembly", gap]
        middle = statistics.median(ours) / statistics.median(theirs)
        late = percentile(ours, 0.99) / percentile(theirs, 0.99)
        print(f"  {f'daemon / assembly, {gap * 1000:.0f} ms':<34}{middle:>8.2f}x{late:>8.2f}x")
    print("goal: p50 and p99 no slower than the assembly")
    return 0


if __name__ == "__main__":
    sys.exit(main())
