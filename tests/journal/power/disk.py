"""A disk that loses power: the possible content of a folder afterwards, given all operations on it.

Synced data is kept. Each write that was not synced, and each change of a size, a mode or a name, is kept or lost
independently; a write may be kept in part, by sectors. A file's sync covers its content and mode, a folder's sync the
names in it; neither covers the other.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path, PurePosixPath
from random import Random
from typing import Final, TypeAlias

import msgspec

_PAGE: Final = 4096
_RUNS: Final = 4  # pieces into which a large write is torn


class Write(msgspec.Struct, frozen=True):
    file: int
    offset: int
    data: bytes


class Resize(msgspec.Struct, frozen=True):
    file: int
    size: int


class Mode(msgspec.Struct, frozen=True):
    file: int
    mode: int


class Sync(msgspec.Struct, frozen=True):
    """Sync a file's content and size, and its mode too if `whole`."""

    file: int
    whole: bool


class SyncFailed(msgspec.Struct, frozen=True):
    """A failed sync: programs still read the unsynced data, but it is lost unless it is written again."""

    file: int


class Names(msgspec.Struct, frozen=True):
    """Names in one folder that change together: each has a new file, or None. A folder's name ends with "/"."""

    folder: str
    changes: tuple[tuple[str, int | None], ...]


class SyncFolder(msgspec.Struct, frozen=True):
    folder: str


class Relied(msgspec.Struct, frozen=True):
    """From this point, at least `least` decisions must be kept and at most `most` may be."""

    least: int
    most: int


Operation: TypeAlias = Write | Resize | Mode | Sync | SyncFailed | Names | SyncFolder | Relied
_OfContent: TypeAlias = Write | Resize | Mode


class Remains(msgspec.Struct, frozen=True):
    """The content and mode of a file."""

    data: bytes
    mode: int = 0o600


Folder: TypeAlias = dict[str, Remains]


def read_folder(folder: Path) -> Folder:
    """Return the content of the folder and its subfolders."""
    found: Folder = {}
    for path in sorted(folder.rglob("*")):
        if path.name.endswith("-shm"):
            continue  # recreated at every start
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            found[name + "/"] = Remains(b"")
        else:
            found[name] = Remains(path.read_bytes(), stat.S_IMODE(path.stat().st_mode))
    return found


def write_folder(folder: Path, found: Folder) -> None:
    """Write the files into an empty folder."""
    for name, remains in sorted(found.items()):
        path = folder / name
        if name.endswith("/"):
            path.mkdir(mode=0o700)
        else:
            path.write_bytes(remains.data)
            path.chmod(remains.mode)


class _Content:
    def __init__(self, found: Remains) -> None:
        self.data = bytearray(found.data)
        self.mode = found.mode

    def apply(self, operation: _OfContent) -> None:
        match operation:
            case Write(_, offset, data):
                self.data.extend(bytes(max(0, offset - len(self.data))))
                self.data[offset : offset + len(data)] = data
            case Resize(_, size):
                del self.data[size:]
                self.data.extend(bytes(size - len(self.data)))
            case Mode(_, mode):
                self.mode = mode

    def remains(self) -> Remains:
        return Remains(bytes(self.data), self.mode)


class _File:
    def __init__(self, found: Remains) -> None:
        self.kept = _Content(found)
        self.read = _Content(found)
        self.pending: list[_OfContent] = []

    def take(self, operation: _OfContent) -> None:
        self.read.apply(operation)
        self.pending.append(operation)

    def sync(self, whole: bool) -> None:
        left: list[_OfContent] = []
        for operation in self.pending:
            if isinstance(operation, Mode) and not whole:
                left.append(operation)
            else:
                self.kept.apply(operation)
                self._write_pages(operation)
        self.pending = left

    def _write_pages(self, operation: _OfContent) -> None:
        """Write whole pages, including data that an earlier sync failed to write to them."""
        if isinstance(operation, Write) and operation.data:
            first = operation.offset - operation.offset % _PAGE
            last = min(len(self.read.data), len(self.kept.data), _up(operation.offset + len(operation.data)))
            self.kept.data[first:last] = self.read.data[first:last]


def _up(offset: int) -> int:
    return offset + -offset % _PAGE


class Disk:
    """Takes operations in their order. `lies`: the disk reports syncs that it did not do."""

    def __init__(self, found: Folder | None = None, *, lies: bool = False) -> None:
        self._lies = lies
        self._files: dict[int, _File] = {}
        self._names: dict[str, int] = {}
        self._pending: list[Names] = []
        self.relied = Relied(0, 0)
        for number, (name, remains) in enumerate(sorted((found or {}).items())):
            self._files[-1 - number] = _File(remains)
            self._names[name] = -1 - number

    def take(self, operation: Operation) -> None:
        match operation:
            case Write(file) | Resize(file) | Mode(file):
                self._file(file).take(operation)
            case Names():
                self._pending.append(operation)
            case Relied():
                self.relied = operation
            case SyncFailed(file):
                self._file(file).pending.clear()
            case Sync(file, whole) if not self._lies:
                self._file(file).sync(whole)
            case SyncFolder(folder) if not self._lies:
                for names in self._pending:
                    if names.folder == folder:
                        self._names = _renamed(self._names, names)
                self._pending = [names for names in self._pending if names.folder != folder]

    def _file(self, number: int) -> _File:
        return self._files.setdefault(number, _File(Remains(b"")))

    def known(self) -> Folder:
        """Return what a program reads while the power is on."""
        return self._folder(lambda _: True, lambda file: file.read.remains())

    def least(self) -> Folder:
        """Return what is left after a cut if only synced data was written."""
        return self._folder(lambda _: False, lambda file: file.kept.remains())

    def cut(self, random: Random, sector: int) -> Folder:
        """Return a random remainder after a cut. Each `sector` bytes are written whole or not at all."""
        share = random.choice((0.1, 0.5, 0.9))

        def remains(file: _File) -> Remains:
            content = _Content(file.kept.remains())
            for operation in file.pending:
                for part in _parts(operation, random, share, sector):
                    content.apply(part)
            return content.remains()

        return self._folder(lambda _: random.random() < share, remains)

    def _folder(self, keep: Callable[[Names], bool], remains: Callable[[_File], Remains]) -> Folder:
        names = self._names
        for change in self._pending:
            if keep(change):
                names = _renamed(names, change)
        found: Folder = {}
        for name, number in sorted(names.items()):
            if all(f"{above}/" in names for above in PurePosixPath(name).parents[:-1]):
                found[name] = remains(self._file(number))
        return found


def _renamed(names: dict[str, int], change: Names) -> dict[str, int]:
    changed = {**names, **dict(change.changes)}
    return {name: file for name, file in changed.items() if file is not None}


def _parts(operation: _OfContent, random: Random, share: float, sector: int) -> Iterator[_OfContent]:
    """Yield the parts that are kept of an unsynced operation."""
    if random.random() < share:
        yield operation
    elif isinstance(operation, Write) and operation.data:
        end = operation.offset + len(operation.data)
        if random.random() < 0.5:
            yield Write(operation.file, end, b"")  # the file has grown, but the new data was not written
        if random.random() < 0.5:
            for first, last in _torn(operation.offset, end, random, sector):
                yield Write(operation.file, first, operation.data[first - operation.offset : last - operation.offset])


def _torn(offset: int, end: int, random: Random, sector: int) -> list[tuple[int, int]]:
    """Return random pieces of whole sectors."""
    bounds = [offset, *range(offset - offset % sector + sector, end, sector), end]
    if len(bounds) <= 4 * _RUNS:
        return [bound for bound in pairwise(bounds) if random.random() < 0.5]
    chosen = sorted(random.sample(bounds, 2 * _RUNS))
    return list(zip(chosen[::2], chosen[1::2], strict=True))
