"""Requests generated from the OpenAPI document to a real daemon: no server error, and every answer is as described.

schemathesis speaks HTTP over TCP only, so it uses the port for screens; the Unix socket has the same handlers. It
cannot read endless streams, so a test in this file checks each of their events against its schema.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import aiohttp
import jsonschema_rs
import pytest

from controller.client import TableClient, operations
from controller.games.specification import Unit
from tests.end_to_end.browser import DEALER, Browser, free_port, port_of
from tests.end_to_end.child import Orders
from tests.end_to_end.processes import PATIENCE, ROOT, Child
from tests.end_to_end.stage import short_folder
from tests.operate.bench_table import BenchTable
from tests.support import long_forms
from tools.openapi import FILE

DESCRIPTION: Final[dict[str, Any]] = json.loads(FILE.read_bytes())
STREAMS: Final = ("/v1/events", "/v1/screen")
RUNS: Final = int(os.environ.get("CARDSHOE_API_RUNS", "1"))  # more in the long form
ENVIRONMENT: Final = {"SCHEMATHESIS_HOOKS": "tests.end_to_end.schemathesis_hooks", "PYTHONPATH": str(ROOT)}


@pytest.fixture
async def screen() -> AsyncIterator[Browser]:
    """Yield an enrolled screen at a table in the middle of a deal: the second set is in the tray."""
    with short_folder() as folder:
        async with BenchTable(folder, unit=Unit.SETS) as table:
            with table.configuration.open("a") as file:
                file.write(f"[api.http]\nport = {free_port()}\n")
            await table.start_console()
            await table.move("load")
            await table.start_daemon(Orders(unpaced=True))
            async with Browser(await port_of(table)) as browser, TableClient(table.socket) as people:
                assert (await browser.enrol()).json["accepted"]
                await to_dealing(people)
                assert (await browser.operate("sign_on", DEALER)).json["accepted"]
                await table.give_out("lift")
                yield browser
            assert table.daemon.running
            assert [line for line in table.daemon.err if '"level": "error"' in line] == []
            assert await table.daemon.end() == 0


async def to_dealing(table: TableClient) -> None:
    view = await table.state()
    events = table.events()
    async with asyncio.timeout(PATIENCE):
        for operation in (operations.DealerOn(), operations.OpenTable(), operations.PlaceYourBets()):
            name = str(operation.__struct_config__.tag)
            while not any(one.operation == name and one.allowed for one in await table.lawful()):
                await anext(events)
            await table.enter(operation)
    await table.enter(operations.OccupyBoxes((1, 3)))
    await table.enter(operations.NoMoreBets())
    assert view.journal
    await events.aclose()


async def ask(screen: Browser, *options: str) -> int:
    """Return the number of requests that schemathesis made. Fail with its output."""
    with short_folder() as folder:
        child = Child(
            "schemathesis.cli", "run", str(FILE), "--url", f"http://localhost:{screen.port}",
            "-H", f"Cookie: {screen.cookie}", "-H", "X-Cardshoe: 1", "--no-color", "--warnings", "off",
            "--generation-database", "none", "--exclude-checks", "not_a_server_error",  # 503 is described, 500 is not
            *(part for path in STREAMS for part in ("--exclude-path", path)), *options,
            environment=ENVIRONMENT, folder=folder,
        )  # fmt: skip
        try:
            code = await child.ended()
        finally:
            child.abandon()
    said = "\n".join(child.out + child.err)
    assert code == 0, said
    (made,) = re.findall(r"(\d+) generated, \1 passed", said)
    return int(made)


async def test_answers_are_as_described(screen: Browser) -> None:
    before = int((await screen.state())["entry"])
    assert await ask(screen, "--phases", "fuzzing", "--max-examples", "15", "--seed", "1", "--no-shrink") > 50
    assert int((await screen.state())["entry"]) > before + 5  # some reach the table


@pytest.mark.soak
async def test_many_answers_are_as_described(screen: Browser, record_property: Callable[[str, object], None]) -> None:
    """`CARDSHOE_API_RUNS` sets the number of runs, each with other requests."""
    made = [await ask(screen, "--max-examples", str(long_forms.count(200))) for _ in range(RUNS)]
    record_property("soak: requests to the described API", sum(made))


async def test_other_methods_are_refused_with_the_right_ones(screen: Browser) -> None:
    for path, described in DESCRIPTION["paths"].items():
        for method in ("PUT", "PATCH", "DELETE", "POST", "OPTIONS"):
            if method.lower() not in described:
                address = path.replace("{id}", "x").replace("{number}", "1")
                answered = await screen.ask(method, address, X_Cardshoe="", Content_Type="")
                assert (answered.status, answered.code) == (405, "method"), (method, path)
                allowed = {one.lower() for one in answered.headers["Allow"].split(",")}
                assert allowed - {"head"} == set(described)


# -- streams


def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": DESCRIPTION["components"]}
    )


async def test_every_event_and_every_state_is_as_described(screen: Browser) -> None:
    streams = {path: DESCRIPTION["paths"][path]["get"]["responses"]["200"] for path in STREAMS}
    events = streams["/v1/events"]["x-server-sent-events"]["events"]
    shown = streams["/v1/screen"]["x-server-sent-events"]["events"]
    schema = {name: validator(one["data"]["$ref"].rpartition("/")[2]) for name, one in (events | shown).items()}
    names: set[str] = set()
    async for name, id_, data in messages(screen, "/v1/events"):
        schema[name].validate(data)
        names.add(data["event"])
        journal, _, number = id_.partition(":")
        assert (bool(journal), int(number)) == (True, data["entry"])
        if data["event"] == "cards_dealt":
            break
    assert {"table_began", "round_began", "set_in_tray"} <= names
    seen: set[str] = set()
    async for name, _, data in messages(screen, "/v1/screen"):
        schema[name].validate(data)
        seen.add(name)
        if seen == set(shown):
            break


async def messages(screen: Browser, path: str) -> AsyncIterator[tuple[str, str, dict[str, Any]]]:
    """Yield each event with its name, id and data."""
    name, id_ = "message", ""
    headers = {"Host": screen.host, "Cookie": screen.cookie}
    async with (
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session,
        session.get(f"http://127.0.0.1:{screen.port}{path}", headers=headers) as response,
    ):
        assert (response.status, response.content_type) == (200, "text/event-stream")
        async for line in response.content:
            field, _, value = line.decode().rstrip("\n").partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                id_ = value
            elif field == "data":
                yield name, id_, json.loads(value)
                name = "message"


@pytest.mark.parametrize(
    ("last", "status"), [("x", 400), ("-1", 400), ("0a:1", 409), ("999999999", 409), ("9" * 30, 400)]
)
async def test_a_stream_that_cannot_be_resumed_is_refused_as_described(screen: Browser, last: str, status: int) -> None:
    answered = await screen.ask("GET", "/v1/events", Last_Event_ID=last)
    described = DESCRIPTION["paths"]["/v1/events"]["get"]["responses"][str(status)]["content"]["application/json"]
    assert answered.status == status
    schema = described["schema"] | {"components": DESCRIPTION["components"]}
    jsonschema_rs.Draft202012Validator(schema).validate(answered.json)
