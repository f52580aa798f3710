"""The owner of the journal's files: the daemon writes only to its own files, and a restore by root leaves files of
root.
"""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from pathlib import Path


def foreign_in(folder: Path, uid: int) -> Path | None:
    """Return the folder, or its first file, that does not belong to that user; None if all do, as far as can be
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
    """Return the user's name, or the number if this PC has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def hint_of_owner(table: str, folder: Path) -> str:
    """Return the next step if this program's user does not own its table's journal, or "". It is "" for root too."""
    uid = os.geteuid()
    found = foreign_in(folder, uid) if uid else None
    if found is None:
        return ""
    owner = name_of(found.lstat().st_uid)
    return (
        f"{found} belongs to {owner} and not to the daemon's user. As root: {give_to(name_of(uid), folder)} && "
        f"systemctl restart cardshoe@{table}"
    )
