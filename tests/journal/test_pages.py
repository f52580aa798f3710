"""Pages of a journal for followers: read once for all of them, over connections that block nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.journal import JournalError
from controller.journal.pages import KEPT, Pages
from controller.journal.reader import JournaledDecision
from tests.journal.vocabulary import Cards, TestJournal, append, moment

STEPS = 40  # decisions of four entries in each file


@pytest.fixture
def pages(folder: Path) -> Iterator[Pages[JournaledDecision]]:
    pages = Pages(folder, lambda decision: [decision])
    yield pages
    pages.close()


@pytest.fixture
def filled(journal: TestJournal) -> TestJournal:
    """Return three files, of which the newest is still open."""
    for file in range(3):
        for step in range(STEPS):
            append(journal, file * STEPS + step)
        if file < 2:
            journal.begin_file(Cards(), moment())
    return journal


async def test_a_page_has_the_decisions_of_its_range(filled: TestJournal, pages: Pages[JournaledDecision]) -> None:
    """A range may begin in an older file and end in a newer file."""
    every = list(filled.files().decisions())
    for after in (0, 3, 4 * STEPS - 1, 4 * STEPS, 4 * STEPS + 1, 8 * STEPS, 12 * STEPS - 1):
        for length in (1, 7, 256, 1000):
            until = min(after + length, 12 * STEPS)
            assert await pages.page(after, until) == [one for one in every if one.last > after and one.first <= until]


async def test_a_page_is_read_once_for_all(filled: TestJournal, folder: Path) -> None:
    made: list[int] = []
    spent: list[float] = []

    def make(decision: JournaledDecision) -> list[int]:
        made.append(decision.last)
        return [decision.last]

    pages = Pages(folder, make, spent.append)
    asked = await asyncio.gather(*(pages.page(0, 256) for _ in range(50)))
    assert asked == [await pages.page(0, 256)] * 50
    assert made == asked[0]
    assert len(spent) == 1
    assert spent[0] > 0
    for begin in range(1, KEPT + 1):  # other pages replace it
        await pages.page(begin, begin)
    assert await pages.page(0, 256) == asked[0]
    assert made.count(4) > 1
    pages.close()


async def test_a_cancelled_reader_takes_no_page_from_others(
    filled: TestJournal, pages: Pages[JournaledDecision]
) -> None:
    hasty, patient = (asyncio.create_task(pages.page(0, 256)) for _ in range(2))
    await asyncio.sleep(0)
    hasty.cancel()
    assert len(await patient) == 64


async def test_no_connection_outlasts_a_page(filled: TestJournal, pages: Pages[JournaledDecision], path: Path) -> None:
    """Otherwise a file that ends while somebody catches up would stay open, with its log beside it."""
    await pages.page(0, 12 * STEPS)
    append(filled, 1)
    filled.begin_file(Cards(), moment())
    closed = path.with_name("000003.journal")
    assert closed.stat().st_mode & 0o777 == 0o440
    assert not closed.with_name(f"{closed.name}-wal").exists()


async def test_a_page_that_cannot_be_read_is_read_again_when_it_is_asked_for(
    filled: TestJournal, pages: Pages[JournaledDecision], path: Path
) -> None:
    whole = replace(path, b"no journal")
    with pytest.raises(JournalError):
        await pages.page(0, 256)
    replace(path, whole)
    assert len(await pages.page(0, 256)) == 64


def replace(path: Path, content: bytes) -> bytes:
    """Replace the file with its earlier content."""
    path.chmod(0o600)
    before = path.read_bytes()
    path.write_bytes(content)
    return before
