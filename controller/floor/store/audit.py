"""Compares a table's own files with its journal in the store: every decision with its events, every file and head.

    folder ── outbox ── page of records ──┬── same ── next page
    store ───────────── same entries ─────┘── missing: reported, or sent into the store; different: reported

The files are read as the publisher reads them, also while the table runs. Records of the last moments may be on their
way and are not reported. Records that only one side keeps are not compared: files that the table has deleted by age,
and months that the store has pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controller.floor.store.database import Connection, Database
from controller.floor.store.records import Arrived, digest_of
from controller.floor.store.writing import Writer
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.outbox import Cursor, DecisionMade, FileBegan, HeadSigned, Outbox, Record
from firmware_bridge.messages import AnyText, Message, message

_JOURNAL: Final = """SELECT id, site, pit, table_name, pruned, number, highest FROM cardshoe.journal
WHERE journal_id = %s ORDER BY (site, table_name) = (%s, %s) DESC, id LIMIT 1"""
_OTHERS: Final = """SELECT journal_id, greatest(number, highest) FROM cardshoe.journal
WHERE site = %s AND table_name = %s AND journal_id <> %s ORDER BY journal_id"""
_DECISIONS: Final = """SELECT first, last, hash, digest FROM cardshoe.decision
WHERE journal = %s AND last > %s AND last <= %s ORDER BY last"""
_EVENTS: Final = """SELECT number, body FROM cardshoe.event WHERE journal = %s AND number > %s AND number <= %s
ORDER BY number"""
_ENDS: Final = """SELECT coalesce(max(last), -1), (SELECT coalesce(max(number), -1) FROM cardshoe.event
WHERE journal = %(journal)s) FROM cardshoe.decision WHERE journal = %(journal)s"""
_FILES: Final = """SELECT file_id, number, encode(hash, 'hex'), utc_ns, table_name, simulated, encode(key, 'hex'),
encode(endorsement, 'hex'), previous_file, encode(previous_hash, 'hex')
FROM cardshoe.journal_file WHERE journal = %s AND number IS NOT NULL"""
_HEADS: Final = """SELECT f.file_id, h.number, encode(h.hash, 'hex'), h.utc_ns, encode(h.signature, 'hex'),
encode(h.key, 'hex') FROM cardshoe.head h JOIN cardshoe.journal_file f ON f.id = h.file WHERE h.journal = %s"""
_ALARMS: Final = "SELECT count(*) FROM cardshoe.alarm WHERE journal = %s AND closed_at IS NULL"


class AuditFinding(msgspec.Struct, frozen=True):
    """A finding. `code` is for machines. `entry` is the first of the `count` records that it concerns."""

    code: str
    entry: int
    count: int
    sentence: AnyText


class Audited(msgspec.Struct):
    """The result of an audit. `verified_up_to` is the last entry that the store verified, or -1. `waiting` counts
    records that may be on their way.

    `filled` counts records that were sent into the store. `alarms` counts the store's open alarms about this journal.
    """

    table: str
    journal: str = ""
    files: int = 0
    decisions: int = 0
    heads: int = 0
    first: int = 0
    last: int = 0
    verified_up_to: int = -1
    pruned_up_to: int = -1
    waiting: int = 0
    filled: int = 0
    alarms: int = 0
    findings: list[AuditFinding] = []


class OtherTableError(Exception):
    """Raised when the journal belongs to another table, which `of` names."""

    def __init__(self, of: str) -> None:
        super().__init__(of)
        self.of = of


class _Row(NamedTuple):
    """The journal's row in the store; its id is 0 if the store does not have a row for it."""

    id: int = 0
    site: str = ""
    pit: str = ""
    table: str = ""
    pruned: int = -1
    number: int = -1
    highest: int = -1


class Audit:
    """An audit. Records from `since_ns` on may be on their way. `writer` gets the missing records; None means that
    nothing is written.

    Raise `JournalError`, `StoreError` and `OtherTableError`.
    """

    def __init__(
        self, folder: Path, place: TablePlace, database: Database, since_ns: int, writer: Writer | None
    ) -> None:
        self._outbox = Outbox(folder)
        self._place = place
        self._database = database
        self._since_ns = since_ns
        self._writer = writer
        self._row = _Row()
        self._first_file: FileBegan | None = None
        self._files: dict[tuple[str, int], Record] = {}  # the folder's records, by file and entry
        self._heads: dict[tuple[str, int], Record] = {}
        self._runs: dict[str, list[tuple[int, int]]] = {}  # first and last of consecutive entries, by finding
        self.audited = Audited("/".join(place))

    def run(self) -> Audited:
        cursor = self._compare(None)
        if self._ends()[0] > self.audited.last:  # the table may have added records meanwhile
            self._compare(cursor)
        end, (decided, event) = self.audited.last, self._ends()
        if decided > end:
            sentence = message(
                "The journal ends with entry {end}, but the store has entries from it up to {last}.",
                end=end,
                last=decided,
            )
            self._find("rolled-back", end + 1, decided - end, sentence)
        if event > max(decided, end):
            self._note("changed", event, event)
        self._compare_signed()
        self._tell_runs()
        self._end()
        return self.audited

    # -- decisions

    def _compare(self, cursor: Cursor | None) -> Cursor | None:
        """Compare from the cursor to the end, and return the cursor at the end."""
        while page := self._outbox.after(cursor):
            records = [taken.record for taken in page]
            self._look_up(records[0])
            self._page(records)
            cursor = page[-1].cursor
        return cursor

    def _look_up(self, record: Record) -> None:
        """Look up the journal's row, once."""
        if self.audited.journal:
            return
        assert isinstance(record, FileBegan), "a journal begins with a file"
        if record.table != self._place.table:
            raise OtherTableError(record.table)
        self.audited.journal, self._first_file = record.journal, record
        self.audited.first, self.audited.last = record.number + 1, record.number
        with self._database.transaction() as connection:
            self._row = self._stored(connection)
            row = connection.execute(_JOURNAL, self._wanted).fetchone()
            others = connection.execute(_OTHERS, (self._place.site, self._place.table, record.journal)).fetchall()
        for journal, last in others:
            said = message(
                "The store has another journal of this table, {journal}, up to entry {last}.",
                journal=journal,
                last=last,
            )
            self._find("other-journal", last, 1, said)
        if row is not None and not self._row.id:
            came = "/".join(row[1:4])
            said = message("The store received this journal under the topics of {table}.", table=came)
            self._find("other-table", record.number, 1, said)

    @property
    def _wanted(self) -> tuple[str, str, str]:
        return self.audited.journal, self._place.site, self._place.table

    def _stored(self, connection: Connection) -> _Row:
        """Return what the store has from the table's own topics."""
        found = connection.execute(_JOURNAL, self._wanted).fetchone()
        row = _Row() if found is None else _Row(*found)
        return row if (row.site, row.table) == (self._place.site, self._place.table) else _Row()

    def _page(self, records: Sequence[Record]) -> None:
        made = [one for one in records if isinstance(one, DecisionMade)]
        missing: list[Record] = []
        before = self.audited.last
        if made:
            with self._database.transaction() as connection:
                missing += self._compare_decisions(connection, made, before)
            self.audited.last = made[-1].last
        for one in records:
            if not isinstance(one, DecisionMade):
                (self._heads if isinstance(one, HeadSigned) else self._files)[one.file, one.number] = one
        if self._writer is not None and missing:
            self._fill(missing, records)
        self.audited.decisions += len(made)

    def _compare_decisions(
        self, connection: Connection, made: Sequence[DecisionMade], before: int
    ) -> list[DecisionMade]:
        """Return the decisions that are missing from the store."""
        span = (self._row.id, before, made[-1].last)
        stored = {row[1]: row for row in connection.execute(_DECISIONS, span)}
        bodies: dict[int, list[Any]] = {}
        for number, body in connection.execute(_EVENTS, span):
            bodies.setdefault(number, []).append(body)
        missing = []
        for one in made:
            row = stored.pop(one.last, None)
            if one.last <= self._row.pruned:
                continue
            if row is None:
                missing.append(one)
                self._miss(one)
            elif row[2].hex() != one.hash:
                self._note("forked", one.first, one.last)
            elif row[3] != digest_of(one) or _events_differ(one, bodies):
                self._note("changed", one.first, one.last)
        for first, last, _, _ in stored.values():
            self._note("forked", first, last)
        for number in bodies.keys() - {number for one in made for number in range(one.first + 1, one.last + 1)}:
            self._note("changed", number, number)
        return missing

    def _miss(self, one: DecisionMade) -> None:
        if one.utc_ns >= self._since_ns and self._writer is None:
            self.audited.waiting += 1
        elif self._writer is None:
            self._note("missing", one.first, one.last)

    def _fill(self, missing: Sequence[Record], page: Sequence[Record]) -> None:
        """Write the missing decisions, with the files and heads of the page, which the store may lack too; it skips
        those it has.
        """
        assert self._writer is not None
        records = [one for one in page if not isinstance(one, DecisionMade)] + list(missing)
        topic = self._place.topic(TopicSubject.JOURNAL)
        written = self._writer.write([Arrived(topic, self._place, one) for one in records])
        self.audited.filled += written.new
        if written.refused:
            self._note("refused", missing[0].last if isinstance(missing[0], DecisionMade) else 0, self.audited.last)

    # -- files and heads

    def _compare_signed(self) -> None:
        """Compare all files and heads, after the decisions: there are only a few of them."""
        with self._database.transaction() as connection:
            files = {(row[0], row[1]): row for row in connection.execute(_FILES, (self._row.id,))}
            heads = {(row[0], row[1]): row for row in connection.execute(_HEADS, (self._row.id,))}
        missing = self._compare_kind("file", self._files, files) + self._compare_kind("head", self._heads, heads)
        if self._writer is not None and missing:
            self._fill(missing, ())
        self.audited.files, self.audited.heads = len(self._files), len(self._heads)

    def _compare_kind(
        self, kind: str, own: dict[tuple[str, int], Record], stored: dict[tuple[str, int], tuple[Any, ...]]
    ) -> list[Record]:
        missing: list[Record] = []
        for key, record in own.items():
            row = stored.pop(key, None)
            if row is None:
                missing.append(record)
                self._miss_signed(kind, record)
            elif row != _values(record):
                self._note(f"{kind}-forked", key[1], key[1])
        oldest = self._first_file.number if self._first_file is not None else 0
        ids = {file for file, _ in self._files}
        for file, number in stored:
            if file in ids or number > oldest:  # otherwise it belongs to a file that the table has deleted
                self._note(f"{kind}-forked", number, number)
        return missing

    def _miss_signed(self, kind: str, record: Record) -> None:
        if self._writer is not None:
            return
        if record.utc_ns >= self._since_ns:
            self.audited.waiting += 1
        else:
            number = record.last if isinstance(record, DecisionMade) else record.number
            self._note(f"{kind}-missing", number, number)

    # -- findings

    def _ends(self) -> tuple[int, int]:
        """Return the last entry of a decision and of an event in the store; -1 for none."""
        with self._database.transaction() as connection:
            row = connection.execute(_ENDS, {"journal": self._row.id}).fetchone()
        return row or (-1, -1)

    def _find(self, code: str, entry: int, count: int, sentence: Message) -> None:
        self.audited.findings.append(AuditFinding(code, entry, count, sentence))

    def _note(self, code: str, first: int, last: int) -> None:
        """Combine consecutive entries into one finding."""
        runs = self._runs.setdefault(code, [])
        if runs and code in _IN_A_ROW and first <= runs[-1][1] + 1:
            runs[-1] = runs[-1][0], max(last, runs[-1][1])
        else:
            runs.append((first, last))

    def _tell_runs(self) -> None:
        for code, runs in self._runs.items():
            for first, last in runs:
                self._find(code, first, last - first + 1, _SENTENCES[code](first, last))

    def _end(self) -> None:
        with self._database.transaction() as connection:
            found = self._stored(connection)
            if not found.id:
                return
            (alarms,) = connection.execute(_ALARMS, (found.id,)).fetchone() or (0,)
        self.audited.verified_up_to, self.audited.pruned_up_to = found.number, found.pruned
        self.audited.alarms = alarms


def _events_differ(made: DecisionMade, bodies: Mapping[int, list[Any]]) -> bool:
    numbered = enumerate(made.events, start=made.first + 1)
    return any(bodies.get(number) != [msgspec.json.decode(event)] for number, event in numbered)


def _values(record: Record) -> tuple[Any, ...]:
    """Return the values in the order of the query for the record's kind."""
    values: tuple[Any, ...] = msgspec.structs.astuple(record)
    if isinstance(record, FileBegan):
        _, file, number, hash_, utc_ns, table, simulated, key, endorsement, previous_file, previous_hash = values
        return (file, number, hash_, utc_ns, table, simulated, key, endorsement, previous_file, previous_hash)
    return values[1:]


_IN_A_ROW: Final = frozenset({"missing", "forked", "changed"})
_SENTENCES: Final[Mapping[str, Callable[[int, int], Message]]] = {
    "missing": lambda first, last: message("The store lacks entries {first} to {last}.", first=first, last=last),
    "forked": lambda first, last: message(
        "Entries {first} to {last} in the store differ from those in the journal.", first=first, last=last
    ),
    "changed": lambda first, last: message(
        "Entries {first} to {last} have the same hash in the store, but different content.", first=first, last=last
    ),
    "file-missing": lambda first, _: message(
        "The store lacks the record of the file that begins after entry {first}.", first=first
    ),
    "file-forked": lambda first, _: message(
        "The file that begins after entry {first} differs in the store, or is not in the journal.", first=first
    ),
    "head-missing": lambda first, _: message("The store lacks the signed head of entry {first}.", first=first),
    "head-forked": lambda first, _: message(
        "The signed head of entry {first} differs in the store, or is not in the journal.", first=first
    ),
    "refused": lambda first, last: message(
        "The store refused records of entries {first} to {last}: its alarms say why.", first=first, last=last
    ),
}
