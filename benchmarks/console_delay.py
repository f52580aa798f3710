"""Delays of the console in headless chromium: from a device's byte to a pixel, and from a tap to its answer.

    python -m benchmarks.console_delay [--rounds 4] [--taps 40] [--day 600]

A real daemon runs as a process; this program drives the device's end of the pty, the dealer and the browser. Floors,
measured in turn: a bare server of events whose page writes each event into one element in the next frame; and a request
that the console's page sends with `fetch`, to its answer. Goal: medians below 50 ms on an idle machine.

`--day N` also plays N rounds as fast as the daemon accepts them, and shows the page's heap after a forced collection,
its nodes and its listeners, at the start and ten times on the way. Goal: no growth after a tenth of the day.
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
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import aiohttp
from aiohttp import web

from benchmarks import percentile
from benchmarks.p2_delay import PtyLine
from controller.api.bodies import OperationRequest
from controller.api.client import ApiClient
from controller.api.tcp_listener import TcpListener
from controller.games.specification import Unit
from controller.journal.sealing import create_key_file
from controller.table import operations
from controller.table.operations import AnyOperation
from simulators.demo.stage import configuration_text
from simulators.people.crew import CREW

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

BOXES: Final = (1, 2, 3, 4, 5, 6, 7)
CARDS: Final = 3 * (len(BOXES) + 1)
GAP: Final = 0.06  # seconds from one card to the next; more than between two states of a stream
DEAD: Final = 1.2  # seconds until a tap counts: for the page, the pause before it is someone else's act
POLL: Final = 0.002  # seconds
PATIENCE: Final = 30.0  # seconds for a card or a page
COUNTED: Final = ("JSHeapUsedSize", "Nodes", "JSEventListeners")

OBSERVE: Final = """(names) => {
  window.seen = [];
  const now = () => performance.timeOrigin + performance.now();
  const channel = new MessageChannel(); // what it is sent comes after the frame has been drawn
  channel.port1.onmessage = () => window.seen.push(now());
  const look = new MutationObserver(() => channel.port2.postMessage(0));
  const what = { childList: true, characterData: true, subtree: true };
  for (const name of names) look.observe(document.querySelector(name), what);
  window.tapped = [];
  document.addEventListener("click", (event) => window.tapped.push(performance.timeOrigin + event.timeStamp), true);
}"""
ASK: Final = """async (body) => {
  const began = performance.now();
  const headers = { "Content-Type": "application/json", "X-Cardshoe": "1" };
  const answer = await (await fetch("/v1/operations", { method: "POST", headers, body })).json();
  if (!answer.accepted) throw new Error(answer.sentence);
  return performance.now() - began;
}"""
BARE: Final = """<!doctype html><p id="out"></p><script>
new EventSource("/events").onmessage = (event) =>
  requestAnimationFrame(() => { document.getElementById("out").textContent = event.data; });
</script>"""


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            if holds():
                return
            await asyncio.sleep(POLL)


class ConsoleTable:
    """A daemon with the shoe on its pty, a dealer at its socket, and the page of an enrolled screen."""

    def __init__(self, line: ShoeLine, client: ApiClient, page: Page) -> None:
        self._line = line
        self._client = client
        self._mechanism = line.device.mechanism
        self.page = page

    async def do(self, operation: AnyOperation) -> None:
        answer = await self._client.operate(OperationRequest(str(uuid4()), await self.round(), operation))
        if not answer.accepted:
            raise SystemExit(f"the dealer was refused: {answer.sentence}")

    async def round(self) -> int:
        return (await self._client.state()).round

    async def idle(self) -> None:
        """Wait until the daemon has acknowledged everything."""
        await until(lambda: self._line.device.idle)

    async def draw(self) -> float:
        """Draw a card as soon as the exit releases it. Return the time at which its bytes were written."""
        await until(self._mechanism.draw)
        data = self._line.device.outgoing()
        began = time.time()
        self._line.send(data)
        return began

    async def begin(self) -> None:
        """Put a deck in and begin the deal."""
        self._mechanism.load(self._mechanism.shuffled_by_hand(), deck=1)
        self._line.send(self._line.device.outgoing())
        await self.idle()
        for operation in (
            operations.ShuffledOutside("bench"), operations.PlaceYourBets(), operations.OccupyBoxes(BOXES),
            operations.NoMoreBets(),
        ):  # fmt: skip
            await self.do(operation)

    async def finish(self) -> None:
        await self.idle()
        for place in ("D", *(f"B{number}" for number in BOXES)):
            await self.do(operations.ExposeHand(place))
        for operation in (operations.RecordSettled(), operations.ConcludeRound(), operations.ConcludeRound()):
            await self.do(operation)

    async def play(self) -> None:
        """Play one round as fast as the daemon accepts it."""
        await self.begin()
        for _ in range(CARDS):
            await self.draw()
            await self.idle()
        await self.finish()


class ShoeLine(PtyLine):
    def send(self, data: bytes) -> None:
        if data:
            os.write(self._master, data)


@asynccontextmanager
async def running_table(folder: Path, browser: Any) -> AsyncIterator[ConsoleTable]:
    line = ShoeLine(folder)
    with closing(TcpListener(0)) as free:
        port = free.port
    text = configuration_text(Unit.SINGLES).replace("{folder}", str(folder)).replace("count_stub_by_hand = true\n", "")
    (folder / "table.toml").write_text(f"{text}[api.http]\nport = {port}\n")
    create_key_file(folder / "journal.key")
    living = asyncio.create_task(line.live())
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller", "run", "--config", str(folder / "table.toml"), stderr=subprocess.DEVNULL
    )
    try:
        while not (line.device.idle and line.device.link.last_number and (folder / "api.sock").exists()):
            if process.returncode is not None:
                raise SystemExit("the daemon ended before it was asked anything")
            await asyncio.sleep(POLL)
        async with ApiClient(folder / "api.sock") as client:
            name, token = await _enrolled(port)
            context = await browser.new_context(viewport={"width": 1280, "height": 800})
            await context.add_cookies([{"name": name, "value": token, "url": f"http://localhost:{port}"}])
            page = await context.new_page()
            table = ConsoleTable(line, client, page)
            await table.do(operations.OpenTable())
            await page.goto(f"http://localhost:{port}/?language=en")
            await page.locator("#panel [data-act]").first.wait_for()
            yield table
            await context.close()
    finally:
        living.cancel()
        process.send_signal(signal.SIGTERM)
        await process.wait()


async def _enrolled(port: int) -> tuple[str, str]:
    """Enrol a new screen and return its cookie."""
    supervisor = CREW[1]
    asked = {"id": str(uuid4()), "person": supervisor.id, "pin": supervisor.pin, "name": "Left"}
    async with aiohttp.ClientSession(headers={"X-Cardshoe": "1"}) as session:
        async with session.post(f"http://localhost:{port}/v1/screen/enrolment", json=asked) as answered:
            said = await answered.json()
        if not said["accepted"]:
            raise SystemExit(f"no screen: {said['sentence']}")
        ((name, morsel),) = answered.cookies.items()
        return name, morsel.value


class BareServer:
    """A server that sends a number as an event, with a page that shows it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._sent = 0
        self._stream: web.StreamResponse | None = None

    @classmethod
    @asynccontextmanager
    async def running(cls, browser: Any) -> AsyncIterator[BareServer]:
        page = await browser.new_page()
        bare = cls(page)
        app = web.Application()
        app.add_routes([web.get("/", bare._document), web.get("/events", bare._events)])
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        (address,) = runner.addresses
        await page.goto(f"http://127.0.0.1:{address[1]}/")
        await until(lambda: bare._stream is not None)
        yield bare
        await page.close()
        await runner.cleanup()

    async def _document(self, request: web.Request) -> web.Response:
        return web.Response(text=BARE, content_type="text/html")

    async def _events(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self._stream = response
        await asyncio.Event().wait()
        return response

    async def send(self) -> float:
        self._sent += 1
        assert self._stream is not None
        began = time.time()
        await self._stream.write(b"data: %d\n\n" % self._sent)
        return began


async def shown_after(page: Page, began: float) -> float:
    """Return the seconds until the first frame that was drawn with a change after that time."""
    async with asyncio.timeout(PATIENCE):
        while True:
            seen = await page.evaluate("(since) => window.seen.find((at) => at > since) ?? null", began * 1000)
            if seen is not None:
                return float(seen) / 1000 - began
            await asyncio.sleep(POLL)


async def cards(table: ConsoleTable, bare: BareServer, rounds: int) -> tuple[list[float], list[float]]:
    """Return the seconds from a card's bytes to the sentence that names the next one, and those of the bare server."""
    ours, floor = [], []
    await table.page.evaluate(OBSERVE, ["#sentence"])
    await bare.page.evaluate(OBSERVE, ["#out"])
    for number in range(rounds + 1):
        await table.begin()
        for _ in range(CARDS):
            await table.page.bring_to_front()
            await asyncio.sleep(GAP)
            delay = await shown_after(table.page, await table.draw())
            await table.idle()
            await bare.page.bring_to_front()
            await asyncio.sleep(GAP)
            alone = await shown_after(bare.page, await bare.send())
            if number:  # the first round is a warm-up
                ours.append(delay)
                floor.append(alone)
        await table.finish()
    return ours, floor


async def taps(table: ConsoleTable, count: int) -> tuple[list[float], list[float]]:
    """Return the seconds from a tap on Resume to the answer on the page, and those of a pause sent with `fetch`."""
    page = table.page
    await page.bring_to_front()
    await page.evaluate(OBSERVE, ["#answer", "#sentence"])
    ours, floor = [], []
    button = page.locator('#panel [data-act="resume_table/"]:not(.off)')
    dealer = CREW[0]
    number = await table.round()
    signed = {"person": dealer.id, "pin": dealer.pin}
    await page.evaluate(ASK, _body(number, {"operation": "sign_on"}, **signed))
    for _ in range(count):
        floor.append(await page.evaluate(ASK, _body(number, {"operation": "pause_table", "reason": "x"})) / 1000)
        await button.wait_for()
        await asyncio.sleep(DEAD)
        await button.click()
        tapped = float(await page.evaluate("window.tapped.at(-1)")) / 1000
        ours.append(await shown_after(page, tapped))
        await button.wait_for(state="detached")
        await asyncio.sleep(DEAD)
    return ours, floor


def _body(number: int, operation: dict[str, str], **signed: str) -> str:
    return json.dumps({"id": str(uuid4()), "round": number, "operation": operation} | signed)


async def day(table: ConsoleTable, rounds: int) -> list[dict[str, float]]:
    """Return the page's figures before the first round and then ten times."""
    await table.page.reload()  # without the code that measured the delays
    await table.page.locator("#panel [data-act]").first.wait_for()
    session = await table.page.context.new_cdp_session(table.page)
    await session.send("Performance.enable")
    await table.page.bring_to_front()
    found = [await held(session)]
    print(_line_of(found[0]), flush=True)
    for number in range(1, rounds + 1):
        await table.play()
        if number % max(1, rounds // 10) == 0:
            found.append({"rounds": number} | await held(session))
            print(_line_of(found[-1]), flush=True)
    return found


async def held(session: CDPSession) -> dict[str, float]:
    for _ in range(3):
        await session.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in (await session.send("Performance.getMetrics"))["metrics"]}
    return {name: metrics[name] for name in COUNTED}


def _line_of(found: dict[str, float]) -> str:
    heap, nodes, listeners = (found[name] for name in COUNTED)
    return f"  {found.get('rounds', 0):>6.0f}{heap / 2**20:>12.2f}{nodes:>10.0f}{listeners:>12.0f}"


def report(what: str, ours: list[float], floor: list[float]) -> None:
    for name, times in ((what, ours), ("  its floor", floor)):
        print(f"  {name:<40}{statistics.median(times) * 1e3:>9.1f}{percentile(times, 0.95) * 1e3:>9.1f}")
    middle = statistics.median(ours) / statistics.median(floor)
    late = percentile(ours, 0.95) / percentile(floor, 0.95)
    print(f"  {'  by its floor':<40}{middle:>8.1f}x{late:>8.1f}x", flush=True)


async def run(folder: Path, rounds: int, tap_count: int, of_a_day: int) -> None:
    from playwright.async_api import async_playwright

    async with AsyncExitStack() as stack:
        started = await stack.enter_async_context(async_playwright())
        browser = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        stack.push_async_callback(browser.close)
        table = await stack.enter_async_context(running_table(folder, browser))
        print(f"console: {rounds * CARDS} cards, {tap_count} taps; milliseconds")
        print(f"  {'':<40}{'p50':>9}{'p95':>9}", flush=True)
        if rounds:
            async with BareServer.running(browser) as bare:
                report("byte of a card to the pixel", *await cards(table, bare, rounds))
        if tap_count:
            report("tap to the answer that is shown", *await taps(table, tap_count))
        if of_a_day:
            print(f"the page over {of_a_day} rounds\n  {'rounds':>6}{'heap, MiB':>12}{'nodes':>10}{'listeners':>12}")
            await day(table, of_a_day)


def main() -> int:
    parser = argparse.ArgumentParser(description="The console's delays, and its memory over a day")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--taps", type=int, default=40)
    parser.add_argument("--day", type=int, default=0, help="rounds to play with the page open")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(run(Path(name), given.rounds, given.taps, given.day))
    print("goal: medians below 50 ms on an idle machine; the page keeps its memory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
