"""`cardshoe status` with a running daemon: one screen, and the exit code for monitors."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from controller.api.client import ApiClient
from controller.api.narration import line_of
from controller.api.view import LinkView, view_of
from controller.commands import status as command
from controller.commands.main import main
from controller.commands.table_display import how_it_stands
from tests.end_to_end.stage import Stage, short_folder
from tests.table.harness import TableHarness


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            yield stage


async def status_of(stage: Stage, *options: str) -> tuple[int, str, str]:
    child = stage.start("status", *(options or ("--socket", str(stage.socket))))
    code = await child.ended()
    return code, "\n".join(child.out), "\n".join(child.err)


async def test_a_table_in_service_and_one_without_its_device(stage: Stage) -> None:
    await stage.start_device(dealer=False)
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        entry = (await stage.events_until(client, "status_agrees"))[-1]["entry"]
        code, said, errors = await status_of(stage)
        assert (code, errors) == (0, ""), said
        assert "Table T-1 · SIMULATED · in service" in said
        for word in ("NC · Non-Commission Three Pictures · sets", "on duty: nobody", "Shuffler", " · ready · heard "):
            assert word in said
        assert f"entry {(await client.state()).entry}" in said
        await stage.device.end()
        await stage.events_until(client, "device_lost", entry)
    code, said, errors = await status_of(stage, "--config", str(stage.configuration))
    assert code == 1
    assert "Table T-1 · SIMULATED · out of service" in said
    assert "cardshoe: Table T-1 is out of service: " in errors


async def test_the_last_event_is_one_that_people_are_shown(stage: Stage) -> None:
    await stage.start_device(dealer=False, load=True)
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        events = await stage.events_until(client, "command_done")
        assert line_of(events[-1]) is None
        _, said, _ = await status_of(stage)
    assert re.search(r"last .* UTC: deck 1 shuffled, 52 cards", said), said


async def test_as_json_it_is_the_state_with_the_newest_event(stage: Stage) -> None:
    await stage.start_daemon()
    code, said, _ = await status_of(stage, "--socket", str(stage.socket), "--json")
    found = json.loads(said)
    assert code == 1
    assert (found["in_service"], found["table"]["table"]) == (False, "T-1")
    assert found["sentence"].startswith("Table T-1 is out of service")
    assert found["last"]["entry"] == found["table"]["entry"]


async def test_a_user_who_is_not_admitted_reaches_no_table(stage: Stage) -> None:
    stage.configure(uid=os.getuid() + 4000)
    await stage.start_daemon()
    code, _, errors = await status_of(stage)
    assert code == 3
    assert "This user is not admitted" in errors
    assert "runuser -u USER -- cardshoe status" in errors


async def test_people_whose_pins_the_table_does_not_know_are_told_how_to_name_them(stage: Stage) -> None:
    text = stage.configuration.read_text()
    pins = re.findall(r'pin_hash = "(.*)"', text)
    stage.configuration.write_text(text.replace(f'"{pins[1]}"', f'"{pins[0]}"').replace(f'"{pins[2]}"', f'"{pins[0]}"'))
    await stage.start_daemon()
    await stage.start_device()
    assert await stage.device.ended() == 2
    assert "--dealer FILE --pin ID=PIN" in "\n".join(stage.device.err)


def test_no_daemon_and_bad_input(tmp_path: Path) -> None:
    absent = CliRunner().invoke(main, ["status", "--socket", str(tmp_path / "no.sock")])
    assert absent.exit_code == 3
    assert "No daemon answers" in absent.stderr
    for options in ([], ["--socket", "a", "--config", "b"]):
        assert CliRunner().invoke(main, ["status", *options]).exit_code == 2
    (tmp_path / "table.toml").write_text("[table]\n")
    bad = CliRunner().invoke(main, ["status", "--config", str(tmp_path / "table.toml")])
    assert bad.exit_code == 2
    assert "mistakes" in bad.stderr


async def test_a_daemon_that_never_answers_does_not_keep_a_monitor_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "WITHIN", 0.05)
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / "a"))
        listening.listen()
        done = await asyncio.to_thread(CliRunner().invoke, main, ["status", "--socket", str(folder / "a")])
    assert done.exit_code == 3
    assert "did not answer within" in done.stderr


def test_why_a_table_is_out_of_service_ends_with_one_stop() -> None:
    view = view_of(TableHarness().start().state, LinkView())
    view = msgspec.structs.replace(view, service="out_of_service", service_cause="The pin of the journal is missing.")
    assert "of the journal is missing. " in how_it_stands(view)
