"""The files shipped for Prometheus and Grafana: a real Prometheus, configured as in the example, scrapes a table."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
import pytest
from aiohttp import web

from controller.daemon.metrics_page import Disk, MetricsPage
from controller.floor.store.meters import StoreMeters
from controller.table import events, operations
from controller.table.decision import Decided
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE
from tests.interfaces.test_metrics import SECOND, STREAMS, MeteredTable
from tools.pages import dashboards, metrics

EXAMPLE: Final = metrics.ALERTS.with_name("prometheus.yml")
SCRAPED: Final = 4  # times, for two values of everything

pytestmark = [pytest.mark.tool("prometheus"), pytest.mark.tool("promtool")]


class Floor:
    is_connected = False
    sent_up_to = 3


class Page:
    """A table's metrics at a port. `scraped` is set at every scrape."""

    def __init__(self, table: MeteredTable) -> None:
        self._table = table
        self._page = MetricsPage(
            table, lambda: table.link, lambda: Disk(1000, 5000), table.clock, Floor(), lambda: ("The disk fills.",)
        )
        self._store = StoreMeters()
        self._store.alarms({"fork": 1})
        self.port = free_port()
        self.times = 0
        self.scraped = asyncio.Event()

    async def answer(self, _request: web.Request) -> web.Response:
        self._table.clock.boottime_ns += SECOND
        self._table.say(operations.ConcludeRound())  # refused and counted, so that every page differs
        made = await self._page.page(False, STREAMS) + self._store.page()
        self.times += 1
        self.scraped.set()
        return web.Response(body=made, content_type="text/plain")

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_get("/metrics", self.answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port).start()
        try:
            yield
        finally:
            await runner.cleanup()

    async def next(self) -> None:
        self.scraped.clear()
        async with asyncio.timeout(PATIENCE):
            await self.scraped.wait()


@asynccontextmanager
async def prometheus(folder: Path, page: Page) -> AsyncIterator[str]:
    """Run Prometheus as in the example, except for the table's address and the times. Yield its address."""
    text = EXAMPLE.read_text("utf-8").replace("10s", "200ms").replace("alerts.yml", str(metrics.ALERTS))
    text = re.sub(r"10[0-9.]+:946[45]", f"127.0.0.1:{page.port}", text)
    (folder / "prometheus.yml").write_text(text)
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        shutil.which("prometheus") or "prometheus", f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{port}",
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}/api/v1"
    finally:
        process.kill()
        await process.wait()


async def ask(asking: aiohttp.ClientSession, address: str, **given: str) -> Any:
    async with asking.get(address, params=given) as answer:
        said = await answer.json()
    assert said["status"] == "success", said
    return said["data"]


@pytest.fixture
def table() -> MeteredTable:
    """Return a table with one of everything that is counted."""
    table = MeteredTable()
    table.start()
    table.lose_link()
    table.connect()
    refused = (events.PinRefused("sam", None, 1), events.DoorRefused("header", None, 1))
    table.meters.committed(table.clock.now(), Decided(refused, table.state))
    table.to_dealing().deal()
    return table


async def test_a_real_prometheus_answers_every_query_and_raises_alerts(tmp_path: Path, table: MeteredTable) -> None:
    page = Page(table)
    async with page.served(), prometheus(tmp_path, page) as address, aiohttp.ClientSession() as asking:
        while page.times < SCRAPED:
            await page.next()
        left = dict(dashboards.queries())
        while left:
            for place, query in list(left.items()):
                found = await ask(asking, f"{address}/query", query=query)
                if found["result"]:
                    del left[place]
            if left:
                await page.next()
        raised: set[str] = set()
        while not {"TableNotReady", "TableWarns", "FloorNotConnected", "JournalNotAsItWas"} <= raised:
            raised = {one["labels"]["alertname"] for one in (await ask(asking, f"{address}/alerts"))["alerts"]}
            await page.next()
        rounds = (await ask(asking, f"{address}/query", query='cardshoe_round{job="cardshoe"}'))["result"]
    tables = [tuple(one["metric"][name] for name in ("site", "pit", "table")) for one in rounds]
    assert sorted(tables) == [("vienna", "p1", "nc-07"), ("vienna", "p1", "tp-08")]


def test_dashboards_show_defined_metrics_without_overlaps() -> None:
    names = {definition.name for definition in metrics.EVERY}
    for board in dashboards.DASHBOARDS:
        made = json.loads(dashboards.written(board))
        taken: set[tuple[int, int]] = set()
        for panel in made["panels"]:
            at = panel["gridPos"]
            cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
            assert not cells & taken, panel["title"]
            assert at["x"] + at["w"] <= dashboards.WIDTH
            taken |= cells
            (query,) = (target["expr"] for target in panel["targets"])
            assert "up{" in query or any(name in query for name in names), query


def promtool(*asked: str) -> str:
    """Return the errors that promtool finds."""
    done = subprocess.run(["promtool", *asked], cwd=EXAMPLE.parent, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def test_promtool_accepts_the_example() -> None:
    assert promtool("check", "config", EXAMPLE.name) == ""


SERIES: Final = {  # one value per minute
    'cardshoe_irregularities_open{table="a"}': "1x40",
    'cardshoe_irregularities_open{table="b"}': "1 1 1 0 1 1 1 0 1 1 1 0 0x30",
    'cardshoe_device_silence_seconds{table="a"}': "0x15 60x25",
    'cardshoe_warnings{table="a"}': "0 1x40",
    'cardshoe_floor_backlog_entries{table="a"}': "50+50x40",
    'cardshoe_journal_free_bytes{table="a"}': "9e9x10 1e9x30",
    'up{job="cardshoe", table="a"}': "1x5 0x35",
    'cardshoe_store_alarms_open{table="a", kind="fork"}': "0x10 1x30",
    'cardshoe_store_alarms_open{table="a", kind="gap"}': "0x20 1x20",
    'cardshoe_shuffle_alarm{table="a"}': "0x10 1x30",
    'cardshoe_shuffle_decks_total{table="a", source="a"}': "0x20 1x20",
    'cardshoe_shuffle_decks_left_out_total{table="a", source="a", code="card-twice"}': "0x10 1x30",
    'cardshoe_shuffle_decks_left_out_total{table="a", source="a", code="skipped"}': "5x40",
    'cardshoe_shuffle_monitor_timestamp_seconds{table="a"}': "0+60x10 600x30",
}
RAISED: Final = {  # minute -> the table, if it is about one
    ("IrregularityWaits", 12): "a",
    ("DeviceSilent", 10): "",
    ("DeviceSilent", 17): "a",
    ("TableWarns", 5): "a",
    ("FloorBacklogGrows", 20): "",
    ("FloorBacklogGrows", 35): "a",
    ("JournalDiskFills", 5): "",
    ("JournalDiskFills", 20): "a",
    ("TableNotReached", 10): "a",
    ("JournalNotAsItWas", 10): "",
    ("JournalNotAsItWas", 11): "a",
    ("StoreAlarmOpen", 15): "",
    ("StoreAlarmOpen", 21): "a",
    ("ShufflerSuspected", 10): "",
    ("ShufflerSuspected", 12): "a",
    ("NoDeckAudited", 10): "",
    ("NoDeckAudited", 12): "a",
    ("NoDeckAudited", 22): "",
    ("ShuffleMonitorEnded", 14): "",
    ("ShuffleMonitorEnded", 16): "a",
}


def test_alerts_are_raised_at_the_right_time(tmp_path: Path) -> None:
    """Prometheus tests the rules itself. An irregularity that is decided soon raises no alert."""
    rules = {rule.name: rule for rule in metrics.RULES}

    def raised(alert: str, table: str) -> list[dict[str, Any]]:
        more = {
            "TableNotReached": {"job": "cardshoe"},
            "NoDeckAudited": {"source": table},
            "JournalNotAsItWas": {"kind": "fork"},
            "StoreAlarmOpen": {"kind": "gap"},
        }
        of = {"table": table, "severity": rules[alert].severity} | more.get(alert, {})
        shown = {"summary": rules[alert].act, "runbook_url": metrics.PAGES + metrics.SECTIONS[alert]}
        return [{"exp_labels": of, "exp_annotations": shown}] if table else []

    tried = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in SERIES.items()],
        "alert_rule_test": [
            {"alertname": alert, "eval_time": f"{minute}m", "exp_alerts": raised(alert, table)}
            for (alert, minute), table in RAISED.items()
        ],
    }
    asked = {"rule_files": [str(metrics.ALERTS)], "evaluation_interval": "1m", "tests": [tried]}
    (tmp_path / "rules.yml").write_text(json.dumps(asked))  # JSON is also YAML
    assert promtool("test", "rules", str(tmp_path / "rules.yml")) == ""
