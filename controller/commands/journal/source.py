"""The source of the commands' decisions: the files of a journal in order, read without its key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from controller.commands.journal.table import Table
from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.file import Header, connect_reader, damaged, opening_text, speaking
from controller.journal.folder import JournalFolder
from controller.journal.reader import JournaledDecision, JournalReader
from controller.journal.signing import fingerprint, is_signed, statement
from firmware_bridge.messages import Message, message

MOST = 2**63 - 1
_DELETED = b'"event":"files_deleted"'
_HEADS = "SELECT number, utc_ns, signature FROM head"
_SIGNED = """SELECT number, hash, head.utc_ns, signature FROM head JOIN decision ON last = number
WHERE number >= ? ORDER BY number LIMIT 1"""
_LAST_SIGNED = """SELECT number, hash, head.utc_ns, signature FROM head JOIN decision ON last = number
ORDER BY number DESC LIMIT 1"""


class SignedHead(NamedTuple):
    """A signed head. `good` means that the file's own key signed it. People compare whether that is the right key."""

    head: Head
    utc_ns: int
    fingerprint: str
    good: bool

    @property
    def text(self) -> str:
        return head_text(self.head)


def head_text(head: Head) -> str:
    """Return a head in the form that `verify --head` takes."""
    return f"{head.number}:{head.hash.hex()}"


class File(NamedTuple):
    path: Path
    header: Header

    @property
    def before(self) -> int:
        """The number of the last entry before this file."""
        return self.header.previous.number


class CoveredDecisions:
    """The decisions of a file, held back until a signed head covers them: at the end of each round, and of a file.

    With the local key, MACs are also checked.
    """

    def __init__(self, reader: JournalReader[Any, Any], following: Header | None) -> None:
        self._header = reader.header
        self._reader = reader
        self._following = following  # None for the newest file
        self._heads = self._read_heads()

    def _read_heads(self) -> dict[int, tuple[int, bytes]]:
        path = self._reader.path
        with speaking(path), closing(connect_reader(path)) as connection:
            rows = list(connection.execute(_HEADS))
        return {number: (utc_ns, signature) for number, utc_ns, signature in rows}

    def decisions(self, after: int, *, only_signed: bool = False) -> Iterator[JournaledDecision]:
        """Yield the decisions after an entry. With `only_signed`, yield those that are valid and covered by a signed
        head.
        """
        for signed, one in self._decisions(after):
            if not only_signed or (signed and one.holds):
                yield one

    def _decisions(self, after: int) -> Iterator[tuple[bool, JournaledDecision]]:
        held: list[JournaledDecision] = []
        for one in self._reader.decisions(after):
            if held and one.round != held[-1].round:  # the end of a round is always signed
                self._heads = self._read_heads()  # it may have been signed since the heads were read
                yield from self._covered(held)
                held = []
            held.append(one)
            if one.last in self._heads:
                yield from self._covered(held)
                held = []
        if held:
            yield from ((False, each) for each in held) if self._may_be_unsigned(held[-1]) else _not_held(held)

    def _may_be_unsigned(self, last: JournaledDecision) -> bool:
        """Return whether the last decision may lack a signature.

        That is the case in a round in play, or at the end of a file whose key was lost, which the next key's file
        names.
        """
        following = self._following
        if following is None:
            return True
        return following.public_key != self._header.public_key and following.previous == Head(last.last, last.hash)

    def _covered(self, held: list[JournaledDecision]) -> Iterator[tuple[bool, JournaledDecision]]:
        """Yield the decisions that the head of the last one covers."""
        is_good = self._is_signed(Head(held[-1].last, held[-1].hash))
        return ((True, each) for each in held) if is_good else _not_held(held)

    def _is_signed(self, head: Head) -> bool:
        if head.number not in self._heads:
            return False
        utc_ns, signature = self._heads[head.number]
        said = statement(self._header.identity.id, self._header.file_id, head, utc_ns)
        return is_signed(self._header.public_key, signature, said)


def _not_held(decisions: list[JournaledDecision]) -> Iterator[tuple[bool, JournaledDecision]]:
    return ((False, msgspec.structs.replace(one, holds=False)) for one in decisions)


class Source:
    """A journal to be read, and checked as it is read. No file is kept open between two pages.

    `local_key` is for checking the MAC of each decision; without it, entries that no head signs yet are accepted
    unchecked.
    """

    def __init__(self, path: Path, local_key: bytes | None = None) -> None:
        self._path = path
        self._local_key = local_key
        self.changed: list[tuple[int, int]] = []
        """The first and last entries of each range that was read and is not what was written."""
        self.misplaced: list[Message] = []
        """The breaks in the sequence of files, a sentence each."""
        self.at = 0
        """The last entry of the latest decision that was read."""
        self._headers: dict[Path, Header] = {}
        self._ends: dict[Path, Head] = {}  # ends of files followed by another
        self._deleted: dict[str, bool] = {}  # by the file's id
        self.look_again()
        identity = self.file(0).header.identity
        self.journal_id = self.file(-1).header.identity.id
        self.table_name = identity.table
        self.simulated = identity.simulated

    def look_again(self) -> None:
        """Find new files, and whether each begins where the previous one ends.

        If a file is deleted by age meanwhile, this is repeated.
        """
        try:
            self._look()
        except JournalError:
            self._look()

    def _look(self) -> None:
        self._folder: JournalFolder[Any, Any] = JournalFolder.open_to_read(self._path, local_key=self._local_key)
        if self._path.is_dir():
            self.misplaced = list(self._misplaced())

    def _misplaced(self) -> Iterator[Message]:
        for at, path in enumerate(self.paths):
            header = self.file(at).header
            if at:
                before = self.file(at - 1)
                end = before.header.file_id, self._end(before.path)
                if header.identity != before.header.identity:
                    yield message(
                        "{file}, after entry {entry}, belongs to another journal.",
                        file=path.name,
                        entry=header.previous.number,
                    )
                elif (header.previous_file, header.previous) != end:
                    yield message(
                        "{file} does not begin where {before} ends, with entry {entry}.",
                        file=path.name,
                        before=before.path.name,
                        entry=end[1].number,
                    )
            elif header.previous_file and not self._is_deleted(header.previous_file):
                yield message(
                    "The files before {file}, up to entry {entry}, are missing, and no signed entry records that they "
                    "were deleted by age.",
                    file=path.name,
                    entry=header.previous.number,
                )

    def _end(self, path: Path) -> Head:
        if path not in self._ends:
            with closing(self._folder.reader(path)) as reader:
                self._ends[path] = reader.head()
        return self._ends[path]

    def _is_deleted(self, file_id: str) -> bool:
        """Return whether the newest file says so. It is read once: the entry comes before the deletion."""
        if file_id not in self._deleted:
            self._deleted[file_id] = self._says_deleted(file_id)
        return self._deleted[file_id]

    def _says_deleted(self, file_id: str) -> bool:
        """Return whether the newest file's opening state or a signed entry says so."""
        newest = self.file(-1)
        state = opening_text(newest.path, newest.header)
        table = state.get("table") if isinstance(state, dict) else None
        if isinstance(table, dict) and file_id in (table.get("files_deleted") or ()):
            return True
        with closing(self._folder.reader(newest.path)) as reader:
            return any(
                _DELETED in event and file_id.encode() in event
                for one in CoveredDecisions(reader, None).decisions(0, only_signed=True)
                for event in one.events
            )

    @property
    def paths(self) -> list[Path]:
        return self._folder.files

    def file(self, at: int) -> File:
        path = self.paths[at]
        if path not in self._headers:
            with closing(self._folder.reader(path)) as reader:
                self._headers[path] = reader.header
        return File(path, self._headers[path])

    def last_file_where(self, begins_before: Callable[[File], bool]) -> File:
        """Return the last file for which the condition holds, else the first. Once false, it must stay false."""
        return self.file(self._last_where(begins_before))

    def files_after(self, begins_before: Callable[[File], bool]) -> Iterator[File]:
        """Yield the files after the last one for which the condition holds."""
        return (self.file(at) for at in range(self._last_where(begins_before) + 1, len(self.paths)))

    def _last_where(self, begins_before: Callable[[File], bool]) -> int:
        low, high = 0, len(self.paths)
        while high - low > 1:
            middle = (low + high) // 2
            if begins_before(self.file(middle)):
                low = middle
            else:
                high = middle
        return low

    def first_round(self, file: File) -> int:
        """Return the round in which the file begins, or 0 before the first round. An empty file sorts last."""
        with closing(self._folder.reader(file.path)) as reader:
            return next((one.round for one in reader.decisions(0, 1)), MOST)

    def opening(self, file: File) -> Table:
        """Return the table's facts when the file began."""
        identity = file.header.identity
        table = Table(identity.table, identity.simulated)
        try:
            table.open_with(opening_text(file.path, file.header))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            what = message(
                "the state at its beginning, after entry {entry}, is not the state of a table ({error})",
                entry=file.before,
                error=f"{type(error).__name__} {error}",
            )
            raise damaged(file.path, what) from error
        return table

    def path_of(self, entry: int) -> Path:
        """Return the file that holds an entry."""
        return self.last_file_where(lambda file: file.before < entry).path

    def decisions(self, after: int = 0) -> Iterator[JournaledDecision]:
        """Yield the decisions that end after an entry, in order, after noting their problems in `changed`.

        Raise `JournalError`.
        """
        for reader in self._folder.readers(after):
            at = self.paths.index(reader.path) + 1
            following = self.file(at).header if at < len(self.paths) else None
            for one in CoveredDecisions(reader, following).decisions(after):
                if not one.holds:
                    self._note(one.first, one.last)
                self.at = one.last
                yield one

    def _note(self, first: int, last: int) -> None:
        if (first, last) in self.changed:
            return
        if self.changed and self.changed[-1][1] == first - 1:
            self.changed[-1] = self.changed[-1][0], last
        else:
            self.changed.append((first, last))

    def is_changed(self, first: int, last: int) -> bool:
        """Return whether entries of that range were read and differ from what was written."""
        return any(begin <= last and first <= end for begin, end in self.changed)

    def last(self) -> JournaledDecision | None:
        """Return the last decision, or None if there is none."""
        return next(self.decisions(self.last_entry() - 1), None)

    def last_entry(self) -> int:
        return self.head().number

    def head(self) -> Head:
        """Return the head of the last entry, signed or not."""
        with closing(self._folder.reader(self.paths[-1])) as reader:
            return reader.head()

    @property
    def size(self) -> int:
        """The size of all files in bytes, without the log next to the newest file."""
        return sum(path.stat().st_size for path in self.paths)

    def signed_head(self, number: int) -> SignedHead | None:
        """Return the first signed head at or after that entry, else the last signed head, or None if nothing is signed
        yet.
        """
        holds = self._last_where(lambda file: file.before < number)
        after = (self._signed(self.file(at), _SIGNED, (number,)) for at in range(holds, len(self.paths)))
        before = (self._signed(self.file(at), _LAST_SIGNED) for at in range(holds, -1, -1))
        return next((found for found in chain(after, before) if found is not None), None)

    def _signed(self, file: File, query: str, parameters: tuple[int, ...] = ()) -> SignedHead | None:
        header = file.header
        with speaking(file.path), closing(connect_reader(file.path)) as connection:
            rows = list(connection.execute(query, parameters))
        for entry, hash_, utc_ns, signature in rows:
            head = Head(entry, hash_)
            said = statement(header.identity.id, header.file_id, head, utc_ns)
            good = is_signed(header.public_key, signature, said)
            return SignedHead(head, utc_ns, fingerprint(header.public_key), good)
        return None
