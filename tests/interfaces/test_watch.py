"""`cardshoe watch` beside a running daemon: what happens is told, and the daemon's end is the end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

from controller.games.specification import Unit
from simulators.demo.stage import Stage


async def watch(socket: Path, *options: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller", "watch", "--socket", str(socket), *options, stdout=PIPE, stderr=PIPE,
        env={**os.environ, "COLUMNS": "110"},
    )  # fmt: skip


async def test_tells_what_happens_until_the_daemon_ends(tmp_path: Path) -> None:
    async with Stage(tmp_path, unit=Unit.SETS, seed=7, rounds=2, options=["--fast"]) as stage:
        told = await watch(stage.socket, "--after", "0")
        as_json = await watch(stage.socket, "--after", "0", "--json")
        end = await stage.finished_at()
        lines = await _lines_until(told, b"round 2 concluded")
        objects = await _lines_until(as_json, b'"entry":%d,' % end)
        stage.daemon.terminate()
        (_, ended), _ = await asyncio.gather(told.communicate(), as_json.communicate())
    assert told.returncode == as_json.returncode == 0
    assert b"round 1 concluded" in b"".join(lines)
    assert b"The daemon has ended." in ended
    entries = [json.loads(line)["entry"] for line in objects]
    assert entries == sorted(set(entries))
    assert end in entries


async def _lines_until(process: Process, last: bytes) -> list[bytes]:
    """What the process printed, up to the line that has `last` in it."""
    assert process.stdout is not None
    lines: list[bytes] = []
    while not lines or last not in lines[-1]:
        line = await process.stdout.readline()
        assert line, b"".join(lines)
        lines.append(line)
    return lines
