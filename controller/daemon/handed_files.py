"""Copies of files that systemd gives to a daemon, and the originals that people edit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

AT_THE_START: Final = re.compile(r"/credentials/cardshoe@(.+)\.service/([^/]+)")
"""The path that `LoadCredential=` of the unit gives."""
AT_A_RELOAD: Final = re.compile(r"/cardshoe-reload/(.+)(\.toml)")
"""The path that `ExecReload=` of the unit gives."""


class Original(NamedTuple):
    """The original file of a copy, at `path`, and the table that it belongs to."""

    table: str
    path: Path


def original_of(path: Path) -> Original | None:
    """Return the original of a copy, or None if the path is not such a copy."""
    if found := AT_THE_START.search(str(path)):
        return Original(found[1], Path("/etc/cardshoe") / found[1] / found[2])
    if found := AT_A_RELOAD.search(str(path)):
        return Original(found[1], Path("/etc/cardshoe") / found[1] / "table.toml")
    return None


def in_originals(text: str, path: Path) -> str:
    """Replace the copy's path in a sentence with that of the file that people edit."""
    original = original_of(path)
    return text if original is None else text.replace(str(path), str(original.path))
