"""Records the operations on the files of a folder: those of SQLite, beneath its VFS, and the program's own calls.

SQLite is apsw's here, because the standard library's takes no VFS. A VFS in Python cannot give shared memory, so the
write-ahead log needs `locking_mode=exclusive`: there is no -shm file, and no second connection of this SQLite to the
same file at the same time. The writes and syncs of the file and its log are the same; `test_against_the_system.py`
compares them with the system calls of the standard library's SQLite.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.journal.power.disk import (
    Mode,
    Names,
    Operation,
    Relied,
    Resize,
    Sync,
    SyncFailed,
    SyncFolder,
    Write,
    read_folder,
)

Fails: TypeAlias = Callable[[Operation], int | None]


class Recorder:
    """The operations on files in `folder` and its subfolders, in order. Names are relative to it; "." is the folder
    itself.

    `fails` is called before each operation: where it returns an error number, the operation is not done.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.found = read_folder(self.folder)
        self.operations: list[Operation] = []
        self.fails: Fails = lambda operation: None
        self.heard: Callable[[int], object] = lambda least: None
        self._is_dead: Callable[[], bool] = lambda: False
        self._files = {_place(self.folder / name): -1 - at for at, name in enumerate(sorted(self.found))}
        self._made = 0

    def rely(self, least: int, most: int) -> None:
        """Record that from this point at least `least` decisions must be kept, and at most `most` may be."""
        self.operations.append(Relied(least, most))
        self.heard(least)

    def note(self, operation: Operation) -> None:
        """Record an operation before it is done. Raise OSError where it is to fail."""
        if self._is_dead():
            raise OSError(errno.EIO, "killed")
        if code := self.fails(operation):
            if isinstance(operation, Sync):
                self.operations.append(SyncFailed(operation.file))
            raise OSError(code, os.strerror(code))
        self.operations.append(operation)

    @contextmanager
    def dead(self, after: int) -> Iterator[None]:
        """Do nothing after `after` operations, as if the process had been killed."""
        last = len(self.operations) + after
        self._is_dead = lambda: len(self.operations) >= last
        try:
            yield
        finally:
            self._is_dead = lambda: False

    def name(self, path: Any) -> str | None:
        """Return the name relative to the folder, or None for a file elsewhere."""
        found = Path(f"/proc/self/fd/{path}").readlink() if isinstance(path, int) else Path(path).absolute()
        return found.relative_to(self.folder).as_posix() if found.is_relative_to(self.folder) else None

    def number(self, place: Any) -> int | None:
        """Return the number of the file at a path or behind a descriptor, or None for a file elsewhere."""
        try:
            return self._files.get(_place(place))
        except FileNotFoundError:
            return None

    @contextmanager
    def making(self, path: Any) -> Iterator[None]:
        """Wrap a call that opens a file and may create it: an empty file that a reader created counts as new."""
        name = self.name(path)
        new = name is not None and self.number(path) is None
        if name is not None and new:
            self._made += 1
            self.note(Names(_above(name), ((name, self._made),)))
        yield
        if new:
            self._files[_place(path)] = self._made

    def write(self, place: Any, offset: int, data: Any) -> None:
        if (file := self.number(place)) is not None:
            self.note(Write(file, offset, bytes(data)))

    def resize(self, place: Any, size: int) -> None:
        if (file := self.number(place)) is not None:
            self.note(Resize(file, size))

    def mode(self, place: Any, mode: int) -> None:
        if (file := self.number(place)) is not None:
            self.note(Mode(file, mode))

    def sync(self, place: int, *, whole: bool) -> None:
        if stat.S_ISDIR(os.fstat(place).st_mode):
            if (folder := self.name(place)) is not None:
                self.note(SyncFolder(folder))
        elif (file := self.number(place)) is not None:
            self.note(Sync(file, whole))

    def sync_folder_of(self, path: Any) -> None:
        if (name := self.name(path)) is not None:
            self.note(SyncFolder(_above(name)))

    def remove(self, path: Any) -> None:
        if (name := self.name(path)) is not None and os.path.lexists(path):
            self.note(Names(_above(name), ((name, None),)))

    def rename(self, path: Any, to: Any) -> None:
        name, new = self.name(path), self.name(to)
        if name is not None and new is not None:
            self.note(Names(_above(name), ((name, None), (new, self.number(path)))))

    def link(self, path: Any, to: Any) -> None:
        if (new := self.name(to)) is not None:
            self.note(Names(_above(new), ((new, self.number(path)),)))

    def make_folder(self, path: Any) -> None:
        if (name := self.name(path)) is not None and not os.path.lexists(path):
            self._made += 1
            self.note(Names(_above(name), ((f"{name}/", self._made),)))


def _place(path: Any) -> tuple[int, int]:
    """Return the file's identity in the file system, for a path or a descriptor."""
    found = os.stat(path)  # noqa: PTH116  # a descriptor has no stat method
    return found.st_dev, found.st_ino


def _above(name: str) -> str:
    return Path(name).parent.as_posix()


def record_calls(recorder: Recorder, patch: pytest.MonkeyPatch) -> None:
    """Record the program's own file operations until the patch is undone."""

    def before(name: str, note: Callable[..., None]) -> None:
        real = getattr(os, name)

        def recorded(*given: Any, **named: Any) -> Any:
            note(*given)
            return real(*given, **named)

        patch.setattr(os, name, recorded)

    before("pwrite", lambda place, data, offset: recorder.write(place, offset, data))
    before("write", lambda place, data: recorder.write(place, _end(place), data))
    before("ftruncate", recorder.resize)
    before("truncate", recorder.resize)
    before("posix_fallocate", lambda place, offset, size: recorder.write(place, offset + size, b""))
    before("chmod", lambda place, mode: recorder.mode(place, mode))
    before("fchmod", recorder.mode)
    before("fsync", lambda place: recorder.sync(place, whole=True))
    before("fdatasync", lambda place: recorder.sync(place, whole=False))
    before("unlink", recorder.remove)
    before("remove", recorder.remove)
    before("rename", recorder.rename)
    before("replace", recorder.rename)
    before("link", recorder.link)
    before("mkdir", lambda path, *_: recorder.make_folder(path))
    _record_opening(recorder, patch)


def _end(place: int) -> int:
    """Return where a write without an offset goes; descriptors opened for appending do not occur in these runs."""
    return os.lseek(place, 0, os.SEEK_CUR) if stat.S_ISREG(os.fstat(place).st_mode) else 0


def _record_opening(recorder: Recorder, patch: pytest.MonkeyPatch) -> None:
    real_open, real_file = os.open, io.open

    def open_descriptor(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if not flags & os.O_CREAT:
            return real_open(path, flags, *more, **named)
        with recorder.making(path):
            descriptor = real_open(path, flags, *more, **named)
        if flags & os.O_TRUNC:
            recorder.resize(descriptor, 0)
        return descriptor

    def open_file(file: Any, mode: str = "r", buffering: int = -1, *text: Any, **named: Any) -> Any:
        if recorder.name(file) is None or not set(mode) & set("wax+"):
            return real_file(file, mode, buffering, *text, **named)
        if isinstance(file, int) or "r" in mode:
            raw = _Recorded(recorder, file, mode)
        else:
            with recorder.making(file):
                raw = _Recorded(recorder, file, mode)
        if "w" in mode:
            recorder.resize(raw.fileno(), 0)
        if buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *text, **named)

    patch.setattr(os, "open", open_descriptor)
    patch.setattr(io, "open", open_file)
    patch.setattr(builtins, "open", open_file)


class _Recorded(io.FileIO):
    """A file that is written to."""

    def __init__(self, recorder: Recorder, file: Any, mode: str) -> None:
        super().__init__(file, mode.replace("b", "").replace("t", ""))
        self._recorder = recorder
        self._appends = "a" in mode

    def write(self, data: Any) -> int:
        offset = os.fstat(self.fileno()).st_size if self._appends else self.tell()
        self._recorder.write(self.fileno(), offset, data)
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        self._recorder.resize(self.fileno(), self.tell() if size is None else size)
        return super().truncate(size)
