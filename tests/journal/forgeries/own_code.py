"""A forger's own code for format 3, written from docs/journal.md and the files, sharing nothing with the project.

A mistake that the project makes in both writing and checking is found this way.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import sqlite3
import struct
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

LAST, COUNT, UTC, BOOT, ROUND, BODY, SEALED, HASH, MAC = range(9)  # columns of `decision`
JOURNAL, FILE, CREATED, TABLE, SIMULATED, CHECK, PUBLIC, ENDORSED = range(2, 10)  # columns of `journal`
BEFORE_FILE, BEFORE_NUMBER, BEFORE_HASH, VERSION, DIGEST, STATE, STATE_SEALED, WORDS, NAME_MAC = range(10, 19)
TABLES: Final = ("journal", "decision", "head", "checkpoint")


class End(NamedTuple):
    """The end of a file."""

    number: int
    hash: bytes
    file: str


def long(data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + data


def keys_of(file_id: str, local: bytes) -> bytes:
    """Return the key for sealing and the key for the MACs."""
    return HKDF(SHA256(), 64, salt=None, info=b"cardshoe file keys 1\0" + file_id.encode()).derive(local)


class Stored:
    """A file of a journal in memory. `extra` holds statements that run after everything is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with closing(sqlite3.connect(path)) as file:
            (self.name,) = (list(row) for row in file.execute("SELECT * FROM journal"))
            self.rows, self.heads, self.states = (
                [list(row) for row in file.execute(f"SELECT * FROM {table} ORDER BY 1")]  # the schema's own names
                for table in TABLES[1:]
            )
            self.schema = [sql for (sql,) in file.execute("SELECT sql FROM sqlite_master WHERE sql NOT NULL")]
        self.extra: list[str] = []

    # -- the content of a row

    def text(self, at: int) -> bytes:
        return self.unpack(self.rows[at][BODY])

    def unpack(self, data: bytes) -> bytes:
        inflate = zlib.decompressobj(-15, self.name[WORDS])
        parts = inflate.decompress(data).split(b"\1")
        rest = inflate.unused_data
        digests = [rest[at : at + 32].hex().encode() for at in range(0, len(rest), 32)]
        return b"".join(part for pair in zip(parts, [*digests, b""], strict=True) for part in pair)

    def put(self, at: int, text: bytes) -> None:
        self.rows[at][BODY] = self.pack(text)

    def pack(self, text: bytes) -> bytes:
        digests = re.findall(rb"[0-9a-f]{64}", text)
        deflate = zlib.compressobj(6, zlib.DEFLATED, -13, 5, zlib.Z_DEFAULT_STRATEGY, self.name[WORDS])
        packed = deflate.compress(re.sub(rb"[0-9a-f]{64}", b"\1", text)) + deflate.flush()
        return packed + b"".join(bytes.fromhex(one.decode()) for one in digests)

    def row(self, given: bytes, events: list[bytes]) -> list[Any]:
        """Return a decision that follows the last decision, in the same round, not yet chained."""
        last = self.rows[-1] if self.rows else [self.name[BEFORE_NUMBER], 1, self.name[CREATED], 1, 0]
        body = self.pack(given + b"\n[" + b",".join(events) + b"]")
        count = 1 + len(events)
        return [last[LAST] + count, count, last[UTC], last[BOOT], last[ROUND], body, b"", bytes(32), bytes(16)]

    def find(self, text: bytes) -> int:
        return next(at for at in range(len(self.rows)) if text in self.text(at))

    # -- consistency

    def genesis(self) -> bytes:
        parts = (value if isinstance(value, bytes) else str(value).encode() for value in self.name[1:NAME_MAC])
        return hashlib.sha256(b"cardshoe journal file 3\0" + b"".join(map(long, parts))).digest()

    def chain(self, since: int = 0) -> None:
        """Recompute the hashes, beginning with that row."""
        before = self.rows[since - 1][HASH] if since else self.genesis()
        for row in self.rows[since:]:
            fixed = struct.pack(">QIqqqII", *row[:BODY], len(row[BODY]), len(row[SEALED]))
            before = row[HASH] = hashlib.sha256(fixed + before + row[BODY] + row[SEALED]).digest()

    def renumber(self) -> None:
        last = self.name[BEFORE_NUMBER]
        for row in self.rows:
            last = row[LAST] = last + row[COUNT]

    def take_id(self, file_id: str, number: int, local: bytes) -> None:
        """Turn it into a different file that follows that entry. With the local key, seal its opening state again."""
        sealed = self.name[STATE_SEALED]
        if sealed:
            before = AESGCM(keys_of(self.name[FILE], local)[:32])
            plain = before.decrypt(sealed[:12], sealed[12:], self._place(self.name[BEFORE_NUMBER]))
        self.name[FILE] = file_id
        if sealed:
            after = AESGCM(keys_of(file_id, local)[:32])
            self.name[STATE_SEALED] = bytes(12) + after.encrypt(bytes(12), plain, self._place(number))

    def _place(self, number: int) -> bytes:
        return b"opening state\0" + long(self.name[FILE].encode()) + struct.pack(">Q", number)

    def authenticate(self, local: bytes, since: int = 0) -> None:
        """Recompute the MACs with the local key."""
        file = self.name[FILE].encode()
        key = keys_of(self.name[FILE], local)[32:]

        def mac(of: bytes, data: bytes) -> bytes:
            return hmac.digest(key, long(file) + of + b"\0" + data, "sha256")[:16]

        self.name[NAME_MAC] = mac(b"name", self.genesis())
        for row in self.rows[since:]:
            row[MAC] = mac(b"decision", row[HASH])
        hashes = {row[LAST]: row[HASH] for row in self.rows}
        for state in self.states:
            number, version, *parts, _ = state
            if number in hashes:
                over = b"".join(struct.pack(">QI", len(part), 0) + part for part in (hashes[number], *parts))
                state[5] = mac(b"checkpoint", struct.pack(">QI", number, version) + over)

    def sign(self, private: bytes, *numbers: int) -> None:
        """Sign every existing head again, and the heads with these numbers."""
        hashes = {self.name[BEFORE_NUMBER]: self.genesis()} | {row[LAST]: row[HASH] for row in self.rows}
        utc = {number: utc_ns for number, utc_ns, _ in self.heads} | dict.fromkeys(numbers, self.name[CREATED])
        self.heads = [
            [number, utc[number], self.signature(private, number, hashes[number], utc[number])]
            for number in sorted(utc)
            if number in hashes
        ]

    def signature(self, private: bytes, number: int, hash_: bytes, utc_ns: int) -> bytes:
        said = long(self.name[JOURNAL].encode()) + long(self.name[FILE].encode())
        said += struct.pack(">Q32sq", number, hash_, utc_ns)
        return Ed25519PrivateKey.from_private_bytes(private).sign(b"cardshoe head 1\0" + said)

    @property
    def end(self) -> End:
        if self.rows:
            return End(self.rows[-1][LAST], self.rows[-1][HASH], self.name[FILE])
        return End(self.name[BEFORE_NUMBER], self.genesis(), self.name[FILE])

    def follow(self, before: End) -> None:
        self.name[BEFORE_NUMBER], self.name[BEFORE_HASH], self.name[BEFORE_FILE] = before

    def write(self) -> None:
        """Replace the file on disk, with the same mode."""
        mode = self.path.stat().st_mode & 0o777
        for ending in ("", "-wal", "-shm"):
            Path(f"{self.path}{ending}").unlink(missing_ok=True)
        with closing(sqlite3.connect(self.path, isolation_level=None)) as file:
            file.execute("PRAGMA synchronous=OFF")
            file.execute("PRAGMA page_size=8192")
            file.execute("BEGIN")
            made = sorted(self.schema, key=lambda sql: not sql.startswith("CREATE TABLE"))
            for sql in made:
                if sql.startswith("CREATE TABLE"):
                    file.execute(sql)
            for table, rows in zip(TABLES, ([self.name], self.rows, self.heads, self.states), strict=True):
                for row in rows:
                    file.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
            for sql in (*(one for one in made if not one.startswith("CREATE TABLE")), *self.extra):
                file.execute(sql)
            file.execute("COMMIT")
        self.path.chmod(mode)


def stored_in(folder: Path) -> list[Stored]:
    return [Stored(path) for path in sorted(folder.glob("*.journal"))]


def write_all(files: list[Stored], *, local: bytes = b"", private: bytes = b"") -> None:
    """Make each file follow the previous one: recompute hashes, and MACs and signatures with the available keys."""
    before: End | None = None
    for file in files:
        if before is not None:
            file.follow(before)
        file.renumber()
        file.chain()
        if local:
            file.authenticate(local)
        if private:
            file.sign(private)
        file.write()
        before = file.end


def write_pin(folder: Path, end: End, *, stopped: bool = False) -> None:
    """Write a pin that names that end of the journal."""
    (newest,) = stored_in(folder)[-1:]
    ids = f"{newest.name[JOURNAL]}\0{end.file}".encode()
    fixed = struct.pack(">QQ32sq?H", 2**40, end.number, end.hash, newest.name[CREATED], stopped, len(ids))
    data = (b"cardshoe pin 2\0" + fixed + ids).ljust(480, b"\0")
    (folder / "pin").write_bytes((data + hashlib.sha256(data).digest()).ljust(4096, b"\0"))
    (folder / "pin").chmod(0o600)


def deletion_of(first: Stored, ended_utc_ns: int) -> bytes:
    """Return an event that records the file's deletion by age."""
    end = first.end
    return (
        b'{"event":"files_deleted","files":[{"name":"%s","id":"%s","last":%d,"hash":"%s","ended_utc_ns":%d}]}'
        % (first.path.name.encode(), end.file.encode(), end.number, end.hash.hex().encode(), ended_utc_ns)
    )  # fmt: skip
