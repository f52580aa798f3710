"""A backup of a journal: copies of its files, made while the table deals, and a manifest to check them.

The manifest `backup.json` is written last: a backup without one is incomplete. Keys and the pin are not part of it.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.commands.journal.source import Source
from controller.journal import JournalError
from controller.journal.file import connect_reader, require_file, speaking
from controller.journal.folder import PART, JournalFolder, files_in
from controller.journal.sealing import sync_directory, sync_file
from controller.table.events.lines import clauses
from firmware_bridge.messages import AnyText, Message, message

MANIFEST: Final = "backup.json"
MADE_AGAIN: Final = message("Make it with `cardshoe journal backup`, which also works while the table deals.")
_WRITABLE: Final = 0o222
_LOGGED: Final = slice(18, 20)  # bytes of SQLite's header: 2 and 2 in a file with a write-ahead log
_SQLITE: Final = b"SQLite format 3\0"

Progress = Callable[[AnyText], None]


class CopiedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of a backup. `closed` means that nothing more is appended to it."""

    name: str
    bytes: int
    sha256: str
    closed: bool


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a backup. `head` is the number and hash of the last entry, in the form that `verify --head`
    takes.
    """

    backup: int
    program: str
    table: str
    simulated: bool
    journal_id: str
    made_utc_ns: int
    head: str
    files: tuple[CopiedFile, ...]


def back_up(source: Source, folder: Path, *, program: str, utc_ns: int, progress: Progress) -> Manifest:
    """Copy the journal into a folder, which must be empty or missing. Raise `JournalError` if that fails."""
    _require_empty(folder, message("Name a folder that is empty or does not exist."))
    _make(folder)
    copied = []
    for path in source.paths:
        progress(path.name)
        with speaking(path):
            copied.append(_copy(path, folder / path.name))
    head = JournalFolder[Any, Any].open_to_read(folder).verify()
    manifest = Manifest(1, program, source.table_name, source.simulated, source.journal_id, utc_ns,
                        f"{head.number}:{head.hash.hex()}", tuple(copied))  # fmt: skip
    with speaking(folder):
        _write(folder / MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
    return manifest


def restore(backup: Path, folder: Path, *, progress: Progress) -> Manifest:
    """Copy a complete backup into a folder, which must be empty or missing. Raise `JournalError` if that fails.

    An interrupted restore can be repeated, so the folder may have its partial files.
    """
    hint = message(
        "Name a folder that is empty or does not exist. If it is the journal of a table, stop the daemon and move the "
        "folder away first: mv {path} {path}.before",
        path=str(folder),
    )
    _require_empty(folder, hint, PART)  # before the check, which reads the whole backup
    manifest = check(backup, progress=progress)
    _make(folder)
    with speaking(folder):
        for file in manifest.files:
            progress(message("copying {file}", file=file.name))
            part = folder / f"{file.name}{PART}"
            shutil.copyfile(backup / file.name, part)
            sync_file(part)
            if file.closed:
                part.chmod(0o440)
            else:
                _to_be_appended_to(part)
        for file in manifest.files:  # renamed at the end, so that an interrupted restore is not a journal
            (folder / f"{file.name}{PART}").rename(folder / file.name)
        sync_directory(folder)
    return manifest


def check(backup: Path, *, progress: Progress) -> Manifest:
    """Return the manifest of a complete backup. Raise `JournalError` (journal-incomplete) with what is wrong."""
    with speaking(backup):
        present = files_in(backup)
        manifest = _manifest(backup, present)
        for file in manifest.files:
            progress(message("checking {file}", file=file.name))
            if backup / file.name not in present:  # refuses paths outside the folder, pins and keys
                raise incomplete(backup, message("{file} is missing, or is not a file of a journal", file=file.name))
            _check_file(backup / file.name, file)
        listed = {file.name for file in manifest.files}
        if more := [path.name for path in present if path.name not in listed] + _logs(backup):
            raise incomplete(backup, message("{files:list} was added after the backup was made", files=tuple(more)))
    head = JournalFolder[Any, Any].open_to_read(backup).verify()
    if f"{head.number}:{head.hash.hex()}" != manifest.head:
        why = message("it ends with entry {entry}, and its manifest says {head}", entry=head.number, head=manifest.head)
        raise incomplete(backup, why)
    return manifest


def incomplete(backup: Path, why: Message) -> JournalError:
    """Return the error for an incomplete backup."""
    said = message("{path} is not a complete backup of a journal: {why}.", path=str(backup), why=why)
    return JournalError("journal-incomplete", said, MADE_AGAIN)


def _manifest(backup: Path, present: list[Path]) -> Manifest:
    try:
        return msgspec.json.decode((backup / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        raise incomplete(backup, clauses(_reasons(backup, present))) from None
    except msgspec.MsgspecError as error:
        why = message("its {manifest} cannot be read ({problem})", manifest=MANIFEST, problem=str(error))
        raise incomplete(backup, why) from error


def _reasons(backup: Path, present: list[Path]) -> Iterator[Message]:
    """Yield what is missing from files copied by other means."""
    yield message("it has no {manifest}", manifest=MANIFEST) if present else message("it holds no file of a journal")
    for path in present:
        with path.open("rb") as file:
            written_to = file.read(20)[_LOGGED] == b"\2\2"
        if written_to and path.with_name(f"{path.name}-wal").exists():
            yield message("{file} was copied with its log, and the two may come from different moments", file=path.name)
        elif written_to:
            yield message(
                "{file} was not closed when it was copied: the content of its log may be missing", file=path.name
            )


def _check_file(path: Path, file: CopiedFile) -> None:
    require_file(path)
    size = path.stat().st_size
    if size != file.bytes:
        why = message("{file} has {size} bytes instead of {due}", file=file.name, size=size, due=file.bytes)
        raise incomplete(path.parent, why)
    if _sha256(path) != file.sha256:
        raise incomplete(path.parent, message("{file} was changed after it was copied", file=file.name))


def _logs(backup: Path) -> list[str]:
    return [path.name for path in backup.iterdir() if path.name.endswith(("-wal", "-journal"))]


def _require_empty(folder: Path, hint: Message, left: str = "") -> None:
    """Raise `JournalError` for a folder with content. Names that end with `left` do not count."""
    with speaking(folder), suppress(FileNotFoundError):
        if any(not left or not one.name.endswith(left) for one in folder.iterdir()):
            raise JournalError("journal-io", message("{path} is not empty.", path=str(folder)), hint)


def _make(folder: Path) -> None:
    with speaking(folder):
        folder.mkdir(mode=0o750, parents=True, exist_ok=True)


def _copy(path: Path, target: Path) -> CopiedFile:
    closed = not path.stat().st_mode & _WRITABLE
    if closed:
        shutil.copyfile(path, target)
    else:
        _copy_open(path, target)
    target.chmod(0o440 if closed else 0o640)
    sync_file(target)
    return CopiedFile(target.name, target.stat().st_size, _sha256(target), closed)


def _copy_open(path: Path, target: Path) -> None:
    """Copy a file in use as of one moment: in one step, which no commit of the table interrupts."""
    living = connect_reader(path)
    assert isinstance(living, sqlite3.Connection)
    with closing(living), closing(sqlite3.connect(target)) as copy:
        living.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")


def _to_be_appended_to(path: Path) -> None:
    """Prepare a file in the form in which the daemon leaves its newest file."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    path.chmod(0o600)
    sync_file(path)


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    sync_file(path)
    sync_directory(path.parent)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
