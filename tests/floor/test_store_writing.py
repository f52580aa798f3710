"""The store's content depends on the records, not on how often, in which order or in which batches they came."""

from __future__ import annotations

from contextlib import closing
from itertools import permutations
from pathlib import Path
from threading import Barrier, Thread

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from controller.floor.store import StoreError
from controller.floor.store.database import Database
from controller.floor.store.records import Arrived, Heard, Unreadable, read_message
from controller.floor.store.writing import Writer
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Record
from tests.floor.postgres import TOOL
from tests.floor.reading import journal_of
from tests.floor.stored import Rows, heard, heard_of
from tests.journal_commands.made import evening

pytestmark = pytest.mark.tool(TOOL)
MONTH_NS = 31 * 86_400 * 10**9


def in_order(database: Database, rows: Rows, whole: list[Heard]) -> dict[str, list[str]]:
    """Return the rows after one batch with everything in order."""
    rows.empty()
    Writer(database).write(whole)
    return rows.all()


def highest(records: list[Record]) -> int:
    return max(one.last for one in records if isinstance(one, DecisionMade))


def test_every_record_is_a_row_with_its_events(writer: Writer, rows: Rows, tmp_path: Path) -> None:
    evening(tmp_path).journal.close()
    whole = journal_of(tmp_path)
    written = writer.write(heard(whole))
    assert (written.new, written.repeated, written.refused) == (len(whole), 0, 0)
    made = [one for one in whole if isinstance(one, DecisionMade)]
    assert rows.count("decision") == len(made)
    assert rows.count("head") == sum(isinstance(one, HeadSigned) for one in whole)
    assert rows.count("journal_file") == sum(isinstance(one, FileBegan) for one in whole)
    stored = dict(rows.ask("SELECT number, body FROM cardshoe.event"))
    published = {
        number: msgspec.json.decode(event) for one in made for number, event in enumerate(one.events, one.first + 1)
    }
    assert stored == published
    assert rows.verified() == made[-1].last
    assert rows.alarms() == {}


def test_repeated_records_change_nothing(writer: Writer, rows: Rows, records: list[Record]) -> None:
    whole = heard(records)
    writer.write(whole)
    before = rows.all()
    for batch in (whole, whole[::-1], whole[3:9] + whole[3:9]):
        written = writer.write(batch)
        assert (written.new, written.repeated, written.refused) == (0, len(batch), 0)
    assert rows.all() == before


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_order_and_any_repetition_give_the_same_rows(
    database: Database, rows: Rows, records: list[Record], data: st.DataObject
) -> None:
    whole = heard(records)
    wanted = in_order(database, rows, whole)
    order = data.draw(st.permutations(range(len(whole))))
    again = data.draw(st.lists(st.sampled_from(range(len(whole))), max_size=10))
    shuffled = [whole[at] for at in (*order, *again)]
    rows.empty()
    writer = Writer(database)
    size = data.draw(st.integers(1, len(shuffled)))
    for start in range(0, len(shuffled), size):
        writer.write(shuffled[start : start + size])
    assert rows.all() == wanted
    assert rows.alarms() == {}


def test_files_that_begin_at_one_entry_may_come_in_any_order(
    database: Database, rows: Rows, records: list[Record]
) -> None:
    """A file without a decision is followed by another file; the last file has the decisions, and may come first."""
    number = max(one.number for one in records if isinstance(one, FileBegan))
    files = [one for one in records if isinstance(one, FileBegan) and one.number == number]
    assert len(files) > 2
    after = [one for one in records if isinstance(one, DecisionMade) and one.first > number]
    for order in permutations(files):
        rows.empty()
        writer = Writer(database)
        for one in heard([order[0], *after, *order[1:]]):
            writer.write([one])
        assert rows.alarms() == {}
        assert rows.verified() == highest(records)


def test_files_come_in_any_order_after_all_decisions(database: Database, rows: Rows, records: list[Record]) -> None:
    whole = heard(records)
    wanted = in_order(database, rows, whole)
    files = [at for at, one in enumerate(records) if isinstance(one, FileBegan)]
    others = [at for at in range(len(records)) if at not in files]
    for order in permutations(files):
        rows.empty()
        writer = Writer(database)
        writer.write([whole[at] for at in others])
        for at in order:
            writer.write([whole[at]])
        assert rows.all() == wanted, order


def test_the_chain_waits_at_a_gap_until_it_is_filled(database: Database, rows: Rows, records: list[Record]) -> None:
    whole = heard(records)
    decisions = [at for at, one in enumerate(records) if isinstance(one, DecisionMade)]
    for place in (0, 1, len(decisions) // 2, len(decisions) - 1):
        rows.empty()
        writer = Writer(database)
        lacks = decisions[place]
        writer.write(whole[:lacks] + whole[lacks + 1 :])
        missing = records[lacks]
        assert isinstance(missing, DecisionMade)
        assert rows.verified() == missing.first - 1
        writer.write([whole[lacks]])
        assert rows.verified() == highest(records)


def test_a_gap_is_an_alarm_until_it_is_filled(writer: Writer, rows: Rows, records: list[Record]) -> None:
    whole = heard(records)
    writer.write(whole[:2] + whole[3:])
    assert writer.look(3600) == {}
    assert writer.look(0) == {"gap": 1} == writer.look(0)
    ((sentence,),) = rows.ask("SELECT sentence FROM cardshoe.alarms WHERE is_open")
    assert "has arrived, but the entry after" in sentence
    writer.write(whole[2:3])
    assert writer.look(0) == {}
    assert rows.ask("SELECT closed_because FROM cardshoe.alarms") == [("they have arrived",)]


def test_a_file_whose_record_lacks_is_a_gap(writer: Writer, rows: Rows, records: list[Record]) -> None:
    whole = heard(records)
    files = [at for at, one in enumerate(records) if isinstance(one, FileBegan)]
    writer.write([one for at, one in enumerate(whole) if at not in files])
    assert rows.verified() == -1
    assert writer.look(0) == {"gap": 1}
    for at in reversed(files):  # the chain begins with the lowest file that is known
        writer.write([whole[at]])
    assert writer.look(0) == {}
    assert rows.ask("SELECT begins_at, number = highest FROM cardshoe.journal") == [(0, True)]


def test_a_journal_whose_first_files_were_deleted_is_whole_from_the_next_on(
    writer: Writer, rows: Rows, records: list[Record]
) -> None:
    second = [one.file for one in records if isinstance(one, FileBegan)][1]
    at = next(at for at, one in enumerate(records) if one.file == second)
    writer.write(heard(records[at:]))
    began = records[at]
    assert isinstance(began, FileBegan)
    assert rows.ask("SELECT begins_at, number = highest FROM cardshoe.journal") == [(began.number, True)]
    assert writer.look(0) == {}


def test_two_parallel_writers_store_everything_once(address: str, rows: Rows, records: list[Record]) -> None:
    """Each gets half of the records, and some of the other's again."""
    whole = heard(records)
    with closing(Database(address)) as one, closing(Database(address)) as other:
        wanted = in_order(one, rows, whole)
        rows.empty()
        barrier = Barrier(2)
        failed: list[StoreError] = []

        def work(database: Database, parts: list[Heard]) -> None:
            writer = Writer(database)
            barrier.wait()
            for part in parts:
                try:
                    writer.write([part])
                except StoreError as error:
                    failed.append(error)

        threads = [
            Thread(target=work, args=(one, [*whole[::2], *whole[:9]])),
            Thread(target=work, args=(other, [*whole[1::2], *whole[5:]])),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failed == []
    assert rows.all() == wanted


def test_a_failure_in_mid_batch_leaves_nothing(database: Database, rows: Rows, records: list[Record]) -> None:
    whole = heard(records)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Writer(database, stop).write(whole)
    assert rows.count("decision") == rows.count("event") == rows.count("head") == 0
    Writer(database).write(whole)
    assert rows.verified() == highest(records)


@pytest.mark.parametrize("poison", [b'"\\u0000"', b"1e999999", b'"\\ud800"', b"[" * 9000 + b"]" * 9000])
def test_a_value_that_the_database_does_not_take_is_an_alarm_and_stops_nothing(
    writer: Writer, rows: Rows, records: list[Record], poison: bytes
) -> None:
    whole = heard(records)
    at = next(at for at, one in enumerate(records) if isinstance(one, DecisionMade))
    bad = records[at]
    assert isinstance(bad, DecisionMade)
    events = (msgspec.Raw(b'{"event":"noted","text":' + poison + b"}"), *bad.events[1:])
    batch = [*whole[:at], *heard([msgspec.structs.replace(bad, events=events)]), *whole[at + 1 :]]
    written = writer.write(batch)
    assert (written.new, written.refused) == (len(whole) - 1, 1)
    assert rows.alarms() == {"unreadable": 1}
    assert writer.write(whole).new == 1


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("cardshoe/1/vienna/p1/BAC-07/journal", b""),
        ("cardshoe/1/vienna/p1/BAC-07/journal", b"\xff"),
        ("cardshoe/1/vienna/p1/BAC-07/journal", b"{}"),
        ("cardshoe/1/vienna/p1/BAC-07/journal", b"[" * 100_000),
        ("cardshoe/1/vienna/p1/BAC 07/journal", b"{}"),
        ("cardshoe/1/vienna/p1/BAC-07/orders", b"{}"),
        ("cardshoe/2/vienna/p1/BAC-07/journal", b"{}"),
        ("#", b"{}"),
    ],
)
def test_an_invalid_record_raises_an_alarm_with_its_topic(
    writer: Writer, rows: Rows, topic: str, payload: bytes
) -> None:
    found = read_message(topic, payload)
    assert not isinstance(found, Arrived)
    assert writer.write([found, found]).refused == 2
    assert rows.ask("SELECT kind, topic, count FROM cardshoe.alarms") == [("unreadable", topic, 2)]


def test_spoilt_records_are_unreadable(records: list[Record]) -> None:
    for record in records:
        plain = msgspec.json.decode(msgspec.json.encode(record))
        spoilt = [
            {**plain, "journal": ""},
            {**plain, "journal": "a\0b"},
            {**plain, "hash": plain["hash"][2:]},
            {**plain, "hash": "zz" * 32},
            {**plain, "utc_ns": 2**64},
            {**plain, "record": "order"},
        ]
        if isinstance(record, DecisionMade):
            spoilt += [{**plain, "first": 0}, {**plain, "last": plain["last"] + 1}, {**plain, "round": -1}]
            spoilt += [{**plain, "events": [{}] * len(record.events)}, {**plain, "before": "00"}]
        else:
            spoilt += [{**plain, "number": -1}, {**plain, "key": "00"}]
        for one in spoilt:
            if one != plain:
                assert isinstance(read_message("cardshoe/1/a/b/c/journal", msgspec.json.encode(one)), Unreadable), one


@pytest.mark.parametrize("years", [-200, -50, 5, 200])
def test_a_table_with_a_wrong_clock_is_stored(writer: Writer, rows: Rows, records: list[Record], years: int) -> None:
    moved = [msgspec.structs.replace(one, utc_ns=one.utc_ns + years * 12 * MONTH_NS) for one in records]
    heads_left = [one for one in moved if not isinstance(one, HeadSigned)]  # their times are signed
    assert writer.write(heard(heads_left)).new == len(heads_left)
    assert rows.verified() == highest(records)


def test_files_of_a_journal_are_distinguished(writer: Writer, rows: Rows, tmp_path: Path) -> None:
    evening(tmp_path).journal.close()
    whole = heard_of(tmp_path)
    writer.write(whole)
    assert rows.count("journal_file") == 2
