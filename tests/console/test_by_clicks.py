"""Rounds at a real daemon, dealt by clicks alone. What cards do is done at the simulated device, by its own console."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from controller.games.specification import Unit
from firmware_bridge.cards import Card
from simulators.people.crew import CREW, CrewMember
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE, Child
from tests.end_to_end.stage import KINDS, short_folder
from tests.operate.bench_table import BenchTable

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium")]

DEALER, SUPERVISOR, _ = CREW
DEAD = 400  # ms after which a button whose meaning changed counts


class ClickedTable(BenchTable):
    """With a port for screens; hands are turned over by their faces, as people see them."""

    port_of_screens = 0

    def configure(self, **_given: object) -> None:
        super().configure()
        text = self.configuration.read_text()
        for line in ("count_stub_by_hand = true\n", "hands_by_device = true\n"):
            text = text.replace(line, "")
        self.port_of_screens = free_port()
        self.configuration.write_text(f"{text}[api.http]\nport = {self.port_of_screens}\n")

    async def start_console(self, *faults: str) -> None:
        self.device = Child(
            "controller", "simulate", "--fast", "--console", "--kind", KINDS[self.unit], "--seed", str(self.seed),
            "--link", str(self.port), "--key-file", str(self.device_keys), "--log", str(self.device_log),
            *(part for fault in faults for part in ("--fault", fault)), listens=True,
        )  # fmt: skip
        self._children.append(self.device)
        await self.device.until(lambda: self.device.out)

    def dealt(self) -> list[list[str]]:
        """The faces of what left the device, a set or a card at a time, as its own log has them."""
        found: list[list[str]] = []
        for line in self.device_log.read_text().splitlines():
            report = json.loads(line)
            if report["report"] == "SetDispensed":
                found.append([Card.numbered(number).code for number in report["fields"][5]])
            elif report["report"] == "CardDrawn":
                found.append([Card.numbered(report["fields"][5]).code])
        return found


class ShoeTable(ClickedTable):
    game = "TP"


class Console:
    """The page, and a person at it who reads and taps."""

    def __init__(self, table: ClickedTable, page: Page, complaints: list[str]) -> None:
        self.table = table
        self.page = page
        self.complaints = complaints

    async def says(self, text: str) -> None:
        """Until the sentence says it."""
        await self.page.locator("#sentence .text", has_text=text).wait_for()

    async def press(self, act: str) -> None:
        """A button of the panel that is on."""
        button = self.page.locator(f'#panel [data-act="{act}"]:not(.off)')
        await button.wait_for()
        await self.page.clock.run_for(DEAD)
        await button.click()

    async def tap(self, place: str) -> None:
        picked = self.page.locator(f'.place.picking[data-place="{place}"]')
        await picked.wait_for()
        await picked.click()

    async def sign(self, member: CrewMember, pin: str = "") -> None:
        await self.says("Who signs?")
        if await self.page.locator(f'#panel .list [data-act="{member.id}"]').count():
            await self.press(member.id)
        for digit in pin or member.pin:
            await self.press(digit)
        await self.press("ok")

    async def enrol(self) -> None:
        await self.press("enrol")
        for name, value in (("name", "Left"), ("person", SUPERVISOR.id), ("pin", SUPERVISOR.pin)):
            await self.page.fill(f'#sheet [name="{name}"]', value)
        await self.page.click('#sheet button[type="submit"]')
        await self.page.locator('#panel [data-act="dealer_on/"]').first.wait_for()

    async def open_table(self) -> None:
        await self.enrol()
        await self.press("dealer_on/")
        await self.sign(DEALER)
        await self.press("open_table/")
        await self.table.move("load")

    async def to_dealing(self, *boxes: int) -> None:
        await self.press("place_your_bets/")
        for number in boxes:
            await self.tap(f"B{number}")
            await self.page.locator(f'.place.lit[data-place="B{number}"]').wait_for()
        await self.press("no_more_bets/")

    async def deal(self, sets: int) -> None:
        for _ in range(sets):
            await self.table.give_out("lift")

    async def turn_over(self, hands: Mapping[str, list[str]]) -> None:
        for place, cards in hands.items():
            await self.press(f"expose_hand/{place}")
            for card in cards:
                await self.press(card)
            await self.press("done")

    async def end_round(self) -> None:
        await self.press("record_settled/")
        await self.press("conclude_round/")
        await self.says("End the round?")
        await self.press("again")
        await self.page.locator("#bar .round", has_text="Round over").wait_for()


@asynccontextmanager
async def opened(unit: Unit = Unit.SETS, *faults: str) -> AsyncIterator[Console]:
    from playwright.async_api import async_playwright  # starts a process: only where a browser is asked for

    with short_folder() as folder:
        kind = ClickedTable if unit is Unit.SETS else ShoeTable
        async with kind(folder, unit=unit) as table, async_playwright() as started:
            await table.start_console(*faults)
            await table.start_daemon()
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            context = await chromium.new_context(viewport={"width": 1280, "height": 800})
            context.set_default_timeout(PATIENCE * 1000)
            page = await context.new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            await page.clock.install()
            await page.goto(f"http://localhost:{table.port_of_screens}/?language=en")
            console = Console(table, page, complaints)
            await console.open_table()
            yield console
            assert complaints == []
            await chromium.close()


async def state_of(console: Console) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads((await (await console.page.request.get("/v1/state")).body()).decode())
    return shown


async def test_a_whole_round_of_sets() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3, 6)
        await console.deal(4)
        one, three, six, dealer = console.table.dealt()
        await console.turn_over({"D": dealer, "B1": one, "B3": three, "B6": six})
        await console.end_round()


async def test_an_exposed_card_from_the_report_to_its_end() -> None:
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("report_irregularity")
        await console.press("exposed_card")
        await console.tap("B1")
        await console.page.locator("#sentence.red").wait_for()
        await console.press("confirm")
        await console.sign(SUPERVISOR, "111222")
        await console.page.locator("#panel .facts", has_text="4 tries left").wait_for()
        await console.sign(SUPERVISOR)
        await console.press("others")
        await console.says("Set of 3 to Box 3")
        await console.deal(2)
        one, three, dealer = console.table.dealt()
        await console.turn_over({"D": dealer, "B1": one, "B3": three})
        await console.end_round()


async def test_a_void_is_asked_twice_in_two_places() -> None:
    """A double tap at the first does nothing more."""
    async with opened() as console:
        await console.to_dealing(1, 3)
        await console.deal(1)
        await console.press("report_irregularity")
        await console.press("foreign_card")
        await console.page.locator("#sentence.red").wait_for()
        await console.press("confirm")
        await console.sign(SUPERVISOR)
        await console.says("Round void?")
        where = await console.page.locator('#panel [data-act="again"]').bounding_box()
        assert where is not None
        assert where["x"] < 752, "not where the first one was"
        await console.press("again")
        await console.sign(SUPERVISOR)
        await console.says("Return all bets")
        await console.press("record_settled/")


async def test_two_screens_that_press_at_once() -> None:
    """The second is said what the first did, and nothing is done twice."""
    async with opened() as console:
        await console.press("place_your_bets/")
        await console.tap("B1")
        await console.page.locator('.place.lit[data-place="B1"]').wait_for()
        body = {"id": "0d4ddc54-7b0a-4d28-a8d5-1c2b6f9f0001", "round": 1, "as_of": 1,
                "operation": {"operation": "no_more_bets"}}  # fmt: skip
        answer = await console.page.evaluate(
            """async (body) => (await fetch("/v1/operations", {method: "POST", body: JSON.stringify(body),
                 headers: {"Content-Type": "application/json", "X-Cardshoe": "1"}})).json()""",
            body,
        )
        assert answer["code"] == "changed"
        assert "Nothing was done" in answer["sentence"]
        await asyncio.wait_for(console.press("no_more_bets/"), PATIENCE)
        await console.says("Set of 3 to Box 1")


async def test_a_whole_round_of_single_cards() -> None:
    async with opened(Unit.SINGLES) as console:
        await console.press("shuffled_outside/")
        await console.press(DEALER.id)
        await console.to_dealing(2, 5)
        for _ in range(9):
            await console.table.give_out("draw")
        cards = [card for (card,) in console.table.dealt()]
        two, five, dealer = (cards[at : at + 3] for at in (0, 3, 6))  # three to each place in turn
        await console.turn_over({"B2": two, "B5": five, "D": dealer})
        await console.end_round()
