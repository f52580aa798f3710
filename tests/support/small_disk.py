"""A disk of a few megabytes that a test can fill: a file system in memory. Only root can mount it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

FILLER = "filler"


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[Path]:
    """Yield a folder on such a disk."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=755", "cardshoe-test", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small disk can be mounted by root alone")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> None:
    """Take all the room that is left, as another program would."""
    with (disk / FILLER).open("ab", buffering=0) as file:
        for size in (1 << 20, 4096, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size))
    assert os.statvfs(disk).f_bavail == 0


def make_room(disk: Path) -> None:
    (disk / FILLER).unlink()


def read_only(disk: Path, is_so: bool = True) -> None:
    """Remount the disk read-only, while nobody has a file in it open for writing."""
    subprocess.run(["mount", "-o", f"remount,{'ro' if is_so else 'rw'}", str(disk)], check=True)
