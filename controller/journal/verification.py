"""Verification: whether a journal is what was written, as far as what is at hand can show.

    at hand                         shows
    nothing                         a break of the chain, within a file and from file to file; a signature that is not
                                    the file's key's; a round, or a closed file, without a signed head; a schema, a
                                    name or an order of files that is not as it was made; a file that is missing
    the pin                         an end that was cut off, an older copy, another journal
    a head or fingerprint noted     the same, and a journal that was written again with another key
    elsewhere
    the local key                   states that were not saved by who has it; sealed cards, commitments and openings
    and the table's fold            states that are not what the entries fold to (`deep`)

Nothing shows what somebody does who holds the signing key, the local key, the pin and every noted head.

Every finding is listed, in the order of the files; after a break the check goes on with what is stored.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal import JournalError, format_1
from controller.journal.chain import Head, hash_decision
from controller.journal.codec import Types
from controller.journal.deep_check import DeepCheck, Fold
from controller.journal.file import Connection, Header, connect_reader, foreign, keys_for, read_header, speaking
from controller.journal.folder import files_in, number_of
from controller.journal.pin import BadPinError, read_pin
from controller.journal.pinning import PIN
from controller.journal.signing import fingerprint, is_signed, key_statement, statement

PAGE: Final = 500  # rows read at once
_ROWS: Final = """SELECT last, count, utc_ns, boottime_ns, round,
CAST(input AS BLOB), CAST(events AS BLOB), sealed, hash FROM decision WHERE last > ? ORDER BY last LIMIT ?"""
_HEADS: Final = "SELECT number, utc_ns, signature FROM head ORDER BY number"
_EVENTS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_DELETED: Final = b'"event":"files_deleted"'


class Finding(msgspec.Struct, frozen=True):
    """`code` for machines: see docs/journal.md. `file`: its name; empty: the folder. `entry` 0: of no entry."""

    code: str
    file: str
    entry: int
    sentence: str


class Verified(msgspec.Struct, frozen=True):
    """What was checked. `signed`: the last head with a good signature; `keys`: fingerprints of the keys, in order.

    `unknown`: what could not be checked with what was at hand.
    """

    findings: tuple[Finding, ...]
    files: int
    entries: int
    heads: int
    head: Head
    signed: Head
    keys: tuple[str, ...]
    unknown: tuple[str, ...]


class Noted(msgspec.Struct, frozen=True):
    """What was noted elsewhere: the pin, a head, a key's fingerprint. `of`: how it is called in a sentence."""

    head: Head
    of: str
    code: str


def verify_journal(path: Path, *, noted: Iterable[Head] = (), key: str = "", local_key: bytes | None = None,
                   types: Types | None = None, fold: Fold | None = None,
                   reached: Callable[[int], None] = lambda entry: None) -> Verified:  # fmt: skip
    """Check a folder, or one file. `noted`: heads that stand elsewhere. `key`: the fingerprint that the newest file's
    key has to have. With `local_key` and `types` the saved states are checked, with `fold` every entry. `reached` is
    called after each page.

    Raises `JournalError` where nothing can be checked: there is no journal, or the local key is not its own.
    """
    with speaking(path):
        files = _files(path)
    check = _Check(local_key, types, fold, reached)
    check.note_pin(path)
    for head in noted:
        check.note(Noted(head, "A noted head", "other-than-noted"))
    for at, one in enumerate(files):
        check.file(one, newest=at == len(files) - 1)
    check.end(key, whole=path.is_dir())
    return check.verified()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = files_in(path)
    if not files:
        raise foreign(path)
    return files


class _Check:
    """The state of a check: it goes through the files in their order, once."""

    def __init__(self, local_key: bytes | None, types: Types | None, fold: Fold | None,
                 reached: Callable[[int], None]) -> None:  # fmt: skip
        self._noted: dict[int, list[Noted]] = {}
        self._local_key, self._types, self._fold, self._reached = local_key, types, fold, reached
        self._findings: list[Finding] = []
        self._file = ""
        self._files = self._entries = self._heads = 0
        self._before: Header | None = None
        self._end: Head | None = None  # of the file before
        self._head = self._signed = Head()
        self._keys: list[bytes] = []
        self._rounds: dict[int, tuple[str, int]] = {}  # in format 2, without a signed head: file and last entry
        self._signed_rounds: set[int] = set()
        self._deleted: set[tuple[str, int, str]] = set()
        self._first: tuple[str, Header] | None = None
        self._unsigned_end: Finding | None = None
        self._deep: DeepCheck | None = None
        if local_key is not None and types is not None:
            self._deep = DeepCheck(local_key, types, fold, self.find)

    def find(self, code: str, sentence: str, entry: int = 0) -> None:
        self._findings.append(Finding(code, self._file, entry, sentence))

    def note(self, noted: Noted) -> None:
        self._noted.setdefault(noted.head.number, []).append(noted)

    def note_pin(self, path: Path) -> None:
        pin = path / PIN
        if not path.is_dir():
            return
        try:
            pinned = read_pin(pin)
        except BadPinError:
            self.find("pin-damaged", f"The pin {pin} cannot be read.")
        except OSError as error:
            self.find("pin-unreadable", f"The pin {pin} cannot be read: {error.strerror}.")
        else:
            if pinned is not None:
                self.note(Noted(pinned.head, "The pin", "other-than-pinned"))

    # -- a file

    def file(self, path: Path, *, newest: bool) -> None:
        self._file = path.name
        try:
            with speaking(path), closing(connect_reader(path)) as connection:
                header = read_header(path, connection)
                if header is None:
                    raise foreign(path)
                self._files += 1
                self._link(path, header)
                if self._local_key is not None:
                    keys_for(path, self._local_key, header)
                if header.format == format_1.FORMAT:
                    self._old_rows(path, connection, header)
                else:
                    self._rows_of(connection, header, closed=not newest)
        except JournalError as error:
            if error.code == "journal-key":
                raise
            self.find(error.code, str(error))
            self._end = None
            return
        self._before, self._end = header, self._head

    def _link(self, path: Path, header: Header) -> None:
        before, end = self._before, self._end
        if self._first is None:
            self._first = (path.name, header)
        elif before is None or end is None:
            pass  # the file before cannot be read, which is found already
        elif (header.previous_file, header.previous) != (before.file_id, end):
            self.find("file-not-linked", "The file does not begin where the one before it ends.", end.number)
        elif header.identity != before.identity:
            self.find("other-journal", "The file is of another journal than the one before it.")
        unsigned, self._unsigned_end = self._unsigned_end, None
        if unsigned is not None and before is not None and header.public_key == before.public_key:
            self._findings.append(unsigned)  # another key could not sign it
        if before is not None and before.public_key and header.public_key != before.public_key:
            said = key_statement(header.identity.id, before.public_key, header.public_key)
            if not is_signed(before.public_key, header.endorsement, said):
                self.find("key-changed", "The file is signed by another key, which the one before did not endorse.")
        if header.public_key and header.public_key not in self._keys[-1:]:
            self._keys.append(header.public_key)

    def _rows_of(self, connection: Connection, header: Header, *, closed: bool) -> None:
        heads = {number: (utc_ns, signature) for number, utc_ns, signature in connection.execute(_HEADS)}
        deep = self._deep
        if deep is not None:
            deep.begin(header, connection)
        self._head = header.before
        last_round = None
        for row in self._pages(connection):
            last, count, round_number = row[0], row[1], row[4]
            before = self._head
            self._head = self._row(row, before)
            self._count_events(row)
            if last_round is not None and round_number < last_round:
                self.find("rounds-out-of-order", f"Round {round_number} follows round {last_round}.", last)
            last_round = round_number
            self._entries += count if isinstance(count, int) else 0
            self._rounds[round_number] = (self._file, last)
            if last in heads:
                self._signature(header, heads.pop(last))
                self._signed_rounds.add(round_number)
            self._compare_noted()
            if deep is not None:
                deep.row(row)
        for number in heads:
            self.find("head-without-entry", "A head is signed where no decision ends.", number)
        if closed and self._head != header.before and self._signed != self._head:
            self._unsigned_end = Finding(
                "end-not-signed", self._file, self._head.number, "The file is closed, and its end is not signed."
            )
        if deep is not None:
            deep.end()

    def _row(self, row: Sequence[Any], before: Head) -> Head:
        last, count, utc_ns, boottime_ns, round_number, given, events, sealed, stored = row
        if last != before.number + count:
            self.find("numbers", f"Between entry {before.number} and entry {last} entries are missing or added.", last)
        try:
            made = hash_decision(last, count, utc_ns, boottime_ns, round_number, given, events, sealed, before.hash)
        except (TypeError, struct.error):
            made = b""
        if made != stored:
            self.find(
                "chain",
                f"Entries {before.number + 1} to {last} are not what was written after entry {before.number}.",
                last,
            )
        return Head(last, stored)

    def _count_events(self, row: Sequence[Any]) -> None:
        events = row[6]
        try:
            found = len(_EVENTS.decode(events))
        except (msgspec.MsgspecError, ValueError, TypeError):
            found = -1
        if found != row[1] - 1:
            self.find("events", f"Up to entry {row[0]} there are not as many events as entries.", row[0])
        elif _DELETED in events:
            for event in msgspec.json.decode(events):
                if event["event"] == "files_deleted":
                    self._deleted |= {(one["id"], one["last"], one["hash"]) for one in event["files"]}

    def _signature(self, header: Header, head: tuple[int, bytes]) -> None:
        utc_ns, signature = head
        said = statement(header.identity.id, header.file_id, self._head, utc_ns)
        if is_signed(header.public_key, signature, said):
            self._heads += 1
            self._signed = self._head
        else:
            self.find("signature", "The signature of this head is not the file's key's.", self._head.number)

    def _compare_noted(self) -> None:
        number = self._head.number
        for noted in self._noted.pop(number, ()):
            if noted.head != self._head:
                self.find(noted.code, f"{noted.of} has another hash for entry {number}.", number)

    def _pages(self, connection: Connection) -> Iterator[Sequence[Any]]:
        after = -1
        while rows := list(connection.execute(_ROWS, (after, PAGE))):
            yield from rows
            after = rows[-1][0]
            self._reached(after)

    def _old_rows(self, path: Path, connection: Connection, header: Header) -> None:
        """A file of format 1: no heads."""
        if self._deep is not None:
            self._deep.old(path)
        self._head = header.before
        while rows := list(connection.execute(format_1.CHAIN, (self._head.number, PAGE))):
            for number, made in format_1.follow(rows, self._head):
                if made is None:
                    self.find("chain", f"Entry {number} is missing or has been changed.", number)
                    row = next(row for row in rows if row[0] >= number)
                    made = Head(row[0], row[8])
                self._entries += 1
                self._head = made
                self._compare_noted()
            self._reached(self._head.number)

    # -- the whole

    def end(self, key: str, *, whole: bool) -> None:
        self._file = ""
        for noted in (one for number in sorted(self._noted) for one in self._noted[number]):
            number, first = noted.head.number, self._first
            if first is not None and number <= first[1].previous.number:
                continue  # of a file that is not here, which is found or known
            why = "has no decision that ends there" if number < self._head.number else f"ends with {self._head.number}"
            self.find(noted.code, f"{noted.of} is of entry {number}, and the journal {why}.", number)
        rounds = sorted(self._rounds)
        for round_number in rounds[:-1]:
            if round_number and round_number not in self._signed_rounds:
                self._file, last = self._rounds[round_number]
                self.find("round-not-signed", f"No head of round {round_number} is signed.", last)
        self._file = ""
        found = [fingerprint(one) for one in self._keys]
        if key and not hmac.compare_digest(key, found[-1] if found else ""):
            signer = found[-1] if found else "no key"
            self.find("other-key", f"The journal is signed by {signer}, and not by {key}.")
        if whole:
            self._beginning()

    def _beginning(self) -> None:
        if self._first is None:
            return
        name, header = self._first
        before = header.previous
        deleted = (header.previous_file, before.number, before.hash.hex()) in self._deleted
        if header.previous_file and not deleted and not (number_of(Path(name)) == 1 and self._old_is_elsewhere(header)):
            self.find("file-missing", f"The files before {name} are missing, and their deletion is not recorded.")

    def _old_is_elsewhere(self, header: Header) -> bool:
        """A first file may follow one of format 1, which was moved away: its id is the journal's."""
        return header.previous_file == header.identity.id

    def verified(self) -> Verified:
        return Verified(
            tuple(self._findings), self._files, self._entries, self._heads, self._head, self._signed,
            tuple(map(fingerprint, self._keys)), tuple(self._unknown()),
        )  # fmt: skip

    def _unknown(self) -> Iterator[str]:
        if self._signed != self._head:
            yield (
                f"Entries {self._signed.number + 1} to {self._head.number} are signed by no head yet: "
                "who can write to the file can have changed or removed them."
            )
        if self._local_key is None:
            yield "Sealed cards and saved states were not checked: that needs the local key."
        elif self._fold is None:
            yield "Whether saved states follow from the entries was not checked: ask for a deep check."
        yield "Who holds the signing key can have written all of it again; compare a head that was noted elsewhere."
