"""How far a journal is complete: every record is present and follows the previous one by its hash.

    file ── decision ── decision ── file ── decision
      └ hash ── before ┘                └ previous_hash, hash ── before

A file has the number of the entry before it, and the chain goes through its hash. The end of the chain depends on which
records are stored, not on their order of arrival: it begins with the lowest file, and is checked again from there when
a lower one arrives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from controller.floor.store.alarms import Alarm
from controller.floor.store.database import Connection
from controller.floor.store.rows import NOT_KNOWN, JournalRow

PAGE: Final = 1000  # decisions that are read in one query
_LOWEST: Final = """SELECT number, hash, id FROM cardshoe.journal_file f WHERE journal = %s AND number IS NOT NULL
AND NOT EXISTS (SELECT FROM cardshoe.journal_file o WHERE o.journal = f.journal AND o.number = f.number
AND o.hash = f.previous_hash) ORDER BY number, id LIMIT 1"""
_FILES_FROM: Final = """SELECT id, number, hash, previous_hash FROM cardshoe.journal_file
WHERE journal = %s AND number >= %s"""
_DECISIONS_AFTER: Final = """SELECT first, last, before, hash, file FROM cardshoe.decision
WHERE journal = %s AND last > %s ORDER BY last LIMIT %s"""

_WHOSE: Final = "SELECT number, hash, previous_file FROM cardshoe.journal_file WHERE id = %s"
_NAMED: Final = "SELECT number, hash, previous_file FROM cardshoe.journal_file WHERE journal = %s AND file_id = %s"


class ChainLink(NamedTuple):
    """A decision in the chain."""

    first: int
    last: int
    before: bytes
    hash: bytes
    file: int


class _File(NamedTuple):
    id: int
    number: int
    hash: bytes
    previous_hash: bytes


def follow(connection: Connection, journal: JournalRow, added: Iterable[ChainLink]) -> list[Alarm]:
    """Move the end of the chain after `added` were stored, in their order. Return the alarms for those that do not
    follow.
    """
    moved = False
    for link in added:
        if link.first != journal.number + 1:
            continue
        if link.before != journal.hash:
            journal.looks_on = True  # a file lies between, or it does not follow
            break
        journal.number, journal.hash = link.last, link.hash
        moved = True
    if journal.begins_earlier:
        _begin(connection, journal)
    elif journal.number == NOT_KNOWN or not (journal.looks_on or (moved and journal.highest > journal.number)):
        return []
    return _look_on(connection, journal)


def _begin(connection: Connection, journal: JournalRow) -> None:
    row = connection.execute(_LOWEST, (journal.id,)).fetchone()
    assert row is not None, "the record of a file has arrived"
    journal.number, journal.hash, journal.file = row
    journal.begins_at = journal.number


def _look_on(connection: Connection, journal: JournalRow) -> list[Alarm]:
    rows = connection.execute(_FILES_FROM, (journal.id, journal.number))
    following = {row[3]: _File(*row) for row in rows}
    while True:
        page = [ChainLink(*row) for row in connection.execute(_DECISIONS_AFTER, (journal.id, journal.number, PAGE))]
        for link in page:
            if link.first != journal.number + 1:
                _pass_files(journal, following, b"")
                return []
            _pass_files(journal, following, link.before)
            if link.before != journal.hash:
                return _broken(connection, journal, link)
            journal.number, journal.hash, journal.file = link.last, link.hash, link.file
        if len(page) < PAGE:
            _pass_files(journal, following, b"")
            return []


def _pass_files(journal: JournalRow, following: Mapping[bytes, _File], until: bytes) -> None:
    """Pass the files that begin where the chain ends, up to the file with the hash `until`."""
    while journal.hash != until and (file := following.get(journal.hash)) and file.number == journal.number:
        journal.hash, journal.file = file.hash, file.id


def _broken(connection: Connection, journal: JournalRow, link: ChainLink) -> list[Alarm]:
    """Return an alarm, once, if the decision cannot follow whatever else arrives."""
    if journal.broken_at is not None or (link.file != journal.file and _may_follow(connection, journal, link)):
        return []
    journal.broken_at = link.first
    sentence = f"Entry {link.first} does not follow entry {journal.number}: the journal was changed between them."
    return [Alarm("fork", journal.id, link.first, sentence)]


def _may_follow(connection: Connection, journal: JournalRow, link: ChainLink) -> bool:
    """Return whether the record of its file, or of one between that and the chain's end, has not arrived yet."""
    row = connection.execute(_WHOSE, (link.file,)).fetchone()
    if row is not None and row[0] is not None and (row[0], row[1]) != (journal.number, link.before):
        return False  # this decision is not the first of that file
    passed: set[str] = set()
    while row is not None and row[0] == journal.number:
        previous_file = row[2]
        if not previous_file or previous_file in passed:
            return False
        passed.add(previous_file)
        row = connection.execute(_NAMED, (journal.id, previous_file)).fetchone()
    return row is None or row[0] is None
