"""A real PostgreSQL: Debian's server in the test's folder, reachable only by a socket."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from controller.floor.store.database import Database
from tests.end_to_end.processes import PATIENCE

PROGRAMS: Final = Path("/usr/lib/postgresql/15/bin")
TOOL: Final = str(PROGRAMS / "postgres")
SUPERUSER: Final = "postgres"
WITH_PASSWORD: Final = "cardshoe_test"  # a user whom the server asks for a password; it trusts all others
IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108  # the folder in it is new and belongs to its user alone
LOOKS_EVERY: Final = 0.02  # seconds; only a successful connection shows that a server is ready
QUICK: Final = ("fsync=off", "full_page_writes=off")


class Postgres:
    """A PostgreSQL server with `settings` as name=value. It can be killed, and restarted over the same files."""

    def __init__(self, folder: Path, settings: Sequence[str] = QUICK) -> None:
        self.folder = folder
        self._settings = ("listen_addresses=", "max_connections=40", f"unix_socket_directories={folder}", *settings)
        self._data = folder / "data"
        if os.geteuid() == 0:
            shutil.chown(folder, SUPERUSER, SUPERUSER)
        folder.chmod(0o755)
        self._process: subprocess.Popen[bytes] | None = None
        arguments = ["-D", str(self._data), "-U", SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
        command = _as_other([str(PROGRAMS / "initdb"), *arguments])
        subprocess.run(command, check=True, cwd="/", stdin=subprocess.DEVNULL, capture_output=True)
        rules = self._data / "pg_hba.conf"
        rules.write_text(f"local all {WITH_PASSWORD} scram-sha-256\n{rules.read_text()}")

    def start(self) -> None:
        given = [part for setting in self._settings for part in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                _as_other([TOOL, "-D", str(self._data), *given]),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        descriptor = os.pidfd_open(self._process.pid)
        try:
            while not self._answers():
                ended = select.select([descriptor], [], [], LOOKS_EVERY)[0]
                assert not ended, (self.folder / "log").read_text(errors="replace")[-2000:]
        finally:
            os.close(descriptor)

    def stop(self) -> None:
        """Stop the server and end its connections."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(PATIENCE)
            self._process = None

    def kill(self) -> None:
        """Kill all of its processes together, by SIGKILL."""
        assert self._process is not None
        main = self._process.pid
        others = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        self._process.kill()
        for pid in map(int, others):
            _kill(pid)
        self._process.wait(PATIENCE)
        self._process = None

    @property
    def pid(self) -> int:
        """Return the pid of the main process."""
        assert self._process is not None
        return self._process.pid

    def address(self, database: str = "postgres", user: str = SUPERUSER, **more: str) -> str:
        given = {"host": str(self.folder), "user": user, "dbname": database, **more}
        return " ".join(f"{name}={value}" for name, value in given.items())

    def connect(self, database: str = "postgres") -> psycopg.Connection[Any]:
        return psycopg.connect(self.address(database), autocommit=True)

    def connect_to(self, address: str) -> psycopg.Connection[Any]:
        return psycopg.connect(address, autocommit=True)

    def make(self, name: str) -> str:
        """Make a database with the store's schema, and return its address."""
        self.do(f'CREATE DATABASE "{name}"')
        with closing(Database(self.address(name))) as database:
            database.make_schema()
        return self.address(name)

    def drop(self, name: str) -> None:
        self.do(f'DROP DATABASE "{name}" WITH (FORCE)')

    def do(self, statement: str, database: str = "postgres") -> None:
        with closing(self.connect(database)) as connection:
            connection.execute(statement.encode())

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except psycopg.OperationalError:
            return False
        return True


def _as_other(command: Sequence[str]) -> list[str]:
    """Return the prefix that runs a command as another user: the server refuses to run as root."""
    if os.geteuid():
        return list(command)
    return ["setpriv", f"--reuid={SUPERUSER}", f"--regid={SUPERUSER}", "--clear-groups", *command]


def _kill(pid: int) -> None:
    """Kill the server, and return when it has ended."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        assert select.select([descriptor], [], [], PATIENCE)[0], "a process that was killed does not end"
    finally:
        os.close(descriptor)


@contextmanager
def postgres(settings: Sequence[str] = QUICK, place: Path | None = None) -> Iterator[Postgres]:
    """Run a server until the test is over. `place` holds its folder; by default it is in memory where possible."""
    inside = place or (IN_MEMORY if IN_MEMORY.is_dir() else None)
    folder = Path(tempfile.mkdtemp(prefix="cardshoe-pg-", dir=inside))
    try:
        found = Postgres(folder, settings)
        found.start()
        try:
            yield found
        finally:
            found.stop()
    finally:
        shutil.rmtree(folder)
