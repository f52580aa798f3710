"""The witness: signed heads of a journal, copied to a folder that belongs to another user or machine.

Each journal has a file, `TABLE-JOURNALID.heads`, with one JSON object a line. It is only appended to, and synced; a
head may occur twice. Changes to the journal, its key and its pin on the table's PC do not affect it.

No file of the journal is open while the witness is written, which may take long: the table may want to close it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.file import connect_reader, damaged, follow_on, speaking
from controller.journal.folder import JournalFolder
from controller.journal.reader import JournalReader
from controller.journal.sealing import sync_directory
from firmware_bridge.messages import message

PAGE: Final = 1000  # heads copied in one step
LONGEST_LINE: Final = 1024  # bytes
TAIL: Final = 256 * LONGEST_LINE  # bytes of the witness that are read before anything is copied
_SIGNED: Final = """SELECT number, head.utc_ns, signature, hash FROM head LEFT JOIN decision ON last = number
WHERE number > ? AND (hash IS NOT NULL OR number = ?) ORDER BY number LIMIT ?"""
BEFORE_ALL: Final = -1
"""A number below that of every head."""


class WitnessedHead(msgspec.Struct, frozen=True):
    """A line. Hash, signature and public key are hexadecimal."""

    journal: str
    file: str
    number: int
    hash: str
    utc_ns: int
    signature: str
    key: str

    @property
    def head(self) -> Head:
        return Head(self.number, bytes.fromhex(self.hash))


_DECODER: Final = msgspec.json.Decoder(WitnessedHead)


class Witness:
    """Copies heads from the journal's `folder` to the witness's folder, `beside`. Raise `JournalError` and OSError."""

    def __init__(self, folder: Path, beside: Path) -> None:
        files = _files(folder)
        with closing(files.reader(files.files[-1])) as newest:
            self.identity = newest.header.identity
        self._folder = folder
        self.path = beside / _name_of(self.identity.table, self.identity.id)
        self.differs = 0
        """The entry of the witness's newest head if the journal does not hold that head, else 0."""
        self._copied: WitnessedHead | None = None
        self._size = 0  # bytes of the witness's file after the last copy

    def copy(self) -> int:
        """Append the heads signed since the last copy, and return their number."""
        if self._found_size() != self._size:  # at the beginning, and after changes by others
            self._resume()
        count = 0
        while page := self._page():
            self._append(page)
            count += len(page)
        return count

    def _found_size(self) -> int:
        self.path.parent.stat()  # fails if the folder is missing, even if there is nothing to copy
        with suppress(FileNotFoundError):
            return self.path.stat(follow_symlinks=False).st_size
        return 0

    def _resume(self) -> None:
        """Continue after the newest of its heads that the journal holds.

        An older copy of the journal holds only the earlier ones, and the journal's later heads are copied too.
        """
        files = _files(self._folder)
        with closing(files.reader(files.files[0])) as oldest:
            first = oldest.header
        self._copied, self.differs = None, 0
        self._size = self._found_size()
        for head in reversed(list(self._last_lines())):
            if _holds(files, head):
                self._copied = head
                return
            if head.number <= first.previous.number and head.file != first.file_id:  # its file was deleted
                return
            self.differs = self.differs or head.number

    def _last_lines(self) -> Iterator[WitnessedHead]:
        if not self._size:
            return
        with self.path.open("rb") as file:
            if self._size > TAIL:
                file.seek(-TAIL, os.SEEK_END)
                file.readline(LONGEST_LINE)
            while line := file.readline(LONGEST_LINE):
                head = _decode(line)
                if head is not None and head.journal == self.identity.id:
                    yield head

    def _page(self) -> list[WitnessedHead]:
        """Return the next heads that were not copied, all of one file."""
        copied = self._copied
        for reader in _files(self._folder).readers(copied.number if copied is not None else 0):
            is_same = copied is not None and copied.file == reader.header.file_id
            found = signed_heads(reader, copied.number if copied is not None and is_same else BEFORE_ALL)
            if found:
                return found
        return []

    def _append(self, heads: list[WitnessedHead]) -> None:
        is_new = not self._found_size()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self.path, flags, 0o644), "r+b", buffering=0) as file:
            if is_new:  # others must be able to read it, whatever this process's umask; heads are not secret
                with suppress(PermissionError):
                    os.fchmod(file.fileno(), 0o644)
            end = file.seek(0, os.SEEK_END)
            torn = end and os.pread(file.fileno(), 1, end - 1) != b"\n"  # an earlier write was cut off
            lines = b"".join(msgspec.json.encode(head) + b"\n" for head in heads)
            try:
                _write(file.fileno(), b"\n" + lines if torn else lines)
                os.fsync(file.fileno())
            except OSError:  # the write may be lost; the same heads are written again
                with suppress(OSError):  # an append-only file keeps it
                    file.truncate(end)
                raise
            finally:
                self._size = os.fstat(file.fileno()).st_size
        if is_new:
            with suppress(PermissionError):  # a folder may be writable but not readable
                sync_directory(self.path.parent)
        self._copied = heads[-1]


def others_at(beside: Path, table: str, journal_id: str) -> list[str]:
    """Return the ids of the table's other journals whose heads the witness in that folder holds. Raise OSError."""
    named = re.compile(re.escape(_name_of(table, "\0")).replace(re.escape("\0"), "([0-9a-f]+)"))
    found = (named.fullmatch(path.name) for path in beside.iterdir())
    return sorted(one[1] for one in found if one is not None and one[1] != journal_id)


def _name_of(table: str, journal_id: str) -> str:
    return f"{table}-{journal_id}.heads".replace("/", "_")


def read_witness(path: Path) -> Iterator[WitnessedHead]:
    """Yield the readable lines. Raise `JournalError` (journal-format) for a file without any, and OSError."""
    good = bad = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            head = _decode(line)
            if head is None:
                bad += 1
                continue
            good += 1
            yield head
    if bad and not good:
        raise JournalError(
            "journal-format",
            message("{path} is not a witness of a journal.", path=str(path)),
            message("Name a file that ends in .heads."),
        )


def _decode(line: bytes) -> WitnessedHead | None:
    try:
        head = _DECODER.decode(line)
        bytes.fromhex(head.hash)
    except (msgspec.MsgspecError, ValueError):
        return None
    return head


def _files(folder: Path) -> JournalFolder[Any, Any]:
    return JournalFolder.open_to_read(folder)


def _holds(files: JournalFolder[Any, Any], head: WitnessedHead) -> bool:
    for reader in files.readers(max(0, head.number - 1)):
        if reader.header.file_id == head.file:
            return signed_heads(reader, head.number - 1)[:1] == [head]  # with the time of its signature
        if reader.header.previous.number > head.number:
            return False
    return False


def signed_heads(reader: JournalReader[Any, Any], after: int) -> list[WitnessedHead]:
    """Return a page of the file's heads. The head for the file's name comes first and has the number of the entry
    before the file.
    """
    header = reader.header
    before = header.before
    with speaking(reader.path), closing(connect_reader(reader.path)) as connection:
        rows = list(connection.execute(_SIGNED, (after, before.number, PAGE)))
    if not follow_on(after, (row[0] for row in rows)):
        raise damaged(reader.path, message("the signed heads after entry {entry} are not in their order", entry=after))
    journal, file, key = header.identity.id, header.file_id, header.public_key.hex()
    return [
        WitnessedHead(journal, file, number, (hash_ or before.hash).hex(), utc_ns, signature.hex(), key)
        for number, utc_ns, signature, hash_ in rows
    ]


def _write(descriptor: int, data: bytes) -> None:
    """Write all the data: a disk that fills up accepts a part first, and fails at the next call."""
    while data:
        data = data[os.write(descriptor, data) :]
