"""The folder of a journal: its files in order, read as one.

000001.journal, 000002.journal, ...     each begins where the previous one ended
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, Self

from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import EventT, InputT, Types
from controller.journal.file import Header, connect_reader, damaged, foreign, read_header, require_file, speaking
from controller.journal.reader import Entry, JournaledDecision, JournalReader
from controller.journal.sealing import sync_directory
from firmware_bridge.messages import message

_NUMBERED: Final = re.compile(r"(\d{6,})\.journal")
PART: Final = ".part"
"""The suffix of a file that is being made."""

_DAY_NS: Final = 86_400 * 1_000_000_000


def file_name(number: int) -> str:
    return f"{number:06}.journal"


def number_of(path: Path) -> int:
    """Return the number of a file of the journal, or 0 if the name has another form."""
    found = _NUMBERED.fullmatch(path.name)
    return int(found[1]) if found else 0


def files_in(folder: Path) -> list[Path]:
    """Return the files of the journal in order. Raise `JournalError` (journal-format) if the order is not clear."""
    found, faults = survey(folder)
    for error in faults:
        raise error
    return found


def survey(folder: Path) -> tuple[list[Path], list[JournalError]]:
    """Return the files in order, and the faults in the sequence. Raise `JournalError` if the folder cannot be read."""
    with speaking(folder):
        found = sorted((number_of(path), path) for path in folder.iterdir() if _NUMBERED.fullmatch(path.name))
    faults: list[JournalError] = []
    for before, after in pairwise(number for number, _ in found):
        if after != before + 1:
            missing = message(
                "The file {name} of the journal in {folder} is missing.",
                name=file_name(before + 1),
                folder=str(folder),
            )
            twice = message(
                "The journal in {folder} has two files with the number {number}.", folder=str(folder), number=before
            )
            faults.append(
                JournalError(
                    "journal-damaged",
                    twice if after == before else missing,
                    message("Put the right files back from a backup; without them the journal has a gap."),
                )
            )
    return [path for _, path in found], faults


class FileEnd(NamedTuple):
    """The end of a file: its id, the end of its chain, and when the next file was begun."""

    name: str
    file_id: str
    head: Head
    ended_utc_ns: int


def expired_files(folder: Path, keep_days: int) -> tuple[FileEnd, ...]:
    """Return the oldest files that hold nothing younger than `keep_days` days. Raise `JournalError`.

    Ages are measured against the beginning of the file before the newest, so that a clock that has just jumped expires
    no file. The newest two are always kept. Raise `JournalError` (journal-damaged) for a file that does not end where
    the next one says: deleting it would hide that.
    """
    files = files_in(folder)
    if len(files) < 3:
        return ()
    header = _header_of(files[0])
    newest = min(_header_of(path).created_utc_ns for path in files[-2:])
    found: list[FileEnd] = []
    for path, following in pairwise(files[:-1]):
        after = _header_of(following)
        if newest - after.created_utc_ns < keep_days * _DAY_NS:
            break
        with closing(JournalReader[Any, Any].open_to_read(path)) as reader:
            if (header.file_id, reader.head()) != (after.previous_file, after.previous):
                raise damaged(path, message("it does not end where the file after it begins"))
        found.append(FileEnd(path.name, header.file_id, after.previous, after.created_utc_ns))
        header = after
    return tuple(found)


def delete_files(folder: Path, names: Sequence[str]) -> None:
    """Delete files in the given order, oldest first, so that no gap is left in between. A missing file is not an error.
    Raise `JournalError` if a file cannot be deleted.
    """
    for name in names:
        with speaking(folder / name):
            for ending in ("", "-wal", "-shm"):
                (folder / f"{name}{ending}").unlink(missing_ok=True)
            sync_directory(folder)


def newest_header(folder: Path) -> Header | None:
    """Return the header of the newest file, or None if there is no file. Raise `JournalError` if it cannot be read."""
    with speaking(folder):
        files = files_in(folder) if folder.exists() else []
    return _header_of(files[-1]) if files else None


def newest_utc_ns(folder: Path) -> int | None:
    """Return when the newest entry was recorded, or None without a journal. Raise `JournalError`."""
    with speaking(folder):
        files = files_in(folder) if folder.exists() else []
    if not files:
        return None
    with closing(JournalReader[Any, Any].open_to_read(files[-1])) as reader:
        return reader.newest_utc_ns()


def _header_of(path: Path) -> Header:
    with speaking(path), closing(connect_reader(path)) as connection:
        header = read_header(path, connection)
    if header is None:
        raise foreign(path)
    return header


class JournalFolder(Generic[InputT, EventT]):
    """All files of a journal, or a single file, read in order. Each is opened when its turn comes."""

    def __init__(self, files: list[Path], types: Types | None, local_key: bytes | None) -> None:
        self.files = files
        self._types = types
        self._local_key = local_key

    @classmethod
    def open_to_read(cls, path: Path, types: Types | None = None, *, local_key: bytes | None = None) -> Self:
        """Open a folder or a file. Raise `JournalError` if it is missing or cannot be read."""
        with speaking(path):
            files = files_in(path) if path.is_dir() else [path]
            for one in files:
                require_file(one)
        if not files:
            raise foreign(path)
        return cls(files, types, local_key)

    def readers(self, after: int = 0) -> Iterator[JournalReader[InputT, EventT]]:
        """Yield the readers of files with entries above `after`, in order. Each is closed before the next is
        yielded.
        """
        for path in self._from(after):
            with closing(self.reader(path)) as reader:
                yield reader

    def reader(self, path: Path) -> JournalReader[InputT, EventT]:
        return JournalReader.open_to_read(path, self._types, local_key=self._local_key)

    def decisions(self, after: int = 0) -> Iterator[JournaledDecision]:
        """Yield `JournalReader.decisions` of all files."""
        for reader in self.readers(after):
            yield from reader.decisions(after)

    def entries(self, after: int = 0) -> Iterator[Entry[InputT, EventT]]:
        """Yield `JournalReader.entries` of all files."""
        for reader in self.readers(after):
            yield from reader.entries(after)

    def verify(self, reached: Callable[[Head], None] = lambda head: None) -> Head:
        """Check the chain of every file, and that each begins where the previous one ended. Return the end. Raise
        `JournalError` (journal-damaged) with the first bad entry. `reached` is called after every page.
        """
        end: tuple[str, Head] | None = None
        for reader in self.readers():
            header = reader.header
            if end is not None and (header.previous_file, header.previous) != end:
                raise damaged(reader.path, message("it does not begin where the file before it ends"))
            end = header.file_id, reader.verify(reached=reached)
        assert end is not None
        return end[1]

    def _from(self, after: int) -> list[Path]:
        """Return the files from the one that contains `after`. Earlier ones are not opened again."""
        if not after:
            return self.files
        for at in range(len(self.files) - 1, 0, -1):
            with closing(self.reader(self.files[at])) as reader:
                before: Any = reader.header.previous.number
            if before <= after:
                return self.files[at:]
        return self.files
