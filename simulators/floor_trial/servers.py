"""Debian's mosquitto and PostgreSQL as processes of this program, over files of a folder that is thrown away."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from controller.problems import ProblemError
from simulators.demo.processes import Processes
from simulators.demo.stage import free_port

PACKAGED: Final = Path("/usr/lib/postgresql")  # Debian: a folder for each version
SBIN: Final = "/usr/sbin"  # where Debian has mosquitto; no user's path names it
DATABASE: Final = "floor"
OWNER: Final = "postgres"  # the user that Debian's package makes; the server refuses to run as root
STARTS_WITHIN: Final = 60.0  # seconds, on a busy machine
POLL_EVERY: Final = 0.05  # seconds


class Servers(NamedTuple):
    """`mosquitto`: the program; `postgres`: the folder of PostgreSQL's programs."""

    mosquitto: Path
    postgres: Path


def find_servers() -> Servers:
    """Raises `ProblemError` with the packages that are missing."""
    mosquitto = shutil.which("mosquitto") or shutil.which("mosquitto", path=SBIN)
    versions = sorted(PACKAGED.glob("*/bin/initdb"), key=lambda path: int(path.parents[1].name))
    missing = [
        *(["mosquitto"] if mosquitto is None else []),
        *([] if versions else ["postgresql"]),
    ]
    if mosquitto is None or not versions:
        raise ProblemError(
            f"A floor needs a broker and a database; not installed: {', '.join(missing)}.",
            f"apt install {' '.join(missing)}",
        )
    return Servers(Path(mosquitto), versions[-1].parent)


async def start_broker(program: Path, processes: Processes) -> int:
    """On this machine alone; its port."""
    port = free_port()
    configuration = processes.folder / "mosquitto.conf"
    configuration.write_text(
        f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\n"
        "log_dest stderr\nlog_type error\nlog_type warning\n"
    )
    process = await processes.start("mosquitto", str(program), "-c", str(configuration))
    async with asyncio.timeout(STARTS_WITHIN):
        while not await _answers(port):
            if process.returncode is not None:
                processes.fail("mosquitto")
            await asyncio.sleep(POLL_EVERY)
    return port


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def start_database(programs: Path, processes: Processes) -> str:
    """Reached by a socket in its folder alone; its address for psycopg."""
    folder = processes.folder / "postgres"
    folder.mkdir()
    if os.geteuid() == 0:
        processes.folder.chmod(0o711)  # the other user passes through
        shutil.chown(folder, OWNER, OWNER)
    data = str(folder / "data")
    made = await processes.start(
        "initdb", *_unprivileged(), str(programs / "initdb"), "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8",
        "--locale=C", "--no-sync",
    )  # fmt: skip
    await made.communicate()
    if made.returncode:
        processes.fail("initdb")
    settings = ("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "full_page_writes=off")
    given = [part for setting in settings for part in ("-c", setting)]
    server = await processes.start("postgres", *_unprivileged(), str(programs / "postgres"), "-D", data, *given)
    address = f"host={folder} user={OWNER}"
    async with asyncio.timeout(STARTS_WITHIN):
        while await _run(processes, str(programs / "createdb"), "-h", str(folder), "-U", OWNER, DATABASE):
            if server.returncode is not None:
                processes.fail("postgres")
            await asyncio.sleep(POLL_EVERY)
    return f"{address} dbname={DATABASE}"


async def _run(processes: Processes, *command: str) -> int:
    process = await processes.start("createdb", *command)
    await process.communicate()
    return process.returncode or 0


def _unprivileged() -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    return ("setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups")
