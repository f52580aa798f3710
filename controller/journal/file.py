"""A file of the journal: opening, locking, creating it, and the meaning of its errors. Its tables are in
`schema.py`.
"""

from __future__ import annotations

import errno
import fcntl
import hmac
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from controller.journal import JournalError, chain, schema
from controller.journal.chain import Head
from controller.journal.codec import NAME, PackedState
from controller.journal.packing import Packing
from controller.journal.sealing import FileKeys, JournalKeys, sync_directory
from firmware_bridge.messages import AnyText, Message, message

# SQLite's message quotes a damaged file, which may raise UnicodeDecodeError.
FAILURES: Final = (sqlite3.Error, OSError, UnicodeDecodeError)

_PAGE: Final = 8192  # bytes; a row leaves a third as much space free at the end of a page as with SQLite's 4096
_LOG_PAGES: Final = 500  # when SQLite copies them into the file; as many bytes as with its default sizes
_LOG_BYTES: Final = 32 + (_LOG_PAGES + 12) * (24 + _PAGE)
PRAGMAS: Final = (
    f"page_size={_PAGE}",  # for a new file
    f"wal_autocheckpoint={_LOG_PAGES}",
    "synchronous=FULL",
    "recursive_triggers=ON",
    "trusted_schema=OFF",
    "temp_store=MEMORY",
)


class SqliteConnection(Protocol):
    """The part of SQLite's connection that the journal uses: autocommit until an explicit BEGIN."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Iterable[Any]:
        """Run one statement; rows may be iterated."""

    def close(self) -> None:
        """Close the connection."""


Connect: TypeAlias = Callable[[Path], SqliteConnection]


class Identity(msgspec.Struct, frozen=True):
    """The identity of a journal. `id` is hexadecimal and stays the same for the table's life."""

    id: str
    table: str
    simulated: bool


class Header(msgspec.Struct, frozen=True):
    """The header of a file. `file_id` is its own id; `previous` is the end of the file `previous_file`.

    `public_key` verifies the signatures of its heads; `endorsement` is the previous file's key's signature over this
    key if they differ. `opening` is the state at the beginning of the file. `words` are for `Packing`. `mac` covers the
    hash of all these.
    """

    identity: Identity
    file_id: str
    created_utc_ns: int
    key_check: bytes
    public_key: bytes
    endorsement: bytes
    previous_file: str
    previous: Head
    opening: PackedState
    words: bytes
    mac: bytes = b""

    @property
    def columns(self) -> tuple[Any, ...]:
        """Return the columns of the file's name except its MAC."""
        identity, before, state = self.identity, self.previous, self.opening
        return (schema.FORMAT, identity.id, self.file_id, self.created_utc_ns, identity.table, int(identity.simulated),
                self.key_check, self.public_key, self.endorsement, self.previous_file, before.number, before.hash,
                state.version, state.digest, state.state, state.sealed, self.words)  # fmt: skip

    @property
    def genesis(self) -> bytes:
        """Return the hash before the first decision."""
        return chain.genesis(self.columns)

    def is_authentic(self, keys: FileKeys) -> bool:
        """Return whether a holder of the local key wrote the header."""
        return keys.authenticates(self.mac, NAME, self.genesis)

    @property
    def before(self) -> Head:
        """Return the head before the first entry of this file, in its chain."""
        return Head(self.previous.number, self.genesis)


def connect(path: Path) -> SqliteConnection:
    """Open the one read-write connection: durable at every commit, and refusing every statement that does not
    append.
    """
    connection = sqlite3.connect(path, timeout=1.0, isolation_level=None)
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        connection.set_authorizer(_authorize)
    except BaseException:
        connection.close()
        raise
    return connection


def is_closed(path: Path) -> bool:
    """Return whether the next file has been begun, so that this one no longer grows. Raise OSError."""
    return not path.stat().st_mode & 0o222


def connect_reader(path: Path) -> SqliteConnection:
    """Open a connection that cannot write. Any number of them may be open in addition to the journal's own.

    A closed file is read in place, so that an auditor needs no right to write beside it. Raise `JournalError`
    (journal-damaged) for a closed file with a log beside it: the log may hold its last entries.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise foreign(path)  # SQLite would wait forever for the other end of a pipe
    closed = is_closed(path)
    if closed and any(Path(f"{path}{ending}").exists() for ending in ("-wal", "-journal")):
        raise damaged(path, message("it is closed, but there is a log beside it, which a daemon would have removed"))
    how = "immutable=1" if closed else "mode=ro"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=1.0, isolation_level=None)


def follow_on(after: int, numbers: Iterable[int]) -> bool:
    """Return whether each number is above the previous one. A query on a damaged file may return rows out of order, and
    a caller that asks for the rows after the last one would then never finish.
    """
    found = [after, *numbers]
    return all(one < other for one, other in pairwise(found))


_ALLOWED: Final = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_TRIGGER,
}
_ALLOWED_ON: Final = {
    *((sqlite3.SQLITE_INSERT, table) for table in schema.TABLES),
    (sqlite3.SQLITE_INSERT, "sqlite_master"),
    (sqlite3.SQLITE_UPDATE, "sqlite_master"),  # written by CREATE; SQLite itself refuses a direct write
    (sqlite3.SQLITE_PRAGMA, "journal_mode"),
    (sqlite3.SQLITE_PRAGMA, "wal_checkpoint"),
}


def _authorize(action: int, first: str | None, *_: str | None) -> int:
    allowed = action in _ALLOWED or (action, first) in _ALLOWED_ON
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def create(connection: SqliteConnection, header: Header, signed: Sequence[Any]) -> None:
    """Create tables, guards, name and its signature in an empty file, all or nothing. Raise sqlite3.Error."""
    list(connection.execute("PRAGMA journal_mode=WAL"))
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema.SCHEMA:
        connection.execute(statement)
    connection.execute(schema.NAME, (*header.columns, header.mac))
    connection.execute(schema.INSERT_HEAD, signed)
    connection.execute("COMMIT")


def make_folder(folder: Path) -> None:
    """Create the folder if it is missing. Its name is made durable, also after an interrupted start. Raise OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o750, parents=True, exist_ok=True)
    for one in missing or [folder]:
        with suppress(PermissionError):  # created by another user
            sync_directory(one.parent)


def lock_folder(folder: Path) -> int:
    """Lock the journal for this process. The returned descriptor holds the lock, which the kernel releases when the
    process dies.

    The lock is on the folder, not on its path, so that another path to it does not bypass the lock. Raise
    `JournalError`: journal-locked if another program holds it, journal-io if there is no folder.
    """
    with speaking(folder):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            os.close(descriptor)
            raise
    return descriptor


def make_file(path: Path) -> None:
    """Create an empty file that only its owner may read, unless an empty file exists already. Raise OSError or
    `JournalError`: journal-format for something else under that name, journal-damaged for a log without its file.
    """
    try:
        require_file(path)
    except FileNotFoundError:
        if Path(f"{path}-wal").exists():
            raise damaged(path, message("its file is missing, and only its log is left")) from None
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    else:
        with closing(connect_reader(path)) as connection:
            if read_header(path, connection) is not None:
                raise foreign(path)


def require_file(path: Path) -> None:
    """Check that it is a regular file with one name: SQLite names its log after the file. Raise `JournalError` or
    OSError.
    """
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise foreign(path)
    if found.st_nlink > 1:
        raise _linked(path, found.st_nlink)


def read_header(path: Path, connection: SqliteConnection) -> Header | None:
    """Return the file's header, or None for an empty file.

    Raise `JournalError`: journal-format for a foreign file or another format, journal-damaged for a changed schema or
    name.
    """
    made = sorted(map(repr, connection.execute(schema.MADE)))
    if not made:
        return None
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    if "format INTEGER" not in str(tables.get("journal")) or not {"entry", "decision"} & set(tables):
        raise foreign(path)
    formats = [found for (found,) in connection.execute("SELECT format FROM journal")]
    if formats and formats[0] != schema.FORMAT:
        raise JournalError(
            "journal-format",
            message(
                "The journal {path} has format {found}; this version reads format {read}.",
                path=str(path),
                found=formats[0],
                read=schema.FORMAT,
            ),
            message("Install the version of cardshoe that wrote it; no journal is converted."),
        )
    if len(formats) != 1 or made != schema.as_made():
        raise damaged(
            path, message("its name, its tables or their guards against changes differ from what was created")
        )
    (name,) = connection.execute("SELECT * FROM journal")
    if [type(value) for value in name] != _TYPES or name[11] < 0:
        raise damaged(path, message("its name differs from what was written"))
    return _header(name)


_TYPES: Final = [int, int, str, str, int, str, int, bytes, bytes, bytes, str, int, bytes, int, bytes, bytes, bytes,
                 bytes, bytes]  # fmt: skip


def _header(name: Sequence[Any]) -> Header:
    (_, _, id_, file_id, created, table, simulated, key_check, public_key, endorsement, previous_file, number, hash_,
     version, digest, state, sealed, words, mac) = name  # fmt: skip
    opening = PackedState(version, digest, state, sealed)
    return Header(Identity(id_, table, bool(simulated)), file_id, created, key_check, public_key, endorsement,
                  previous_file, Head(number, hash_), opening, words, mac)  # fmt: skip


def opening_text(path: Path, header: Header) -> Any:
    """Return the state with which a file begins as plain values, without sealed items. Raise `JournalError` if it
    cannot be read.
    """
    try:
        return msgspec.json.decode(Packing(header.words).unpack(header.opening.state))
    except (ValueError, msgspec.MsgspecError) as error:
        why = message(
            "the state with which it begins, after entry {number}, cannot be read: {error}",
            number=header.previous.number,
            error=str(error),
        )
        raise damaged(path, why) from error


def keys_for(path: Path, local_key: bytes, header: Header) -> JournalKeys:
    """Return the keys of that journal. Raise `JournalError` (journal-key) if the local key is not the one it began
    with.
    """
    keys = JournalKeys(local_key, header.identity.id)
    if not hmac.compare_digest(keys.check, header.key_check):
        raise JournalError(
            "journal-key",
            message("The key is not the one that the journal {path} was begun with.", path=str(path)),
            message(
                "Put this table's key file back from the safe. Without it, move the folder {folder} away and keep it: "
                "the next start of the daemon begins a new journal.",
                folder=str(path.parent),
            ),
        )
    return keys


def require_same_table(path: Path, found: Identity, wanted: Identity) -> None:
    """Raise `JournalError` (journal-format) for another table's journal, or if only one of the two is simulated."""
    if (found.table, found.simulated) != (wanted.table, wanted.simulated):
        raise JournalError(
            "journal-format",
            message(
                "The journal {path} belongs to {found}, not to {wanted}.",
                path=str(path),
                found=_named(found),
                wanted=_named(wanted),
            ),
            message("Correct the journal's path or the table's name in the configuration."),
        )


def _named(table: Identity) -> Message:
    name = repr(table.table)
    return message("simulated table {name}", name=name) if table.simulated else message("table {name}", name=name)


def grow_log(path: Path) -> None:
    """Give the write-ahead log its final size, so that a commit writes data without changing the size of a file.

    The log's content is written again: if an earlier process was killed before its sync, or its sync failed, the
    content is only in the page cache, and a power cut would lose it with all that follows. Raise OSError.
    """
    with suppress(FileNotFoundError), Path(f"{path}-wal").open("r+b", buffering=0) as log:
        found = log.read()
        if found:
            log.seek(0)
            log.write(found)
            os.fsync(log.fileno())
        # A failure below costs only speed. SQLite does not take the zeros for frames.
        with suppress(OSError):
            if len(found) < _LOG_BYTES:
                log.write(bytes(_LOG_BYTES - len(found)))
                os.fsync(log.fileno())
    sync_directory(path.parent)


@contextmanager
def speaking(path: Path) -> Iterator[None]:
    """Raise errors from SQLite and from the system as `JournalError`."""
    try:
        yield
    except FAILURES as error:
        raise explain(path, error) from error


def explain(path: Path, error: Exception) -> JournalError:
    """Return the error as a sentence with the next step."""
    code = getattr(error, "sqlite_errorcode", None) or 0
    number = error.errno if isinstance(error, OSError) else None
    primary = code & 0xFF
    full = primary == sqlite3.SQLITE_FULL or code == sqlite3.SQLITE_IOERR_SHMSIZE
    if full or number in (errno.ENOSPC, errno.EDQUOT) or "disk is full" in str(error):
        return JournalError(
            "journal-full",
            message("The disk has no room left for the journal {path}.", path=str(path)),
            message("Free space on that disk. What could not be recorded was not done; repeat it."),
        )
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or number == errno.EWOULDBLOCK:
        return JournalError(
            "journal-locked",
            message("Another program holds the journal {path}.", path=str(path)),
            message("Stop the other daemon of this table; `fuser {path}` names it.", path=str(path)),
        )
    if primary == sqlite3.SQLITE_NOTADB:
        return foreign(path)
    not_text = isinstance(error, UnicodeError) or "decode to UTF-8" in str(error)
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_AUTH) or not_text:
        return damaged(path, str(error))
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    said = message("The journal {path} cannot be used: {why}.", path=str(path), why=why)
    if number in (errno.ENOENT, errno.ENOTDIR):
        return JournalError("journal-io", said, message("Check the path, and whether its disk is mounted."))
    hint = message("Check the disk, the directory and its owner, and the kernel's log; then restart the daemon.")
    return JournalError("journal-io", said, hint)


def foreign(path: Path) -> JournalError:
    """Return the error for a file that is not a journal."""
    return JournalError(
        "journal-format",
        message("{path} is not a journal of cardshoe.", path=str(path)),
        message("Correct the journal's path in the configuration; the file was not changed."),
    )


def moved(path: Path) -> JournalError:
    """Return the error for a file in use that is no longer at its path."""
    return JournalError(
        "journal-gone",
        message("The journal {path} was deleted, moved or replaced while the table uses it.", path=str(path)),
        message("Move it back, then return to service. If it was deleted, put a backup there and restart the daemon."),
    )


def _linked(path: Path, names: int) -> JournalError:
    return JournalError(
        "journal-linked",
        message(
            "The journal {path} has {names} names, and entries written under one are missing under another.",
            path=str(path),
            names=names,
        ),
        message(
            "Remove all but the right one (`find / -xdev -samefile {path}`); a backup is a copy, not a link.",
            path=str(path),
        ),
    )


def damaged(path: Path, what: AnyText) -> JournalError:
    """Return the error for a file that differs from what was written. `what` is the end of a sentence."""
    return JournalError(
        "journal-damaged",
        message("The journal {path} is damaged: {what}.", path=str(path), what=what),
        message("Keep the file for an audit, move it away and let the daemon begin a new journal."),
    )
