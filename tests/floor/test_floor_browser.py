"""The floor's page in a real browser, with a real broker: pictures of every state, keys, and lost connections."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from controller.floor.broker import BrokerConnection, connected
from controller.floor.floor_view import MOST_TABLES
from controller.language import languages
from controller.language.catalogue import texts
from tests.console.album import Album, write_index
from tests.end_to_end.processes import PATIENCE
from tests.floor.many_tables import (
    EXPOSED,
    TOO_MANY,
    Told,
    changed,
    floor_of,
    gone,
    opened,
    place_of_number,
    quiet,
    tell,
)
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.page_measures import FLOOR
from tests.floor.page_reader import RunningPage, running_page
from tests.floor.test_stories import decision, pause
from tests.language.pseudo import PSEUDO, pseudo_locale

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.tool("chromium"), pytest.mark.tool("mosquitto")]

EVIL = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module", autouse=True)
def index() -> Iterator[None]:
    yield
    write_index()


class Eyes:
    """A person at the page, the tables that report, and the broker between them."""

    def __init__(self, page: Page, served: RunningPage, tables: BrokerConnection, broker: Mosquitto) -> None:
        self.page = page
        self.served = served
        self.tables = tables
        self.broker = broker

    async def says(self, text: str) -> None:
        await self.page.locator("#headline .text", has_text=text).wait_for()

    async def sees(self, count: int) -> None:
        """Wait until the page shows `count` tables."""
        tiles = self.page.locator(".tile")
        if count:
            await tiles.nth(count - 1).wait_for()
        await tiles.nth(count).wait_for(state="detached")

    async def open(self, number: int) -> None:
        await self.page.click(f'.tile[data-key="{"/".join(place_of_number(number))}"]')

    async def is_at(self, place: str) -> None:
        """Wait until that element has the focus."""
        await self.page.locator(f"{place}:focus").wait_for()

    async def is_at_table(self, name: str) -> None:
        await self.is_at(f'.tile[data-key="vienna/p1/{name}"]')


@asynccontextmanager
async def looking(folder: Path, *told: Told, language: str = "en", theme: str = "dark") -> AsyncIterator[Eyes]:
    """Yield the page. Every complaint from the browser is a failure: an error in a script, or a violation of the
    policy.
    """
    from playwright.async_api import (
        async_playwright,
    )  # starts a process, so it is imported only where a browser is needed

    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(mosquitto(folder))
        tables = await stack.enter_async_context(connected(broker.broker, "tables"))
        await tell(tables, told)
        served = await stack.enter_async_context(running_page(broker.broker))
        started = await stack.enter_async_context(async_playwright())
        chromium = await started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        stack.push_async_callback(chromium.close)
        page = await chromium.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(PATIENCE * 1000)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        await page.goto(f"{served.address}/?language={language}&theme={theme}")
        await page.locator("#open h2").wait_for()
        yield Eyes(page, served, tables, broker)
        assert not [line for line in said if "ERR_" not in line], said  # a stopped server refuses


@pytest.fixture(params=[*languages(), PSEUDO])
def language(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Yield a language, or the pseudo-locale, whose texts are 40 % longer than English."""
    if request.param == PSEUDO:
        folder = tmp_path / "language"
        folder.mkdir()
        with pseudo_locale(folder):
            yield PSEUDO
    else:
        yield request.param


async def test_floors_of_any_size_have_no_layout_errors(language: str, tmp_path: Path) -> None:
    said = texts(language).keyed
    async with looking(tmp_path, language=language) as eyes:
        page, album = eyes.page, Album(f"floor-{language}", eyes.page, FLOOR)
        await eyes.says(said["headline.none"])
        await album.prepare()
        await album.take("no table")
        await tell(eyes.tables, [quiet(number) for number in range(4)])
        await eyes.says(said["headline.calm"])
        await album.take("four calm tables")
        await tell(eyes.tables, floor_of(4))
        await page.locator(".tile.red").first.wait_for()
        await album.take("four tables")
        await tell(eyes.tables, [changed(one, simulated=number > 1) for number, one in enumerate(floor_of(4))])
        await page.locator(".tile .simulated:not(:empty)").first.wait_for()
        await album.take("two of four are simulated")
        for first in (1, 3):
            events = [
                {"event": "round_began", "round": 1},
                {"event": "first_card_shown", "card": "KD", "clause": "NC 4.1"},
            ]
            await eyes.tables.publish("cardshoe/1/vienna/p1/nc-01/journal", decision(first, *events, pause("lunch")))
        await eyes.open(0)
        await page.locator("#story .lines p").first.wait_for()
        await album.take("a story")
        await page.keyboard.press("Escape")
        await tell(eyes.tables, floor_of(48))
        await eyes.sees(48)
        await page.locator(".matter").nth(7).wait_for()
        await album.take("forty-eight tables")
        await page.select_option("#top select", "vienna/p2")
        await eyes.sees(16)
        await album.take("one pit")
        await page.fill("#top input", "no such table")
        await eyes.sees(0)
        await album.take("no such table")
        await page.fill("#top input", "")
        await page.select_option("#top select", "")
        await eyes.tables.publish("cardshoe/1/vienna/p1/nc-01/table", b"{", retained=False)
        await page.locator("#open .foot p").wait_for()
        await tell(eyes.tables, [changed(one, simulated=number % 9 == 4) for number, one in enumerate(floor_of(120))])
        await eyes.sees(120)
        await album.take("a hundred and twenty tables")
        await tell(eyes.tables, floor_of(500))
        await eyes.sees(500)
        await album.take(
            "five hundred tables", axe=False
        )  # axe takes minutes, and finds nothing more than with a hundred
        await eyes.broker.kill()
        await page.locator("body.old").wait_for()
        await album.take("no broker", axe=False)
        assert album.found == {}


async def test_open_irregularities_come_first_and_a_tap_shows_the_table(tmp_path: Path) -> None:
    tables = [opened(quiet(0), EXPOSED, 3), quiet(1), opened(quiet(2), TOO_MANY, 20), gone(quiet(3))]
    async with looking(tmp_path, *tables) as eyes:
        page = eyes.page
        await page.locator(".matter").nth(2).wait_for()
        names = await page.locator("#open .matter .name").all_text_contents()
        assert names == ["nc-03", "nc-01", "nc-04"]
        assert await page.locator("#open .matter .who").first.text_content() == (
            "NC 5.5.4, NC 5.5 · Waiting for: pit supervisor"
        )
        await page.locator("#open .matter").nth(1).click()
        await page.locator("#story .matter p", has_text="Was a card of box 1 exposed?").wait_for()
        assert await page.locator("#story h1").text_content() == "nc-01 · p1"
        events = (
            {"event": "round_began", "round": 1},
            {"event": "handed_over", "from_dealer": "", "to_dealer": "ana", "open": []},
        )
        await eyes.tables.publish("cardshoe/1/vienna/p1/nc-01/journal", decision(1, *events, pause("lunch")))
        await page.locator("#story .lines p", has_text="Paused: lunch.").wait_for()
        await page.locator("#story .lines p", has_text="Ana Berger").wait_for()
        await page.locator("#totals span", has_text="Rounds: 1").wait_for()
        assert await page.locator("#totals span").all_inner_texts() == [
            "Open tables: 3", "No contact: 1", "Last 1 min", "Rounds: 1", "Irregularities: 0", "Void: 0",
        ]  # fmt: skip
        await tell(eyes.tables, [quiet(0)])
        await page.locator("#story .next", has_text="Deal 3 cards to box 3.").wait_for()
        assert await page.locator("#story .matter").count() == 0


async def test_a_pit_is_shown_alone_and_a_search_hides_nothing_urgent(tmp_path: Path) -> None:
    async with looking(tmp_path, *floor_of(48)) as eyes:
        page = eyes.page
        await page.locator("#open .matter").nth(7).wait_for()
        await page.fill("#top input", "nc-4")
        await eyes.sees(9)
        assert await page.locator("#open .matter").count() == 8
        await page.fill("#top input", "")
        await page.select_option("#top select", "vienna/p2")
        await eyes.sees(16)
        await eyes.says("2 tables need a person.")
        assert await page.locator("#open .matter .name").all_text_contents() == ["nc-29", "nc-20"]


async def test_the_keyboard_reaches_everything(tmp_path: Path) -> None:
    async with looking(tmp_path, *floor_of(48)) as eyes:
        page = eyes.page
        await eyes.sees(48)
        await page.keyboard.press("/")
        await eyes.is_at("#top input")
        await page.keyboard.type("nc-1")
        await eyes.sees(10)
        await page.fill("#top input", "")
        await eyes.sees(48)
        await page.focus('.tile[data-key="vienna/p1/nc-01"]')
        for key, at in (
            ("ArrowRight", "nc-02"), ("ArrowDown", "nc-06"), ("ArrowLeft", "nc-05"), ("ArrowUp", "nc-01"),
            ("ArrowUp", "nc-01"), ("ArrowLeft", "nc-01"),
        ):  # fmt: skip
            await page.keyboard.press(key)
            await eyes.is_at_table(at)
        await page.keyboard.press("Enter")
        await page.locator("#story h1", has_text="nc-01").wait_for()
        await eyes.is_at("#story h1")
        await page.keyboard.press("Escape")
        await page.locator("#story").wait_for(state="hidden")
        await eyes.is_at_table("nc-01")
        assert await page.locator('.tile[tabindex="0"]').count() == 1, "one stop of the tabulator"
        await page.focus("#open .matter")
        await page.keyboard.press("Enter")
        await page.locator("#story h1", has_text="nc-10").wait_for()


async def test_texts_of_the_network_are_shown_and_never_run(tmp_path: Path) -> None:
    evil = changed(quiet(0), dealer=EVIL, phase=EVIL, paused=EVIL, title=EVIL, next_step=EVIL, warnings=(EVIL,))
    async with looking(tmp_path, evil) as eyes:
        await eyes.page.locator(".tile .dealer", has_text=EVIL).wait_for()
        await eyes.tables.publish("cardshoe/1/vienna/p1/nc-01/journal", decision(1, pause(EVIL)))
        await eyes.open(0)
        await eyes.page.locator("#story .lines p", has_text=EVIL).wait_for()
        assert await eyes.page.locator("img").count() == 0
        assert await eyes.page.title() == "1 Floor"


async def test_without_broker_or_server_the_view_is_marked_as_old(tmp_path: Path) -> None:
    async with looking(tmp_path, *floor_of(4)) as eyes:
        page = eyes.page
        await eyes.sees(4)
        await eyes.broker.kill()
        await page.locator("body.old").wait_for()
        await eyes.says("This is the floor as of ")
        await eyes.sees(4)
        await eyes.broker.start()
        await page.locator("body:not(.old)").wait_for()
        await page.context.set_offline(True)
        eyes.served.hang_up()
        await eyes.says("No contact with the page's server.")
        await page.locator("body.old").wait_for()
        await eyes.sees(4)
        await page.context.set_offline(False)
        await page.locator("body:not(.old)").wait_for()


async def test_a_table_keeps_its_node_and_its_place_while_it_changes(tmp_path: Path) -> None:
    async with looking(tmp_path, *floor_of(48)) as eyes:
        page = eyes.page
        await eyes.sees(48)
        tile = await page.query_selector('.tile[data-key="vienna/p1/nc-07"]')
        assert tile is not None
        place = await tile.bounding_box()
        await tell(eyes.tables, [opened(quiet(6), EXPOSED, 1)])
        await page.locator('.tile.red[data-key="vienna/p1/nc-07"]').wait_for()
        assert await tile.evaluate("node => node.isConnected && node.classList.contains('red')")
        assert await tile.bounding_box() == place


async def test_tables_beyond_the_limit_are_reported_as_left_out(tmp_path: Path) -> None:
    async with looking(tmp_path) as eyes:
        floor = eyes.served.follower.floor
        await tell(eyes.tables, [quiet(0)])
        await eyes.sees(1)
        floor.left_out = 1
        await tell(eyes.tables, [quiet(1)])
        await eyes.page.locator("#open .foot", has_text="There are more tables than this page follows.").wait_for()
        assert MOST_TABLES > 1000


SAME_KEYS = """async () => {
    const { el, keyed } = await import("/console/js/dom.js");
    const parent = el("div", {}, "text", el("p"));
    for (let time = 0; time < 30; time += 1) keyed(parent, Array(50).fill(1), (one) => one, () => el("p"));
    const many = parent.childNodes.length;
    keyed(parent, [3, 1, 2], (one) => one, () => el("p"), (node, one) => (node.textContent = one));
    return [many, parent.textContent, parent.childNodes.length];
}"""


async def test_items_with_equal_keys_leave_no_nodes_behind(tmp_path: Path) -> None:
    """This also checks the console's function, which the page shares."""
    async with looking(tmp_path, quiet(0)) as eyes:
        assert await eyes.page.evaluate(SAME_KEYS) == [50, "312", 3]


async def test_a_table_with_fifty_irregularities_of_one_id_has_one(tmp_path: Path) -> None:
    async with looking(tmp_path, quiet(0)) as eyes:
        await eyes.sees(1)
        for time in range(5):
            many = tuple(msgspec.structs.replace(EXPOSED, what=f"{time} {number}") for number in range(50))
            await tell(eyes.tables, [changed(quiet(0), irregularities=many)])
            await eyes.page.locator(".matter", has_text=f"{time} 0").wait_for()
            assert await eyes.page.locator(".matter").count() == 1
