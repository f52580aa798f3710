"""`cardshoe floor watch` and `serve` as processes: in a terminal, line by line, and their refusals."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

from controller.commands.main import main
from controller.floor.broker import BrokerConnection, connected
from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import Child
from tests.floor.many_tables import EXPOSED, Told, changed, floor_of, opened, quiet, tell
from tests.floor.mosquitto import Mosquitto, mosquitto
from tests.floor.test_stories import decision, pause
from tests.operate.terminal import CommandTerminal

tool = pytest.mark.tool("mosquitto")
EVIL = "\x1b]0;owned\x07\x1b[2J[bold]x[/bold]"


@asynccontextmanager
async def broker_with(folder: Path, *tables: Told) -> AsyncIterator[tuple[Mosquitto, BrokerConnection]]:
    async with mosquitto(folder) as broker, connected(broker.broker, "tables") as connection:
        await tell(connection, tables)
        yield broker, connection


@asynccontextmanager
async def running(*arguments: str) -> AsyncIterator[Child]:
    child = Child("controller", "floor", *arguments)
    try:
        yield child
    finally:
        child.abandon()


@asynccontextmanager
async def terminal(folder: Path, broker: Mosquitto, *options: str) -> AsyncIterator[CommandTerminal]:
    found = CommandTerminal(folder, "floor", "watch", "--broker", f"localhost:{broker.port}", *options)
    try:
        yield found
    finally:
        found.close()


@tool
async def test_a_terminal_shows_the_floor_and_its_changes(tmp_path: Path) -> None:
    tables = [opened(quiet(0), EXPOSED, 12), quiet(1), changed(quiet(2), dealer=EVIL)]
    async with broker_with(tmp_path, *tables) as (broker, connection), terminal(tmp_path, broker) as shown:
        await shown.until("1 table must stop.")
        await shown.until("A card exposed in dealing: box 1 · NC 5.7 · Waiting for: pit supervisor")
        await shown.until("[bold]x[/bold]")
        assert b"owned\x07" not in shown.raw
        await tell(connection, [quiet(0)])
        await shown.until("No open matters.")
        await broker.kill()
        await shown.until("This is the floor as of ")
        await broker.start()
        await shown.until("No open matters.")
        shown.press("\x03")
        assert await shown.ended() == 0
        assert "Traceback" not in shown.shown


@tool
async def test_a_chinese_terminal_shows_one_table_with_its_events(tmp_path: Path) -> None:
    async with (
        broker_with(tmp_path, *floor_of(16)) as (broker, connection),
        terminal(tmp_path, broker, "--table", "nc-01", "--language", "zh-Hans") as shown,
    ):
        await shown.until("1张牌桌须停止派牌。")
        for said in ("派牌时露牌", "1号位 · NC 5.7 · ", "区域主管"):
            await shown.until(said)
        await connection.publish("cardshoe/1/vienna/p1/nc-01/journal", decision(1, pause("lunch")))
        await shown.until("lunch")
        assert "nc-02" not in shown.shown
        shown.press("\x03")
        assert await shown.ended() == 0


@tool
async def test_without_a_terminal_each_change_is_a_line(tmp_path: Path) -> None:
    tables = [opened(quiet(0), EXPOSED, 12), quiet(1)]
    async with (
        broker_with(tmp_path, *tables) as (broker, connection),
        running("watch", "--broker", f"localhost:{broker.port}", "--language", "en") as watching,
    ):
        await watching.until(lambda: len(watching.out) >= 2)
        assert watching.out[0] == "1 table must stop."
        assert watching.out[1].startswith("vienna/p1/nc-01: A card exposed in dealing: box 1 · NC 5.7")
        await tell(connection, [changed(quiet(1), paused=EVIL)])
        await watching.until(lambda: any("nc-02: Paused: " in line for line in watching.out))
        assert not any("\x1b" in line for line in watching.out)
        await tell(connection, [quiet(0), quiet(1)])
        await watching.until(lambda: "No open matters." in watching.out)
        await watching.until(lambda: any(line.endswith(": over") for line in watching.out))
        await broker.kill()
        await watching.until(lambda: any("This is the floor as of" in line for line in watching.out))
        watching.signal(signal.SIGINT)
        assert await watching.ended() == 0
        assert watching.err[0].startswith("The connection to the broker")


@tool
async def test_the_page_is_served_until_it_is_stopped(tmp_path: Path) -> None:
    port = free_port()
    async with (
        broker_with(tmp_path, quiet(0)) as (broker, _),
        running("serve", "--broker", f"localhost:{broker.port}", "--listen", f"localhost:{port}") as served,
    ):
        await served.until(lambda: served.logged("floor.connected"))
        async with aiohttp.ClientSession() as session, session.get(f"http://localhost:{port}/") as answer:
            assert answer.status == 200
        async with running("serve", "--listen", str(port)) as second:
            assert await second.ended() == 2
            assert second.err[0] == f"cardshoe: --listen {port}: the port is in use."
        served.signal(signal.SIGTERM)
        assert await served.ended() == 0
        assert served.err[0] == f"The floor: http://localhost:{port}/"


async def test_a_missing_broker_is_reported_and_waited_for() -> None:
    async with running("watch", "--broker", f"localhost:{free_port()}", "--language", "en") as told:
        await told.until(lambda: told.out)
        assert told.out == ["The broker cannot be reached."]
        assert "cannot be reached: connection refused." in told.err[0]


@pytest.mark.parametrize("command", ["watch", "serve"])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--broker", "broker.example"], "Name the files: --ca, --certificate and --key."),
        (["--broker", "mqtts://localhost"], "is encrypted."),
        (["--broker", "mqtt://localhost", "--ca", "a", "--certificate", "b", "--key", "c"], "is not encrypted."),
        (["--broker", "localhost", "--ca", "a"], "TLS needs three files."),
        (["--broker", "http://localhost"], "is not the address of a broker"),
        (["--broker", "localhost:99999"], "is not the address of a broker"),
        (["--broker", "x" * 3000], "is not the address of a broker"),
        (["--site", "+"], "'+' is not a valid name."),
        (["--pit", "#"], "'#' is not a valid name."),
        (["--pit", "a/b"], "is not a valid name."),
    ],
)
def test_invalid_arguments_are_refused_in_a_sentence(command: str, options: list[str], says: str) -> None:
    done = CliRunner().invoke(main, ["floor", command, *options])
    assert done.exit_code == 2
    assert says in done.stderr
    assert len(done.stderr) < 700
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("0.0.0.0:80", "is reachable from other machines"),
        ("pit.example:80", "--host"),
        ("x", "is not a port"),
        ("70000", "not a port"),
    ],
)
def test_the_page_is_served_on_the_loopback_only(address: str, says: str) -> None:
    done = CliRunner().invoke(main, ["floor", "serve", "--listen", address])
    assert done.exit_code == 2
    assert says in " ".join(done.stderr.split())
