"""A file of the journal: opened, locked, made, and what its errors mean. Its tables are in `schema.py`."""

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
from controller.journal.codec import NAME, SavedState
from controller.journal.packing import Packing
from controller.journal.sealing import FileKeys, JournalKeys, sync_directory

# UnicodeDecodeError: SQLite's message quotes a damaged file.
FAILURES: Final = (sqlite3.Error, OSError, UnicodeDecodeError)

_PAGE: Final = 8192  # bytes: what a row leaves free at the end of a page is a third of what it is with SQLite's 4096
_LOG_PAGES: Final = 500  # then SQLite copies them into the file: as many bytes as with its own sizes
_LOG_BYTES: Final = 32 + (_LOG_PAGES + 12) * (24 + _PAGE)
PRAGMAS: Final = (
    f"page_size={_PAGE}",  # of a file that is made
    f"wal_autocheckpoint={_LOG_PAGES}",
    "synchronous=FULL",
    "recursive_triggers=ON",
    "trusted_schema=OFF",
    "temp_store=MEMORY",
)


class Connection(Protocol):
    """What the journal uses of SQLite: autocommit until an explicit BEGIN."""

    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Iterable[Any]:
        """Run one statement; rows may be iterated."""

    def close(self) -> None:
        """Give up the file."""


Connect: TypeAlias = Callable[[Path], Connection]


class Identity(msgspec.Struct, frozen=True):
    """Whose journal it is. `id` is hexadecimal, and the same for the table's life."""

    id: str
    table: str
    simulated: bool


class Header(msgspec.Struct, frozen=True):
    """What a file says of itself. `file_id` is its own; `previous` is the end of the file `previous_file`.

    `public_key`: whose signatures its heads have; `endorsement`: that of the key of the file before over this one,
    where it is another one. `opening`: the state with which it begins. `words`: for `Packing`. `mac`: over the hash of
    all that.
    """

    identity: Identity
    file_id: str
    created_utc_ns: int
    key_check: bytes
    public_key: bytes
    endorsement: bytes
    previous_file: str
    previous: Head
    opening: SavedState
    words: bytes
    mac: bytes = b""

    @property
    def columns(self) -> tuple[Any, ...]:
        """The columns of the file's name, but for its MAC."""
        identity, before, state = self.identity, self.previous, self.opening
        return (schema.FORMAT, identity.id, self.file_id, self.created_utc_ns, identity.table, int(identity.simulated),
                self.key_check, self.public_key, self.endorsement, self.previous_file, before.number, before.hash,
                state.version, state.digest, state.state, state.sealed, self.words)  # fmt: skip

    @property
    def genesis(self) -> bytes:
        """The hash before the first decision."""
        return chain.genesis(self.columns)

    def is_authentic(self, keys: FileKeys) -> bool:
        """Whether it was written by a holder of the local key."""
        return keys.authenticates(self.mac, NAME, self.genesis)

    @property
    def before(self) -> Head:
        """The head before the first entry of this file, in its chain."""
        return Head(self.previous.number, self.genesis)


def connect(path: Path) -> Connection:
    """The one read-write connection: durable at every commit, and refusing whatever does not append."""
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
    """Whether the next file has been begun, so that nothing is added to this one. Raises OSError."""
    return not path.stat().st_mode & 0o222


def connect_reader(path: Path) -> Connection:
    """A connection that cannot write. Any number of them may be open beside the journal's own.

    A closed file is read as it lies there, so that an auditor needs no right to write beside it. Raises `JournalError`
    (journal-damaged) for a closed file with a log beside it: its last entries may be in there.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise foreign(path)  # SQLite would wait for ever for the other end of a pipe
    closed = is_closed(path)
    if closed and any(Path(f"{path}{ending}").exists() for ending in ("-wal", "-journal")):
        raise damaged(path, "it is closed, and a log lies beside it, which a daemon would have removed")
    how = "immutable=1" if closed else "mode=ro"
    return sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True, timeout=1.0, isolation_level=None)


def follow_on(after: int, numbers: Iterable[int]) -> bool:
    """Whether each number is above the one before it: in a damaged file a query's rows need not be in its order, and
    who asks for what follows the last of them would be answered for ever.
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
    (sqlite3.SQLITE_UPDATE, "sqlite_master"),  # by CREATE; a direct one SQLite refuses itself
    (sqlite3.SQLITE_PRAGMA, "journal_mode"),
    (sqlite3.SQLITE_PRAGMA, "wal_checkpoint"),
}


def _authorize(action: int, first: str | None, *_: str | None) -> int:
    allowed = action in _ALLOWED or (action, first) in _ALLOWED_ON
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def create(connection: Connection, header: Header, signed: Sequence[Any]) -> None:
    """Make tables, guards, name and its signature in an empty file, all or nothing. Raises sqlite3.Error."""
    list(connection.execute("PRAGMA journal_mode=WAL"))
    connection.execute("BEGIN IMMEDIATE")
    for statement in schema.SCHEMA:
        connection.execute(statement)
    connection.execute(schema.NAME, (*header.columns, header.mac))
    connection.execute(schema.INSERT_HEAD, signed)
    connection.execute("COMMIT")


def make_folder(folder: Path) -> None:
    """Where it is missing. Its name is durable, also if an earlier start was interrupted. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(mode=0o750, parents=True, exist_ok=True)
    for one in missing or [folder]:
        with suppress(PermissionError):  # made by somebody else
            sync_directory(one.parent)


def lock_folder(folder: Path) -> int:
    """Take the journal for this process; the descriptor holds it, and the kernel lets go when the process dies.

    The folder itself is locked and not its name, so that no second name of it leads past the lock. Raises
    `JournalError`: journal-locked when another program holds it, journal-io where there is no folder.
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
    """An empty file that its owner alone may read, where there is none, or one that was not begun. Raises OSError, or
    `JournalError`: journal-format for something else of that name, journal-damaged for a log without its file.
    """
    try:
        require_file(path)
    except FileNotFoundError:
        if Path(f"{path}-wal").exists():
            raise damaged(path, "its file is gone, and its log is left") from None
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    else:
        with closing(connect_reader(path)) as connection:
            if read_header(path, connection) is not None:
                raise foreign(path)


def require_file(path: Path) -> None:
    """A regular file with one name: SQLite's log beside it goes by the name. Raises `JournalError` or OSError."""
    found = path.lstat()
    if not stat.S_ISREG(found.st_mode):
        raise foreign(path)
    if found.st_nlink > 1:
        raise _linked(path, found.st_nlink)


def read_header(path: Path, connection: Connection) -> Header | None:
    """What the file says of itself; None for an empty file.

    Raises `JournalError`: journal-format for a foreign file or another format, journal-damaged for a schema or a name
    that has been changed.
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
            f"The journal {path} has format {formats[0]}; this version reads format {schema.FORMAT}.",
            "Install the version of cardshoe that wrote it; no journal is converted.",
        )
    if len(formats) != 1 or made != schema.as_made():
        raise damaged(path, "its name, its tables or their guards against changes are not as they were made")
    (name,) = connection.execute("SELECT * FROM journal")
    if [type(value) for value in name] != _TYPES or name[11] < 0:
        raise damaged(path, "its name is not as it was made")
    return _header(name)


_TYPES: Final = [int, int, str, str, int, str, int, bytes, bytes, bytes, str, int, bytes, int, bytes, bytes, bytes,
                 bytes, bytes]  # fmt: skip


def _header(name: Sequence[Any]) -> Header:
    (_, _, id_, file_id, created, table, simulated, key_check, public_key, endorsement, previous_file, number, hash_,
     version, digest, state, sealed, words, mac) = name  # fmt: skip
    opening = SavedState(version, digest, state, sealed)
    return Header(Identity(id_, table, bool(simulated)), file_id, created, key_check, public_key, endorsement,
                  previous_file, Head(number, hash_), opening, words, mac)  # fmt: skip


def opening_text(path: Path, header: Header) -> Any:
    """The state with which a file begins, as plain values, without what is sealed. Raises `JournalError`."""
    try:
        return msgspec.json.decode(Packing(header.words).unpack(header.opening.state))
    except (ValueError, msgspec.MsgspecError) as error:
        why = f"the state with which it begins, after entry {header.previous.number}, cannot be read: {error}"
        raise damaged(path, why) from error


def keys_for(path: Path, local_key: bytes, header: Header) -> JournalKeys:
    """The keys of that journal. Raises `JournalError` (journal-key) when the local key is not the one it began with."""
    keys = JournalKeys(local_key, header.identity.id)
    if not hmac.compare_digest(keys.check, header.key_check):
        raise JournalError(
            "journal-key",
            f"The key is not the one that the journal {path} was begun with.",
            "Put this table's key file back from the safe, or begin a new journal.",
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


def grow_log(path: Path) -> None:
    """Give the write-ahead log its final size, so that a commit writes data and no new size of a file.

    What is in it is written again: an earlier process was killed before its sync, or its sync failed, and then it is
    read from memory and lost with the power, with all that follows. Raises OSError.
    """
    with suppress(FileNotFoundError), Path(f"{path}-wal").open("r+b", buffering=0) as log:
        found = log.read()
        if found:
            log.seek(0)
            log.write(found)
            os.fsync(log.fileno())
        # Only speed is lost without the rest. SQLite reads the zeros as no frames.
        with suppress(OSError):
            if len(found) < _LOG_BYTES:
                log.write(bytes(_LOG_BYTES - len(found)))
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
        return damaged(path, str(error))
    why = error.strerror if isinstance(error, OSError) and error.strerror else error
    return JournalError(
        "journal-io",
        f"The journal {path} cannot be used: {why}.",
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


def damaged(path: Path, what: str) -> JournalError:
    """For a file that is not as it was written."""
    return JournalError(
        "journal-damaged",
        f"The journal {path} is damaged: {what}.",
        "Keep the file for an audit, move it away and let the daemon begin a new journal.",
    )
