"""Writes a batch of records in one transaction: all of them are committed, or none.

lock the journals ── files ── decisions and events ── heads ── chain ── owners ── alarms ── save the journals
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Final

import msgspec
import psycopg

from controller.floor.store import StoreError
from controller.floor.store.alarms import Alarm, Kind, contradicts, look_for_gaps, raise_alarms
from controller.floor.store.chain import follow
from controller.floor.store.database import Connection, Database
from controller.floor.store.decisions import CameDecision, take_decisions
from controller.floor.store.files import FileTaken, doubts_of_owner, take_file, take_head
from controller.floor.store.records import Arrived, Heard, LeftOut, Unreadable, Whose, at
from controller.floor.store.rows import (
    MOST_JOURNALS,
    FileRow,
    Files,
    JournalRow,
    add_journals,
    lock_journals,
    save_journals,
)
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Record
from firmware_bridge.messages import message

GAP_AFTER: Final = 300.0  # seconds for which entries may be missing before an alarm is raised
_ADD_MONTH: Final = "SELECT cardshoe.add_month(%s)"


class BatchWritten(msgspec.Struct):
    """The result of a batch: records that were new, already stored, or refused with an alarm. `oldest_ns` is the time
    of the oldest new one, or 0.
    """

    new: int = 0
    repeated: int = 0
    refused: int = 0
    oldest_ns: int = 0

    def add(self, other: BatchWritten) -> None:
        self.new += other.new
        self.repeated += other.repeated
        self.refused += other.refused
        self.oldest_ns = min(filter(None, (self.oldest_ns, other.oldest_ns)), default=0)


class Writer:
    """Writes batches in one thread. `committing` is called before each commit, for tests."""

    def __init__(self, database: Database, committing: Callable[[], None] = lambda: None) -> None:
        self._database = database
        self._committing = committing
        self._files = Files()
        self._journals: set[Whose] = set()  # journals known to exist
        self._months: set[date] = set()  # months whose partitions exist or are not wanted

    def write(self, batch: Sequence[Heard]) -> BatchWritten:
        """Write a batch durably. Raise `StoreError` if nothing of it was stored."""
        try:
            return self._write(batch)
        except StoreError:
            self._forget()
            raise
        except psycopg.Error as error:  # a value that PostgreSQL does not accept: the other records are stored
            if len(batch) == 1:
                return self._write([Unreadable(batch[0].topic, f"the database does not accept it: {error.sqlstate}")])
        middle = len(batch) // 2
        written = self.write(batch[:middle])
        written.add(self.write(batch[middle:]))
        return written

    def look(self, gap_after: float = GAP_AFTER) -> dict[str, int]:
        """Raise the alarms for gaps. Return the number of open alarms of each kind. Raise `StoreError` if the database
        fails.
        """
        with self._database.transaction() as connection:
            return look_for_gaps(connection, gap_after)

    def _forget(self) -> None:
        """Forget what is known of the database: it may have been restored from a backup when it is used again."""
        self._files, self._journals, self._months = Files(), set(), set()

    def _write(self, batch: Sequence[Heard]) -> BatchWritten:
        came = [one for one in batch if isinstance(one, Arrived)]
        unreadable = [one for one in batch if isinstance(one, Unreadable)]
        left_out = [one for one in batch if isinstance(one, LeftOut)]
        self._make_ready(came)
        arrived = [one for one in came if one.whose in self._journals]
        unreadable += [Unreadable(one.topic, _TOO_MANY) for one in came if one.whose not in self._journals]
        with self._database.transaction() as connection:
            wanted = {one.whose for one in arrived}
            journals = lock_journals(connection, wanted)
            if wanted - journals.keys():
                raise StoreError(
                    "store-failed",
                    message("Journals were deleted from the database."),
                    message("They are stored again."),
                )
            work = _Batch(connection, journals, self._files)
            work.take(arrived)
            work.alarms += [_unreadable(one) for one in unreadable]
            work.alarms += [_flood(one) for one in left_out for _ in range(one.messages)]
            work.save()
            self._committing()
        self._files.keep(work.files.values())
        work.written.refused += len(unreadable) + sum(one.messages for one in left_out)
        return work.written

    def _make_ready(self, arrived: Iterable[Arrived]) -> None:
        """Create missing journals and months, each in a separate transaction, so that no batch waits for their
        locks.
        """
        new = [one for one in arrived if one.whose not in self._journals]
        if new:
            with self._database.transaction() as connection:
                self._journals |= add_journals(connection, new)
        times = (one.record.utc_ns for one in arrived if isinstance(one.record, DecisionMade))
        for month in sorted({at(utc_ns).date().replace(day=1) for utc_ns in times} - self._months):
            with self._database.transaction() as connection:
                connection.execute(_ADD_MONTH, (month,))
            self._months.add(month)


class _Batch:
    """The work of one transaction."""

    def __init__(self, connection: Connection, journals: dict[Whose, JournalRow], files: Files) -> None:
        self.files: dict[tuple[int, str], FileRow] = {}
        self.alarms: list[Alarm] = []
        self.written = BatchWritten()
        self._connection = connection
        self._journals = journals
        self._kept_files = files

    def take(self, arrived: Sequence[Arrived]) -> None:
        own = [one for one in arrived if self._is_good(one)]
        keys = {(self._journals[one.whose].id, one.record.file) for one in own}
        self.files = self._kept_files.of(self._connection, keys)
        came: list[CameDecision] = []
        for one in own:
            journal, record = self._journals[one.whose], one.record
            file = self.files[journal.id, record.file]
            if isinstance(record, FileBegan):
                self._count(one, take_file(self._connection, one, record, journal, file))
            elif isinstance(record, DecisionMade):
                came.append(CameDecision(one, record, journal, file))
        taken = take_decisions(self._connection, came)
        for one in own:  # after the decisions that they sign
            if isinstance(one.record, HeadSigned):
                journal = self._journals[one.whose]
                file = self.files[journal.id, one.record.file]
                self._count(one, take_head(self._connection, one, one.record, journal, file))
        self._count_decisions(came, taken.new, taken.repeated, taken.alarms)
        self._follow(taken.new)
        self.alarms += doubts_of_owner(self._connection, self._journals.values())

    def save(self) -> None:
        if self._journals:
            save_journals(self._connection, self._journals.values())
        raise_alarms(self._connection, self.alarms)

    def _is_good(self, one: Arrived) -> bool:
        """Return whether a table may send the record under that topic. If not, keep the record alongside the stored
        records.
        """
        journal, record = self._journals[one.whose], one.record
        journal.pit = one.place.pit
        kind: Kind = "unreadable"
        if one.doubt:
            sentence = f"The record that arrived as entry {_number(record)} is not from a table: {one.doubt}."
        elif isinstance(record, FileBegan) and record.table != journal.table:
            kind = "other-table"
            where = f"arrives under the topics of {journal.table}"
            sentence = f"The journal belongs to the table {record.table}, but {where}."
        else:
            return True
        self.alarms += contradicts(self._connection, journal, one, kind, sentence)
        self.written.refused += 1
        return False

    def _count(self, one: Arrived, taken: FileTaken) -> None:
        self.alarms += taken.alarms
        if taken.new:
            self.written.add(BatchWritten(new=1, oldest_ns=one.record.utc_ns))
        else:
            self.written.add(BatchWritten(refused=int(taken.refused), repeated=int(not taken.refused)))

    def _count_decisions(
        self, came: Sequence[CameDecision], new: Sequence[CameDecision], repeated: int, alarms: list[Alarm]
    ) -> None:
        self.alarms += alarms
        refused = len(came) - len(new) - repeated
        oldest = min((one.made.utc_ns for one in new), default=0)
        self.written.add(BatchWritten(len(new), repeated, refused, oldest))

    def _follow(self, new: Sequence[CameDecision]) -> None:
        added: defaultdict[int, list[CameDecision]] = defaultdict(list)
        for one in new:
            added[one.journal.id].append(one)
        for journal in self._journals.values():
            links = (one.link for one in added.get(journal.id, ()))
            self.alarms += follow(self._connection, journal, links)


_TOO_MANY: Final = f"it belongs to another journal, and {MOST_JOURNALS} journals of its table are already stored"


def _number(record: Record) -> int:
    return record.last if isinstance(record, DecisionMade) else record.number


def _flood(one: LeftOut) -> Alarm:
    topic = one.topic[:200].replace("\0", "?")
    sentence = f"More records than a table can send arrived under {topic}; the excess was dropped."
    return Alarm("flood", None, None, sentence, topic)


def _unreadable(one: Unreadable) -> Alarm:
    topic = one.topic[:200].replace("\0", "?")
    return Alarm("unreadable", None, None, f"A message under {topic} is not a record of a journal: {one.why}.", topic)
