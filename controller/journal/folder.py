"""The folder of a journal: its files in their order, read as one.

000001.journal, 000002.journal, ...     each begins where the one before ended
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
from controller.journal.reader import Decision, Entry, JournalReader
from controller.journal.sealing import sync_directory

_NUMBERED: Final = re.compile(r"(\d{6,})\.journal")
PART: Final = ".part"
"""Ends the name of a file that is being made."""

_DAY_NS: Final = 86_400 * 1_000_000_000


def file_name(number: int) -> str:
    return f"{number:06}.journal"


def number_of(path: Path) -> int:
    """Which file of the journal it is; 0: it has another name."""
    found = _NUMBERED.fullmatch(path.name)
    return int(found[1]) if found else 0


def files_in(folder: Path) -> list[Path]:
    """The files of the journal in their order. Raises `JournalError`: journal-format where it is not clear."""
    found, faults = survey(folder)
    for error in faults:
        raise error
    return found


def survey(folder: Path) -> tuple[list[Path], list[JournalError]]:
    """The files in their order, and what is wrong with which are there. Raises `JournalError`."""
    with speaking(folder):
        found = sorted((number_of(path), path) for path in folder.iterdir() if _NUMBERED.fullmatch(path.name))
    faults: list[JournalError] = []
    for before, after in pairwise(number for number, _ in found):
        if after != before + 1:
            missing = f"The file {file_name(before + 1)} of the journal in {folder} is missing."
            twice = f"The journal in {folder} has two files with the number {before}."
            faults.append(
                JournalError(
                    "journal-damaged",
                    twice if after == before else missing,
                    "Put the right files back from a backup; without them the journal has a gap.",
                )
            )
    return [path for _, path in found], faults


class FileEnd(NamedTuple):
    """Which file it is, the end of its chain, and when the file after it was begun."""

    name: str
    file_id: str
    head: Head
    ended_utc_ns: int


def expired_files(folder: Path, keep_days: int) -> tuple[FileEnd, ...]:
    """The oldest files, as far as all that is in them is older than so many days. Raises `JournalError`.

    Age counts up to the beginning of the file before the newest, so that a clock that has just jumped ends no file. The
    newest two are always kept. Raises `JournalError` (journal-damaged) for one that does not end where the next says
    that it ended: its deletion would hide that.
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
                raise damaged(path, "it does not end where the file after it begins")
        found.append(FileEnd(path.name, header.file_id, after.previous, after.created_utc_ns))
        header = after
    return tuple(found)


def delete_files(folder: Path, names: Sequence[str]) -> None:
    """Oldest first, as they are named, so that no gap is left in between. One that is gone already is none. Raises
    `JournalError`.
    """
    for name in names:
        with speaking(folder / name):
            for ending in ("", "-wal", "-shm"):
                (folder / f"{name}{ending}").unlink(missing_ok=True)
            sync_directory(folder)


def newest_header(folder: Path) -> Header | None:
    """What the newest file says of itself; None: there is no file. Raises `JournalError`."""
    with speaking(folder):
        files = files_in(folder) if folder.exists() else []
    return _header_of(files[-1]) if files else None


def _header_of(path: Path) -> Header:
    with speaking(path), closing(connect_reader(path)) as connection:
        header = read_header(path, connection)
    if header is None:
        raise foreign(path)
    return header


class JournalFolder(Generic[InputT, EventT]):
    """All files of a journal, or a single one, read in order; each is opened when its turn comes."""

    def __init__(self, files: list[Path], types: Types | None, local_key: bytes | None) -> None:
        self.files = files
        self._types = types
        self._local_key = local_key

    @classmethod
    def open_to_read(cls, path: Path, types: Types | None = None, *, local_key: bytes | None = None) -> Self:
        """`path`: the folder, or a file. Raises `JournalError`."""
        with speaking(path):
            files = files_in(path) if path.is_dir() else [path]
            for one in files:
                require_file(one)
        if not files:
            raise foreign(path)
        return cls(files, types, local_key)

    def readers(self, after: int = 0) -> Iterator[JournalReader[InputT, EventT]]:
        """Those files that hold entries above `after`, in order; each is closed when the next is asked for."""
        for path in self._from(after):
            with closing(self.reader(path)) as reader:
                yield reader

    def reader(self, path: Path) -> JournalReader[InputT, EventT]:
        return JournalReader.open_to_read(path, self._types, local_key=self._local_key)

    def decisions(self, after: int = 0) -> Iterator[Decision]:
        """`JournalReader.decisions` over all files."""
        for reader in self.readers(after):
            yield from reader.decisions(after)

    def entries(self, after: int = 0) -> Iterator[Entry[InputT, EventT]]:
        """`JournalReader.entries` over all files."""
        for reader in self.readers(after):
            yield from reader.entries(after)

    def verify(self, reached: Callable[[Head], None] = lambda head: None) -> Head:
        """Check the chain of every file, and that each begins where the one before ended; its end. Raises
        `JournalError` (journal-damaged) with the first bad entry. `reached` is called after every page.
        """
        end: tuple[str, Head] | None = None
        for reader in self.readers():
            header = reader.header
            if end is not None and (header.previous_file, header.previous) != end:
                raise damaged(reader.path, "it does not begin where the file before it ends")
            end = header.file_id, reader.verify(reached=reached)
        assert end is not None
        return end[1]

    def _from(self, after: int) -> list[Path]:
        """Files before the one that begins at or below `after` are not opened again."""
        if not after:
            return self.files
        for at in range(len(self.files) - 1, 0, -1):
            with closing(self.reader(self.files[at])) as reader:
                before: Any = reader.header.previous.number
            if before <= after:
                return self.files[at:]
        return self.files
