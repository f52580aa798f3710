"""`cardshoe watch` with a running daemon: it reports events, also across a restart, and the reason for silence."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from controller.api.narration import line_of
from controller.commands.main import main
from controller.games.specification import Unit
from simulators.demo.stage import DemoStage
from tests.end_to_end.stage import Stage as DaemonStage
from tests.end_to_end.stage import short_folder


async def watch(socket: Path, *options: str) -> Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "controller", "watch", "--socket", str(socket), *options, stdout=PIPE, stderr=PIPE,
        env={**os.environ, "COLUMNS": "110"},
    )  # fmt: skip


async def test_events_are_printed_until_it_is_interrupted(tmp_path: Path) -> None:
    async with DemoStage(tmp_path, unit=Unit.SETS, seed=7, rounds=2, options=["--fast"]) as stage:
        told = await watch(stage.socket, "--after", "0")
        as_json = await watch(stage.socket, "--after", "0", "--json")
        end = await stage.finished_at()
        lines = await _lines_until(told, b"round 2 concluded")
        objects = await _lines_until(as_json, b'"entry":%d,' % end)
        for process in (told, as_json):
            process.send_signal(signal.SIGINT)
        await asyncio.gather(told.communicate(), as_json.communicate())
    assert told.returncode == as_json.returncode == 0
    assert b"round 1 concluded" in b"".join(lines)
    entries = [json.loads(line)["entry"] for line in objects]
    assert entries == sorted(set(entries))
    assert end in entries


async def test_it_resumes_when_the_daemon_runs_again() -> None:
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            await stage.start_daemon()
            as_json = await watch(stage.socket, "--after", "0", "--json")
            before = await _lines_until(as_json, b'"event":"service_changed"')
            await stage.kill_daemon()
            await _errors_until(as_json, b"Waiting until it runs again")
            await stage.start_daemon()
            after = await _lines_until(as_json, b'"event":"table_began"')
            as_json.send_signal(signal.SIGINT)
            await as_json.communicate()
    entries = [json.loads(line)["entry"] for line in (*before, *after)]
    assert entries == sorted(set(entries)), "none twice"
    assert as_json.returncode == 0


async def test_the_first_line_is_the_state_of_the_table_and_the_reason_for_silence() -> None:
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            await stage.start_daemon()
            told = await watch(stage.socket)
            line = await _errors_until(told, b"Table ")
            told.send_signal(signal.SIGINT)
            await told.communicate()
    assert b"Table T-1: Closed, out of service: " in line


async def test_a_user_who_is_not_admitted_is_told() -> None:
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            stage.configure(uid=os.getuid() + 4000)
            await stage.start_daemon()
            told = await watch(stage.socket)
            _, errors = await told.communicate()
    assert told.returncode == 1
    assert b"This user is not admitted" in errors
    assert b"Start it (" not in errors


async def test_a_stale_socket_and_a_missing_one_have_different_messages() -> None:
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            await stage.start_daemon()
            await stage.kill_daemon()
            told = await watch(stage.socket)
            _, errors = await told.communicate()
    assert told.returncode == 1
    assert b"The daemon ended and left its socket behind" in errors


async def _lines_until(process: Process, last: bytes) -> list[bytes]:
    """Return the process's lines up to one that contains `last`."""
    assert process.stdout is not None
    lines: list[bytes] = []
    while not lines or last not in lines[-1]:
        line = await process.stdout.readline()
        assert line, b"".join(lines)
        lines.append(line)
    return lines


async def _errors_until(process: Process, last: bytes) -> bytes:
    assert process.stderr is not None
    line = b""
    while last not in line:
        line = await process.stderr.readline()
        assert line
    return line


async def test_a_new_journal_is_reported() -> None:
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            await stage.start_daemon()
            as_json = await watch(stage.socket, "--after", "0", "--json")
            before = await _lines_until(as_json, b'"event":"service_changed"')
            first = (await stage.state()).journal
            await stage.kill_daemon()
            await _errors_until(as_json, b"Waiting until it runs again")
            stage.journal.rename(folder / "old")
            await stage.start_daemon()
            await _errors_until(as_json, b"Another journal has begun. It is shown from the beginning.")
            after = await _lines_until(as_json, b'"event":"service_changed"')
            as_json.send_signal(signal.SIGINT)
            await as_json.communicate()
            refused = await watch(stage.socket, "--after", f"{first}:1")
            _, errors = await refused.communicate()
    entries = [[json.loads(line)["entry"] for line in lines] for lines in (before, after)]
    assert entries[0] == entries[1]
    assert refused.returncode == 2
    assert b"The table is writing a different journal, " in errors


@pytest.mark.parametrize("after", ["-1", "x:1", "1:", "\u0663"])
async def test_an_id_of_no_event_is_refused(after: str) -> None:
    refused = await watch(Path("no.sock"), f"--after={after}")
    _, errors = await refused.communicate()
    assert refused.returncode == 2
    assert b"Write a number, or JOURNAL:NUMBER." in errors


async def test_an_entry_beyond_the_journal_is_refused() -> None:
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            await stage.start_daemon()
            told = await watch(stage.socket, "--after", "999999")
            _, errors = await told.communicate()
    assert told.returncode == 2
    assert b"The journal ends at entry " in errors


STRANGE = {
    "no state": (b'{"entry":"x"}', b""),
    "a state of many lists": (b"[" * 100_000, b""),
    "no JSON": (None, b"{nope"),
    "no event": (None, b"{}"),
    "a line without an end": (None, b"x" * 400_000),
}


@pytest.mark.parametrize("case", STRANGE)
async def test_another_program_at_the_socket_is_named_in_a_sentence(case: str) -> None:
    """The program may also be a daemon of another version."""
    state, event = STRANGE[case]
    with short_folder() as folder:
        async with DaemonStage(folder) as stage:
            await stage.start_daemon()
            body = state or msgspec.json.encode(await stage.state())

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(EOFError):
                while b"/v1/events" not in await reader.readuntil(b"\r\n\r\n"):
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
                writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: " + event + b"\n\n")
            writer.close()

        server = await asyncio.start_unix_server(answer, folder / "other.sock")
        told = await watch(folder / "other.sock")
        _, errors = await told.communicate()
        server.close()
    assert told.returncode == 1
    assert b"is not a daemon of this version" in errors
    assert b"Traceback" not in errors


def test_an_event_of_another_version_is_shown_by_its_name() -> None:
    assert str(line_of({"entry": 1, "event": "hand_exposed"})) == "hand exposed"


def test_a_plain_file_is_not_a_socket(tmp_path: Path) -> None:
    """It is not a stale socket of a daemon either."""
    file = tmp_path / "table.toml"
    file.write_text("[table]")
    for command, code in (("watch", 1), ("status", 3)):
        done = CliRunner().invoke(main, [command, "--socket", str(file)])
        assert done.exit_code == code
        assert f"{file} is not a socket." in done.stderr
        assert "It has ended" not in done.stderr


def test_moved_hands_are_shown_by_their_number_of_cards() -> None:
    """The people who move them do not know the order in which the cards left the device."""
    moved = [(2, "B5", "B6"), (1, "B1", "B2"), (3, "B1", "B2")]
    cards = [{"ordinal": ordinal, "source": source, "place": place} for ordinal, source, place in moved]
    event = {"event": "cards_reconstructed", "cards": cards, "whole_hands": True, "clause": "", "taken_back": 0}
    assert str(line_of(event)) == "hands were corrected: 1 card from box 5 to box 6; 2 cards from box 1 to box 2"
