"""The writer's thread answers in order, reports failures to the caller, survives them, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pytest_mock import MockerFixture

from controller.journal import JournalError
from controller.journal.store import Committed
from controller.journal.writer import JournalWriter
from tests.journal.vocabulary import IDENTITY, AnyEvent, AnyInput, Noted, Said, moment, open_journal

Writer = JournalWriter[AnyInput, AnyEvent]


def journal_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "journal"]


@pytest_asyncio.fixture
async def writer(folder: Path) -> AsyncIterator[Writer]:
    writer = await Writer.start(lambda: open_journal(folder))
    yield writer
    await writer.close()
    assert not journal_threads()


async def say(writer: Writer, step: int) -> int:
    committed = await writer.append(Said(f"step {step}"), [Noted("noted")], round=1, moment=moment(step))
    return committed.first


async def test_parallel_requests_are_done_in_order(writer: Writer) -> None:
    assert writer.identity == IDENTITY
    firsts = await asyncio.gather(*(say(writer, step) for step in range(50)))
    assert firsts == list(range(1, 101, 2))
    read = await writer.read()
    assert [entry.value for entry in read[::2]] == [Said(f"step {step}") for step in range(50)]
    assert [entry.number for entry in await writer.read(after=98)] == [99, 100]
    assert [entry.number for entry in await writer.read(after=2, limit=3)] == [3, 4, 5]


async def test_the_journal_is_used_in_one_thread_only(folder: Path, mocker: MockerFixture) -> None:
    seen = []

    def open_there() -> Any:
        seen.append(threading.current_thread())
        return open_journal(folder)

    writer = await Writer.start(open_there)
    await say(writer, 1)
    assert journal_threads() == seen
    await writer.close()
    assert not journal_threads()


async def test_a_failure_reaches_the_caller_and_the_thread_survives(folder: Path, mocker: MockerFixture) -> None:
    journal: Any = None

    def open_there() -> Any:
        nonlocal journal
        journal = open_journal(folder)
        return journal

    writer = await Writer.start(open_there)
    await say(writer, 1)
    whole = journal._connection
    journal._connection = mocker.Mock()
    journal._connection.execute.side_effect = sqlite3.OperationalError("database or disk is full")
    with pytest.raises(JournalError) as full:
        await say(writer, 2)
    assert full.value.code == "journal-full"
    journal._connection = whole
    assert await say(writer, 3) == 3
    with pytest.raises(TypeError):
        await writer.append(Said("x"), None, round=1, moment=moment())  # type: ignore[arg-type]  # this fails
    assert await say(writer, 4) == 5
    await writer.close()


async def test_a_journal_that_cannot_be_opened_leaves_no_thread(folder: Path) -> None:
    with pytest.raises(JournalError) as refused:
        await Writer.start(lambda: open_journal(folder, local_key=b"short"))
    assert refused.value.code == "journal-key"
    assert not journal_threads()


async def test_the_callback_of_a_commit_runs_first(writer: Writer) -> None:
    """It runs one turn of the loop before the caller, so followers wait for nothing else."""
    course: list[str] = []

    def then(committed: Committed) -> None:
        course.append(f"then {committed.first}")
        asyncio.get_running_loop().call_soon(course.append, "the loop")

    await writer.append(Said("x"), [Noted("noted")], round=1, moment=moment(1), then=then)
    course.append("the caller")
    assert course == ["then 1", "the loop", "the caller"]


async def test_the_callback_may_fail_and_is_skipped_after_a_failure(writer: Writer) -> None:
    def then(committed: Committed) -> None:
        called.append(committed.first)
        raise ValueError("it fails")

    called: list[int] = []
    with pytest.raises(ValueError, match="it fails"):
        await writer.append(Said("x"), [Noted("noted")], round=1, moment=moment(1), then=then)
    with pytest.raises(TypeError):
        await writer.append(Said("x"), None, round=1, moment=moment(2), then=then)  # type: ignore[arg-type]  # this fails
    cancelled = asyncio.create_task(writer.append(Said("x"), [], round=1, moment=moment(3), then=then))
    await asyncio.sleep(0)
    cancelled.cancel()
    assert await say(writer, 4) == 4
    assert called == [1]


async def test_a_caller_that_is_cancelled_harms_nobody(writer: Writer) -> None:
    waiting = asyncio.create_task(say(writer, 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await say(writer, 2) == 3
    assert [entry.number for entry in await writer.read()] == [1, 2, 3, 4]


@pytest.mark.parametrize("opens", [True, False])
async def test_a_cancelled_start_leaves_the_file_free_and_no_thread(folder: Path, opens: bool) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def open_slowly() -> Any:
        entered.set()
        go_on.wait()
        if not opens:
            raise JournalError("journal-io", "No.", "No.")
        return open_journal(folder)

    starting = asyncio.create_task(Writer.start(open_slowly))
    await asyncio.to_thread(entered.wait)
    (thread,) = journal_threads()
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    go_on.set()
    await asyncio.to_thread(thread.join)
    open_journal(folder).close()


async def test_closing_finishes_pending_requests_and_refuses_new_ones(folder: Path) -> None:
    writer = await Writer.start(lambda: open_journal(folder))
    waiting = [asyncio.create_task(say(writer, step)) for step in range(5)]
    await asyncio.sleep(0)
    await asyncio.gather(writer.close(), writer.close())
    assert await asyncio.gather(*waiting) == [1, 3, 5, 7, 9]
    with pytest.raises(JournalError, match="closed"):
        await say(writer, 9)
    await writer.close()


async def test_closing_may_be_cancelled_and_asked_again(folder: Path) -> None:
    writer = await Writer.start(lambda: open_journal(folder))
    go_on = threading.Event()
    holding = asyncio.create_task(writer._call(go_on.wait))
    closing = asyncio.create_task(writer.close())
    await asyncio.sleep(0)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    go_on.set()
    await writer.close()
    assert await holding
    assert not journal_threads()


def test_a_loop_that_ended_early_does_not_end_the_thread_badly(folder: Path) -> None:
    started: list[Callable[[], None]] = []

    async def main() -> None:
        writer = await Writer.start(lambda: open_journal(folder))
        hold = threading.Event()
        started.append(hold.set)
        asyncio.ensure_future(writer._call(hold.wait)).cancel()
        for work in (hold.wait, writer._journal.close):
            writer._asked.put((work, asyncio.get_running_loop().create_future(), lambda _: None))
        writer._asked.put(None)

    asyncio.run(main())
    (thread,) = journal_threads()
    started[0]()
    thread.join()
    open_journal(folder).close()
