"""Checks the files, the folders, the socket and the port that a configuration names, as the daemon will find them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from controller.api.people import Person, Reader
from controller.api.unix_socket import SocketRefusedError, check_path, why_too_long
from controller.daemon.configuration import ConfigurationError, read_sections
from controller.daemon.journal_files import errors_of_journal
from controller.daemon.port_use import Run, ask_socket, mistakes_of_port, state_in
from controller.daemon.section_reader import UNREADABLE, Mistake
from controller.daemon.sections import (
    ApiSection,
    CaptureSection,
    Configuration,
    DeviceSection,
    JournalSection,
    TableSection,
)
from controller.journal import JournalError
from controller.journal.sealing import load_key_file
from controller.journal.signing import load_signing_key
from controller.program_files import Program, examine, verify
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_image import read_image
from firmware_bridge.device_keys import read_device_keys
from firmware_bridge.errors import BridgeError
from firmware_bridge.messages import Message, message

OK: Final = 200  # the HTTP status


def read_with_surroundings(path: Path, run: Run) -> Configuration:
    """Read a configuration and check what it names on this PC. `run` returns the output of a program on the PC.

    Raise `ConfigurationError` with all mistakes.
    """
    found = read_sections(path)
    device, journal, capture, api = map(found.partly.get, ("device", "journal", "capture", "api"))
    table = found.good.get("table")
    mistakes = [*found.mistakes, *_mistakes(device, journal, capture, table), *_mistakes_of_folders(journal, api)]
    if table is not None and api is not None:
        users = admitted_users(found.partly.get("readers", ()), found.partly.get("people", ()))
        mistakes += _mistakes_of_socket(table, api, users)
        if api.http not in (None, found.partly.get("api.http")):
            mistakes += mistakes_of_port(table, api, run)
    if mistakes:
        raise ConfigurationError(path, mistakes)
    checked = Configuration(**found.good)
    if failed := list(read_only_folders(checked.journal, checked.api)):
        hint = message("`dmesg` says why, and `cardshoe doctor` how to mount it again.")
        raise ConfigurationError(path, [Mistake(sentence, hint) for _, sentence in failed])
    return checked


def mistakes_of_files(configuration: Configuration) -> list[Mistake]:
    """Return the mistakes with which the daemon would not start, or would refuse its device."""
    found = configuration
    return [
        *_mistakes(found.device, found.journal, found.capture, found.table),
        *mistakes_of_folders(configuration),
    ]


def examined_program(configuration: Configuration) -> Program:
    """Examine the program's own files. Raise `ProgramError` if they must not be used for this table."""
    asked = configuration.program
    found = examine(asked.public_key_file if asked is not None else None)
    if not configuration.table.simulated:
        verify(found, development=asked is not None and asked.development)
    return found


def mistakes_of_folders(configuration: Configuration) -> list[Mistake]:
    """Return a mistake for each folder that cannot be one."""
    return list(_mistakes_of_folders(configuration.journal, configuration.api))


def _mistakes_of_folders(journal: JournalSection | None, api: ApiSection | None) -> Iterator[Mistake]:
    folders: list[tuple[str, Path]] = []
    if journal is not None and journal.folder != UNREADABLE:
        folders.append(("[journal] folder", journal.folder))
        if journal.signing_key_file not in (None, UNREADABLE):
            folders.append(("[journal] signing_key_file", journal.signing_key_path.parent))
    if api is not None and api.socket != UNREADABLE:
        folders.append(("[api] socket", api.socket.parent))
    for place, folder in folders:
        there = next((one for one in (folder, *folder.parents) if os.path.lexists(one)), None)
        if there is None or there.is_dir():
            continue
        if there.is_symlink() and not there.exists():
            target = os.path.realpath(there)
            sentence = message(
                "{place}: {path} is a symbolic link to {target}, which does not exist.",
                place=place,
                path=str(there),
                target=target,
            )
            yield Mistake(
                sentence, message("Mount the disk with it, or make the folder: mkdir -p {target}", target=target)
            )
        else:
            sentence = message("{place}: {path} is not a folder.", place=place, path=str(there))
            yield Mistake(sentence, message("Move it away, or name another folder."))


def read_only_folders(journal: JournalSection, api: ApiSection) -> Iterator[tuple[Path, Message]]:
    """Yield the folders of journal and socket to which nothing can be written, each with a sentence. Root sees no other
    sign of it. A disk that failed may keep the flag of one that can be written, so that a file without a name is tried.
    """
    for folder in dict.fromkeys((journal.folder, api.socket.parent)):
        there = next(one for one in (folder, *folder.parents) if os.access(one, os.F_OK))
        if os.statvfs(there).f_flag & os.ST_RDONLY:
            yield folder, message("{folder} is on a disk that is mounted read-only.", folder=str(folder))
            continue
        try:
            os.close(os.open(there, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        except OSError as error:
            if error.errno in (errno.EROFS, errno.EIO):
                yield folder, message("{folder} is on a disk that failed: it cannot be written.", folder=str(folder))


def admitted_users(readers: Iterable[Reader], people: Iterable[Person]) -> Iterator[int]:
    """Yield the users of this PC whom the table admits."""
    for uids in (*(one.uids for one in readers), *(one.uids for one in people)):
        yield from uids


def _mistakes_of_socket(table: TableSection, api: ApiSection, users: Iterable[int]) -> Iterator[Mistake]:
    """Yield a mistake if something is in the place of the socket that the daemon would not remove. The daemon of this
    table may run.
    """
    path = api.socket
    if path == UNREADABLE or why_too_long(path):
        return
    if path.is_socket():  # asked as a user whom the table admits: it records whom it refuses
        reply = ask_socket(path, "/v1/state", next(iter(users), None))
        if reply is not None and (reply.status != OK or state_in(reply).table == table.name):
            return
    try:
        check_path(path)
    except SocketRefusedError as error:
        yield Mistake(error.message, error.hint)
    except OSError:
        return  # the folder of the socket is checked elsewhere


def files_of(configuration: Configuration) -> tuple[Path, ...]:
    """Return the existing key files and card table."""
    found = _files(configuration.device, configuration.journal, configuration.capture)
    return tuple(path for _, path, _ in found if path is not None and path.exists())


def _mistakes(
    device: DeviceSection | None,
    journal: JournalSection | None,
    capture: CaptureSection | None,
    table: TableSection | None,
) -> Iterator[Mistake]:
    for place, path, read in _files(device, journal, capture):
        if path is None or path == UNREADABLE:
            continue
        try:
            read(path)
        except (JournalError, BridgeError) as error:
            yield Mistake(message("{place}: {why}", place=place, why=error.message), error.hint)
    if journal is not None:
        for key, wrong in errors_of_journal(journal, table):
            yield Mistake(message("[journal] {key}: {why}", key=key, why=wrong.message), wrong.hint)


def _files(
    device: DeviceSection | None, journal: JournalSection | None, capture: CaptureSection | None
) -> Iterator[tuple[str, Path | None, Callable[[Path], Any]]]:
    """Yield the files of the sections that could be read."""
    if device is not None:
        yield "[device] key_file", device.key_file, read_device_keys
        yield "[device] card_table", device.card_table, read_card_table
        yield "[device] image", device.image, read_image
    if journal is not None:
        yield "[journal] key_file", journal.key_file, load_key_file
        if (
            UNREADABLE not in (journal.folder, journal.signing_key_file) and journal.signing_key_path.exists()
        ):  # created at the first start
            yield "[journal] signing_key_file", journal.signing_key_path, load_signing_key
    if capture is not None:
        yield "[capture] key_file", capture.key_file, load_key_file
