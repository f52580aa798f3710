"""The moments of a recorded run at which the power may fail, and what each leaves on the disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Final

import msgspec

from tests.journal.power.disk import Disk, Folder, Relied, write_folder
from tests.journal.power.recording import Recorder

SECTORS: Final = (512, 4096)


class Cut(msgspec.Struct, frozen=True):
    """The content of the disk if the power fails after that many operations."""

    after: int
    relied: Relied
    folder: Folder


def cuts(recorder: Recorder, random: Random, *, each: float, lies: bool = False) -> Iterator[Cut]:
    """Yield on average `each` cuts after every operation: only synced data, all data, or anything between."""
    disk = Disk(recorder.found, lies=lies)
    for after, operation in enumerate(recorder.operations, 1):
        disk.take(operation)
        count = int(each + random.random())
        for kind in random.choices(("least", "known", "between"), (1, 1, 3), k=count):
            match kind:
                case "least":
                    found = disk.least()
                case "known":
                    found = disk.known()
                case _:
                    found = disk.cut(random, random.choice(SECTORS))
            yield Cut(after, disk.relied, found)


@contextmanager
def memory_folder() -> Iterator[Path]:
    """Yield a folder, in memory where possible: syncing thousands of folders on a disk would be wasted time."""
    memory = Path("/dev/shm")  # noqa: S108  # nobody else knows the folder in it
    folder = Path(tempfile.mkdtemp(prefix="cardshoe-power-", dir=memory if memory.is_dir() else None))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def examine(found: Iterator[Cut], look: Callable[[Path, Cut], str | None]) -> tuple[int, list[str]]:
    """Return the number of cuts, and a list of the wrong ones with the operation before each."""
    count = 0
    wrong: list[str] = []
    for cut in found:
        count += 1
        with memory_folder() as folder:
            write_folder(folder, cut.folder)
            if said := look(folder, cut):
                wrong.append(f"after {cut.after}, {cut.relied}: {said}")
    return count, wrong
