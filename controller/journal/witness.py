"""The witness: signed heads of a journal, copied to a folder of another user or another machine.

A file a journal, `TABLE-JOURNALID.heads`, a JSON object a line. It is only appended to, and synced. Who later changes
the journal, its key and its pin on the table's PC does not change what stands there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.file import connect_reader, read_header, speaking
from controller.journal.folder import JournalFolder
from controller.journal.sealing import sync_directory

_SIGNED: Final = """SELECT number, head.utc_ns, signature, hash FROM head JOIN decision ON last = number
WHERE number > ? ORDER BY number LIMIT 1000"""
LONGEST_LINE: Final = 1024  # bytes


class WitnessedHead(msgspec.Struct, frozen=True):
    """A line. Hash, signature and public key in hexadecimal."""

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
    """Copies heads. `folder`: the journal's; `beside`: the witness's. Raises `JournalError` and OSError."""

    def __init__(self, folder: Path, beside: Path) -> None:
        files: JournalFolder[Any, Any] = JournalFolder.open_to_read(folder)
        with closing(files.reader(files.files[-1])) as newest:
            identity = newest.header.identity
        self._folder = folder
        self.path = beside / f"{identity.table}-{identity.id}.heads".replace("/", "_")
        known = list(read_witness(self.path)) if self.path.exists() else []
        self._copied = known[-1].number if known else 0

    def copy(self) -> int:
        """Append the heads that were signed since; how many."""
        found = list(self._signed_since())
        if found:
            self._append(found)
            self._copied = found[-1].number
        return len(found)

    def _signed_since(self) -> Iterator[WitnessedHead]:
        files: JournalFolder[Any, Any] = JournalFolder.open_to_read(self._folder)
        for reader in files.readers(self._copied):
            header = reader.header
            if header.opening is None:
                continue
            with speaking(reader.path), closing(connect_reader(reader.path)) as connection:
                assert read_header(reader.path, connection) == header
                after = self._copied
                while rows := list(connection.execute(_SIGNED, (after,))):
                    for number, utc_ns, signature, hash_ in rows:
                        yield WitnessedHead(
                            header.identity.id, header.file_id, number, hash_.hex(), utc_ns, signature.hex(),
                            header.public_key.hex(),
                        )  # fmt: skip
                    after = rows[-1][0]

    def _append(self, heads: list[WitnessedHead]) -> None:
        is_new = not self.path.exists()
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(self.path, flags, 0o640), "r+b", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            torn = end and os.pread(file.fileno(), 1, end - 1) != b"\n"  # a power cut came while a line was written
            lines = b"".join(msgspec.json.encode(head) + b"\n" for head in heads)
            file.write(b"\n" + lines if torn else lines)
            os.fsync(file.fileno())
        if is_new:
            sync_directory(self.path.parent)


def read_witness(path: Path) -> Iterator[WitnessedHead]:
    """The lines that can be read. Raises `JournalError` (journal-format) for a file that holds none, and OSError."""
    good = bad = 0
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            try:
                head = _DECODER.decode(line)
                head.head  # noqa: B018  # that it is hexadecimal
            except (msgspec.MsgspecError, ValueError):
                bad += 1
                continue
            good += 1
            yield head
    if bad and not good:
        raise JournalError("journal-format", f"{path} is no witness of a journal.", "Name a file that ends in .heads.")
