"""P2: from the last byte of a report on a pty to its event at a subscriber on a Unix socket, durable before published.

    python -m benchmarks.p2_delay [--reports 300]

A real daemon as a process of its own; the device's end of the pty and the subscriber are here. Floor, in the same run:
a bare round trip over a pty between two threads, and one pwrite with fdatasync of as many bytes as an input takes in
the journal. Goals: the median at most 2x their sum, the 99th percentile at most 5x.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import pty
import signal
import socket
import statistics
import sys
import tempfile
import threading
import time
import tty
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

from controller.games.specification import Unit
from controller.journal.sealing import create_key_file
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.drivers.cardlink import messages
from simulators.demo.stage import configuration_text
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.pace import Pace
from simulators.devices.simulated_device import SimulatedDevice

SERIAL: Final = "P2-SHOE"
ENTRY: Final = 1500  # bytes that an input with its events takes in the journal, about
GAP: Final = 0.02  # seconds between two reports: a dealer is slower
EVENT: Final = b'"device_noted"'


class Line:
    """The device on its pty. `report` writes a report at once and returns the time."""

    def __init__(self, folder: Path) -> None:
        self._master, slave = pty.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        (folder / "device").symlink_to(os.ttyname(slave))
        key = Random(1).randbytes(32)
        write_device_keys(folder / "device.keys", {SERIAL: key})
        loop = asyncio.get_running_loop()
        self.device = SimulatedDevice(
            Profile("shoe", SERIAL, full_capabilities("shoe")),
            key=key,
            random=Random(2),
            fresh=SystemRandom(),
            clock=loop.time,
            pace=Pace(0.0),
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
            await asyncio.sleep(min(self.device.nap(), GAP / 2))

    def report(self) -> float:
        """A button was pressed: it decides nothing, is journaled and is published."""
        self.device.link.report(messages.ButtonPressed(1, "red"), asyncio.get_running_loop().time())
        data = self.device.outgoing()
        began = time.perf_counter()
        os.write(self._master, data)
        return began


class Subscriber(threading.Thread):
    """Reads the API's event stream as bytes and notes when each event that is waited for was there."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._socket.sendall(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
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


async def measure(folder: Path, reports: int) -> list[float]:
    """Seconds from the write to the event, for each report."""
    line = Line(folder)
    text = configuration_text(Unit.SINGLES).replace("{folder}", str(folder))
    (folder / "table.toml").write_text(text)
    create_key_file(folder / "journal.key")
    living = asyncio.create_task(line.live())
    daemon = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller", "run", "--config", str(folder / "table.toml"),
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (line.device.idle and line.device.link.last_number and (folder / "api.sock").exists()):
            if daemon.returncode is not None:
                raise SystemExit("the daemon ended before it was asked anything")
            await asyncio.sleep(GAP)
        subscriber = Subscriber(folder / "api.sock")
        subscriber.start()
        await asyncio.sleep(0.5)
        delays = []
        for _ in range(reports):
            await asyncio.sleep(GAP)
            subscriber.news.clear()
            began = line.report()
            await subscriber.news.wait()
            delays.append(subscriber.came - began)
        return delays
    finally:
        living.cancel()
        daemon.send_signal(signal.SIGTERM)
        await daemon.wait()


def floor_pty(count: int) -> list[float]:
    """A report's bytes over a pty to another thread, and a byte back over a socket."""
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
        time.sleep(0.001)  # so that the other thread waits, as the daemon does
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


def percentile(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def main() -> int:
    parser = argparse.ArgumentParser(description="P2: from the wire to a subscriber")
    parser.add_argument("--reports", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wire, disk = floor_pty(given.reports), floor_disk(given.reports, folder)
        delays = asyncio.run(measure(folder, given.reports))
    least = statistics.median(wire) + statistics.median(disk)
    print(f"P2: {given.reports} reports, one every {GAP * 1000:.0f} ms; microseconds")
    print(f"  {'':<20}{'p50':>9}{'by floor':>10}{'p99':>9}{'by floor':>10}")
    for what, times in (("pty alone", wire), ("pwrite + fdatasync", disk), ("wire to subscriber", delays)):
        middle, late = statistics.median(times), percentile(times, 0.99)
        print(f"  {what:<20}{middle * 1e6:>9.0f}{middle / least:>9.1f}x{late * 1e6:>9.0f}{late / least:>9.1f}x")
    print("goals: p50 at most 2x and p99 at most 5x the sum of both floors' medians")
    return 0


if __name__ == "__main__":
    sys.exit(main())
