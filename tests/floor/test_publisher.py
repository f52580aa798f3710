"""The floor gets the whole journal of a real daemon, in order, with the newest state of the table."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from controller.floor.publisher import CURSOR_NAME, SentUpTo, read_cursor, write_cursor
from controller.floor.topics import TopicSubject
from controller.games.specification import Kind
from controller.journal.outbox import Cursor, FileBegan, Outbox
from controller.table import operations
from tests.end_to_end.child import Orders
from tests.end_to_end.people_at_table import SUPERVISOR, PeopleAtTable
from tests.floor.reading import check, reader
from tests.floor.tables import finish, floor_of_one, table_with_broker

pytestmark = pytest.mark.tool("mosquitto")


async def test_rounds_arrive_whole_with_the_state_of_table_device_and_service() -> None:
    async with floor_of_one() as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon(Orders(file_a_round=True))
        await stage.played()
        await found.until_whole(stage.journal)
        view = await stage.state()
        await found.until(lambda: found.reports[TopicSubject.TABLE][-1]["entry"] == view.entry)
        # The device's report is a message of its own, sent after the table's. The first has no kind yet.
        await found.until(lambda: found.reports[TopicSubject.DEVICE][-1]["kind"] != "")
        table, device, service = (
            found.reports[one][-1] for one in (TopicSubject.TABLE, TopicSubject.DEVICE, TopicSubject.SERVICE)
        )
        assert (table["phase"], table["round"], table["journal"]) == (view.phase, view.round, view.journal)
        assert table["next_step"]["text"] == view.next_step
        assert device["kind"] == "shuffler"
        assert service["status"] == "running"
        assert sum(isinstance(one, FileBegan) for one in found.records) > 2
        assert await stage.daemon.end() == 0
        await found.until(lambda: found.reports[TopicSubject.SERVICE][-1]["status"] == "stopped")
        await stage.start_daemon()  # what was written at the stop is sent at the next start
        await finish(stage, found)


async def test_an_open_irregularity_has_its_kind_place_and_authority() -> None:
    async with floor_of_one() as (stage, _, found):
        await stage.start_device(dealer=False, load=True)
        await stage.start_daemon()
        people = PeopleAtTable(stage)
        await people.until(lambda view: view.device.status_agrees)
        await people.do(operations.OpenTable())
        await people.until(lambda view: view.deck.shuffled)
        await people.do(operations.PlaceYourBets())
        await people.do(operations.OccupyBoxes((1,)))
        await people.do(operations.NoMoreBets())
        await people.do(operations.ReportIrregularity(Kind.LATE_BET, "B1"))
        await found.until(lambda: bool(found.reports[TopicSubject.TABLE][-1]["irregularities"]))
        (shown,) = found.reports[TopicSubject.TABLE][-1]["irregularities"]
        (known,) = (await stage.state()).irregularities
        assert (shown["id"], shown["kind"], shown["round"]) == (known.id, "late_bet", 1)
        assert (shown["what"]["text"], shown["where"]["text"]) == ('a bet after "No more bets"', "box 1")
        assert (shown["who"]["text"], shown["act"]["text"], shown["clauses"]) == (
            known.who,
            known.question,
            list(known.clauses),
        )
        assert shown["since_utc_ns"] == known.noticed_utc_ns > 0
        await people.do(operations.DenyIrregularity(known.id, known.revision, "it lay there before"), SUPERVISOR)
        await found.until(lambda: not found.reports[TopicSubject.TABLE][-1]["irregularities"])
        assert await stage.daemon.end() == 0


async def test_unread_records_stay_with_the_table() -> None:
    async with table_with_broker(rounds=1) as (stage, broker):
        await stage.start_device()
        await stage.start_daemon()
        await stage.daemon.until(lambda: stage.daemon.logged("floor.away"))
        await stage.played()
        (away,) = stage.daemon.logged("floor.away")
        assert away["code"] == "floor-unread"
        assert read_cursor(stage.journal / CURSOR_NAME) is None
        assert await stage.daemon.end() == 0
        await stage.start_daemon()
        async with reader(broker.broker) as found:
            await finish(stage, found)


@pytest.mark.parametrize("damage", ["lost", "torn", "of another journal", "a folder"])
async def test_a_lost_cursor_repeats_what_was_sent(damage: str) -> None:
    """In the case `a folder` the cursor can be neither read nor written, and everything is still sent."""
    async with floor_of_one(1, repeat_minutes=0) as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon()
        await stage.played()
        await found.until_whole(stage.journal)
        assert await stage.daemon.end() == 0
        cursor = stage.journal / CURSOR_NAME
        text = cursor.read_bytes()
        cursor.unlink()
        if damage == "a folder":
            cursor.mkdir()
        elif damage != "lost":
            cursor.write_bytes(text[:20] if damage == "torn" else text.replace(b'"journal":"', b'"journal":"ff'))
        sent = len(found.records)
        await stage.start_daemon()
        await found.until(lambda: len(found.records) > 2 * sent)
        await found.until_whole(stage.journal)
        check(found.records, stage.journal)
        assert await stage.daemon.end() == 0
        assert bool(stage.daemon.logged("floor.cursor_fails")) == (damage == "a folder")
        assert bool(stage.daemon.logged("floor.cursor_foreign")) == (damage == "of another journal")


async def test_a_restored_older_journal_is_sent_again() -> None:
    """A backup took its place: the cursor names an entry that no longer exists, and the floor sees that the journal
    forks.
    """
    async with floor_of_one(1) as (stage, _, found):
        await stage.start_device()
        await stage.start_daemon()
        await stage.played()
        await found.until_whole(stage.journal)
        assert await stage.daemon.end() == 0
        shutil.copytree(stage.journal, stage.folder / "backup")
        await stage.start_daemon()
        await found.until_whole(stage.journal)
        sent = list(found.records)
        assert await stage.daemon.end() == 0
        newest = end_of(stage.journal)
        shutil.rmtree(stage.journal)
        shutil.copytree(stage.folder / "backup", stage.journal)
        write_cursor(stage.journal / CURSOR_NAME, SentUpTo(newest, newest))
        await stage.start_daemon()
        await found.until_whole(stage.journal)
        await stage.daemon.until(lambda: stage.daemon.logged("floor.cursor_foreign"))
        check(found.records[len(sent) :], stage.journal)
        assert await stage.daemon.end() == 0


def end_of(folder: Path) -> Cursor:
    """Return the entry up to which everything was sent."""
    outbox, cursor = Outbox(folder), None
    while page := outbox.after(cursor):
        cursor = page[-1].cursor
    assert cursor is not None
    return cursor


def test_a_cursor_in_a_missing_folder(tmp_path: Path) -> None:
    assert read_cursor(tmp_path / "none") is None
