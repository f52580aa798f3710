"""Files that systemd hands to a daemon as copies, and the originals that people correct."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple

AT_THE_START: Final = re.compile(r"/credentials/cardshoe@(.+)\.service/([^/]+)")
"""`LoadCredential=` of the unit."""
AT_A_RELOAD: Final = re.compile(r"/cardshoe-reload/(.+)(\.toml)")
"""`ExecReload=` of the unit."""


class Original(NamedTuple):
    """`path`: what the copy was made of. `table`: whose it is."""

    table: str
    path: Path


def original_of(path: Path) -> Original | None:
    """None: it is no such copy."""
    if found := AT_THE_START.search(str(path)):
        return Original(found[1], Path("/etc/cardshoe") / found[1] / found[2])
    if found := AT_A_RELOAD.search(str(path)):
        return Original(found[1], Path("/etc/cardshoe") / found[1] / "table.toml")
    return None


def in_originals(text: str, path: Path) -> str:
    """A sentence about the copy as one about the file that people correct."""
    original = original_of(path)
    return text if original is None else text.replace(str(path), str(original.path))
