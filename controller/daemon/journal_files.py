"""The files of an existing journal: their owner, the local key with which it was begun, and the key that signed it.

The daemon writes only to its own files, and a restore by root leaves files of root.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from controller.daemon.section_reader import UNREADABLE
from controller.daemon.sections import JournalSection, TableSection
from controller.journal import JournalError
from controller.journal.file import Header, Identity, keys_for, require_file, require_same_table
from controller.journal.folder import files_in, newest_header
from controller.journal.sealing import load_key_file
from controller.journal.signing import fingerprint, is_signed, key_statement, load_signing_key
from firmware_bridge.messages import Message, message

WRONG_FILE: Final = frozenset({"journal-key", "journal-format", "journal-linked"})
"""Errors of the journal that come from the configuration or its files, so that a restart changes nothing."""
PUT_BACK: Final = message(
    "Put it back from the safe, and give it to the daemon's user. If it is lost, `cardshoe journal new-key --lost` "
    "makes a new one, which a shift manager accepts at the next start."
)


def missing_key(section: JournalSection, header: Header | None) -> JournalError | None:
    """Return why no key may be created: another key signed the journal. `header` is that of its newest file."""
    path = section.signing_key_path
    if header is None or path.exists():
        return None
    said = message(
        "The journal in {folder} is signed by the key {key}, and {path}, which held it, is missing.",
        folder=str(section.folder),
        key=fingerprint(header.public_key),
        path=str(path),
    )
    return JournalError("journal-key", said, PUT_BACK)


def errors_of_journal(section: JournalSection, table: TableSection | None) -> Iterator[tuple[str, JournalError]]:
    """Yield each error with the configuration's key that it concerns. A journal that this user cannot read yields
    none. With `table`, check that the journal belongs to it.
    """
    if UNREADABLE in (section.folder, section.key_file, section.signing_key_file):
        return
    try:
        header = _header_to_append(section.folder)
        if header is not None and table is not None:
            wanted = Identity(header.identity.id, table.name, table.simulated)
            require_same_table(section.folder, header.identity, wanted)
    except JournalError as error:
        if error.code in WRONG_FILE:
            yield "folder", error
        return
    except OSError:
        return
    with suppress(OSError, JournalError):  # problems of the key's file itself are reported elsewhere
        local_key = load_key_file(section.key_file)
        if header is None:
            return
        try:
            keys_for(section.folder, local_key, header)
        except JournalError as error:
            yield "key_file", error
        if missing := missing_key(section, header):
            yield "signing_key_file", missing


def _header_to_append(folder: Path) -> Header | None:
    """Return the header of the newest file, or None without a file. Raise `JournalError` or OSError."""
    header = newest_header(folder)
    if header is not None:
        require_file(files_in(folder)[-1])
    return header


def other_signer(section: JournalSection) -> Message | None:
    """Return a warning about a key that neither signed the journal nor is endorsed by the key that did, or None.

    If the pin exists, a shift manager is asked at the start; after a restore it does not exist.
    """
    path = section.signing_key_path
    with suppress(OSError, JournalError):
        header = newest_header(section.folder)
        if header is None:
            return None
        key = load_signing_key(path)
        said = key_statement(header.identity.id, header.public_key, key.public_key)
        if key.public_key != header.public_key and not is_signed(header.public_key, key.endorsement, said):
            return message(
                "The key in {path} is not {fingerprint}, which signed the journal.",
                path=str(path),
                fingerprint=fingerprint(header.public_key),
            )
    return None


def foreign_in(folder: Path, uid: int) -> Path | None:
    """Return the folder, or its first file, that does not belong to that user, or None if all do, as far as can be
    seen.
    """
    with suppress(OSError):
        if folder.stat().st_uid != uid:
            return folder
        for path in sorted(folder.iterdir()):
            if path.lstat().st_uid != uid:
                return path
    return None


def give_to(user: str, folder: Path) -> str:
    """Return the command for root that changes the owner."""
    return f"chown -R {user}: {folder}"


def name_of(uid: int) -> str:
    """Return the user's name, or the number if this PC does not know it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def hint_of_owner(table: str, folder: Path) -> Message | None:
    """Return the next step if this program's user does not own its table's journal, or None. Root gets None too."""
    uid = os.geteuid()
    found = foreign_in(folder, uid) if uid else None
    if found is None:
        return None
    owner = name_of(found.lstat().st_uid)
    return message(
        "{path} belongs to {owner} and not to the daemon's user. As root: {command}",
        path=str(found), owner=owner, command=f"{give_to(name_of(uid), folder)} && systemctl restart cardshoe@{table}",
    )  # fmt: skip
