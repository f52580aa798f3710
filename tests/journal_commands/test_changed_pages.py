"""The API checks what it reads of the journal with the local key, and marks changed entries."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from controller.api.feed import ProcessorShare
from controller.api.round_events import with_lines
from controller.daemon.journal_kinds import of_decision
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.games.own_words import OwnWords
from controller.journal import JournalError
from controller.journal.pages import Pages
from controller.journal.reader import JournalReader
from tests.journal_commands.made import KEY, evening
from tests.journal_commands.test_changed import change, edit


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    evening(tmp_path / "written").journal.close()
    return Path(shutil.copytree(tmp_path / "written", tmp_path / "journal"))


def pages_of(folder: Path) -> Pages[object]:
    return Pages(
        folder, of_decision,
        open_file=lambda path: JournalReader.open_to_read(path, JOURNAL_TYPES, local_key=KEY),
    )  # fmt: skip


async def test_a_changed_decision_is_marked_and_has_no_line(folder: Path) -> None:
    first, last = edit(folder / "000001.journal", b'"outcome":"win"', b'"outcome":"lose"')
    pages = pages_of(folder)
    events = [event.payload for event in await pages.page(0, 200)]  # type: ignore[attr-defined]
    pages.close()
    marked = [event for event in map(json.loads, events) if event.get("changed")]
    assert {event["entry"] for event in marked} == set(range(first + 1, last + 1))
    told = [json.loads(event) for event in await with_lines(events, ProcessorShare(), OwnWords(), {})]
    assert [event["entry"] for event in told if event.get("changed") and "line" in event] == []
    assert any("line" in event for event in told)


async def test_a_decision_without_its_mac_is_marked(folder: Path) -> None:
    path = folder / "000001.journal"
    change(path, ("UPDATE decision SET mac = zeroblob(16) WHERE last = (SELECT min(last) FROM decision)", ()))
    pages = pages_of(folder)
    events = [json.loads(event.payload) for event in await pages.page(0, 50)]  # type: ignore[attr-defined]
    pages.close()
    assert next(event["entry"] for event in events if "changed" in event) == 2


async def test_an_unreadable_entry_is_an_error_in_a_sentence(folder: Path) -> None:
    change(
        folder / "000001.journal",
        ("UPDATE decision SET body = x'00' WHERE last = (SELECT min(last) FROM decision)", ()),
    )
    pages = pages_of(folder)
    with pytest.raises(JournalError, match="is damaged: the entries up to"):
        await pages.page(0, 50)
    pages.close()
