"""Incoming files and heads: which key signs, whether the signature is valid, and which table owns the journal.

The owner of a journal is the table under whose topics its beginning arrived, which names that table and is signed.
Records under the topics of one table belong to that table alone, so nobody takes over a journal by sending first. If
two tables send under one id, both are stored, each with its own key, and people are told which table has what.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from controller.floor.store.alarms import Alarm, Kind, contradicts, signed_before
from controller.floor.store.database import Connection
from controller.floor.store.decisions import other_than_signed
from controller.floor.store.records import Arrived, at
from controller.floor.store.rows import NOT_KNOWN, FileRow, JournalRow
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal.outbox import FileBegan, HeadSigned
from controller.journal.signing import fingerprint, is_signed, key_statement, statement

_WHOLE_FILE: Final = """SELECT number, hash, utc_ns, table_name, simulated, key, endorsement, previous_file,
previous_hash FROM cardshoe.journal_file WHERE id = %s AND number IS NOT NULL"""
_SET_FILE: Final = """UPDATE cardshoe.journal_file SET number = %s, hash = %s, at = %s, utc_ns = %s, table_name = %s,
simulated = %s, key = %s, endorsement = %s, previous_file = %s, previous_hash = %s WHERE id = %s"""
_MAY_PRECEDE: Final = """SELECT FROM cardshoe.journal_file f
WHERE f.journal = %s AND f.number = %s AND (f.previous_hash = %s OR (f.previous_file <> '' AND NOT EXISTS (
SELECT FROM cardshoe.journal_file o
WHERE o.journal = f.journal AND o.file_id = f.previous_file AND o.number IS NOT NULL)))"""
_KEY_BEFORE: Final = "SELECT key FROM cardshoe.journal_file WHERE journal = %s AND file_id = %s AND number IS NOT NULL"
_KEYS_AFTER: Final = """SELECT file_id, number, key, endorsement FROM cardshoe.journal_file
WHERE journal = %s AND previous_file = %s"""
_HEADS_OF: Final = (
    "SELECT number, hash, key FROM cardshoe.head WHERE journal = %s AND file = %s AND (key <> %s OR number = %s)"
)
_HEAD: Final = "SELECT hash, utc_ns, signature, key FROM cardshoe.head WHERE journal = %s AND number = %s AND file = %s"
_ADD_HEAD: Final = """INSERT INTO cardshoe.head (journal, number, file, hash, at, utc_ns, signature, key)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"""
_HASH_AT: Final = "SELECT hash FROM cardshoe.decision WHERE journal = %s AND last = %s AND file = %s"
_KEY_OF: Final = "SELECT number, hash, key FROM cardshoe.journal_file WHERE id = %s AND number IS NOT NULL"


class FileTaken(NamedTuple):
    """The result. `new` is true if it was not stored before. `refused` means that it contradicts a stored record."""

    new: bool
    alarms: Sequence[Alarm] = ()
    refused: bool = False


def take_file(
    connection: Connection, arrived: Arrived, began: FileBegan, journal: JournalRow, file: FileRow
) -> FileTaken:
    """Take the record of a file."""
    values: tuple[Any, ...] = (
        began.number, bytes.fromhex(began.hash), began.utc_ns, began.table, began.simulated, bytes.fromhex(began.key),
        bytes.fromhex(began.endorsement), began.previous_file, bytes.fromhex(began.previous_hash),
    )  # fmt: skip
    if (stored := connection.execute(_WHOLE_FILE, (file.id,)).fetchone()) is not None:
        if tuple(stored) == values:
            return FileTaken(False)
        sentence = f"The file that begins after entry {began.number} arrived again and differs from the stored one."
        return FileTaken(False, contradicts(connection, journal, arrived, "fork", sentence), refused=True)
    if _is_passed(connection, journal, began):
        sentence = f"The journal continues after entry {began.number} in a file that is not stored."
        return FileTaken(False, contradicts(connection, journal, arrived, "fork", sentence), refused=True)
    connection.execute(_SET_FILE, (*values[:2], at(began.utc_ns), *values[2:], file.id))
    journal.simulated = began.simulated
    if journal.number == NOT_KNOWN or began.number <= journal.begins_at:
        journal.begins_earlier = True
    journal.looks_on = True
    claim(connection, journal, file)
    return FileTaken(True, _doubts_of_file(connection, began, journal, file))


def _is_passed(connection: Connection, journal: JournalRow, began: FileBegan) -> bool:
    """Return whether the chain was followed past this file's place without it.

    Several files without a decision may begin where the chain begins: while the predecessor of any of them is missing,
    this one may come before it.
    """
    if journal.number == NOT_KNOWN or not journal.begins_at <= began.number < journal.number:
        return False
    if began.number > journal.begins_at:
        return True
    row = (journal.id, began.number, bytes.fromhex(began.hash))
    return connection.execute(_MAY_PRECEDE, row).fetchone() is None


def _doubts_of_file(connection: Connection, began: FileBegan, journal: JournalRow, file: FileRow) -> list[Alarm]:
    key, found = bytes.fromhex(began.key), list[Alarm]()
    before = connection.execute(_KEY_BEFORE, (journal.id, began.previous_file)).fetchone()
    if before is not None and not _endorsed(journal, before[0], key, bytes.fromhex(began.endorsement)):
        found.append(_key_changed(journal, began.number))
    for _, number, after, endorsement in connection.execute(_KEYS_AFTER, (journal.id, began.file)).fetchall():
        if number is not None and not _endorsed(journal, key, after, endorsement):
            found.append(_key_changed(journal, number))
    heads = connection.execute(_HEADS_OF, (journal.id, file.id, key, began.number)).fetchall()
    for number, hash_, signed_by in heads:
        if signed_by != key:
            found.append(_badly_signed(journal, number))
        elif hash_.hex() != began.hash:
            found.append(other_than_signed(journal, number))
    return found


def _endorsed(journal: JournalRow, before: bytes, after: bytes, endorsement: bytes) -> bool:
    return before == after or is_signed(before, endorsement, key_statement(journal.journal_id, before, after))


def take_head(
    connection: Connection, arrived: Arrived, head: HeadSigned, journal: JournalRow, file: FileRow
) -> FileTaken:
    """Take a signed head. A head with a bad signature is not stored."""
    hash_, signature, key = (bytes.fromhex(digits) for digits in (head.hash, head.signature, head.key))
    known = connection.execute(_KEY_OF, (file.id,)).fetchone()
    said = statement(head.journal, head.file, head.head, head.utc_ns)
    if not is_signed(key, signature, said) or (known is not None and known[2] != key):
        alarm = _badly_signed(journal, head.number)
        return FileTaken(
            False, contradicts(connection, journal, arrived, "bad-signature", alarm.sentence), refused=True
        )
    stored = connection.execute(_HEAD, (journal.id, head.number, file.id)).fetchone()
    if stored is not None:
        if tuple(stored) == (hash_, head.utc_ns, signature, key):
            return FileTaken(False)
        sentence = f"Entry {head.number} was signed twice, with different contents or at different times."
        again = known is not None and stored[0] == hash_  # an older copy of the journal signed it again
        kind: Kind = "rollback" if again else "fork"
        return FileTaken(False, contradicts(connection, journal, arrived, kind, sentence), refused=True)
    alarms: list[Alarm] = []
    if known is not None and (before := signed_before(connection, journal, head.number, hash_, key)) is not None:
        sentence = f"The journal's key signed entry {before}, and entry {head.number} of a second chain."
        alarms.append(Alarm("rollback", journal.id, head.number, sentence))
    row = (journal.id, head.number, file.id, hash_, at(head.utc_ns), head.utc_ns, signature, key)
    connection.execute(_ADD_HEAD, row)
    journal.head_number = max(journal.head_number, head.number)
    of_name = known is not None and known[0] == head.number
    if of_name:
        claim(connection, journal, file)
    of = known[1:2] if known is not None and of_name else _hash_at(connection, journal, head, file)
    if of and of[0] != hash_:
        alarms.append(other_than_signed(journal, head.number))
    return FileTaken(True, alarms)


def _hash_at(connection: Connection, journal: JournalRow, head: HeadSigned, file: FileRow) -> Any:
    return connection.execute(_HASH_AT, (journal.id, head.number, file.id)).fetchone()


def _badly_signed(journal: JournalRow, number: int) -> Alarm:
    return Alarm("bad-signature", journal.id, number, f"The head of entry {number} is not signed with its file's key.")


def _key_changed(journal: JournalRow, number: int) -> Alarm:
    sentence = f"The file after entry {number} has a different key, which the previous key has not endorsed."
    return Alarm("key-changed", journal.id, number, sentence)


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
                found.append(Alarm("other-table", journal.id, None, sentence, own.topic(TopicSubject.JOURNAL)))
                continue
            two = f"{'/'.join(own)} with the key {fingerprint(journal.key)}, {other} with {fingerprint(key)}"
            sentence = f"Two tables signed a beginning of this journal: {two}. Compare these keys with the tables' own."
            found += [Alarm("other-table", one, None, sentence) for one in (journal.id, number)]
    return found
