"""The pin of a running journal, and doubts: what a start finds that contradicts the pin, the local key or the signing
key.

With a doubt the table can continue once a person has decided; if there are several, the highest rank among them
decides. Until then the pin stays as it was, so that the next start finds the doubts again.

    the pin           the newest head is there, and after an orderly stop nothing follows it
    the local key     the pinned decision, which covers all before it, and each one after it have a valid MAC
    the signing key   in all files each key is endorsed by the previous one; the journal is the one that it signed last
    the state         each file that is missing at the beginning was deleted by age
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from controller.journal.file import Header, connect_reader, opening_text, speaking
from controller.journal.folder import JournalFolder, files_in, number_of
from controller.journal.pin import BadPinError, Pin, Pinned
from controller.journal.reader import JournalReader
from controller.journal.reserve import NAME as RESERVE
from controller.journal.signing import Signer, fingerprint, is_signed, key_statement, statement
from firmware_bridge.messages import Message, message

PIN: Final = "pin"
ADDED: Final = "journal-added"
_HINT: Final = message("Compare the journal with a backup and a noted head.")
_FORGED_HINT: Final = message(
    "Keep a copy of the folder for an audit, and compare it with a noted head, the witness and the floor."
)
_KEY_HINT: Final = message("Find out who replaced the key.")


class Doubt(msgspec.Struct, frozen=True):
    """A doubt. `code` is listed in docs/faults.md. `of_shift` means that a shift manager decides, not a pit supervisor.
    `keys` are the public keys in hexadecimal that it concerns, if any.
    """

    code: str
    sentence: Message
    hint: Message = _HINT
    of_shift: bool = False
    keys: tuple[str, ...] = ()

    @property
    def of_added(self) -> bool:
        """Return whether another program wrote to the journal."""
        return self.code == ADDED


class Known(msgspec.Struct, frozen=True):
    """Facts from the state after the last entry: keys that were in doubt, and files whose deletion was recorded."""

    keys: Collection[str] = ()
    deleted: Collection[str] = ()


class JournalPin:
    """The pin next to a journal in that folder. It belongs to the thread that owns the journal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pin: Pin | None = None
        self._committed: Pinned | None = None
        self._found: Pinned | None = None  # the pin's content when the journal was opened
        self.doubts: tuple[Doubt, ...] = ()
        self.fails: Message | None = None
        """Why the pin cannot be written; None if it can."""

    def look(self, signer: Signer, local_key: bytes) -> None:
        """Open the pin and compare the journal with it. `signer` signs from now on. Raise `JournalError`."""
        path = self._folder / PIN
        with speaking(path):
            files = files_in(self._folder) if self._folder.exists() else []
            found: list[Doubt] = []
            try:
                self._pin = Pin.open(path)
                self._found = self._pin.newest
            except BadPinError:
                said = message("The pin {path} of the journal cannot be read.", path=str(path))
                found.append(Doubt("journal-pin-damaged", said))
            look = _Look(self._folder, JournalFolder(files, None, local_key), self._found, signer)
            found += look.at_all(has_pin=self._pin is not None) if files else look.at_nothing()
        self.doubts = tuple(found)

    def look_further(self, signer: Signer, local_key: bytes, known: Known) -> None:
        """Check with the state after the last entry: the keys of all files, and missing files. Raise `JournalError`."""
        with speaking(self._folder):
            names = [(path, _name_of(path)) for path in files_in(self._folder)]
        if names:
            deleted = known.deleted
            if any(one.of_added for one in self.doubts):  # added entries may claim that files were deleted
                deleted = [one for one in deleted if _is_deleted(names[-1][0], one, local_key)]
            found = (_of_keys(self._folder, names, self._found, signer, known.keys), _of_missing(names, deleted))
            self.doubts += tuple(one for one in found if one is not None)

    def doubt(self, doubt: Doubt) -> None:
        """Add a doubt found elsewhere, before anything is written."""
        self.doubts += (doubt,)

    def begin(self) -> None:
        """Prepare for the first write: from here on, what follows an orderly stop is the table's own. The pin says so
        durably before the write, so that a power cut leaves no doubt. A doubt that was found stays.
        """
        pin = self._pin
        if pin is None or pin.newest is None or not pin.newest.stopped or any(one.of_added for one in self.doubts):
            return
        self._write(pin, msgspec.structs.replace(pin.newest, stopped=False), sync=True)

    def committed(self, pinned: Pinned, *, sync: bool) -> None:
        """Pin the head of a durable decision. A failure is stored in `fails`; the decision remains valid."""
        self._committed = pinned
        if not self.doubts and self._pin is not None:
            self._write(self._pin, pinned, sync=sync)

    def accept(self) -> None:
        """Accept the journal as it is, because a person decided so. An unreadable pin is kept next to the new pin. A
        failure is stored in `fails`.
        """
        self.doubts = ()
        path = self._folder / PIN
        if self._pin is None:
            try:
                path.rename(path.with_name(f"{PIN}.damaged"))
                self._pin = Pin.open(path)
            except OSError as error:
                self.fails = _fails(path, error)
                return
        if self._committed is not None:
            self._write(self._pin, self._committed, sync=True)

    def close(self) -> None:
        if self._pin is not None:
            self._pin.close()
            self._pin = None

    def _write(self, pin: Pin, pinned: Pinned, *, sync: bool) -> None:
        try:
            pin.write(pinned, sync=sync or bool(self.fails))
            self.fails = None
        except OSError as error:
            self.fails = _fails(self._folder / PIN, error)


def _fails(path: Path, error: OSError) -> Message:
    return message(
        "The pin {path} of the journal cannot be written: {why}.", path=str(path), why=error.strerror or str(error)
    )


class _Look:
    """A comparison of the files with the content of the pin, which is None if the pin is empty."""

    def __init__(self, folder: Path, files: JournalFolder[Any, Any], pinned: Pinned | None, signer: Signer) -> None:
        self._folder = folder
        self._files = files
        self._pinned = pinned
        self._signer = signer

    def at_nothing(self) -> Iterator[Doubt]:
        """Yield the doubts about a folder without a file."""
        folder = str(self._folder)
        if self._pinned is not None:
            gone = message(
                "{folder} held the journal up to entry {entry}, and the journal is gone.",
                folder=folder,
                entry=self._pinned.head.number,
            )
            yield Doubt("journal-gone", gone)
        elif (self._folder / RESERVE).exists():  # created once the first file and its pin are durable
            gone = message("{folder} held files of the journal and their pin, and they are gone.", folder=folder)
            yield Doubt("journal-gone", gone)
        elif self._signer.journal_id:
            none = message(
                "The signing key signed the journal {journal}, and {folder} does not hold it.",
                journal=self._signer.journal_id,
                folder=folder,
            )
            yield Doubt("journal-gone", none)

    def at_all(self, *, has_pin: bool) -> Iterator[Doubt]:
        """Yield the doubts about all files. `has_pin` means that the pin, if present, can be read."""
        pinned, newest = self._pinned, self._files.files[-1]
        with closing(self._files.reader(newest)) as reader:
            journal_id, number = reader.header.identity.id, reader.last_signed()
            is_new = number_of(newest) == 1 and reader.head() == reader.header.before
        is_pinned = pinned is None or pinned.journal_id == journal_id  # a pin of another journal is reported instead
        if is_pinned and self._signer.journal_id not in ("", journal_id):
            other = message(
                "The journal in {folder} is {found}, and the signing key signed {signed}.",
                folder=str(self._folder),
                found=journal_id,
                signed=self._signer.journal_id,
            )
            yield Doubt("journal-exchanged", other)
        at: Path | None = newest
        stopped = False
        if pinned is not None:
            at, doubt = self._place_of(pinned)
            if doubt is not None:
                yield doubt
                at = newest
            else:
                number, stopped = pinned.head.number, pinned.stopped
        elif has_pin and not is_new:  # a power cut may come before the first pin, when nothing was written yet
            gone = message("The pin {path} of the journal is missing.", path=str(self._folder / PIN))
            yield Doubt("journal-pin-gone", gone)
        assert at is not None
        yield from self._of_what_follows(at, number, stopped=stopped)

    def _place_of(self, pinned: Pinned) -> tuple[Path | None, Doubt | None]:
        """Return the file that holds the pinned head, or the doubt if none does."""
        number, folder = pinned.head.number, str(self._folder)
        for path in reversed(self._files.files):
            with closing(self._files.reader(path)) as reader:
                if reader.header.identity.id != pinned.journal_id:
                    unknown = message(
                        "The journal in {folder} is not the one that was written to before.", folder=folder
                    )
                    return None, Doubt("journal-exchanged", unknown)
                if reader.header.file_id != pinned.file_id:
                    continue
                found, end = reader.hash_at(number), reader.head().number
            if found is None and end < number:
                cut = message(
                    "The journal in {folder} ends with entry {last}, but entry {entry} was written earlier.",
                    folder=folder,
                    last=end,
                    entry=number,
                )
                return None, Doubt("journal-cut", cut)
            if found != pinned.head.hash:
                changed = message(
                    "Entry {entry} of the journal in {folder} is not what was written.", entry=number, folder=folder
                )
                return None, Doubt("journal-changed", changed)
            return path, None
        lacks = message(
            "The journal in {folder} lacks the last file that was written, up to entry {entry}.",
            folder=folder,
            entry=number,
        )
        return None, Doubt("journal-cut", lacks)

    def _of_what_follows(self, at: Path, number: int, *, stopped: bool) -> Iterator[Doubt]:
        """Yield the doubts about the decision that ends with that entry and all that follow it."""
        before: Header | None = None
        for path in self._files.files[self._files.files.index(at) :]:
            with closing(self._files.reader(path)) as reader:
                header, end = reader.header, reader.head().number
                forged = reader.first_unauthentic(number if path == at else header.before.number)
                is_signed_here = path == at or _name_is_signed(reader)
            if before is not None and header.previous_file != before.file_id:
                is_signed_here = False
            if forged is not None or not is_signed_here:
                entry = header.before.number if forged is None else forged
                said = message(
                    "The entries of {file} up to {entry}, in the journal in {folder}, were not written with this "
                    "table's local key and signing key.",
                    file=path.name,
                    folder=str(self._folder),
                    entry=entry,
                )
                yield _forged(said)
                return
            if stopped and (path != at or end > number):
                said = message(
                    "An orderly stop ended the journal in {folder} at entry {entry}, and more entries follow.",
                    folder=str(self._folder),
                    entry=number,
                )
                yield _forged(said)
                return
            before = header


def _forged(said: Message) -> Doubt:
    return Doubt(ADDED, said, _FORGED_HINT, of_shift=True)


def _name_is_signed(reader: JournalReader[Any, Any]) -> bool:
    """Return whether the key that the file names has signed the file's name."""
    header = reader.header
    with speaking(reader.path), closing(connect_reader(reader.path)) as connection:
        rows = list(connection.execute("SELECT utc_ns, signature FROM head WHERE number = ?", (header.before.number,)))
    return any(
        is_signed(header.public_key, signature, statement(header.identity.id, header.file_id, header.before, utc_ns))
        for utc_ns, signature in rows
    )


class _Name(NamedTuple):
    """The part of a file's name that the key check needs."""

    journal_id: str
    file_id: str
    public_key: bytes
    endorsement: bytes
    previous_file: str


_NAME: Final = "SELECT journal_id, file_id, public_key, endorsement, previous_file FROM journal"


def _name_of(path: Path) -> _Name:
    """Read a file's name only: there may be a file for each day of several years."""
    with speaking(path), closing(connect_reader(path)) as connection:
        return _Name(*next(iter(connection.execute(_NAME))))


def _of_keys(folder: Path, names: Sequence[tuple[Path, _Name]], pinned: Pinned | None, signer: Signer,
             known: Collection[str]) -> Doubt | None:  # fmt: skip
    """Return a doubt unless each new key, and the one that signs next, is endorsed by the previous key, or was accepted
    by a person: then it was in doubt, and the pin continued after it.
    """
    journal_id, before = names[0][1].journal_id, names[0][1].public_key
    ids = [name.file_id for _, name in names]
    pinned_at = ids.index(pinned.file_id) if pinned is not None and pinned.file_id in ids else -1
    keys = [(at, name.public_key, name.endorsement) for at, (_, name) in enumerate(names)]
    found: list[tuple[str, Message]] = []
    for at, public_key, endorsement in (*keys, (len(names), signer.public_key, signer.endorsement)):
        if public_key != before and not is_signed(before, endorsement, key_statement(journal_id, before, public_key)):
            accepted = at <= pinned_at and public_key.hex() in known
            if not accepted:
                where = names[at][0].name if at < len(names) else message("the signing key of this start")
                said = message(
                    "{where}: {key} after {before}",
                    where=where,
                    key=fingerprint(public_key),
                    before=fingerprint(before),
                )
                found.append((public_key.hex(), said))
        before = public_key
    if not found:
        return None
    said = message(
        "The journal in {folder} is signed by another key, which the previous key did not endorse ({places:clauses}).",
        folder=str(folder),
        places=tuple(place for _, place in found),
    )
    keys_found = tuple(key for key, _ in found)
    return Doubt("journal-key-changed", said, _KEY_HINT, of_shift=True, keys=keys_found)


def _is_deleted(newest: Path, file_id: str, local_key: bytes) -> bool:
    """Return whether a holder of the local key recorded that deletion: in the newest file, or before it began."""
    with closing(JournalReader[Any, Any].open_to_read(newest, local_key=local_key)) as reader:
        number = reader.header.before.number
        opening = opening_text(newest, reader.header)
        table = opening.get("table") if isinstance(opening, dict) else None
        told = table.get("files_deleted") if isinstance(table, dict) else None
        if isinstance(told, list) and file_id in told and reader.first_unauthentic(number) != number:
            return True
        return any(
            one.holds and any(b'"event":"files_deleted"' in event and file_id.encode() in event for event in one.events)
            for one in reader.decisions()
        )


def _of_missing(names: Sequence[tuple[Path, _Name]], deleted: Collection[str]) -> Doubt | None:
    """Return a doubt about files that are missing before the first file."""
    path, name = names[0]
    if not name.previous_file or name.previous_file in deleted:
        return None
    missing = message(
        "The files before {file} of the journal in {folder} are missing, and no entry says that they were deleted by "
        "age.",
        file=path.name,
        folder=str(path.parent),
    )
    return Doubt("journal-cut", missing)
