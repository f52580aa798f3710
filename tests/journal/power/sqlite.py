"""The journal's connection over a VFS that records SQLite's file operations and lets them fail."""

from __future__ import annotations

import errno
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from controller.journal.file import PRAGMAS, Connect, SqliteConnection
from tests.journal.power.disk import Operation, Resize, Sync, Write
from tests.journal.power.recording import Recorder, record_calls

_VFS: Final = "recording"
# At the first sync of a file that it may have created, SQLite syncs the folder.
_SYNCS_ITS_NAME: Final = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL | apsw.SQLITE_OPEN_WAL


class _Quiet:
    """Suppresses reports of errors: the statement raises them, and SQLite's attempts to clean up are not reported as
    well.
    """

    def excepthook(self, kind: Any, error: Any, traceback: Any) -> bool:
        return True


class _Vfs(_Quiet, apsw.VFS):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__(_VFS, "")
        self._recorder = recorder

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802  # apsw's signature
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        with _failing(), self._recorder.making(path):
            file = _File(self._recorder, path, name, flags)
        file.number = self._recorder.number(path)
        return file

    def xDelete(self, path: str, sync: bool) -> None:  # noqa: N802  # apsw's signature
        with _failing():
            self._recorder.remove(path)
            super().xDelete(path, sync)
            if sync:
                self._recorder.sync_folder_of(path)


class _File(_Quiet, apsw.VFSFile):
    def __init__(self, recorder: Recorder, path: str, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._recorder = recorder
        self._path = path
        self._syncs_its_name = bool(flags[0] & _SYNCS_ITS_NAME)
        self.number: int | None = None

    def _note(self, make: Callable[[int], Operation]) -> None:
        if self.number is not None:
            self._recorder.note(make(self.number))

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # apsw's signature
        with _failing():
            self._note(lambda number: Write(number, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, size: int) -> None:  # noqa: N802  # apsw's signature
        with _failing():
            self._note(lambda number: Resize(number, size))
        super().xTruncate(size)

    def xSync(self, flags: int) -> None:  # noqa: N802  # apsw's signature
        with _failing():
            self._note(lambda number: Sync(number, whole=False))
            if self._syncs_its_name:
                self._recorder.sync_folder_of(self._path)
                self._syncs_its_name = False
        super().xSync(flags)


@contextmanager
def _failing() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raised: Any = apsw.FullError(str(error)) if full else apsw.IOError(str(error))
        raised.extendedresult = apsw.SQLITE_FULL if full else apsw.SQLITE_IOERR
        raise raised from None


class _Adapted:
    """An apsw connection with the interface that the journal uses: it raises the errors of the standard library."""

    def __init__(self, path: Path, instead: Mapping[str, str]) -> None:
        self._instead = instead
        with _translated():
            self._connection = apsw.Connection(str(path), vfs=_VFS)

    def execute(self, sql: str, parameters: Sequence[Any] = (), /) -> Iterable[Any]:
        with _translated():
            return list(self._connection.execute(self._instead.get(sql, sql), tuple(parameters)))

    def close(self) -> None:
        with _translated():
            self._connection.close()


_ERRORS: Final = {
    apsw.SQLITE_CONSTRAINT: sqlite3.IntegrityError,
    apsw.SQLITE_CORRUPT: sqlite3.DatabaseError,
    apsw.SQLITE_NOTADB: sqlite3.DatabaseError,
}


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        code = getattr(error, "extendedresult", 0) or getattr(error, "result", 0)
        raised = _ERRORS.get(code & 0xFF, sqlite3.OperationalError)(str(error))
        raised.sqlite_errorcode = code
        raise raised from error


def connecting(pragmas: Sequence[str] = (), instead: Mapping[str, str] | None = None) -> Connect:
    """Return the function to give to the journal. Further pragmas, and replaced statements, weaken the connection."""

    def connect(path: Path) -> SqliteConnection:
        connection = _Adapted(path, instead or {})
        try:
            for pragma in ("locking_mode=EXCLUSIVE", *PRAGMAS, *pragmas):
                connection.execute(f"PRAGMA {pragma}")
        except BaseException:
            with suppress(sqlite3.Error):
                connection.close()
            raise
        return connection

    return connect


def _pass_over(found: Any, *, shown: Callable[[Any], object] = sys.__unraisablehook__) -> None:
    """Ignore the error when a connection whose closing failed is closed again on disposal."""
    if not isinstance(found.exc_value, apsw.Error):
        shown(found)


@contextmanager
def recording(folder: Path) -> Iterator[Recorder]:
    """Record all file operations in `folder`, by the program and by connections of `connecting`."""
    recorder = Recorder(folder)
    vfs = _Vfs(recorder)
    try:
        with pytest.MonkeyPatch.context() as patch:
            record_calls(recorder, patch)
            patch.setattr(sys, "unraisablehook", _pass_over)
            yield recorder
    finally:
        vfs.unregister()
