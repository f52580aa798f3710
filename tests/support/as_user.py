"""Lists the paths that another user of the machine can open, tried by a process of that user. Needs root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="another user's program is started as root only")
_PROGRAM = """
import os, socket, stat, sys
os.chdir("/")
os.setgroups([])
os.setgid(int(sys.argv[2]))
os.setuid(int(sys.argv[1]))
for path in sys.argv[3:]:
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            os.listdir(path)
        elif stat.S_ISSOCK(mode):
            socket.socket(socket.AF_UNIX).connect(path)
        else:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
        print("opened")
    except OSError as error:
        print(error.strerror)
"""


def tried(uid: int, gid: int, *paths: Path) -> dict[Path, str]:
    """Return for each path `opened`, or the system's reason. A folder is listed, a socket connected to."""
    child = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, str(uid), str(gid), *map(str, paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(zip(paths, child.stdout.splitlines(), strict=True))


def open_to(uid: int, gid: int, *paths: Path) -> set[Path]:
    """Return the paths that the user can open."""
    return {path for path, said in tried(uid, gid, *paths).items() if said == "opened"}
