"""The journal of a running table: each decision is appended in one transaction to the newest file of its folder.

Earlier files are read with `folder.JournalFolder`.
"""

from __future__ import annotations

import errno
import os
import secrets
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, Self

import msgspec

from controller.journal import JournalError, schema
from controller.journal.chain import Head, hash_decision
from controller.journal.codec import CHECKPOINT, NAME, OPENING, EventT, InputT, JournalCodec, Moment, Types
from controller.journal.codec import DECISION as OF_DECISION
from controller.journal.file import (
    FAILURES,
    Connect,
    Header,
    Identity,
    SqliteConnection,
    connect,
    create,
    damaged,
    explain,
    grow_log,
    is_closed,
    keys_for,
    lock_folder,
    make_file,
    make_folder,
    moved,
    read_header,
    require_file,
    require_same_table,
    speaking,
)
from controller.journal.folder import PART, JournalFolder, file_name, files_in, number_of
from controller.journal.packing import Packing
from controller.journal.pin import Pinned
from controller.journal.pinning import JournalPin, Known
from controller.journal.reader import JournalReader, over_state
from controller.journal.reserve import Reserve
from controller.journal.sealing import FileKeys, JournalKeys, sync_directory, sync_file
from controller.journal.signing import Signer, statement
from firmware_bridge.messages import message

_FILE_ID: Final = 16  # bytes


class RowStatements(NamedTuple):
    """The statements that write a row, and read it back by its number."""

    insert: str
    read_back: str


DECISION: Final = RowStatements(schema.INSERT, "SELECT * FROM decision WHERE last >= ?")
HEAD: Final = RowStatements(schema.INSERT_HEAD, "SELECT * FROM head WHERE number >= ?")
CHECKPOINT_ROW: Final = RowStatements(schema.INSERT_CHECKPOINT, "SELECT * FROM checkpoint WHERE number >= ?")


class Committed(msgspec.Struct, frozen=True):
    """The result of a durable append: the number of the input's entry, and of the events' entries in order.

    `published` holds the events as anyone may read them.
    """

    first: int
    events: tuple[int, ...]
    published: tuple[bytes, ...] = ()


class Journal(Generic[InputT, EventT]):
    """An open journal. It belongs to the thread that opened it; a folder can be open only once.

    `open` takes the folder. If `is_begun` is False, call `begin_file` before `append`: with the state of an empty
    table, or with the state to which a closed file folds.
    """

    def __init__(self, folder: Path, types: Types, local_key: bytes, identity: Identity, signer: Signer,
                 pin: JournalPin, reserve: Reserve, connect: Connect, lock: int,
                 random: Callable[[int], bytes]) -> None:  # fmt: skip
        self.folder = folder
        self.identity = identity
        self.head = Head()
        """The end of the chain, as committed."""
        self._types = types
        self._local_key = local_key
        self._signer = signer
        self.pin = pin
        self.reserve = reserve
        self._connect = connect
        self._random = random
        self._lock: int | None = lock
        self._path = folder
        self._header: Header | None = None  # the header of the file that is appended to
        self._before = ""  # the id of the newest file
        self._unsigned: int | None = None  # the round of the newest head, if that is not signed
        self._connection: SqliteConnection | None = None
        self._inode: tuple[int, int] | None = None  # of the file that is appended to
        self._doubtful = False  # whether it is uncertain that the last write reached the file
        self._given_up: Path | None = None  # a file whose creation failed

    @classmethod
    def open(cls, folder: Path, types: Types, *, local_key: bytes, identity: Identity, signer: Signer,
             connect: Connect = connect, random: Callable[[int], bytes] = secrets.token_bytes) -> Self:  # fmt: skip
        """Open the journal in that folder, which is created if it is missing.

        `identity` names a new journal; an existing one must be of the same table and equally simulated, and keeps its
        id. Raise `JournalError`, and then hold nothing open. No chain is checked.
        """
        folder = folder.resolve()
        with speaking(folder):
            make_folder(folder)
        lock = lock_folder(folder)
        pin, reserve = JournalPin(folder), Reserve(folder)
        journal = cls(folder, types, local_key, identity, signer, pin, reserve, connect, lock, random)
        try:
            journal._put_in_order()
            journal.pin.look(signer, local_key)
            journal._take_newest()
            if journal.is_begun:
                reserve.hold()
        except BaseException:
            journal.close()
            raise
        return journal

    def look_further(self, known: Known) -> None:
        """Find what contradicts the journal, using its state, before it is written to. Raise `JournalError`."""
        self.pin.look_further(self._signer, self._local_key, known)

    def accept(self) -> None:
        """Accept the journal as it is: a person decided so, or nothing was in doubt."""
        if self.pin.doubts:
            self.pin.accept()
        self._signer.note_journal(self.identity.id)

    @property
    def is_begun(self) -> bool:
        """Return whether there is a file that entries can be appended to."""
        return self._header is not None

    @property
    def public_key(self) -> bytes:
        """The public key that verifies the heads."""
        return self._signer.public_key

    @property
    def is_signed_by_another(self) -> bool:
        """Return whether the file that is appended to names another key: then a new file has to be begun."""
        return self._header is not None and self._header.public_key != self._signer.public_key

    @property
    def path(self) -> Path:
        """The newest file."""
        return self._path

    @property
    def begun(self) -> int:
        """The time at which the current file was begun, in UTC."""
        assert self._header is not None
        return self._header.created_utc_ns

    def size(self) -> int:
        """Return the size in bytes of the file that is appended to, without its log. Raise `JournalError`."""
        with speaking(self._path):
            return self._path.stat().st_size

    def append(self, given: InputT, events: Sequence[EventT], *, round: int, moment: Moment,  # noqa: A002  # the journal's word
               signs: bool = False) -> Committed:  # fmt: skip
        """Write an input and the events that it caused, durably and in one transaction.

        `round` is part of every commitment: an exposure is journaled under the round of its concealment. With `signs`
        the head is signed, as is the head before the first decision of another round. Raise `JournalError` if nothing
        was written; after journal-io a commit that reached the disk nonetheless may be found, whole, when the journal
        is next opened. Raise TypeError or ValueError for values that no journal can hold.
        """
        self._settle()
        before = self.head
        last, count = before.number + 1 + len(events), 1 + len(events)
        encoded = self._codec.encode(last, given, events, round)
        columns = (last, count, moment.utc_ns, moment.boottime_ns, round, encoded.body, encoded.sealed)
        hash_ = hash_decision(columns, before.hash)
        row = (*columns, hash_, self._file_keys.mac(OF_DECISION, hash_))
        head = Head(last, hash_)
        rows: list[tuple[RowStatements, Sequence[Any]]] = [(DECISION, row)]
        if self._unsigned not in (None, round):
            rows.append((HEAD, self._signed(before, moment.utc_ns)))
        if signs:
            rows.append((HEAD, self._signed(head, moment.utc_ns)))
        self._write(*rows)
        self.head, self._unsigned = head, None if signs else round
        self._pin(moment, sync=signs)
        first = before.number + 1
        return Committed(first, tuple(range(first + 1, last + 1)), tuple(encoded.events))

    def sign_head(self, moment: Moment, *, stops: bool = False) -> None:
        """Sign the head at the end of a file or at an orderly stop (`stops`), after which the pin says that nothing
        follows. A head that is already signed, or that of an empty file, is not signed again. Raise `JournalError`.
        """
        self._settle()
        signs = not (self.is_signed_by_another or self._holds(HEAD.read_back))
        if signs:
            self._write((HEAD, self._signed(self.head, moment.utc_ns)))
            self._unsigned = None
        if signs or stops:
            self._pin(moment, sync=True, stopped=stops)

    def save(self, state: object) -> None:
        """Save the state after the last entry, so that a start only folds what follows. Raise `JournalError` if it
        cannot be written.
        """
        self._settle()
        if self._holds(CHECKPOINT_ROW.read_back):
            return
        saved = self._codec.save(self.head.number, state, CHECKPOINT)
        mac = self._file_keys.mac(CHECKPOINT, over_state(self.head, saved))
        row = (self.head.number, saved.version, saved.digest, saved.state, saved.sealed, mac)
        self._commit((CHECKPOINT_ROW, row))  # a cache is not worth the reserve

    def begin_file(self, state: object, moment: Moment) -> None:
        """Begin the next file with the state after the last entry; then close the previous one.

        Raise `JournalError`; the journal then continues in the previous file, or in the new one if the previous one
        could not be closed.
        """
        self._settle()
        if self._header is not None:
            self.sign_head(moment)
        path = self.folder / file_name(number_of(self._path) + 1)
        file_id = self._random(_FILE_ID).hex()
        keys, file_keys = JournalKeys(self._local_key, self.identity.id), FileKeys(self._local_key, file_id)
        words = self._types.words
        codec: JournalCodec[InputT, EventT] = JournalCodec(self._types, keys, file_keys, Packing(words), self._random)
        header = Header(
            identity=self.identity,
            file_id=file_id,
            created_utc_ns=moment.utc_ns,
            key_check=keys.check,
            public_key=self._signer.public_key,
            endorsement=self._signer.endorsement if self.is_signed_by_another else b"",
            previous_file=self._before,
            previous=self.head,
            opening=codec.save(self.head.number, state, OPENING),
            words=words,
        )
        header = msgspec.structs.replace(header, mac=file_keys.mac(NAME, header.genesis))
        old, old_path = self._connection, self._path
        self.pin.begin()
        with speaking(path):
            if path.exists():
                raise FileExistsError(errno.EEXIST, "the next file exists already", str(path))
            self._given_up = path
            said = statement(self.identity.id, file_id, header.before, moment.utc_ns)
            signed = header.previous.number, moment.utc_ns, self._signer.sign(said)
            _create(path, header, signed, self._connect)
            self._use(path, self._connect(path))
        self._given_up = None
        self.head = header.before
        self._pin(moment, sync=True)
        if old is None:
            self.reserve.hold()  # only now: the reserve tells a start that there was a file with its pin
        else:
            with speaking(old_path):
                _finish(old_path, old)

    def reader(self, path: Path) -> JournalReader[InputT, EventT]:
        """Open a file of the journal over a separate connection. Raise `JournalError` if that fails."""
        return JournalReader.open_to_read(path, self._types, local_key=self._local_key)

    def files(self) -> JournalFolder[InputT, EventT]:
        """Open all files over separate connections. Raise `JournalError` if one of them fails."""
        return JournalFolder(files_in(self.folder), self._types, self._local_key)

    def close(self) -> None:
        """Close the file and release the lock. Closing again does nothing."""
        lock, self._lock = self._lock, None
        connection, self._connection = self._connection, None
        self.pin.close()
        try:
            if connection is not None:
                with speaking(self._path):
                    connection.close()
        finally:
            if lock is not None:
                os.close(lock)

    # -- internals

    def _put_in_order(self) -> None:
        """Clean up after a kill or a power cut. The names that are read are made durable, since later steps rely on
        them.
        """
        with speaking(self.folder):
            sync_directory(self.folder)
        for path in files_in(self.folder)[:-1]:
            _finish_if_open(path, self._connect)

    def _take_newest(self) -> None:
        files = files_in(self.folder)
        if not files:
            return
        with speaking(files[-1]):
            require_file(files[-1])
        with closing(self.reader(files[-1])) as newest:
            require_same_table(files[-1], newest.header.identity, self.identity)
            self.identity = newest.header.identity
            self.head, self._path, self._before = newest.head(), files[-1], newest.header.file_id
        if not is_closed(files[-1]):
            with speaking(self._path):
                self._use(self._path, self._connect(self._path))
            if self.head == newest.header.before:  # a kill or a power cut may have come before its pin was written
                self._pin(Moment(newest.header.created_utc_ns, 0), sync=True)

    def _use(self, path: Path, connection: SqliteConnection) -> None:
        """Append to that file from now on. It ends with `head`."""
        try:
            header = read_header(path, connection)
            assert header is not None
            keys = keys_for(path, self._local_key, header)
            unsigned = next(iter(connection.execute(schema.UNSIGNED)), None)
            grow_log(path)
            inode = _inode(path)
        except BaseException:
            with suppress(*FAILURES):
                connection.close()
            raise
        self._path, self._connection, self._before = path, connection, header.file_id
        self._inode = inode
        self._header = header
        self._unsigned = None if unsigned is None else unsigned[0]
        self._file_keys = FileKeys(self._local_key, header.file_id)
        packing = Packing(header.words)
        self._codec: JournalCodec[InputT, EventT] = JournalCodec(
            self._types, keys, self._file_keys, packing, self._random
        )

    def _pin(self, moment: Moment, *, sync: bool, stopped: bool = False) -> None:
        assert self._header is not None
        pinned = Pinned(self.identity.id, self._header.file_id, self.head, moment.utc_ns, stopped)
        self.pin.committed(pinned, sync=sync)

    def _signed(self, head: Head, utc_ns: int) -> tuple[Any, ...]:
        assert self._header is not None
        signature = self._signer.sign(statement(self.identity.id, self._header.file_id, head, utc_ns))
        return head.number, utc_ns, signature

    def _holds(self, query: str) -> bool:
        """Return whether the query finds a row for the newest head, or the file does not have an entry that could have
        such a row.
        """
        assert self._header is not None
        assert self._connection is not None
        if self.head == self._header.before:
            return True
        with speaking(self._path):
            return bool(list(self._connection.execute(query, (self.head.number,))))

    def _write(self, *rows: tuple[RowStatements, Sequence[Any]]) -> None:
        """Commit, and on the first full disk free the reserve and commit again.

        A file that somebody moved or deleted would take entries that no later start finds.
        """
        if _inode(self._path) != self._inode:
            raise moved(self._path)
        self.pin.begin()
        try:
            self._commit(*rows)
        except JournalError as error:
            if error.code != "journal-full" or not self.reserve.release():
                raise
            self._settle()
            self._commit(*rows)

    def _commit(self, *rows: tuple[RowStatements, Sequence[Any]]) -> None:
        """Write all rows in one transaction, reading each back before its end."""
        assert self._connection is not None
        execute = self._connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            for table, row in rows:
                execute(table.insert, row)
            for table in {table: None for table, _ in rows}:
                wanted = [row for of, row in rows if of is table]
                first = wanted[0][0]
                if list(execute(table.read_back, (first,))) != wanted:
                    raise damaged(
                        self._path,
                        message(
                            "SQLite did not keep entry {first} and those after it as they were written", first=first
                        ),
                    )
            execute("COMMIT")
        except BaseException as error:
            self._doubtful = True
            self._roll_back()
            if isinstance(error, FAILURES):
                raise explain(self._path, error) from error
            raise

    def _roll_back(self) -> None:
        # SQLite may have rolled back already, and then reports that there is nothing to roll back.
        with suppress(*FAILURES):
            assert self._connection is not None
            self._connection.execute("ROLLBACK")

    def _settle(self) -> None:
        """After a failure, continue only if the file ends where the last good append ended, and is the newest."""
        if self._given_up is not None:
            with speaking(self._given_up):
                _remove(self._given_up)
            self._given_up = None
        if not self._doubtful:
            return
        assert self._connection is not None
        assert self._header is not None
        self._roll_back()
        with speaking(self._path):
            last = list(self._connection.execute(schema.LAST))
        known = [] if self.head == self._header.before else [(self.head.number, self.head.hash)]
        if last != known:
            raise JournalError(
                "journal-damaged",
                message(
                    "The journal {path} continues after entry {number}, although its last commit failed.",
                    path=str(self._path),
                    number=self.head.number,
                ),
                message("Restart the daemon: it reads the journal again from the file."),
            )
        self._doubtful = False


def _create(path: Path, header: Header, signed: Sequence[Any], connect: Connect) -> None:
    """Create a file under a temporary name until it is complete: a power cut leaves a readable file, or none."""
    part = path.with_name(path.name + PART)
    for ending in ("", "-wal", "-journal"):
        Path(f"{part}{ending}").unlink(missing_ok=True)
    make_file(part)
    connection = connect(part)
    try:
        create(connection, header, signed)
    finally:
        with suppress(*FAILURES):
            connection.close()
    if Path(f"{part}-wal").exists():
        raise OSError(errno.EIO, "its log could not be copied into it")
    part.rename(path)
    sync_directory(path.parent)


def _inode(path: Path) -> tuple[int, int] | None:
    """Return the device and inode of a file, or None if nothing is at the path. Raise `JournalError`."""
    with speaking(path), suppress(FileNotFoundError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None


def _remove(path: Path) -> None:
    """Remove a file without entries. If the next start found it, later entries in the previous file would be lost."""
    for ending in ("", "-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    sync_directory(path.parent)


def _finish_if_open(path: Path, connect: Connect) -> None:
    """Finish an earlier file that a power cut may have left open."""
    with speaking(path):
        if number_of(path) and not is_closed(path):
            _finish(path, connect(path))


def _finish(path: Path, connection: SqliteConnection) -> None:
    """Close a file permanently, without a log next to it, and make it read-only.

    If another program is reading it, closing has to wait until the next file is begun, or until the
    next start.
    """
    with closing(connection):
        try:
            list(connection.execute(schema.LAST))  # after a power cut SQLite repairs the file when it is read
            (mode,) = next(iter(connection.execute("PRAGMA journal_mode=DELETE")))
        except sqlite3.OperationalError:
            mode = ""
    if mode == "delete":
        for ending in ("-wal", "-journal"):
            Path(f"{path}{ending}").unlink(missing_ok=True)  # a power cut may have left an empty one
        sync_directory(path.parent)  # before the mode says that nothing is beside it
        path.chmod(0o440)
        sync_file(path)
