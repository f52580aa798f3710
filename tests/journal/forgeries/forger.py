"""A journal of whole rounds in three files, and a forger who may write to all of them.

The forgery determines what else the forger holds: the signing key, another one, the local key, the pin.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controller.daemon.journal_types import JOURNAL_TYPES, TableFold
from controller.journal import schema
from controller.journal.chain import Head, genesis, hash_decision
from controller.journal.codec import CHECKPOINT, DECISION, NAME, OPENING
from controller.journal.codec import PackedState as StoredState
from controller.journal.file import Header, connect_reader, read_header
from controller.journal.folder import file_name
from controller.journal.packing import Packing
from controller.journal.pin import BLOCK, Pinned, encode_slot, read_pin
from controller.journal.reader import over_state
from controller.journal.sealing import NONCE_BYTES, FileKeys, JournalKeys
from controller.journal.signing import SigningKey, fingerprint, key_statement, statement
from controller.journal.verification import Verified, verify_journal
from controller.table import operations
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState, remember
from controller.table.state import TableState
from firmware_bridge.cards import Card, Concealed
from firmware_bridge.drivers.memory import LinkMemory
from tests.journal_commands.made import IDENTITY, KEY, SIGNER, JournaledTable, _options, _ruling, _void

FILES: Final = (1, 2, 3)
ALSO_HIS: Final = SigningKey(bytes(range(2, 34)))
"""A key that the forger made."""

WHERE: Final = {
    "nothing": "the files alone",
    "pin": "the pin",
    "noted": "noted heads, or the witness",
    "key": "the noted fingerprint",
    "local": "the local key",
    "deep": "a deep check with the local key",
}
"""What may be at hand when a journal is verified; what the first one finds, all find, and what the local key finds, a
deep check finds.
"""


class Table(JournaledTable):
    """A table whose saved states are those of a daemon."""

    def __init__(self, folder: Path, seed: int = 1) -> None:
        self.memory = LinkMemory()
        super().__init__(folder, seed)

    @property
    def saved(self) -> SavedState:
        return SavedState(self.state, self.memory.journaled())

    def next_file(self) -> None:
        self.journal.begin_file(self.saved, self.moment)

    def watch(self, before: TableState, given: AnyInput, numbered: tuple[tuple[int, Any], ...]) -> None:
        super().watch(before, given, numbered)
        remember(self.memory, given)


def write_journal(folder: Path, seed: int = 1, *, stops: bool = False) -> None:
    """Write five rounds into three files; a stop interrupted the last one. `stops`: the journal ends with a second
    stop, which is orderly.
    """
    table = Table(folder, seed)
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    _options(table)
    table.journal.save(table.saved)
    _void(table)
    table.next_file()
    _ruling(table)
    table.journal.save(table.saved)
    _ruling(table)
    table.next_file()
    _ruling(table)
    table.journal.save(table.saved)
    table.to_bets()
    table.bets(("ann", "main", 1, 50))
    table.journal.sign_head(table.moment)
    table.do(operations.NoMoreBets())
    table.take(2)
    if stops:
        table.journal.sign_head(table.moment, stops=True)
    table.journal.close()


class Row(NamedTuple):
    """A row of `decision`, with its body unpacked."""

    last: int
    count: int  # type: ignore[assignment]  # the column's name hides tuple.count
    utc_ns: int
    boottime_ns: int
    round: int
    input: str
    events: str
    sealed: bytes
    hash: bytes
    mac: bytes

    def stored(self, packing: Packing) -> tuple[Any, ...]:
        body = packing.pack(f"{self.input}\n{self.events}".encode())
        return (*self[:5], body, *self[7:])


def signed_heads(folder: Path) -> list[Head]:
    """Return the signed heads that a witness holds."""
    found: list[Head] = []
    for path in sorted(folder.glob("*.journal")):
        with closing(connect_reader(path)) as connection:
            query = "SELECT number, hash FROM head JOIN decision ON last = number ORDER BY number"
            found += [Head(*row) for row in connection.execute(query)]
    return found


class Evidence(NamedTuple):
    """Heads and key, noted before the journal was forged."""

    heads: list[Head]
    key: str


def verify(folder: Path, at_hand: str, evidence: Evidence) -> Verified:
    """Verify the journal with that evidence at hand, as in `WHERE`, and with nothing else."""
    noted = evidence.heads if at_hand == "noted" else []
    key = evidence.key if at_hand == "key" else ""
    pin, aside = folder / "pin", folder.with_name("pin aside")
    without = at_hand != "pin" and os.path.lexists(pin)
    if without:
        pin.rename(aside)
    try:
        if at_hand == "local":
            return verify_journal(folder, local_key=KEY, types=JOURNAL_TYPES)
        if at_hand == "deep":
            return verify_journal(folder, local_key=KEY, types=JOURNAL_TYPES, fold=TableFold())
        return verify_journal(folder, noted=noted, key=key)
    finally:
        if without:
            aside.rename(pin)


def evidence_of(folder: Path) -> Evidence:
    return Evidence(signed_heads(folder), fingerprint(SIGNER.public_key))


class Forger:
    """Works on the journal in `folder`. `other` is a journal of another table with the same keys."""

    def __init__(self, folder: Path, other: Path) -> None:
        self.folder = folder
        self.other = other
        self._faces: dict[tuple[int, int], Card] = {}  # of concealed cards, by shuffle and ordinal

    def path(self, file: int = 2) -> Path:
        return self.folder / file_name(file)

    def change(self, file: int, *statements: str | tuple[str, Sequence[Any]], guards: bool = True) -> None:
        """Run statements with plain SQLite. The triggers are dropped and recreated."""
        path = self.path(file)
        mode = path.stat().st_mode & 0o777
        path.chmod(0o600)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("BEGIN")
            if guards:
                triggers = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type='trigger'")]
                for (name,) in list(connection.execute("SELECT name FROM sqlite_master WHERE type='trigger'")):
                    connection.execute(f"DROP TRIGGER {name}")
            for statement in statements:
                sql, parameters = (statement, ()) if isinstance(statement, str) else statement
                connection.execute(sql, tuple(parameters))
            if guards:
                for sql in triggers:
                    connection.execute(sql)
            connection.execute("COMMIT")
        path.chmod(mode)

    def rows(self, file: int = 2) -> list[Row]:
        packing = self.packing(file)
        found = []
        with closing(connect_reader(self.path(file))) as connection:
            for *fixed, body, sealed, hash_, mac in connection.execute("SELECT * FROM decision ORDER BY last"):
                given, _, events = packing.unpack(body).decode().partition("\n")
                found.append(Row._make((*fixed, given, events, sealed, hash_, mac)))
        return found

    def packing(self, file: int) -> Packing:
        with closing(connect_reader(self.path(file))) as connection:
            ((words,),) = connection.execute("SELECT words FROM journal")
        return Packing(words)

    def put(self, file: int, rows: Sequence[Row]) -> None:
        """Replace the decisions of a file."""
        packing = self.packing(file)
        self.change(file, "DELETE FROM decision", *((schema.INSERT, row.stored(packing)) for row in rows))

    def heads(self, file: int) -> list[tuple[int, int, bytes]]:
        with closing(connect_reader(self.path(file))) as connection:
            return list(connection.execute("SELECT * FROM head ORDER BY number"))

    def header(self, file: int) -> Header:
        with closing(connect_reader(self.path(file))) as connection:
            header = read_header(self.path(file), connection)
        assert header is not None
        return header

    def name(self, file: int, **columns: Any) -> None:
        """Change columns in the header of the file."""
        sets = ", ".join(f"{column} = ?" for column in columns)
        self.change(file, (f"UPDATE journal SET {sets}", tuple(columns.values())))

    def rechain(self, since: int = 1) -> None:
        """Recompute every number and hash from that file on; each file names the end of the previous one.

        Saved states are deleted: they are a cache, and fitting ones need the local key.
        """
        end: Head | None = None
        for file in FILES[since - 1 :]:
            if not self.path(file).exists():
                continue
            if end is not None:
                self.name(file, previous_number=end.number, previous_hash=end.hash)
            with closing(connect_reader(self.path(file))) as connection:
                (name,) = connection.execute("SELECT * FROM journal")
            end = Head(name[11], genesis(name[1:-1]))
            made = []
            packing = self.packing(file)
            for row in self.rows(file):
                row = row._replace(last=end.number + row.count)
                made.append(row._replace(hash=hash_decision(row.stored(packing)[:7], end.hash)))
                end = Head(row.last, made[-1].hash)
            self.put(file, made)
            self.change(file, "DELETE FROM checkpoint")

    def sign(self, key: SigningKey | None, since: int = 1) -> None:
        """Sign every head that the journal would sign. With None, delete the heads."""
        for file in FILES[since - 1 :]:
            if not self.path(file).exists():
                continue
            if key is None:
                self.change(file, "DELETE FROM head")
                continue
            header = self.header(file)
            hashes = {row.last: row.hash for row in self.rows(file)} | {header.before.number: header.before.hash}
            ends = self._ends(file)
            made = [
                (number, utc_ns, key.sign(statement(header.identity.id, header.file_id, Head(number, hash_), utc_ns)))
                for number, hash_ in sorted(hashes.items())
                if number in ends
                for utc_ns in (header.created_utc_ns,)
            ]
            self.change(file, "DELETE FROM head", *((schema.INSERT_HEAD, head) for head in made))

    def _ends(self, file: int) -> set[int]:
        """Return where the journal would sign: the name, the last entry of each round, and the end of a closed file."""
        rows = self.rows(file)
        ends = {self.header(file).before.number}
        ends |= {one.last for one, after in pairwise(rows) if one.round != after.round}
        return ends | ({rows[-1].last} if rows and self.path(file + 1).exists() else set())

    def authenticate(self, key: bytes = KEY) -> None:
        """Recompute every MAC of names and decisions with the local key."""
        for file in FILES:
            if not self.path(file).exists():
                continue
            header = self.header(file)
            keys = FileKeys(key, header.file_id)
            self.name(file, mac=keys.mac(NAME, header.genesis))
            self.put(file, [row._replace(mac=keys.mac(DECISION, row.hash)) for row in self.rows(file)])

    def pin(self) -> None:
        """Write a pin that agrees with the journal."""
        newest = max(file for file in FILES if self.path(file).exists())
        header, rows = self.header(newest), self.rows(newest)
        head = Head(rows[-1].last, rows[-1].hash) if rows else header.before
        slot = encode_slot(Pinned(header.identity.id, header.file_id, head, 1), 1000)
        (self.folder / "pin").write_bytes(slot.ljust(BLOCK, b"\0"))

    def deal_otherwise(self) -> None:
        """Exchange two unseen cards of a deck in every place, with the local key."""
        events = [msgspec.json.decode(row.events) for row in self.rows(1)]
        unseen = sorted(self._concealed(1) - {(one["shuffle"], one["ordinal"]) for one in opened(events)})
        one, other = next((one, other) for one, other in pairwise(unseen) if one[0] == other[0])
        for file in FILES:
            self._exchange_faces(file, one, other)

    def _concealed(self, file: int) -> set[tuple[int, int]]:
        keys = FileKeys(KEY, self.header(file).file_id)
        return {
            (item.shuffle, item.ordinal)
            for row in self.rows(file)
            if row.sealed
            for item in keys.open(row.last, row.sealed, DECISION)
            if isinstance(item, Concealed)
        }

    def _exchange_faces(self, file: int, one: tuple[int, int], other: tuple[int, int]) -> None:
        header = self.header(file)
        keys, places = FileKeys(KEY, header.file_id), JournalKeys(KEY, header.identity.id)
        made = []
        for row in self.rows(file):
            items = keys.open(row.last, row.sealed, DECISION) if row.sealed else []
            changed = self._with_faces_exchanged(items, one, other)
            texts = row.events
            for before, after in zip(items, changed, strict=True):
                if isinstance(before, Concealed) and isinstance(after, Concealed):
                    texts = texts.replace(places.commitment(row.round, before), places.commitment(row.round, after))
            sealed = keys.seal(row.last, changed, bytes(NONCE_BYTES), DECISION) if items else b""
            made.append(row._replace(events=texts, sealed=sealed))
        self.put(file, made)
        number = header.previous.number
        items = self._with_faces_exchanged(keys.open(number, header.opening.sealed, OPENING), one, other)
        self.name(file, state_sealed=keys.seal(number, items, bytes(NONCE_BYTES), OPENING))

    def _with_faces_exchanged(self, items: Sequence[Any], one: tuple[int, int], other: tuple[int, int]) -> list[Any]:
        for item in items:
            if isinstance(item, Concealed):
                self._faces.setdefault((item.shuffle, item.ordinal), item.expose())
        partner = {one: other, other: one}
        return [
            Concealed(self._faces[partner[item.shuffle, item.ordinal]], item.shuffle, item.ordinal)
            if isinstance(item, Concealed) and (item.shuffle, item.ordinal) in partner
            else item
            for item in items
        ]

    def save_otherwise(self) -> None:
        """Change the second file's saved state, and recompute its MAC with the local key."""
        keys = FileKeys(KEY, self.header(2).file_id)
        with closing(connect_reader(self.path(2))) as connection:
            ((number, version, digest, state, sealed, _),) = connection.execute("SELECT * FROM checkpoint")
        (at,) = (row for row in self.rows() if row.last == number)
        packing = self.packing(2)
        text = packing.unpack(state)
        changed = text.replace(b'"start-1"', b'"start-2"').replace(b'"pc-1"', b'"pc-2"')
        assert changed != text
        forged = packing.pack(changed)
        saved = StoredState(version, digest, forged, sealed)
        mac = keys.mac(CHECKPOINT, over_state(Head(number, at.hash), saved))
        self.change(2, ("UPDATE checkpoint SET state = ?, mac = ?", (forged, mac)))

    def edit(self, change: Callable[[list[Row]], list[Row]], file: int = 2) -> None:
        self.put(file, change(self.rows(file)))

    def endorse(self, file: int, before: SigningKey, after: SigningKey) -> bytes:
        said = key_statement(self.header(file).identity.id, before.public_key, after.public_key)
        return before.sign(said)


def opened(value: Any) -> list[dict[str, Any]]:
    """Return the cards in an event that were turned over."""
    if isinstance(value, dict):
        return [value] if "salt" in value else [one for each in value.values() for one in opened(each)]
    return [one for each in value for one in opened(each)] if isinstance(value, list) else []


def content(folder: Path, *, heads: bool = True) -> str:
    """Return a digest of the content of all files."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.journal")):
        with closing(connect_reader(path)) as connection:
            for table in ("sqlite_master", *schema.TABLES):
                if table == "head" and not heads:
                    continue
                columns = "type, name, tbl_name, sql" if table == "sqlite_master" else "*"
                order = "name" if table == "sqlite_master" else "1"
                for row in connection.execute(f"SELECT {columns} FROM {table} ORDER BY {order}"):
                    digest.update(msgspec.json.encode([repr(value) for value in row]))
    return digest.hexdigest()


def copy(journal: Path, place: Path) -> Path:
    shutil.copytree(journal, place, symlinks=True)
    return place


def forged_pin(folder: Path, number: int, hash_: bytes) -> None:
    """Write a pin that names another head."""
    known = read_pin(folder / "pin")
    assert known is not None
    slot = encode_slot(msgspec.structs.replace(known, head=Head(number, hash_)), 1000)
    (folder / "pin").write_bytes(slot.ljust(BLOCK, b"\0"))
