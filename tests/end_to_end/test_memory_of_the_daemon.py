"""The daemon's memory is protected from other programs of its user, from core dumps and from swap."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_other_ways import make_real

AS_A_USER = ("setpriv", "--inh-caps=-all", "--bounding-set=-all,+ipc_lock")  # root, who may only lock memory
READER = """
import sys
pid, key = sys.argv[1], bytes.fromhex(sys.stdin.read())
try:
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            where, rights = line.split()[:2]
            start, end = (int(part, 16) for part in where.split("-"))
            if "w" in rights:
                memory.seek(start)
                if key in memory.read(end - start):
                    print("found")
                    break
except PermissionError as error:
    print(error.strerror)
"""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs two programs of one user without rights of root")


@asynccontextmanager
async def running(stage: Stage) -> AsyncIterator[int]:
    """Yield the pid of a daemon without the rights of root."""
    words = (*AS_A_USER, sys.executable, "-m", "controller", "run", "--config", str(stage.configuration))
    daemon = await asyncio.create_subprocess_exec(*words, stderr=subprocess.PIPE)
    assert daemon.stderr is not None
    said: list[bytes] = []
    try:
        async with asyncio.timeout(PATIENCE):
            while b"daemon.started" not in (line := await daemon.stderr.readline()):
                assert line, said
                said.append(line)
        yield daemon.pid
    finally:
        daemon.terminate()
        await daemon.communicate()


def read_memory(pid: int, key: bytes) -> str:
    words = (*AS_A_USER, sys.executable, "-I", "-S", "-c", READER, str(pid))
    return subprocess.run(words, input=key.hex(), capture_output=True, text=True, check=True).stdout.strip()


def of_process(pid: int, file: str) -> str:
    return Path(f"/proc/{pid}/{file}").read_text()


@pytest.mark.parametrize("real", [False, True])
async def test_no_program_of_its_user_reads_the_keys_of_a_real_table(real: bool) -> None:
    """At a simulated table the attack reads them, which shows that it works."""
    with short_folder() as folder:
        async with Stage(folder) as stage:
            stage.configure(url="tcp://127.0.0.1:9")
            if real:
                make_real(stage)
            async with running(stage) as pid:
                assert read_memory(pid, stage.journal_key) == ("Permission denied" if real else "found")
                status, limits = of_process(pid, "status"), of_process(pid, "limits")
    kept = {line.split(":")[0]: int(line.split()[1]) for line in status.splitlines() if line.endswith(" kB")}
    assert (kept["VmLck"] > kept["VmRSS"] / 2) == real
    assert ("Max core file size        0                    0" in limits) == real
