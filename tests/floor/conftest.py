from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest

from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.journal.outbox import Record
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import short_folder
from tests.floor.postgres import WITH_PASSWORD, Postgres, postgres
from tests.floor.stored import Rows, several_files

_NUMBERS = count()


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    """Yield one PostgreSQL server for all tests of this process."""
    with postgres() as found:
        yield found


@pytest.fixture
def address(server: Postgres) -> Iterator[str]:
    """Yield the address of the test's own database, with the schema."""
    name = f"floor_{next(_NUMBERS)}"
    yield server.make(name)
    server.drop(name)


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    with closing(Database(address)) as found:
        yield found


@pytest.fixture
def writer(database: Database) -> Writer:
    return Writer(database)


@pytest.fixture
def rows(address: str) -> Iterator[Rows]:
    with closing(Rows(address)) as found:
        yield found


class ServiceManager:
    """Collects a service's notifications to systemd."""

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "notify")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._socket.bind(self.path)

    async def next(self) -> str:
        async with asyncio.timeout(PATIENCE):
            return (await asyncio.get_running_loop().sock_recv(self._socket, 4096)).decode()

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def service_manager() -> Iterator[ServiceManager]:
    with short_folder() as folder, closing(ServiceManager(folder)) as found:
        yield found


@pytest.fixture
def own_role(server: Postgres, address: str) -> Iterator[str]:
    """Yield the address for a user with a password who may write."""
    server.do(f"CREATE ROLE {WITH_PASSWORD} LOGIN PASSWORD 'right' IN ROLE cardshoe_writer")
    yield f"{address} user={WITH_PASSWORD} password=right"
    server.do(f"DROP ROLE {WITH_PASSWORD}")


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """Return the records of a journal in several files."""
    return several_files(tmp_path_factory.mktemp("season") / "journal")
