"""Whose the journal is: the daemon writes to its own files alone, and a restore by root leaves them root's."""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from pathlib import Path


def foreign_in(folder: Path, uid: int) -> Path | None:
    """The folder, or the first of its files, that is not that user's; None: all of it is, as far as it can be seen."""
    with suppress(OSError):
        if folder.stat().st_uid != uid:
            return folder
        for path in sorted(folder.iterdir()):
            if path.lstat().st_uid != uid:
                return path
    return None


def give_to(user: str, folder: Path) -> str:
    """The command, for root."""
    return f"chown -R {user}: {folder}"


def name_of(uid: int) -> str:
    """The user's name; the number where this PC has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def hint_of_owner(table: str, folder: Path) -> str:
    """What to do where this program's user does not own the journal of its table; empty: it does, or root asks."""
    uid = os.geteuid()
    found = foreign_in(folder, uid) if uid else None
    if found is None:
        return ""
    owner = name_of(found.lstat().st_uid)
    return (
        f"{found} belongs to {owner} and not to the daemon's user. As root: {give_to(name_of(uid), folder)} && "
        f"systemctl restart cardshoe@{table}"
    )
