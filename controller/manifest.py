"""The manifest of an environment: a line for every file in it, as `sha256sum` writes it.

Debian's own Python makes it when the package is built, without the program's dependencies; so this module imports none.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

MANIFEST: Final = "manifest"
SIGNATURE: Final = "manifest.sig"


def files_below(folder: Path) -> list[str]:
    """Return the paths in the folder of the files and links that a manifest lists, without the manifest itself."""
    own = {MANIFEST, SIGNATURE}
    names = (str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file() and not _is_python(one))
    return sorted(name for name in names if name not in own)


def _is_python(path: Path) -> bool:
    """Return whether the file is a link to Debian's Python, which belongs to another package."""
    return path.is_symlink() and path.parent.name == "bin"


def manifest_of(folder: Path) -> str:
    """Return the manifest of an environment, in the format of `sha256sum`."""
    lines = (f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in files_below(folder))
    return "".join(lines)
