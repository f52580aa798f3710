"""A person at the page of a real daemon, who reads and taps. Cards move at the simulated device."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from controller.games.specification import Unit
from controller.language.catalogue import texts
from firmware_bridge.cards import Card
from simulators.people.crew import CREW, CrewMember
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE, Child
from tests.end_to_end.stage import KINDS, short_folder
from tests.operate.bench_table import BenchTable

if TYPE_CHECKING:
    from playwright.async_api import Locator, Page

DEALER, SUPERVISOR, MANAGER = CREW
IN_A_SET = 3
ASKED_AT_A_SIGNATURE = ("ask.sign", "ask.who_deals", "ask.pin", "ask.pin_again")
AT_A_CARD = {"exposed_card", "dropped_card", "wrong_viewer", "player_exposed"}
FRAME = 50  # ms after which the page has drawn what a tap changed
DEAD = 350  # ms for which a button whose meaning changed does not count
SLOW = 1200  # the same for a button that a row of taps must not reach

# The page's own state; the picture may be one frame behind.
KNOWS_THE_STORE = """addEventListener("DOMContentLoaded", async () => {
  window.knows = await import("/console/js/store.js");
});
window.isShut = (node) => !window.knows?.listens() || (node.one?.tone !== "steady" && knows.isOvertaken());
window.isNew = ({since = -SLOW, slow}) => performance.now() - since < (slow ? SLOW : DEAD);
""".replace("DEAD", str(DEAD)).replace("SLOW", str(SLOW))

# Note whether the page took the last tap. It does not take a tap without contact, while it waits for an answer, or on a
# button whose meaning has just changed: a state may arrive between a look at the page and the tap. A tap at the "more"
# mark does not count for what lies below it. Rarely, a tap falls beside the page in a browser that has just changed its
# size.
NOTES_TAPS = f"""{KNOWS_THE_STORE}
let would = false;
addEventListener("click", ({{target}}) => {{
  const node = target.closest("button, [data-place]") ?? {{}};
  const {{place}} = node.dataset ?? {{}};
  const isAsked = !place || knows.store.own.picking?.has(place) || knows.store.own.numbered === place;
  would = node.meaning ? !isShut(node) && !isNew(node) && isAsked : Boolean(window.knows?.inContact());
}}, true);
addEventListener("click", () => (window.taken = would));"""

# Wait until the page shows the table as of that entry of the journal.
DRAWN = """(entry) => new Promise((resolve) => {
  const look = () => (Number(document.body.dataset.entry) >= entry ? resolve() : requestAnimationFrame(look));
  look();
})"""


FROM_UNDER_THE_MARK: Final = """one => {
  const scrolls = one.closest(".more");
  if (scrolls) scrolls.scrollTop += one.getBoundingClientRect().top - scrolls.getBoundingClientRect().top;
}"""
"""Where there is more below, the sign that says so lies over the last row, and a tap there scrolls."""


class ClickedTable(BenchTable):
    """A table with a port for screens. Hands are turned over with the faces that people see."""

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
        """Return the faces of what left the device, a set or a card at a time, from its own log."""
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


class BaccaratTable(ClickedTable):
    """A table with three Players and the Banker; single cards are dealt after a First Card."""

    game = "F3"


class WitnessedTable(ClickedTable):
    """A table whose house asks the second counter to sign."""

    def configure(self, **_given: object) -> None:
        super().configure()
        text = self.configuration.read_text()
        self.configuration.write_text(
            text.replace("simulated = true\n", "simulated = true\nsecond_counter_signs = true\n")
        )


GROUP_OF: Final = """async (kind) => {
  const { GROUPS } = await import("/console/js/needs.js");
  return Object.keys(GROUPS).find((group) => GROUPS[group].includes(kind)) ?? "bets";
}"""
"""The group that lists a kind; bets: a box that was marked wrongly."""


class Person:
    """A person who reads the page and taps."""

    def __init__(self, page: Page, language: str = "en") -> None:
        self.words = texts(language).keyed
        self.page = page
        self.language = language

    async def look_at(self, address: str) -> None:
        """Open the page at that address, with a clock that the test advances."""
        await self.page.clock.install()
        await self.page.add_init_script(NOTES_TAPS)
        await self.page.goto(f"{address}?language={self.language}")

    async def says(self, text: str) -> None:
        """Wait until the sentence contains this."""
        await self.page.locator("#sentence .text", has_text=text).wait_for()

    async def counts(self, text: str) -> None:
        """Wait until the count next to the sentence has this value."""
        await self.page.locator("#sentence .count", has_text=text).wait_for()

    async def reads(self, text: str) -> None:
        """Wait until one of the panel's facts contains this."""
        await self.page.locator("#panel .facts p", has_text=text).first.wait_for()

    async def press(self, act: str) -> None:
        """Press an enabled button of the panel, once the last press is answered."""
        await self.click(self.page.locator(f'#panel [data-act="{act}"]:not(.off)'))

    async def click(self, what: Locator) -> None:
        """Click as soon as the element is shown, and click again if the page did not take the click."""
        taken = False
        while not taken:
            await self.answered()
            await what.wait_for()
            await self.let_pass(DEAD + 50)
            await self.page.evaluate("window.taken = false")
            await what.evaluate(FROM_UNDER_THE_MARK)
            await what.click()
            taken = await self.page.evaluate("window.taken")
            await self.page.clock.run_for(FRAME)

    async def answered(self) -> None:
        """Wait for the answer to the last press."""
        await self.page.locator("#panel:not(.asking)").wait_for()

    async def let_pass(self, ms: int) -> None:
        """Advance the page's clock, which is then ahead of the daemon's beats: until the next beat the page accepts no
        tap.
        """
        await self.page.clock.run_for(ms)
        await self.page.locator("body:not(.no-contact, .overtaken)").wait_for()

    async def tap(self, place: str) -> None:
        await self.click(self.page.locator(f'.place.picking[data-place="{place}"]'))

    async def choose_in_menu(self, act: str) -> None:
        await self.click(self.page.locator("#bar .menu"))
        await self.click(self.page.locator(f'#sheet [data-act="{act}"]:not(.off)'))

    async def asks_who_signs(self) -> None:
        """Wait until the page asks who signs, or asks for the PIN of the only person who may sign."""
        asked = (re.sub(r"\\\{\w+\\\}", ".+", re.escape(self.words[key])) for key in ASKED_AT_A_SIGNATURE)
        who = re.compile("|".join(asked))
        await self.page.locator("#sentence .text", has_text=who).wait_for()

    async def sign(self, member: CrewMember, pin: str = "") -> None:
        await self.asks_who_signs()
        if await self.page.locator(f'#panel :is(.list, .answers) [data-act="{member.id}"]').count():
            await self.press(member.id)
        await self.enter_pin(pin or member.pin)

    async def enter_pin(self, pin: str) -> None:
        for digit in pin:
            await self.press(digit)
        await self.press("ok")

    async def report(self, kind: str, place: str = "") -> None:
        """Report what was noticed and, if the page asks, where, but not which card it was."""
        await self.notice(kind)
        if place:
            await self.tap(place)
        else:
            await self.press("sure")
        if place and kind in AT_A_CARD:
            await self.press("unknown")

    async def notice(self, kind: str) -> None:
        """Begin a report of this kind, from its group."""
        await self.press("report_irregularity")
        await self.press(f"group/{await self.page.evaluate(GROUP_OF, kind)}")
        await self.press(kind)

    async def confirm(self, member: CrewMember) -> None:
        """Answer the questions and sign as that person."""
        await self.press("confirm")
        await self.sign(member)

    async def enrol(self, screen: str = "Left") -> None:
        await self.press("enrol")
        for name, value in (("name", screen), ("person", SUPERVISOR.id), ("pin", SUPERVISOR.pin)):
            await self.page.fill(f'#sheet [name="{name}"]', value)
        await self.page.click('#sheet button[type="submit"]')
        await self.page.locator('#panel:not(:has([data-act="enrol"])) [data-act="pause_table"]').wait_for()

    async def answers(self, text: str) -> None:
        """Wait until region E contains this."""
        await self.page.locator("#answer .text", has_text=text).wait_for()

    async def to_dealing(self, *boxes: int) -> None:
        await self.press("place_your_bets/")
        for number in boxes:
            await self.tap(f"B{number}")
            await self.page.locator(f'.place.lit[data-place="B{number}"]').wait_for()
        await self.press("no_more_bets/")
        # Cards that leave before the table knows of it are drawn before "No more bets".
        await self.page.locator('#panel [data-act="no_more_bets/"]').wait_for(state="detached")

    async def turn_over(self, hands: Mapping[str, list[str]]) -> None:
        for place, cards in hands.items():
            await self.tap(place)
            for card in cards:
                await self.press(card)
            await self.press("done")

    async def end_round(self) -> None:
        await self.press("record_settled/")
        await self.press("conclude_round/")
        await self.page.locator("#bar .round", has_text=self.words["phase.concluded"]).wait_for()


class Console(Person):
    """The page, a person at it, and the table that it shows."""

    def __init__(self, table: ClickedTable, page: Page, complaints: list[str], language: str = "en") -> None:
        super().__init__(page, language)
        self.table = table
        self.complaints = complaints

    async def state(self) -> dict[str, Any]:
        """Return the table's state from the daemon."""
        answer = await self.page.request.get(f"http://localhost:{self.table.port_of_screens}/v1/state")
        shown: dict[str, Any] = json.loads(await answer.body())
        return shown

    async def beside(self, screen: str) -> Person:
        """Return a person at another enrolled screen of the table, in a separate browser."""
        chromium = self.page.context.browser
        assert chromium is not None
        context = await chromium.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(PATIENCE * 1000)
        person = Person(await context.new_page(), self.language)
        person.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        await person.look_at(f"http://localhost:{self.table.port_of_screens}/")
        await person.enrol(screen)
        return person

    async def open_table(self) -> None:
        await self.enrol()
        await self.page.locator('#panel .primary[data-act="dealer_on/"]').wait_for()
        await self.press("dealer_on/")
        await self.sign(DEALER)
        await self.press("open_table/")
        await self.table.move("load")

    async def deal(self, sets: int) -> None:
        await self._give_out("lift", sets)

    async def deal_singles(self, cards: int) -> None:
        await self._give_out("draw", cards)

    async def _give_out(self, moving: str, times: int) -> None:
        """Let cards leave before the table has answered, so before the next press. The page shows all of them."""
        await self.answered()
        for _ in range(times):
            await self.table.give_out(moving)
        await self.shows_all()

    async def shows_all(self) -> None:
        """Wait until the table has what the device reported, and the page what the table has."""
        async with asyncio.timeout(PATIENCE):
            while "; reports unacknowledged: 0;" not in await self.table.move("status"):
                pass
        await self.page.evaluate(DRAWN, (await self.state())["entry"])

    async def turn_over_all(self) -> None:
        """Deal the sets of the first round that are still due, then turn every hand over."""
        state = await self.state()
        await self.deal((state["to_deal"] - state["dealt"]) // IN_A_SET)
        places = [*(f"B{number}" for number in state["boxes"]), "D"]
        hands = dict(zip(places, self.table.dealt(), strict=True))
        await self.turn_over({"D": hands["D"], **hands})

    async def order_of_deal(self) -> list[str]:
        """Return the place of each card of the deal, in the order in which they left."""
        view = await self.state()
        lies = {ordinal: hand["place"] for hand in view["hands"] for ordinal in hand["ordinals"]}
        return [lies[ordinal] for ordinal in sorted(lies)]

    async def at_device(self, line: str, until: str) -> None:
        """Do something at the device, as soon as it allows it."""
        await self.answered()
        async with asyncio.timeout(PATIENCE):
            while until not in await self.table.move(line):
                pass


@asynccontextmanager
async def opened(
    unit: Unit = Unit.SETS,
    *faults: str,
    kind: type[ClickedTable] | None = None,
    language: str = "en",
    enrolled: bool = True,
) -> AsyncIterator[Console]:
    """Yield a console. `enrolled`: a dealer is signed on and the table open; else the page only shows the table."""
    from playwright.async_api import (
        async_playwright,
    )  # starts a process, so it is imported only where a browser is needed

    with short_folder() as folder:
        kind = kind or (ClickedTable if unit is Unit.SETS else ShoeTable)
        async with kind(folder, unit=unit) as table, async_playwright() as started:
            await table.start_console(*faults)
            await table.start_daemon()
            chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            context = await chromium.new_context(viewport={"width": 1280, "height": 800})
            context.set_default_timeout(PATIENCE * 1000)
            page = await context.new_page()
            complaints: list[str] = []
            page.on("pageerror", lambda error: complaints.append(str(error)))
            console = Console(table, page, complaints, language)
            await console.look_at(f"http://localhost:{table.port_of_screens}/")
            try:
                if enrolled:
                    await console.open_table()
                yield console
            except BaseException as error:
                error.add_note(f"The page showed:\n{await page.locator('body').inner_text()}")
                raise
            assert complaints == []
            await chromium.close()
