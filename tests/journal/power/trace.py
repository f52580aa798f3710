"""The same operations as the system saw them: the output of `strace` for a child process."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.journal.power.disk import Names, Operation, Resize, Sync, SyncFolder, Write

_CALLS: Final = "pwrite64,write,ftruncate,truncate,fsync,fdatasync,unlink,unlinkat,rename,renameat,renameat2"
_CALL: Final = re.compile(r"\d+ +(\w+)\((.*)\) += (\d+)")
_OF_DESCRIPTOR: Final = re.compile(r"\d+<([^>]*)>")
_PATH: Final = re.compile(r'"([^"]*)"')


def trace(folder: Path, command: Sequence[str], out: Path) -> list[str]:
    """Run the command to completion. Return its operations in `folder`, one per line, leaving out the wal-index."""
    options = ["-f", "-y", "-s", "0", "-qq", "-e", "signal=none", "-e", f"trace={_CALLS}", "-o", str(out)]
    subprocess.run(["strace", *options, "--", *command], check=True, stdout=subprocess.DEVNULL)
    found = [_CALL.fullmatch(line) for line in out.read_text().splitlines()]
    lines = [_line(match[1], match[2], int(match[3]), folder.resolve()) for match in found if match]
    return [line for line in lines if line and "-shm" not in line]


def _line(call: str, given: str, result: int, folder: Path) -> str | None:
    match = _OF_DESCRIPTOR.match(given) or _PATH.search(given)
    path = Path(match[1]) if match else Path("/")
    if not path.is_relative_to(folder):
        return None
    name = path.relative_to(folder).as_posix()
    last = given.rsplit(", ", 1)[-1]
    match call:
        case "pwrite64":
            return f"write {name} {result} at {last}"
        case "write":
            return f"write {name} {result} at "  # the current position
        case "ftruncate" | "truncate":
            return f"resize {name} {last}"
        case "fsync" | "fdatasync":
            return f"sync {name}"
        case "unlink" | "unlinkat" | "rename" | "renameat" | "renameat2":
            return f"remove {name}"
        case _:
            return f"{call} {given}"


def lines(operations: Sequence[Operation]) -> list[str]:
    """Return the recorded operations in the same form."""
    names: dict[int, str] = {}
    made: list[str] = []
    for operation in operations:
        match operation:
            case Names(_, changes):
                made += [f"remove {name}" for name, file in changes if file is None]
                names.update({file: name for name, file in changes if file is not None})
            case Write(file, offset, data) if data:
                made.append(f"write {names[file]} {len(data)} at {offset}")
            case Resize(file, size):
                made.append(f"resize {names[file]} {size}")
            case Sync(file):
                made.append(f"sync {names[file]}")
            case SyncFolder(folder):
                made.append(f"sync {folder}")
    return [line for line in made if "-shm" not in line]
