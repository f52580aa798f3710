"""A journal and its files as rows. The journal's row is locked while records are added, so that its values stay true
until the end of the transaction.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from controller.floor.store.database import Connection
from controller.floor.store.records import Arrived, Whose

NOT_KNOWN: Final = -1

MOST_JOURNALS: Final = 50
"""The most journals of one table: it begins a new one when its disk or its key was lost; its certificate allows no
more.
"""

_ADD: Final = """INSERT INTO cardshoe.journal (journal_id, site, pit, table_name)
SELECT journal_id, site, pit, table_name FROM (
    SELECT w.*, row_number() OVER (PARTITION BY site, table_name ORDER BY journal_id) AS place
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[]) AS w(journal_id, site, pit, table_name)
) w WHERE place + (
    SELECT count(*) FROM cardshoe.journal j WHERE j.site = w.site AND j.table_name = w.table_name
) <= %s ON CONFLICT DO NOTHING"""
_WANTED: Final = """JOIN unnest(%s::text[], %s::text[], %s::text[]) AS w(site, table_name, journal_id)
USING (site, table_name, journal_id)"""
_THERE: Final = f"SELECT site, table_name, journal_id FROM cardshoe.journal {_WANTED}"  # noqa: S608  # of constants
_LOCK: Final = f"""SELECT j.id, j.journal_id, j.site, j.pit, j.table_name, j.begins_at, j.number, j.hash, j.file,
j.highest, j.head_number, j.broken_at, j.pruned, j.key FROM cardshoe.journal j {_WANTED}
ORDER BY j.id FOR NO KEY UPDATE OF j"""  # noqa: S608  # of constants
_SAVE: Final = """UPDATE cardshoe.journal j SET pit = n.pit, simulated = coalesce(n.simulated, j.simulated),
begins_at = n.begins_at, number = n.number, hash = n.hash, file = n.file, highest = n.highest,
head_number = n.head_number, broken_at = n.broken_at, key = n.key, heard_at = now(),
incomplete_since = CASE WHEN n.number < n.highest OR n.number < 0 THEN coalesce(j.incomplete_since, now()) END
FROM unnest(%s::int[], %s::text[], %s::boolean[], %s::bigint[], %s::bigint[], %s::bytea[], %s::int[], %s::bigint[],
%s::bigint[], %s::bigint[], %s::bytea[])
AS n(id, pit, simulated, begins_at, number, hash, file, highest, head_number, broken_at, key) WHERE j.id = n.id"""
_FILES: Final = """SELECT f.id, f.journal, f.file_id, f.number IS NOT NULL FROM cardshoe.journal_file f
JOIN unnest(%s::int[], %s::text[]) AS w(journal, file_id) USING (journal, file_id)"""
_ADD_FILES: Final = """INSERT INTO cardshoe.journal_file (journal, file_id)
SELECT * FROM unnest(%s::int[], %s::text[]) ON CONFLICT DO NOTHING"""


class JournalRow(msgspec.Struct):
    """The row of a journal; see `schema/tables.sql`. `looks_on` means that the chain may go beyond `number`.
    `is_claimed` means that its key has just been set.
    """

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
    key: bytes | None
    simulated: bool | None = None
    looks_on: bool = False
    begins_earlier: bool = False
    is_claimed: bool = False


class FileRow(NamedTuple):
    """The row of a file. `is_known` means that its record has arrived."""

    id: int
    journal: int
    file_id: str
    is_known: bool


def add_journals(connection: Connection, arrived: Iterable[Arrived]) -> set[Whose]:
    """Add the missing journals, as far as their tables may have more, and return which of them exist afterwards."""
    first: dict[Whose, Arrived] = {}
    for one in arrived:
        first.setdefault(one.whose, one)
    whose = sorted(first)  # in a fixed order, so that transactions do not deadlock
    columns = (
        [one.journal for one in whose],
        [one.site for one in whose],
        [first[one].place.pit for one in whose],
        [one.table for one in whose],
    )
    connection.execute(_ADD, (*columns, MOST_JOURNALS))
    return {Whose(*row) for row in connection.execute(_THERE, _columns(whose))}


def lock_journals(connection: Connection, wanted: Collection[Whose]) -> dict[Whose, JournalRow]:
    """Lock the journals, waiting for other transactions that add to them."""
    rows = [JournalRow(*row) for row in connection.execute(_LOCK, _columns(wanted))]
    return {Whose(row.site, row.table, row.journal_id): row for row in rows}


def _columns(whose: Collection[Whose]) -> list[list[str]]:
    return [[one[at] for one in whose] for at in range(len(Whose._fields))]


def save_journals(connection: Connection, journals: Collection[JournalRow]) -> None:
    names = ("id", "pit", "simulated", "begins_at", "number", "hash", "file", "highest", "head_number", "broken_at",
             "key")  # fmt: skip
    connection.execute(_SAVE, [[getattr(journal, name) for journal in journals] for name in names])


class Files:
    """A cache of files whose records have arrived and no longer change; at most `MOST` of them."""

    MOST: Final = 10_000

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], FileRow] = {}

    def of(self, connection: Connection, wanted: Collection[tuple[int, str]]) -> dict[tuple[int, str], FileRow]:
        """Return the rows by journal and file id. Missing files are added without their records."""
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
        """Remember rows after their transaction has been committed."""
        if len(self._known) > self.MOST:
            self._known.clear()
        self._known |= {(row.journal, row.file_id): row for row in rows if row.is_known}
