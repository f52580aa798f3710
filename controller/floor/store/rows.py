"""A journal and its files as rows. While records are added the journal's row is locked, so that what is known of it
stays true until the end of the transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from controller.floor.store.database import Connection
from controller.floor.store.records import Arrived
from controller.floor.topics import TablePlace

NOT_KNOWN: Final = -1

_ADD: Final = """INSERT INTO cardshoe.journal (journal_id, site, pit, table_name)
SELECT * FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) ON CONFLICT DO NOTHING"""
_LOCK: Final = """SELECT id, journal_id, site, pit, table_name, begins_at, number, hash, file, highest, head_number,
broken_at, pruned FROM cardshoe.journal WHERE journal_id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"""
_SAVE: Final = """UPDATE cardshoe.journal j SET pit = n.pit, simulated = coalesce(n.simulated, j.simulated),
begins_at = n.begins_at, number = n.number, hash = n.hash, file = n.file, highest = n.highest,
head_number = n.head_number, broken_at = n.broken_at, heard_at = now(),
incomplete_since = CASE WHEN n.number < n.highest OR n.number < 0 THEN coalesce(j.incomplete_since, now()) END
FROM unnest(%s::int[], %s::text[], %s::boolean[], %s::bigint[], %s::bigint[], %s::bytea[], %s::int[], %s::bigint[],
%s::bigint[], %s::bigint[])
AS n(id, pit, simulated, begins_at, number, hash, file, highest, head_number, broken_at) WHERE j.id = n.id"""
_FILES: Final = """SELECT f.id, f.journal, f.file_id, f.number IS NOT NULL FROM cardshoe.journal_file f
JOIN unnest(%s::int[], %s::text[]) AS w(journal, file_id) USING (journal, file_id)"""
_ADD_FILES: Final = """INSERT INTO cardshoe.journal_file (journal, file_id)
SELECT * FROM unnest(%s::int[], %s::text[]) ON CONFLICT DO NOTHING"""


class JournalRow(msgspec.Struct):
    """See `schema/tables.sql`. `looks_on`: it may be whole further than `number` by what came."""

    id: int
    journal_id: str
    site: str
    pit: str
    table: str
    begins_at: int
    number: int
    hash: bytes
    file: int
    highest: int
    head_number: int
    broken_at: int | None
    pruned: int
    simulated: bool | None = None
    looks_on: bool = False
    begins_earlier: bool = False

    def is_of(self, place: TablePlace) -> bool:
        """Whether it is that table's; a table may move to another pit."""
        return (self.site, self.table) == (place.site, place.table)


class FileRow(NamedTuple):
    """`is_known`: its record has come."""

    id: int
    journal: int
    file_id: str
    is_known: bool


def add_journals(connection: Connection, arrived: Iterable[Arrived]) -> None:
    """Those that are not there; a journal belongs to the table under whose topics it came first."""
    first: dict[str, Arrived] = {}
    for one in arrived:
        first.setdefault(one.record.journal, one)
    found = [first[journal_id] for journal_id in sorted(first)]  # in one order, so that no two wait for each other
    columns = (
        [one.record.journal for one in found],
        [one.place.site for one in found],
        [one.place.pit for one in found],
        [one.place.table for one in found],
    )
    connection.execute(_ADD, columns)


def lock_journals(connection: Connection, journal_ids: Collection[str]) -> dict[str, JournalRow]:
    """By id. Waits for other transactions that add to them."""
    rows = connection.execute(_LOCK, (list(journal_ids),))
    return {row[1]: JournalRow(*row) for row in rows}


def save_journals(connection: Connection, journals: Collection[JournalRow]) -> None:
    names = ("id", "pit", "simulated", "begins_at", "number", "hash", "file", "highest", "head_number", "broken_at")
    connection.execute(_SAVE, [[getattr(journal, name) for journal in journals] for name in names])


class Files:
    """Those whose records have come do not change, and are kept in memory; at most `MOST` of them."""

    MOST: Final = 10_000

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], FileRow] = {}

    def of(self, connection: Connection, wanted: Collection[tuple[int, str]]) -> dict[tuple[int, str], FileRow]:
        """By journal and id; those that are not there are added without their records."""
        found = {key: self._known[key] for key in wanted if key in self._known}
        for adds in (False, True):
            missing = sorted(set(wanted) - found.keys())
            if not missing:
                break
            columns = [journal for journal, _ in missing], [file_id for _, file_id in missing]
            if adds:
                connection.execute(_ADD_FILES, columns)
            found |= {
                (row.journal, row.file_id): row
                for row in (FileRow(*row) for row in connection.execute(_FILES, columns))
            }
        return found

    def keep(self, rows: Iterable[FileRow]) -> None:
        """After the commit of the transaction in which they were found."""
        if len(self._known) > self.MOST:
            self._known.clear()
        self._known |= {(row.journal, row.file_id): row for row in rows if row.is_known}
