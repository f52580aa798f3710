"""Real daemons, a real broker, the page's server: the deal is visible, and open irregularities come first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from controller.floor.reporting import LOST_AFTER
from tests.end_to_end.stage import short_folder
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.page_reader import PageReader, RunningPage, running_page
from tests.floor.reading import reader
from tests.operate.bench_table import BenchTable

pytestmark = pytest.mark.tool("mosquitto")

ONE, TWO = "vienna/p1/T-1", "vienna/p2/T-2"
DEALT = "open table\nboxes 1 3\nbegin\ndeal 1\nreport exposed card B1 card 2\n"


class FloorTable(BenchTable):
    """A table that reports to a broker."""

    section = ""

    def configure(self, **given: object) -> None:
        super().configure(**given)
        self.configuration.write_text(self.configuration.read_text() + self.section)

    def report_to(self, broker: Mosquitto, table: str, pit: str) -> None:
        self.section = f'[floor]\nbroker = "mqtt://localhost:{broker.port}"\nsite = "vienna"\npit = "{pit}"\n'
        self.configure()
        self.configuration.write_text(self.configuration.read_text().replace('"T-1"', f'"{table}"'))


@asynccontextmanager
async def floor_of_two() -> AsyncIterator[tuple[FloorTable, FloorTable, RunningPage, PageReader]]:
    """Yield two open tables with their devices, and a page that follows them."""
    async with AsyncExitStack() as stack:
        folders = [stack.enter_context(short_folder()) for _ in range(3)]
        broker = await stack.enter_async_context(mosquitto(Path(folders[0])))
        page = await stack.enter_async_context(running_page(broker.broker))
        await stack.enter_async_context(reader(broker.broker))  # keeps the journals
        tables = []
        for folder, place in zip(folders[1:], (ONE, TWO), strict=True):
            table = await stack.enter_async_context(FloorTable(folder))
            _, pit, name = place.split("/")
            table.report_to(broker, name, pit)
            await table.start_console()
            await table.start_daemon()
            tables.append(table)
        watching = await stack.enter_async_context(page.reader())
        first, second = tables
        yield first, second, page, watching


async def test_events_at_real_tables_are_shown() -> None:
    async with floor_of_two() as (one, two, page, found), page.reader(f"/v1/story?table={ONE}") as story:
        await found.until(lambda: {ONE, TWO} <= set(found.rows))
        assert found.rows[ONE]["phase"] == "closed"
        await one.move("load")
        script = one.script(DEALT)
        await one.deal(script, {"deal 1": 1})
        assert await script.ended() == 0, script.err
        await found.until(lambda: bool([one for one in found.matters if not one["trouble"]]))
        matter = found.matters[0]
        assert (matter["row"], matter["tone"], matter["where"]) == (ONE, "red", "box 1")
        assert matter["clauses"] == ["NC 5.7"]
        assert matter["who"] == "pit supervisor"
        assert matter["act"].startswith("Call the pit supervisor.")
        assert (found.rows[ONE]["phase"], found.rows[ONE]["round"]) == ("dealing_sets", 1)
        assert found.rows[TWO]["tone"] == "quiet"

        await story.until(lambda: any("exposed" in line["text"] for line in story.story.get("lines", ())))
        texts = [line["text"] for line in story.story["lines"]]
        assert any(text.startswith("Round 1 begins") for text in texts)
        assert "3 cards to box 1." in texts
        await story.until(lambda: story.story["detail"]["next_step"].startswith("Call the pit supervisor."))

        await two.kill_daemon()
        await found.until(lambda: found.rows[TWO]["trouble"] == "lost")
        assert found.rows[TWO]["tone"] == "amber"
        assert [one["trouble"] for one in found.matters if one["row"] == TWO] == ["lost"]
        age = found.rows[TWO]["trouble_since"]
        assert page.follower.floor.now_ms - age >= LOST_AFTER * 1000, "as long as the broker waits"
        await two.start_daemon()
        await found.until(lambda: found.rows[TWO]["trouble"] == "")

        confirmed = one.script("confirm by supervisor\n", "--pin-file", str(one.pins))
        assert await confirmed.ended() == 0, confirmed.err
        await found.until(lambda: not any(one["who"] == "pit supervisor" for one in found.matters))
        assert await one.daemon.end() == 0
        await found.until(lambda: found.rows[ONE]["trouble"] == "stopped")
