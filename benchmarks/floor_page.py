"""Measures the floor's page and terminal with many tables: CPU, memory, and delay from a message to the page.

    python -m benchmarks.floor_page [--tables 4 48 500] [--seconds 20] [--delays 40]

With a real mosquitto, a process sends for each table and second a report of the table, one of its device and a decision
of its journal. These are measured one after the other, each as a process: `cardshoe floor serve` alone, with a page in
headless chromium, with that page and a story open; `cardshoe floor watch` on a terminal of 120 by 45. Floor: a program
that takes the same messages by the same library and drops them.

The delay is from the report of one more table to the frame in which its tile shows it. Floor: a program that takes the
message and sends a number to a page, which writes it into one element in the next frame. Goal: below a fifth of a core
at 500 tables, and half a second.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import aiohttp
import msgspec
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from benchmarks import cpu_of, percentile, resident
from benchmarks.console_delay import OBSERVE, BareServer, shown_after
from controller.floor.address import Address, Broker
from controller.floor.broker import BrokerConnection, connected
from controller.floor.follower import AT_ONCE, GATHERED, TAKES
from controller.floor.reporting import KEPT_FOR
from controller.floor.topics import TablePlace, TopicSubject, topic_filter
from tests.end_to_end.browser import free_port
from tests.floor.many_tables import place_of_number, quiet
from tests.floor.mosquitto import mosquitto
from tests.floor.test_stories import decision

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

SETTLES: Final = 4.0  # seconds before the measurement
GAP: Final = 0.4  # seconds between two delays
PROBE: Final = TablePlace("vienna", "p0", "probe")
BARE_TOPIC: Final = "bare/number"
ME: Final = "benchmarks.floor_page"


# -- many tables


def generate(port: int, tables: int) -> None:
    """Send one card per second for each table, spread over the second, until killed."""
    client = Client(CallbackAPIVersion.VERSION2, "generator", protocol=MQTTv5)
    client.max_inflight_messages_set(200)
    client.connect("localhost", port)
    client.loop_start()
    kept, passing = Properties(PacketTypes.PUBLISH), Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    kept.MessageExpiryInterval = KEPT_FOR
    passing.UserProperty = [("record", "decision"), ("journal", "a" * 32), ("entries", "1-2"), ("hash", "f" * 64)]
    began, sent = time.monotonic(), 0
    while True:
        step, number = divmod(sent, tables)
        reports = quiet(number, time.time_ns(), step)
        for topic, payload, expiry in reports.messages():
            if expiry or not step:  # the service reports once that it runs
                client.publish(topic, payload, 1, retain=True, properties=kept if expiry else None)
        dealt = {"event": "cards_dealt", "source": "device", "places": ["B3"], "ordinals": [step % 52 + 1]}
        made = decision(1 + 3 * step, dealt, {"event": "report_taken", "number": step})
        client.publish(reports.place.topic(TopicSubject.JOURNAL), made, 1, properties=passing)
        sent += 1
        if (ahead := began + sent / tables - time.monotonic()) > 0.002:
            time.sleep(ahead)  # sends at the rate of real tables, at which the page is measured


async def read(port: int) -> None:
    """Do the least that any program which follows the floor must do, until killed."""
    async with connected(_broker(port), "floor", gathered=GATHERED, takes=TAKES) as connection:
        await connection.subscribe(*(topic_filter(subject) for subject in TopicSubject), qos=0)
        while True:
            await connection.next()
            connection.waiting(AT_ONCE)


def _broker(port: int) -> Broker:
    return Broker(Address("localhost", port, False), None)


# -- the cost of each program


class ProcessCost(NamedTuple):
    """The cost of a process: `cpu` in percent of a core, `memory` resident, in MiB."""

    cpu: float
    memory: float


class Process:
    def __init__(self, pid: int) -> None:
        self._pid = pid

    async def taken(self, seconds: float) -> ProcessCost:
        await asyncio.sleep(SETTLES)
        before, began = cpu_of(self._pid), time.monotonic()
        await asyncio.sleep(seconds)
        spent = (cpu_of(self._pid) - before) / (time.monotonic() - began)
        return ProcessCost(100 * spent, resident(self._pid))


@contextmanager
def running(*command: str, terminal: int | None = None) -> Iterator[Process]:
    given = subprocess.DEVNULL if terminal is None else terminal
    child = subprocess.Popen(
        [sys.executable, "-m", *command], stdin=given, stdout=given, stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm-256color"},
    )  # fmt: skip
    try:
        yield Process(child.pid)
    finally:
        child.kill()
        child.wait()


@contextmanager
def screen(rows: int, columns: int) -> Iterator[int]:
    """Yield a terminal whose output is read and dropped."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    loop = asyncio.get_running_loop()
    os.set_blocking(master, False)

    def drop() -> None:
        with suppress(OSError):
            os.read(master, 2**16)

    loop.add_reader(master, drop)
    try:
        yield slave
    finally:
        loop.remove_reader(master)
        os.close(slave)
        os.close(master)


@asynccontextmanager
async def page_of(browser: Browser, address: str, tables: int) -> AsyncIterator[Page]:
    page = await browser.new_page(viewport={"width": 1920, "height": 1080})
    page.set_default_timeout(120_000)
    await page.goto(f"{address}/?language=en")
    await page.locator(".tile").nth(tables - 1).wait_for()
    yield page
    await page.close()


async def until_served(address: str) -> None:
    async with aiohttp.ClientSession() as session:
        while True:
            with suppress(aiohttp.ClientError):
                async with session.get(f"{address}/healthz"):
                    return
            await asyncio.sleep(0.05)


async def loads(broker: int, tables: int, seconds: float, browser: Browser) -> None:
    with running(ME, "--read", str(broker)) as process:
        bare = await process.taken(seconds)
    _show("messages taken and dropped", bare, bare)
    port = free_port()
    address = f"http://localhost:{port}"
    with running("controller", "floor", "serve", "--broker", f"localhost:{broker}", "--listen", str(port)) as process:
        await until_served(address)
        _show("serve", await process.taken(seconds), bare)
        async with page_of(browser, address, tables) as page:
            _show("serve, a page", await process.taken(seconds), bare)
            await page.click(f'.tile[data-key="{"/".join(place_of_number(1))}"]')
            await page.locator("#story .lines p").first.wait_for()
            _show("serve, a page with a story", await process.taken(seconds), bare)
            session = await page.context.new_cdp_session(page)
            await session.send("Performance.enable")
            found = await session.send("Performance.getMetrics")
            heap = next(one["value"] for one in found["metrics"] if one["name"] == "JSHeapUsedSize") / 2**20
            print(f"    {'the page: heap of its scripts':<40}{'':>9}{heap:>9.1f}", flush=True)
    with (
        screen(45, 120) as terminal,
        running("controller", "floor", "watch", "--broker", f"localhost:{broker}", terminal=terminal) as process,
    ):
        _show("watch", await process.taken(seconds), bare)


def _show(what: str, taken: ProcessCost, bare: ProcessCost) -> None:
    print(f"    {what:<40}{taken.cpu:>9.1f}{taken.memory:>9.1f}{taken.cpu / bare.cpu:>8.1f}x", flush=True)


# -- the delay


async def delays(broker: int, tables: int, count: int, browser: Browser) -> None:
    port = free_port()
    address = f"http://localhost:{port}"
    async with AsyncExitStack() as stack:
        sender = await stack.enter_async_context(connected(_broker(broker), "probe"))
        await _report(sender, 1)
        stack.enter_context(
            running("controller", "floor", "serve", "--broker", f"localhost:{broker}", "--listen", str(port))
        )
        await until_served(address)
        page = await stack.enter_async_context(page_of(browser, address, tables + 1))
        bare = await stack.enter_async_context(BareServer.running(browser))
        passing = asyncio.create_task(_pass_on(broker, bare))
        stack.callback(passing.cancel)
        await page.evaluate(OBSERVE, [f'.tile[data-key="{"/".join(PROBE)}"]'])
        await bare.page.evaluate(OBSERVE, ["#out"])
        ours, floor = [], []
        for number in range(2, count + 2):
            await page.bring_to_front()
            await asyncio.sleep(GAP)
            began = time.time()
            await _report(sender, number)
            ours.append(await shown_after(page, began))
            await bare.page.bring_to_front()
            await asyncio.sleep(GAP)
            began = time.time()
            await sender.publish(BARE_TOPIC, b"1")
            floor.append(await shown_after(bare.page, began))
    for name, times in (("a report to the tile's change, ms", ours), ("  its floor", floor)):
        print(f"    {name:<40}{statistics.median(times) * 1e3:>9.0f}{percentile(times, 0.95) * 1e3:>9.0f}")
    ratio = statistics.median(ours) / statistics.median(floor)
    print(f"    {'  by its floor':<40}{ratio:>8.1f}x", flush=True)


async def _report(sender: BrokerConnection, number: int) -> None:
    table = msgspec.structs.replace(quiet(0, time.time_ns()).table, round=number, since_utc_ns=0)
    await sender.publish(PROBE.topic(TopicSubject.TABLE), msgspec.json.encode(table), retained=True, expiry=KEPT_FOR)


async def _pass_on(broker: int, bare: BareServer) -> None:
    async with connected(_broker(broker), "bare", takes=TAKES) as connection:
        await connection.subscribe(BARE_TOPIC, qos=0)
        while True:
            await connection.next()
            await bare.send()


async def run(sizes: list[int], seconds: float, count: int) -> None:
    from playwright.async_api import async_playwright

    async with AsyncExitStack() as stack:
        started = await stack.enter_async_context(async_playwright())
        browser = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        stack.push_async_callback(browser.close)
        for tables in sizes:
            with tempfile.TemporaryDirectory() as folder:
                async with mosquitto(Path(folder), "max_queued_messages 0") as broker:
                    with running(ME, "--generate", str(broker.port), str(tables)):
                        print(f"{tables} tables, a card a second each")
                        print(f"    {'':<40}{'cpu, %':>9}{'MiB':>9}")
                        await loads(broker.port, tables, seconds, browser)
                        print(f"    {'':<40}{'p50':>9}{'p95':>9}")
                        await delays(broker.port, tables, count, browser)


def main() -> int:
    parser = argparse.ArgumentParser(description="The floor's page and terminal beside many tables")
    parser.add_argument("--tables", type=int, nargs="+", default=[4, 48, 500])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--delays", type=int, default=40)
    parser.add_argument("--generate", type=int, nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--read", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.generate:
        generate(*given.generate)
    elif given.read:
        asyncio.run(read(given.read))
    else:
        asyncio.run(run(given.tables, given.seconds, given.delays))
        print("goal: below 20 % of a core at 500 tables; p95 below 500 ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
