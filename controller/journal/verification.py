"""Verification: checks whether a journal is what was written, as far as the available evidence can show.

    available                       shows
    nothing                         a break of the chain, within a file or between files; a signature that was not made
                                    with the file's key; a file's name, the last entry of a round, a record of deleted
                                    files, or the end of a closed file, without a signature; a changed schema or order
                                    of files; a file that is missing, or was deleted earlier than the journal's
                                    recorded settings allowed
    the pin                         an end that was cut off, an older copy, another journal, or entries after an orderly
                                    stop
    a head or fingerprint noted     the same, and a journal that was rewritten with another key
    elsewhere
    the local key                   names of files, decisions and saved states that no holder of the key wrote; with
                                    the table's fold (`deep`): sealed cards, commitments and openings, states that
                                    differ from what the entries fold to

Nothing reveals changes by a person who holds the signing key, the local key, the pin and every noted head.

Every finding is listed, in the order of the files; after a break the check continues with what is stored.
"""

from __future__ import annotations

import hmac
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal import JournalError
from controller.journal.chain import Head, hash_decision
from controller.journal.codec import Types
from controller.journal.deep_check import DeepCheck, Fold
from controller.journal.deletions import Deletions
from controller.journal.file import (
    Header,
    SqliteConnection,
    connect_reader,
    follow_on,
    foreign,
    keys_for,
    opening_text,
    read_header,
    require_file,
    speaking,
)
from controller.journal.folder import survey
from controller.journal.noted_heads import OF_NOTE, OF_PIN, NotedHead, NotedHeads
from controller.journal.packing import Packing
from controller.journal.pin import BadPinError, Pinned, read_pin
from controller.journal.pinning import PIN
from controller.journal.reader import ROW_TYPES, split
from controller.journal.signing import fingerprint, is_signed, key_statement, statement
from firmware_bridge.messages import AnyText, Message, message

PAGE: Final = 500  # rows read at once
_ROWS: Final = """SELECT last, count, utc_ns, boottime_ns, round, body, sealed, hash, mac
FROM decision WHERE last >= ? AND last <= ? ORDER BY last LIMIT ?"""
_LOWEST: Final = -(2**63)
_LAST: Final = "SELECT max(last) FROM decision"
_HEADS: Final = "SELECT number, utc_ns, signature FROM head ORDER BY number"
OF_DOUBTS: Final = frozenset(
    {"other-than-pinned", "after-stop", "pin-damaged", "pin-unreadable", "key-changed", "file-missing", "other-key"}
)
"""Codes of findings that a person may have accepted: a daemon asks at its start, and a later check does not ask
again.
"""


class Finding(msgspec.Struct, frozen=True):
    """A finding. `code` is for machines; see docs/journal.md. `file` is its name, or empty for the folder. `entry` is 0
    if it concerns no entry.
    """

    code: str
    file: str
    entry: int
    sentence: AnyText


class Verified(msgspec.Struct, frozen=True):
    """The result. `signed` is the last head with a valid signature; `keys` are the fingerprints of the keys, in order.

    `unknown` lists what could not be checked with the available keys and heads.
    """

    findings: tuple[Finding, ...]
    files: int
    entries: int
    heads: int
    head: Head
    signed: Head
    keys: tuple[str, ...]
    unknown: tuple[Message, ...]


def verify_journal(path: Path, *, noted: Iterable[Head] = (),
                   signed_at: Mapping[Head, Collection[int]] | None = None, key: str = "",
                   local_key: bytes | None = None, types: Types | None = None, fold: Fold | None = None,
                   thorough: bool = True, reached: Callable[[int], None] = lambda entry: None) -> Verified:  # fmt: skip
    """Check a folder or one file. `noted` are heads kept elsewhere. `signed_at` is when each was signed, according to a
    witness. `key` is the fingerprint that the newest file's key must have. With `local_key` and `types` the saved
    states are checked, with `fold` every entry. With `thorough` SQLite's own structure is checked too, which takes
    one long read transaction a file. `reached` is called after each page.

    Raise `JournalError` if nothing can be checked because there is no journal.
    """
    check = _Check(local_key, types, fold, reached, thorough=thorough)
    check.signed_at = signed_at or {}
    files = check.survey(path)
    for head in noted:
        check.noted.note(NotedHead(head, message("A noted head"), OF_NOTE))
    for at, one in enumerate(files):
        check.file(one, newest=at == len(files) - 1)
    check.end(key, whole=path.is_dir())
    return check.verified()


class _Check:
    """A check, which goes through the files once, in order."""

    def __init__(self, local_key: bytes | None, types: Types | None, fold: Fold | None,
                 reached: Callable[[int], None], *, thorough: bool) -> None:  # fmt: skip
        self.noted = NotedHeads(self.find)
        self.signed_at: Mapping[Head, Collection[int]] = {}
        self._local_key, self._fold, self._reached, self._thorough = local_key, fold, reached, thorough
        self._findings: list[Finding] = []
        self._file = ""
        self._files = self._entries = self._heads = 0
        self._first: tuple[str, Header] | None = None
        self._before: Header | None = None  # the header of the previous file
        self._end: Head | None = None  # the end of the previous file; None if it could not be read
        self._unsigned_end: Finding | None = None  # the finding about the end of the previous file
        self._pinned: tuple[Path, Pinned] | None = None
        self._round: int | None = None  # the round of the last decision
        self._head = self._signed = Head()
        self._keys: list[bytes] = []
        self._deletions = Deletions(self.find)
        self._deep: DeepCheck | None = None
        if local_key is not None and types is not None:
            self._deep = DeepCheck(local_key, types, fold, self.find)

    def find(self, code: str, sentence: AnyText, entry: int = 0) -> None:
        self._findings.append(Finding(code, self._file, entry, sentence))

    def survey(self, path: Path) -> list[Path]:
        """Return the files to check, and report findings about the folder itself."""
        if not path.is_dir():
            return [path]
        files, faults = survey(path)
        if not files:
            raise foreign(path)
        for fault in faults:
            self.find("files", fault.message)
        self._note_pin(path / PIN)
        return files

    def _note_pin(self, pin: Path) -> None:
        try:
            pinned = read_pin(pin)
        except BadPinError:
            self.find("pin-damaged", message("The pin {path} of the journal cannot be read.", path=str(pin)))
        except OSError as error:
            self.find(
                "pin-unreadable",
                message("The pin {path} of the journal cannot be read: {why}.", path=str(pin), why=str(error.strerror)),
            )
        else:
            if pinned is not None:
                self.noted.note(NotedHead(pinned.head, message("The pin"), OF_PIN))
                self._pinned = pin, pinned

    # -- a file

    def file(self, path: Path, *, newest: bool) -> None:
        self._file = path.name
        try:
            with speaking(path):
                require_file(path)
                with closing(connect_reader(path)) as connection:
                    header = read_header(path, connection)
                    if header is None:
                        raise foreign(path)
                    self._files += 1
                    self._link(path, header)
                    self._content(path, connection, header, newest=newest)
        except JournalError as error:
            self.find(error.code, error.message, self._head.number)
            self._end = None
            return
        self._before, self._end = header, self._head

    def _link(self, path: Path, header: Header) -> None:
        before, end = self._before, self._end
        if self._first is None:
            self._first = (path.name, header)
            self.noted.compare(header.previous)  # the end of the deleted file is held
        # otherwise the previous file cannot be read, which was already reported
        elif before is not None and end is not None:
            if (header.previous_file, header.previous) != (before.file_id, end):
                self.find(
                    "file-not-linked", message("The file does not begin where the one before it ends."), end.number
                )
            if header.identity != before.identity:
                self.find("other-journal", message("The file belongs to a different journal from the file before it."))
        unsigned, self._unsigned_end = self._unsigned_end, None
        if unsigned is not None and before is not None and header.public_key == before.public_key:
            self._findings.append(unsigned)  # another key could not sign it, but signs the name, which holds the hash
        if before is not None and header.public_key != before.public_key:
            said = key_statement(header.identity.id, before.public_key, header.public_key)
            if not is_signed(before.public_key, header.endorsement, said):
                self.find(
                    "key-changed", message("The file is signed by another key, which the previous key did not endorse.")
                )
        if header.public_key not in self._keys[-1:]:
            self._keys.append(header.public_key)

    def _content(self, path: Path, connection: SqliteConnection, header: Header, *, newest: bool) -> None:
        self._head = header.before
        self.noted.compare(self._head)
        deep = self._deep
        if deep is not None and self._local_key is not None:
            try:
                keys_for(path, self._local_key, header)
            except JournalError as error:
                self.find(error.code, error.message)
                deep = None
        if self._thorough:
            self._structure(connection)
        self._deletions.begin(header, opening_text(path, header))
        self._rows_of(connection, header, deep, newest=newest)

    def _structure(self, connection: SqliteConnection) -> None:
        """Check for rows that one query shows and another does not."""
        for (said,) in connection.execute("PRAGMA quick_check(10)"):
            if said != "ok":
                self.find("structure", message("SQLite finds the file damaged: {problem}.", problem=str(said)))

    def _rows_of(self, connection: SqliteConnection, header: Header, deep: DeepCheck | None, *, newest: bool) -> None:
        list(connection.execute("BEGIN"))  # a running table continues: read heads, states and the end as of one moment
        heads = {number: (utc_ns, signature) for number, utc_ns, signature in connection.execute(_HEADS)}
        ((end,),) = connection.execute(_LAST)
        if deep is not None:
            deep.begin(header, connection)
        list(connection.execute("COMMIT"))
        is_signed = self._is_signed(header, heads)
        if not is_signed:
            self.find("name-not-signed", message("The file's name, with its opening state, is not signed."))
        self._round = None
        packing = Packing(header.words)
        for row in self._pages(connection, end):
            if [type(value) for value in row] != ROW_TYPES:
                self.find(
                    "chain",
                    message("Entries after {entry} are not as they are written.", entry=self._head.number),
                    row[0],
                )
                continue
            if self._round is not None and row[4] != self._round:
                self._next_round(row[4], is_signed=is_signed)
            self._round = row[4]
            self._head = self._row(row, self._head)
            given, texts = self._texts(row, packing)
            self._entries += row[1]
            is_signed = self._is_signed(header, heads)
            self._deletions.take(row[0], texts, is_signed=is_signed)
            self.noted.compare(self._head)
            if deep is not None:
                deep.row(row, given, texts)
        for number in heads:
            self.find("head-without-entry", message("A head is signed where no decision ends."), number)
        if not newest and not is_signed:
            said = message("The file is closed, and its end is not signed.")
            self._unsigned_end = Finding("end-not-signed", self._file, self._head.number, said)
        if deep is not None:
            deep.end()

    def _next_round(self, number: int, *, is_signed: bool) -> None:
        assert self._round is not None
        if number < self._round:
            self.find(
                "rounds-out-of-order",
                message("Round {number} follows round {before}.", number=number, before=self._round),
                self._head.number,
            )
        if not is_signed:
            self.find(
                "round-not-signed",
                message("The last entry of round {before} is not signed.", before=self._round),
                self._head.number,
            )

    def _row(self, row: Sequence[Any], before: Head) -> Head:
        last, count, stored = row[0], row[1], row[7]
        if last != before.number + count:
            self.find(
                "numbers",
                message(
                    "Between entry {before} and entry {entry} entries are missing or added.",
                    before=before.number,
                    entry=last,
                ),
                last,
            )
        try:
            made = hash_decision(row[:7], before.hash)
        except struct.error:
            made = b""
        if made != stored:
            self.find(
                "chain",
                message(
                    "Entries {first} to {entry} are not what was written after entry {before}.",
                    first=before.number + 1,
                    entry=last,
                    before=before.number,
                ),
                last,
            )
        return Head(last, stored)

    def _texts(self, row: Sequence[Any], packing: Packing) -> tuple[bytes, tuple[bytes, ...]]:
        try:
            given, texts = split(packing.unpack(row[5]))
        except (msgspec.MsgspecError, ValueError) as error:
            self.find(
                "unreadable",
                message("The entries up to {entry} cannot be read: {problem}.", entry=row[0], problem=str(error)),
                row[0],
            )
            return b"", ()
        if len(texts) != row[1] - 1:
            self.find(
                "events", message("Up to entry {entry} there are not as many events as entries.", entry=row[0]), row[0]
            )
        return given, texts

    def _is_signed(self, header: Header, heads: dict[int, tuple[int, bytes]]) -> bool:
        """Return whether the head that was reached is signed. Report an invalid signature."""
        found = heads.pop(self._head.number, None)
        if found is None:
            return False
        utc_ns, signature = found
        try:
            said = statement(header.identity.id, header.file_id, self._head, utc_ns)
            good = is_signed(header.public_key, signature, said)
        except (struct.error, TypeError):
            good = False
        if good:
            self._heads += 1
            self._signed = self._head
            if set(self.signed_at.get(self._head, ())) - {utc_ns}:
                why = message("The witness holds this head with a different time of signing.")
                self.find("signed-again", why, self._head.number)
        else:
            self.find(
                "signature", message("The signature of this head was not made with the file's key."), self._head.number
            )
        return good

    def _pages(self, connection: SqliteConnection, end: int | None) -> Iterator[Sequence[Any]]:
        first = _LOWEST
        while end is not None and first <= end and (rows := list(connection.execute(_ROWS, (first, end, PAGE)))):
            yield from rows
            self._reached(rows[-1][0])
            if not follow_on(first - 1, (row[0] for row in rows)):
                self.find(
                    "structure", message("The rows after entry {entry} are not in their order.", entry=first - 1), first
                )
                return
            first = rows[-1][0] + 1

    # -- the whole journal

    def end(self, key: str, *, whole: bool) -> None:
        self._file = ""
        first = self._first[1].previous.number if self._first is not None else 0
        self.noted.end(first, self._head.number)
        self._compare_pin()
        found = [fingerprint(one) for one in self._keys]
        if key and not hmac.compare_digest(key.encode(), (found[-1] if found else "").encode()):
            signer = found[-1] if found else message("no key")
            self.find(
                "other-key", message("The journal is signed by {signer}, and not by {key}.", signer=signer, key=key)
            )
        if whole and self._first is not None:
            name, header = self._first
            before = header.previous
            end = (header.previous_file, before.number, before.hash.hex(), header.created_utc_ns)
            if header.previous_file and not self._deletions.explain(end):
                self.find(
                    "file-missing",
                    message("The files before {file} are missing, and their deletion is not recorded.", file=name),
                )

    def _compare_pin(self) -> None:
        """Compare the rest of the pin; its head is compared with the other noted heads."""
        if self._pinned is None or any(one.code == OF_PIN for one in self._findings):
            return
        path, pinned = self._pinned
        if self._before is not None and self._before.identity.id != pinned.journal_id:
            self.find(OF_PIN, message("The pin is of the journal {journal}.", journal=pinned.journal_id))
            return
        with suppress(BadPinError, OSError):
            # a daemon started meanwhile has marked in the pin that the journal continues
            if pinned.stopped and self._head != pinned.head and read_pin(path) == pinned:
                ended = message(
                    "The pin says that an orderly stop ended the journal with entry {entry}, and more entries follow.",
                    entry=pinned.head.number,
                )
                self.find("after-stop", ended, pinned.head.number)

    def verified(self) -> Verified:
        return Verified(
            tuple(self._findings), self._files, self._entries, self._heads, self._head, self._signed,
            tuple(map(fingerprint, self._keys)), tuple(self._unknown()),
        )  # fmt: skip

    def _unknown(self) -> Iterator[Message]:
        if self._signed != self._head:
            yield message(
                "Entries {first} to {entry} are not covered by a signed head yet: anyone who can write to the file "
                "may have changed or removed them.",
                first=self._signed.number + 1,
                entry=self._head.number,
            )
        if self.noted.not_compared:
            yield self.noted.not_compared
        if not self.noted.count:
            yield message(
                "It was not checked whether its end is missing, or whether it is an older copy or another journal: "
                "there is no pin beside it, and no head was given. Name a noted head with --head."
            )
        if self._local_key is None:
            yield message(
                "The authors of decisions, sealed cards and saved states were not checked: that needs the local key."
            )
        elif self._fold is None:
            yield message("It was not checked whether saved states follow from the entries: use --deep.")
        yield message(
            "A holder of the signing key could have rewritten all of it; compare a head that was noted elsewhere."
        )
