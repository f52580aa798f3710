"""A daemon that stops while a commit is pending saves no state that is older than the journal's end."""

from __future__ import annotations

import asyncio
import threading
from contextlib import closing, suppress
from datetime import time
from pathlib import Path
from typing import Any

import structlog

from controller.api.callers import Caller
from controller.api.view import LinkView
from controller.daemon.journal_days import JournalDays, find_zone
from controller.daemon.journal_keeper import JournalKeeper
from controller.daemon.journal_start import load
from controller.daemon.table_service import TableService
from controller.journal.codec import Moment
from controller.journal.writer import JournalWriter
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from firmware_bridge.drivers.base import LinkOver
from firmware_bridge.drivers.memory import LinkMemory
from tests.journal.table_journals import PlayedTable, TableJournal, open_journal, report, start

BEGUN = Moment(10**18, 1)


class Still:
    """A clock that does not advance."""

    def now(self) -> Moment:
        return BEGUN


class HeldJournal:
    """The real journal, whose next commit waits until it is released."""

    def __init__(self, journal: TableJournal) -> None:
        self._journal, self.asked, self.goes_on = journal, threading.Event(), threading.Event()

    def append(self, *given: Any, **more: Any) -> Any:
        self.asked.set()
        assert self.goes_on.wait(60), "a guard against a hang"
        return self._journal.append(*given, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)


async def test_a_stop_waits_for_the_end_of_the_link_and_saves_the_state_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    played = PlayedTable(folder)
    with closing(played.journal):
        played.play()
        last = played.state
    held: list[HeldJournal] = []

    def opened() -> Any:
        journal = open_journal(folder)
        load(journal, BEGUN, report())
        held.append(HeldJournal(journal))
        return held[0]

    writer: JournalWriter[AnyInput, AnyEvent] = await JournalWriter.start(opened)
    memory = LinkMemory(last.link)
    days = JournalDays(time(6), find_zone("UTC"), 10**9)
    keeper = JournalKeeper(writer, memory, days, 0, Still(), lambda: 0, structlog.get_logger())
    service = TableService("BENCH", last.table, writer, Still(), LinkView, keeper)
    running = asyncio.create_task(service.run())
    service.hear(LinkOver("unplugged", "The device is gone.", False))
    resting = asyncio.create_task(service.rest())
    await asyncio.to_thread(held[0].asked.wait, 60)
    assert not resting.done()
    held[0].goes_on.set()
    await resting
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    await keeper.stop(service.state)
    service.close()
    head = writer.head.number
    await writer.close()
    assert service.state.entry == head > last.table.entry
    with closing(open_journal(folder)) as journal, closing(journal.reader(journal.path)) as reader:
        saved = reader.checkpoint()
        assert saved is not None
        assert saved[0].number == head


async def test_a_stop_in_the_middle_of_a_commit(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    played = PlayedTable(folder)
    with closing(played.journal):
        played.play()
        last = played.state
    held: list[HeldJournal] = []

    def opened() -> Any:
        journal = open_journal(folder)
        load(journal, BEGUN, report())
        held.append(HeldJournal(journal))
        return held[0]

    writer: JournalWriter[AnyInput, AnyEvent] = await JournalWriter.start(opened)
    memory = LinkMemory(last.link)
    days = JournalDays(time(6), find_zone("UTC"), 1000)
    keeper = JournalKeeper(writer, memory, days, 0, Still(), lambda: 0, structlog.get_logger())
    service = TableService("BENCH", last.table, writer, Still(), LinkView, keeper)
    running = asyncio.create_task(service.run())
    taking = asyncio.create_task(service.refused_at_door("not-admitted", Caller(None), 1))
    await asyncio.to_thread(held[0].asked.wait, 60)
    for task in (running, taking):  # the daemon's parts are ended like this at a stop
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert service.state == last.table, "nobody waits for the end of the commit"
    stopping = asyncio.create_task(keeper.stop(service.state))
    await asyncio.sleep(0)
    held[0].goes_on.set()
    await stopping
    service.close()
    await writer.close()
    found = start(folder)
    assert found.table.entry > last.table.entry, "it is in the journal all the same"
    with closing(open_journal(folder)) as journal:
        assert found.table.entry == journal.head.number
