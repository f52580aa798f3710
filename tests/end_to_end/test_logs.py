"""A log that cannot be written stops no table; its lines reach journald with their levels."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import aiohttp
import pytest

from tests.end_to_end.browser import free_port
from tests.end_to_end.processes import PATIENCE, ROOT
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_metrics import at_socket

LOST = "cardshoe_log_lines_lost_total"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage:
            yield stage


@contextmanager
def standard_error(how: str) -> Iterator[int]:
    """Yield a descriptor that is full, whose reader has gone, or whose reader is stuck."""
    if how == "full":
        number = os.open("/dev/full", os.O_WRONLY)
        yield number
    else:
        reader, number = os.pipe()
        if how == "gone":
            os.close(reader)
        else:
            os.set_blocking(number, False)
            with suppress(BlockingIOError):
                while True:
                    os.write(number, bytes(4096))
            os.set_blocking(number, True)
        yield number
        if how != "gone":
            os.close(reader)
    os.close(number)


@asynccontextmanager
async def running(
    stage: Stage, stderr: int, *before: str, environment: dict[str, str] | None = None
) -> AsyncIterator[Process]:
    """Yield a daemon that is ready. `before` is the start of the command line."""
    path = stage.folder / "notify-log"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) as notify:
        notify.bind(str(path))
        daemon = await asyncio.create_subprocess_exec(
            *before, sys.executable, "-m", "controller", "run", "--config", str(stage.configuration),
            cwd=ROOT, stdin=DEVNULL, stdout=DEVNULL, stderr=stderr,
            env=os.environ | {"NOTIFY_SOCKET": str(path)} | (environment or {}),
        )  # fmt: skip
        try:
            async with asyncio.timeout(PATIENCE):
                while b"READY=1" not in await asyncio.get_running_loop().sock_recv(notify, 4096):
                    assert daemon.returncode is None
            yield daemon
        finally:
            with suppress(ProcessLookupError):
                daemon.kill()
            await daemon.wait()


async def stopped(daemon: Process) -> int:
    daemon.send_signal(signal.SIGTERM)
    async with asyncio.timeout(PATIENCE):
        return await daemon.wait()


@pytest.mark.parametrize("how", ["full", "gone", "stuck"])
async def test_a_table_deals_while_its_log_cannot_be_written(stage: Stage, how: str) -> None:
    with standard_error(how) as stderr:
        async with running(stage, stderr) as daemon:
            await stage.start_device()
            await stage.played()
            assert (await stage.state()).round == 1
            if how != "stuck":  # its lines wait
                assert (await at_socket(stage))[LOST] > 0
                assert any("lines are lost" in str(one) for one in (await stage.state()).warnings)
            assert await stopped(daemon) == 0


@pytest.mark.parametrize("how", ["full", "gone", "stuck", "closed"])
@pytest.mark.parametrize("command", ["serve", "store"])
async def test_a_floor_is_served_while_its_log_cannot_be_written(how: str, command: str) -> None:
    """Broker and database are away, of which the log would have lines."""
    port, away = free_port(), free_port()
    options = {
        "serve": ["--broker", f"127.0.0.1:{away}", "--listen", str(port)],
        "store": ["--broker", f"127.0.0.1:{away}", "--metrics", str(port), "--database", f"host=127.0.0.1 port={away}"],
    }
    before = ["sh", "-c", 'exec "$@" 2>&-', "sh"] if how == "closed" else []
    with standard_error("full" if how == "closed" else how) as stderr:
        process = await asyncio.create_subprocess_exec(
            *before, sys.executable, "-m", "controller", "floor", command, *options[command], "--verbose",
            cwd=ROOT, stdin=DEVNULL, stdout=DEVNULL, stderr=stderr,
        )  # fmt: skip
        try:
            page = "/" if command == "serve" else "/metrics"
            async with asyncio.timeout(PATIENCE), aiohttp.ClientSession() as session:
                while True:
                    assert process.returncode is None
                    with suppress(aiohttp.ClientConnectorError):
                        async with session.get(f"http://127.0.0.1:{port}{page}") as answer:
                            assert answer.status == 200
                            break
                    await asyncio.sleep(0.05)  # another process
            assert await stopped(process) == 0
        finally:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


async def test_a_table_starts_without_standard_error(stage: Stage) -> None:
    async with running(stage, DEVNULL, "sh", "-c", 'exec "$@" 2>&-', "sh") as daemon:
        assert (await at_socket(stage))[LOST] > 0
        assert await stopped(daemon) == 0


async def test_journald_receives_the_levels(stage: Stage, tmp_path: Path) -> None:
    """`journalctl -p warning` reads the number in front of each line (sd-daemon(3))."""
    log = tmp_path / "log"
    with log.open("wb") as stream:
        found = os.fstat(stream.fileno())
        environment = {"JOURNAL_STREAM": f"{found.st_dev}:{found.st_ino}"}
        async with running(stage, stream.fileno(), environment=environment) as daemon:
            assert await stopped(daemon) == 0
    assert all(line[3:].startswith('{"event": ') for line in log.read_text().splitlines()), (
        "what people read comes first"
    )
    lines = [(line[:3], json.loads(line[3:])["level"]) for line in log.read_text().splitlines()]
    assert ("<6>", "info") in lines
    assert set(lines) <= {("<6>", "info"), ("<4>", "warning")}
