"""Keeps results that take long to make in a folder, under the SHA-256 of their inputs.

The folder is `$CARDSHOE_VM_CACHE`, else `cardshoe-vm` in `$XDG_CACHE_HOME` or `~/.cache`. Missing results are made
again. Results that no run has used for a month are removed.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

UNUSED_FOR: Final = 30 * 24 * 3600.0  # seconds
KEPT: Final = 3  # of each kind: the newest ones


def cache_folder() -> Path:
    """Return the folder, creating it if necessary."""
    if named := os.environ.get("CARDSHOE_VM_CACHE"):
        folder = Path(named)
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cardshoe-vm"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def key_of(parts: Iterable[str | bytes | Path]) -> str:
    """Return the SHA-256 of texts and of the content of files, in their order."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode() if isinstance(part, str) else part
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()[:20]


def kept(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of that kind and key. `make` fills a new folder. One process makes it, and others wait."""
    cache = cache_folder()
    found = cache / f"{kind}-{key}"
    with _alone(cache / f"{kind}.lock"):
        if not found.is_dir():
            _tidy(cache, kind)
            new = Path(tempfile.mkdtemp(prefix=f"{kind}.new-", dir=cache))
            try:
                make(new)
                new.chmod(0o755)
                new.rename(found)
            finally:
                shutil.rmtree(new, ignore_errors=True)
    os.utime(found)
    return found


def _tidy(cache: Path, kind: str) -> None:
    """Remove what is incomplete or old."""
    for left in cache.glob(f"{kind}.new-*"):
        shutil.rmtree(left, ignore_errors=True)
    newest_first = sorted(cache.glob(f"{kind}-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for place, path in enumerate(newest_first):
        if place >= KEPT - 1 or time.time() - path.stat().st_mtime > UNUSED_FOR:
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
