"""The journal's file: SQLite, append-only, a chain of hashes.

    hash of an entry  = SHA-256(number u64 | utc i64 | boottime i64 | round i64 | lengths of start, kind, body, each u32
                                | previous hash | start | kind | body)
    before the first  = SHA-256(format u32 | created i64 | simulated u8 | last number of the file before, u64
                                | lengths of id, table, key check, each u32
                                | last hash of the file before | id | table | key check)

Numbers are big-endian, texts UTF-8. The chain shows that nothing within it was changed; that its end was cut off shows
only against a head known elsewhere.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import hmac
import os
import sqlite3
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from controller.journal import JournalError
from controller.journal.sealing import JournalKeys, sync_directory

FORMAT: Final = 1
NO_HASH: Final = bytes(32)

SCHEMA: Final = (
    """CREATE TABLE journal (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    format INTEGER NOT NULL,
    id TEXT NOT NULL,
    created_utc_ns INTEGER NOT NULL,
    table_name TEXT NOT NULL,
    simulated INTEGER NOT NULL CHECK (simulated IN (0, 1)),
    key_check BLOB NOT NULL,
    previous_number INTEGER NOT NULL,
    previous_hash BLOB NOT NULL CHECK (length(previous_hash) = 32)
) STRICT""",
    """CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    utc_ns INTEGER NOT NULL,
    boottime_ns INTEGER NOT NULL,
    start TEXT NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('input', 'event')),
    body TEXT NOT NULL,
    previous BLOB NOT NULL CHECK (length(previous) = 32),
    hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT""",
    """CREATE TRIGGER journal_once BEFORE INSERT ON journal WHEN EXISTS (SELECT 1 FROM journal)
BEGIN SELECT RAISE(ABORT, 'a journal has one name'); END""",
    *(
        f"""CREATE TRIGGER {table}_{verb.lower()} BEFORE {verb} ON {table}
BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END"""
        for table in ("journal", "entry")
        for verb in ("UPDATE", "DELETE")
    ),
)
# UnicodeDecodeError: SQLite's message quotes a damaged file.
FAILURES: Final = (sqlite3.Error, OSError, UnicodeDecodeError)

_NAME: Final = "INSERT INTO journal VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)"
INSERT: Final = "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_WRITTEN: Final = "SELECT * FROM entry WHERE number >= ? ORDER BY number"
# As they are stored: damage may have left no UTF-8.
_CHAIN: Final = """SELECT number, utc_ns, boottime_ns, round, CAST(start AS BLOB), CAST(kind AS BLOB),
CAST(body AS BLOB), previous, hash FROM entry ORDER BY number"""
# Nothing is left out: who may write to the file can give a trigger any name, also one that SQLite keeps to itself.
_MADE: Final = "SELECT type, name, tbl_name, sql FROM sqlite_master"
_ENTRY: Final = struct.Struct(">QqqqIII")
_GENESIS: Final = struct.Struct(">IqBQIII")
_LOG_BYTES: Final = 32 + 1024 * (24 + 4096)  # a little more than a checkpoint's 1000 pages


class Connection(Protocol):
    """What the journal uses of SQLite: autocommit until an explicit BEGIN."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Iterable[Any]:
        """Run one statement; rows may be iterated."""

    def close(self) -> None:
        """Give up the file."""


Connect: TypeAlias = Callable[[Path], Connection]


class Head(msgspec.Struct, frozen=True):
    """The end of a chain: the last number and its hash. No entry yet: the end of the file before, or 0."""

    number: int = 0
    hash: bytes = NO_HASH


class Identity(msgspec.Struct, frozen=True):
    """Whose journal a file is. `id` is hexadecimal and unique to the file; `previous` is the end of the file before."""

    id: str
    table: str
    simulated: bool
    created_utc_ns: int
    previous: Head = Head()


def connect(path: Path) -> Connection:
    """The one read-write connection: durable at every commit, and refusing whatever does not append."""
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    try:
        for pragma in ("synchronous=FULL", "recursive_triggers=ON", "trusted_schema=OFF", "temp_store=MEMORY"):
            connection.execute(f"PRAGMA {pragma}")
        connection.set_authorizer(_authorize)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_reader(path: Path) -> Connection:
    """A connection that cannot write. Any number of them may be open beside the journal's own."""
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=1.0, isolation_level=None)


_ALLOWED: Final = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_TRIGGER,
}
_ALLOWED_ON: Final = {
    (sqlite3.SQLITE_INSERT, "journal"),
    (sqlite3.SQLITE_INSERT, "entry"),
    (sqlite3.SQLITE_INSERT, "sqlite_master"),
    (sqlite3.SQLITE_UPDATE, "sqlite_master"),  # by CREATE; a direct one SQLite refuses itself
    (sqlite3.SQLITE_PRAGMA, "journal_mode"),
    (sqlite3.SQLITE_PRAGMA, "wal_checkpoint"),
}


def _authorize(action: int, first: str | None, *_: str | None) -> int:
    allowed = action in _ALLOWED or (action, first) in _ALLOWED_ON
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def hash_entry(number: int, utc_ns: int, boottime_ns: int, round_number: int, start: bytes, kind: bytes, body: bytes,
                previous: bytes) -> bytes:  # fmt: skip
    """The hash of an entry, from its stored bytes and the hash before. Raises struct.error or TypeError for others."""
    fixed = _ENTRY.pack(number, utc_ns, boottime_ns, round_number, len(start), len(kind), len(body))
    return hashlib.sha256(b"".join((fixed, previous, start, kind, body))).digest()


def _genesis(identity: Identity, key_check: bytes) -> bytes:
    id_, table, before = identity.id.encode(), identity.table.encode(), identity.previous
    fixed = _GENESIS.pack(FORMAT, identity.created_utc_ns, identity.simulated, before.number, len(id_), len(table),
                          len(key_check))  # fmt: skip
    return hashlib.sha256(b"".join((fixed, before.hash, id_, table, key_check))).digest()


def create(connection: Connection, identity: Identity, key_check: bytes) -> None:
    """Make the tables, the guards and the name in an empty file, all or nothing. Raises sqlite3.Error."""
    list(connection.execute("PRAGMA journal_mode=WAL"))
    connection.execute("BEGIN IMMEDIATE")
    for statement in SCHEMA:
        connection.execute(statement)
    before = identity.previous
    name = (FORMAT, identity.id, identity.created_utc_ns, identity.table, int(identity.simulated), key_check)
    connection.execute(_NAME, (*name, before.number, before.hash))
    connection.execute("COMMIT")


def lock_file(path: Path) -> int:
    """Take the journal for this process; the descriptor holds it, and the kernel lets go when the process dies.

    The file itself is locked and not its name, so that no second name of it leads past the lock. SQLite's log beside it
    goes by the name: a journal with several is refused. To be closed after SQLite's connections: closing any descriptor
    of a file gives up the locks that SQLite holds on it. Raises `JournalError`: journal-locked when another program
    holds it, journal-linked, journal-format for what is no file.
    """
    with speaking(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise foreign(path)
            if found.st_nlink > 1:
                raise _linked(path, found.st_nlink)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def read_name(path: Path, connection: Connection) -> tuple[Identity, bytes] | None:
    """Whose journal it is, and the check of its key; None for an empty file.

    Raises `JournalError`: journal-format for a foreign file or another format, journal-damaged for a schema or a name
    that has been changed.
    """
    made = sorted(map(repr, connection.execute(_MADE)))
    if not made:
        return None
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    if "format INTEGER" not in str(tables.get("journal")) or "entry" not in tables:
        raise foreign(path)
    formats = [found for (found,) in connection.execute("SELECT format FROM journal")]
    if formats and formats != [FORMAT]:
        raise JournalError(
            "journal-format",
            f"The journal {path} has format {formats[0]}; this version reads format {FORMAT}.",
            "Install the version of cardshoe that wrote it; no journal is converted in place.",
        )
    if not formats or made != _as_made():
        raise _damaged(path, "its name, its tables or their guards against changes are not as they were made")
    (name,) = connection.execute("SELECT * FROM journal")
    if [type(value) for value in name] != [int, int, str, int, str, int, bytes, int, bytes] or name[7] < 0:
        raise _damaged(path, "its name is not as it was made")
    _, _, id_, created, table, simulated, key_check, number, hash_ = name
    return Identity(id_, table, bool(simulated), created, Head(number, hash_)), key_check


@cache
def _as_made() -> list[str]:
    """What a new journal's `sqlite_master` holds, as SQLite writes it."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in SCHEMA:
            connection.execute(statement)
        return sorted(map(repr, connection.execute(_MADE)))


def require_written(path: Path, connection: Connection, rows: Sequence[tuple[Any, ...]]) -> None:
    """Read back what an append has inserted, before its commit: a trigger planted since the start may have dropped or
    changed it, and SQLite says nothing of that. Raises `JournalError` (journal-damaged)."""
    if list(connection.execute(_WRITTEN, (rows[0][0],))) != rows:
        raise _damaged(path, f"entry {rows[0][0]} and those after it are not kept as they were written")


def require_whole(path: Path, row: Sequence[Any]) -> None:
    """A row that is read without its chain. Raises `JournalError` (journal-damaged) for values of other types."""
    if [type(value) for value in row] != [int, int, int, str, int, str, str]:
        raise _damaged(path, f"entry {row[0]} has been changed")


def keys_for(path: Path, local_key: bytes, identity: Identity, key_check: bytes) -> JournalKeys:
    """The keys of that journal. Raises `JournalError` (journal-key) when the local key is not the one it began with."""
    keys = JournalKeys(local_key, identity.id)
    if not hmac.compare_digest(keys.check, key_check):
        raise JournalError(
            "journal-key",
            f"The key is not the one that the journal {path} was begun with.",
            "Put the key file that belongs to this table back from its backup, or begin a new journal.",
        )
    return keys


def require_same_table(path: Path, found: Identity, wanted: Identity) -> None:
    """Raises `JournalError` (journal-format) for another table's journal, or when one of the two is simulated."""
    if (found.table, found.simulated) != (wanted.table, wanted.simulated):
        words = [f"{'simulated ' if each.simulated else ''}table {each.table!r}" for each in (found, wanted)]
        raise JournalError(
            "journal-format",
            f"The journal {path} belongs to {words[0]} and not to {words[1]}.",
            "Correct the journal's path or the table's name in the configuration.",
        )


def verify(path: Path, connection: Connection, identity: Identity, key_check: bytes) -> Head:
    """Check the whole chain and return its end. Raises `JournalError` (journal-damaged) with the first bad entry."""
    number = identity.previous.number
    previous = _genesis(identity, key_check)
    for row in connection.execute(_CHAIN):
        number += 1
        found, utc_ns, boottime_ns, round_number, start, kind, body, stored_previous, stored = row
        try:
            made = hash_entry(found, utc_ns, boottime_ns, round_number, start, kind, body, previous)
        except (TypeError, struct.error):
            made = b""
        if (found, stored_previous, stored) != (number, previous, made):
            raise _damaged(path, f"entry {number} is missing or has been changed")
        previous = stored
    return Head(number, previous)


def grow_log(path: Path) -> None:
    """Give the write-ahead log its final size, so that a commit writes data and no new size of a file."""
    # Only speed is lost without it. SQLite reads the zeros as no frames.
    with suppress(OSError):
        with Path(f"{path}-wal").open("r+b", buffering=0) as log:
            missing = _LOG_BYTES - log.seek(0, os.SEEK_END)
            if missing > 0:
                log.write(bytes(missing))
                os.fsync(log.fileno())
        sync_directory(path.parent)


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the system leave as `JournalError`."""
    try:
        yield
    except FAILURES as error:
        raise explain(path, error) from error


def explain(path: Path, error: Exception) -> JournalError:
    """What went wrong, in a sentence with the next step."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    number = error.errno if isinstance(error, OSError) else None
    primary = code & 0xFF
    full = primary == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE
    if full or number in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error):
        return JournalError(
            "journal-full",
            f"The disk has no room left for the journal {path}.",
            "Make room on that disk; what could not be recorded has not happened and is to be done again.",
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or number == errno.EWOULDBLOCK:
        return JournalError(
            "journal-locked",
            f"Another program holds the journal {path}.",
            f"Stop the other daemon of this table; `fuser {path}` names it.",
        )
    if primary == sqlite3.SQLITE_NOTADB:
        return foreign(path)
    not_text = isinstance(error, UnicodeError) or "decode to UTF-8" in str(error)
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_AUTH) or not_text:
        return _damaged(path, str(error))
    return JournalError(
        "journal-io",
        f"The journal {path} cannot be used: {error}.",
        "Check the disk, the directory and its owner, and the kernel's log; then restart the daemon.",
    )


def foreign(path: Path) -> JournalError:
    """For a file that is something else."""
    return JournalError(
        "journal-format",
        f"{path} is not a journal of cardshoe.",
        "Correct the journal's path in the configuration; the file has been left as it was.",
    )


def _linked(path: Path, names: int) -> JournalError:
    return JournalError(
        "journal-linked",
        f"The journal {path} has {names} names, and entries written under one are missed under another.",
        f"Remove all but the right one (`find / -xdev -samefile {path}`); a backup is a copy and no link.",
    )


def _damaged(path: Path, what: str) -> JournalError:
    return JournalError(
        "journal-damaged",
        f"The journal {path} is damaged: {what}.",
        "Keep the file for an audit, move it away and let the daemon begin a new journal.",
    )
