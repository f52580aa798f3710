"""Runs Debian's mosquitto and PostgreSQL as child processes, on files in a temporary folder."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, NoReturn

from controller.problems import ProblemError
from firmware_bridge.messages import AnyText, message
from simulators.demo.processes import Processes, StageError, unless_one_fails
from simulators.demo.stage import free_port

PACKAGED: Final = Path("/usr/lib/postgresql")  # on Debian; has a folder for each version
SBIN: Final = "/usr/sbin"  # has mosquitto on Debian; not on a user's PATH
DATABASE: Final = "floor"
OWNER: Final = "postgres"  # the user that the Debian package creates; the server refuses to run as root
STARTS_WITHIN: Final = 60.0  # seconds, on a busy machine
POLL_EVERY: Final = 0.05  # seconds
OUTAGE: Final = 10.0  # seconds until a broker that was killed runs again


class Servers(NamedTuple):
    """The servers' programs: that of `mosquitto`, and the folder of PostgreSQL's."""

    mosquitto: Path
    postgres: Path


def find_servers() -> Servers:
    """Find the programs. Raise `ProblemError`, which names the missing packages."""
    mosquitto = shutil.which("mosquitto") or shutil.which("mosquitto", path=SBIN)
    versions = sorted(PACKAGED.glob("[0-9]*/bin/initdb"), key=lambda path: float(path.parents[1].name))
    missing = [
        *(["mosquitto"] if mosquitto is None else []),
        *([] if versions else ["postgresql"]),
    ]
    if mosquitto is None or not versions:
        raise ProblemError(
            message("A floor needs a broker and a database; not installed: {packages:list}.", packages=tuple(missing)),
            f"apt install {' '.join(missing)}",
        )
    return Servers(Path(mosquitto), versions[-1].parent)


class TrialBroker:
    """A broker for this machine only. One that was killed is started again, so that an outage can be tried."""

    def __init__(self, program: Path, processes: Processes) -> None:
        self.port = free_port()
        self._processes = processes
        configuration = processes.folder / "mosquitto.conf"
        configuration.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence false\nmax_queued_messages 0\n"
            "log_dest stderr\nlog_type error\nlog_type warning\n"
        )
        self._command = (str(program), "-c", str(configuration))
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the server, and wait until it answers. Raise `StageError`."""
        self._process = await self._processes.start("mosquitto", *self._command)
        await _until_ready("mosquitto", self._fails(), partial(_answers, self.port))

    async def _fails(self) -> NoReturn:
        assert self._process is not None
        await self._process.wait()
        self._processes.fail("mosquitto")

    async def keep(self, say: Callable[[AnyText], None]) -> NoReturn:
        """Restart the server after each kill. Raise `StageError` if it ends by itself, or does not restart."""
        while True:
            assert self._process is not None
            if await self._process.wait() >= 0:
                self._processes.fail("mosquitto")
            say(
                message(
                    "The broker was killed. It starts again in {seconds} seconds; the tables keep what it lacks.",
                    seconds=round(OUTAGE),
                )
            )
            await asyncio.sleep(OUTAGE)
            await self.start()
            say(message("The broker runs again."))


async def _until_ready(name: str, failure: Awaitable[NoReturn], is_ready: Callable[[], Awaitable[bool]]) -> None:
    """Wait until a server answers. Raise `StageError` if `failure` comes first or it takes too long."""

    async def ask() -> None:
        while not await is_ready():  # noqa: ASYNC110  # another process has no event on this loop
            await asyncio.sleep(POLL_EVERY)

    try:
        async with asyncio.timeout(STARTS_WITHIN):
            await unless_one_fails(ask(), failure)
    except TimeoutError:
        raise StageError(
            message("{program} has not answered for {seconds} seconds", program=name, seconds=round(STARTS_WITHIN))
        ) from None


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def start_database(programs: Path, processes: Processes) -> str:
    """Start a database and return its address for psycopg. Only root and the starting user reach it, by a socket."""
    folder = processes.folder / "postgres"
    folder.mkdir()
    if os.geteuid() == 0:
        processes.folder.chmod(0o711)  # lets the other user reach the folder below
        shutil.chown(folder, OWNER, OWNER)
    data = str(folder / "data")
    made = await processes.start(
        "initdb", *_unprivileged(), str(programs / "initdb"), "-D", data, "-U", OWNER, "-A", "trust", "-E", "UTF8",
        "--locale=C", "--no-sync",
    )  # fmt: skip
    await made.communicate()
    if made.returncode:
        processes.fail("initdb")
    settings = (
        "listen_addresses=", f"unix_socket_directories={folder}", "unix_socket_permissions=0700",
        "fsync=off", "full_page_writes=off",
    )  # fmt: skip
    given = [part for setting in settings for part in ("-c", setting)]
    program = str(programs / "postgres")
    await processes.start("postgres", *_unprivileged(), program, "-D", data, *given, serves=True)
    created = (*_unprivileged(), str(programs / "createdb"), "-h", str(folder), "-U", OWNER, DATABASE)
    await _until_ready("postgres", processes.until_one_fails(), partial(_succeeds, processes, *created))
    return f"host={folder} user={OWNER} dbname={DATABASE}"


async def _succeeds(processes: Processes, *command: str) -> bool:
    process = await processes.start("createdb", *command)
    await process.communicate()
    return process.returncode == 0


def _unprivileged() -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    return ("setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--clear-groups")
