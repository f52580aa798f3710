"""A running daemon whose files are changed reports no changed round as sound."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from controller.api.client import ApiClient, TableUnreachableError
from tests.end_to_end.child import Orders
from tests.end_to_end.stage import Stage, short_folder
from tests.journal_commands.test_changed import change, edit
from tests.journal_commands.test_changed_with_all_keys import File
from tests.journal_commands.test_files_in_order import exchange
from tests.support.noted import noted

A_FILE_A_ROUND = Orders(file_a_round=True)
TOLD = (b'"event":"round_began"', b'"event":"round_x"')


def file_of(stage: Stage, number: int) -> Path:
    """Return the file in which that round began."""
    return next(
        path for path in files_of(stage) if any(TOLD[0] in text and row[4] == number for row, text in texts(path))
    )


def files_of(stage: Stage) -> list[Path]:
    return sorted(stage.journal.glob("*.journal"))


def texts(path: Path) -> list[tuple[list[Any], bytes]]:
    file = File(path)
    return [(row, file.packing.unpack(row[5])) for row in file.rows]


def without_its_field(stage: Stage) -> None:
    """The holder of the local key takes a field out of an event, and makes hashes and MACs again."""
    path = file_of(stage, 1)
    file = File(path)
    row = next(row for row in file.rows if TOLD[0] in file.packing.unpack(row[5]))
    given, _, events = file.packing.unpack(row[5]).partition(b"\n")
    parts = json.loads(events)
    for event in parts:
        event.pop("round", None)
    row[5] = file.packing.pack(given + b"\n" + json.dumps(parts, separators=(",", ":")).encode())
    file.seal(None, "", stage.journal_key)
    file.write(path)


REFUSED: dict[str, tuple[Callable[[Stage], object], str]] = {
    "bytes that are not a decision": (
        lambda stage: change(file_of(stage, 1), ("UPDATE decision SET body = x'00' WHERE round = 1", ())),
        "is damaged: the entries up to",
    ),
    "a field taken out by the holder of the local key": (without_its_field, "cannot be put into words"),
    "a file exchanged with the next": (
        lambda stage: exchange(stage.journal, file_of(stage, 1).name, file_of(stage, 2).name), "is damaged: it "
    ),
}  # fmt: skip


async def test_over_http_an_unchanged_round_is_served_and_a_changed_one_marked_or_refused() -> None:
    """Each daemon has read nothing of the earlier rounds when their files change."""
    with short_folder() as folder:
        async with Stage(folder, rounds=3) as stage:
            await stage.start_device()
            await stage.start_daemon(A_FILE_A_ROUND)
            await stage.played()
            assert await stage.daemon.end() == 0
            async with begun(stage) as client:
                for number in (1, 2):
                    found = json.loads(await client.get(f"/v1/rounds/{number}"))
                    assert not any("changed" in event for event in found)
                    assert sum("line" in event for event in found) > 5
            async with begun(stage) as client:
                first, last = edit(file_of(stage, 1), b'"event":"boxes_occupied"', b'"event":"boxes_occupieD"')
                found = json.loads(await client.get("/v1/rounds/1"))
                marked = [event for event in found if event.get("changed")]
                assert {event["entry"] for event in marked} == set(range(first + 1, last + 1))
                assert not any("line" in event for event in marked)
            for how, (spoil, said) in REFUSED.items():
                async with begun(stage) as client:
                    with noted(how):
                        spoil(stage)
                        with pytest.raises(TableUnreachableError) as refused:
                            await client.get("/v1/rounds/1")
                        assert refused.value.code == "journal-damaged"
                        assert said in str(refused.value)
                        assert ".journal" in str(refused.value)
                        assert await client.is_healthy()


@asynccontextmanager
async def begun(stage: Stage) -> AsyncIterator[ApiClient]:
    """Start a daemon for a client; afterwards end it and put the closed files back as they were."""
    await stage.start_daemon()
    kept = {path: (path.read_bytes(), path.stat().st_mode & 0o777) for path in files_of(stage)[:-1]}
    async with ApiClient(stage.socket) as client:
        yield client
    await stage.kill_daemon()
    for path, (data, mode) in kept.items():
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        path.chmod(mode)
