"""The owner of a journal: the table under whose topics its beginning arrived, which names that table and is signed.

Records under the topics of one table belong to that table alone, so nobody takes over a journal by sending first. If
two tables send under one id, both are stored, each with its own key, and people are told which table has what.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from controller.floor.store.alarms import Alarm
from controller.floor.store.database import Connection
from controller.floor.store.rows import NOT_KNOWN, FileRow, JournalRow
from controller.floor.topics import Subject, TablePlace
from controller.journal.signing import fingerprint

_SIGNED_BEGINNING: Final = """SELECT f.key FROM cardshoe.journal_file f JOIN cardshoe.head h
ON h.journal = f.journal AND h.file = f.id AND h.number = f.number AND h.hash = f.hash AND h.key = f.key
WHERE f.id = %s"""
_OTHERS: Final = """SELECT id, site, pit, table_name, key FROM cardshoe.journal
WHERE journal_id = %s AND id <> %s AND key IS NOT NULL ORDER BY id"""


def claim(connection: Connection, journal: JournalRow, file: FileRow) -> None:
    """Set the owner's key after a file or head was stored: the journal belongs to the table of its first signed
    beginning.
    """
    if journal.key is None and (row := connection.execute(_SIGNED_BEGINNING, (file.id,)).fetchone()) is not None:
        journal.key, journal.is_claimed = row[0], True


def doubts_of_owner(connection: Connection, journals: Iterable[JournalRow]) -> list[Alarm]:
    """Return alarms for journals that have just got an owner, or arrive without a beginning, if another table has the
    same id.
    """
    found: list[Alarm] = []
    for journal in journals:
        if not journal.is_claimed and (journal.key is not None or journal.number != NOT_KNOWN):
            continue
        own = TablePlace(journal.site, journal.pit, journal.table)
        for number, *place, key in connection.execute(_OTHERS, (journal.journal_id, journal.id)).fetchall():
            other = "/".join(place)
            if journal.key is None:
                signed = f"The journal belongs to the table {other}, which signed its beginning."
                sentence = f"{signed} Entries arrived without one."
                found.append(Alarm("other-table", journal.id, None, sentence, own.topic(Subject.JOURNAL)))
                continue
            two = f"{'/'.join(own)} with the key {fingerprint(journal.key)}, {other} with {fingerprint(key)}"
            sentence = f"Two tables signed a beginning of this journal: {two}. Compare these keys with the tables' own."
            found += [Alarm("other-table", one, None, sentence) for one in (journal.id, number)]
    return found
