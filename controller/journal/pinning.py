"""The pin of a running journal, and what contradicts it when the journal is opened: a doubt.

A doubt is no error of reading: the table can go on once a person has decided. Until then the pin stays as it was, so
that the doubt is found again at the next start.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.journal.file import Header, speaking
from controller.journal.folder import JournalFolder, files_in, number_of
from controller.journal.pin import BadPinError, Pin, Pinned
from controller.journal.reserve import NAME as RESERVE
from controller.journal.signing import Signer, is_signed, key_statement

PIN: Final = "pin"
_HINT: Final = "Compare the journal with a backup and a noted head; then a pit supervisor returns the table to service."
_KEY_HINT: Final = "Find out who exchanged the key; a shift manager returns the table to service."


class Doubt(msgspec.Struct, frozen=True):
    """`code`: see docs/faults.md. `of_key`: about the key that signs, and not about what is written."""

    code: str
    sentence: str
    hint: str = _HINT
    of_key: bool = False


class JournalPin:
    """Beside a journal in that folder. Belongs to the thread that owns the journal."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._pin: Pin | None = None
        self._committed: Pinned | None = None
        self.doubt: Doubt | None = None
        self.fails = ""
        """Why the pin cannot be written; empty: it can."""

    def look(self, signer: Signer) -> Doubt | None:
        """Open the pin and compare the journal with it. `signer`: who signs from here on. Raises `JournalError`."""
        path = self._folder / PIN
        with speaking(path):
            files = files_in(self._folder) if self._folder.exists() else []
            try:
                self._pin = Pin.open(path)
            except BadPinError:
                self.doubt = Doubt("journal-pin-damaged", f"The pin {path} of the journal cannot be read.")
            else:
                self.doubt = _find_doubt(self._folder, JournalFolder(files, None, None), self._pin.newest, signer)
        return self.doubt

    def committed(self, pinned: Pinned, *, sync: bool) -> None:
        """A decision is durable. What fails is kept for `fails`: the decision stands."""
        self._committed = pinned
        if self.doubt is None and self._pin is not None:
            self._write(self._pin, pinned, sync=sync)

    def accept(self) -> None:
        """A person decided that the journal as it is goes on. A pin that cannot be read is kept beside the one that is
        made. What fails is kept for `fails`.
        """
        self.doubt = None
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
            self.fails = ""
        except OSError as error:
            self.fails = _fails(self._folder / PIN, error)


def _fails(path: Path, error: OSError) -> str:
    return f"The pin {path} of the journal cannot be written: {error.strerror}."


def _find_doubt(folder: Path, files: JournalFolder[Any, Any], pinned: Pinned | None, signer: Signer) -> Doubt | None:
    if not files.files:
        if pinned is None:
            return _with_reserve(folder)
        return Doubt("journal-gone", f"{folder} held the journal up to entry {pinned.head.number}, and it is gone.")
    if pinned is None:
        return _without_pin(folder, files)
    since = _since(files, pinned.file_id)
    return _against_pin(folder, files, since, pinned) or _of_key(folder, [header for _, header in since], signer)


def _since(files: JournalFolder[Any, Any], file_id: str) -> list[tuple[Path, Header]]:
    """The file with that id and those after it; all, where there is none."""
    found: list[tuple[Path, Header]] = []
    for path in reversed(files.files):
        with closing(files.reader(path)) as reader:
            found.insert(0, (path, reader.header))
        if reader.header.file_id == file_id:
            break
    return found


def _with_reserve(folder: Path) -> Doubt | None:
    """Room is kept once the first file of format 2 and its pin are durable: where it is held, both were there."""
    if not (folder / RESERVE).exists():
        return None
    return Doubt("journal-gone", f"{folder} held files of the journal and their pin, and they are gone.")


def _without_pin(folder: Path, files: JournalFolder[Any, Any]) -> Doubt | None:
    """Format 1 had no pin, and a power cut may come before the first: nothing was written in format 2 by then."""
    with closing(files.reader(files.files[-1])) as reader:
        header = reader.header
        if header.opening is None:
            return _with_reserve(folder)
        if number_of(reader.path) == 1 and reader.head() == header.before:
            return None
    return Doubt("journal-pin-gone", f"The pin {folder / PIN} of the journal is missing.")


def _against_pin(
    folder: Path, files: JournalFolder[Any, Any], since: Sequence[tuple[Path, Header]], pinned: Pinned
) -> Doubt | None:
    number = pinned.head.number
    path, header = since[0]
    if header.identity.id != pinned.journal_id:
        return Doubt("journal-exchanged", f"The journal in {folder} is not the one that was written to before.")
    if header.file_id != pinned.file_id:
        return Doubt("journal-cut", f"The journal in {folder} lacks the file that was written to last, up to {number}.")
    with closing(files.reader(path)) as reader:
        found = reader.hash_at(number)
        end = reader.head().number
    if found is None and end < number:
        return Doubt(
            "journal-cut", f"The journal in {folder} ends with entry {end}, and entry {number} was written before."
        )
    if found != pinned.head.hash:
        return Doubt("journal-changed", f"Entry {number} of the journal in {folder} is not what was written.")
    return None


def _of_key(folder: Path, headers: Sequence[Header], signer: Signer) -> Doubt | None:
    """From the file that is pinned on, each other key was endorsed by the one before; so is the one that signs next."""
    known, journal_id = headers[0].public_key, headers[0].identity.id
    keys = [(header.public_key, header.endorsement) for header in headers[1:]]
    for public_key, endorsement in (*keys, (signer.public_key, signer.endorsement)):
        if public_key != known and not is_signed(known, endorsement, key_statement(journal_id, known, public_key)):
            return Doubt(
                "journal-key-changed",
                f"The journal in {folder} is signed by another key than before, which that key did not endorse.",
                _KEY_HINT,
                of_key=True,
            )
        known = public_key
    return None
