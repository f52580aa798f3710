"""A table's folder with all its files, and the real processes around it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from controller.api.bodies import EventId
from controller.api.client import ApiClient
from controller.api.view import TableView
from controller.games.specification import Unit
from controller.journal.sealing import create_key_file
from simulators.people.crew import CREW
from simulators.people.plan import PlannedRound, plan_rounds
from tests.end_to_end.child import ANOTHER_USER, Orders
from tests.end_to_end.processes import PATIENCE, Child

IN_MEMORY = Path("/dev/shm")  # noqa: S108  # the folder in it is new and belongs to this user alone
KINDS = {Unit.SETS: "shuffler", Unit.SINGLES: "shoe"}


@contextmanager
def short_folder() -> Iterator[Path]:
    """Yield a new folder with a name short enough for a socket's path, which may have 107 characters.

    It is in memory where possible: killing a process proves nothing about a disk, and disks are slow.
    """
    name = tempfile.mkdtemp(prefix="cardshoe-test-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None)
    try:
        yield Path(name).resolve()
    finally:
        until = time.monotonic() + PATIENCE
        while Path(name).is_dir():  # the process that checks a journal outlives a killed daemon briefly and may write
            shutil.rmtree(name, ignore_errors=time.monotonic() < until)


def people_text(uid: int) -> str:
    """Return the crew as `[[people]]`, with the dealer represented by that user."""
    return "".join(
        f'[[people]]\nid = "{member.id}"\nname = "{member.name}"\nrole = "{member.role}"\n'
        f'pin_hash = "{member.pin_hash()}"\n' + (f"uids = [{uid}]\n" if member is CREW[0] else "")
        for member in CREW
    )


class Stage:
    """An async context manager around a table's folder: on exit it ends every process that it started."""

    def __init__(self, folder: Path, *, unit: Unit = Unit.SETS, seed: int = 7, rounds: int = 5) -> None:
        self.folder = folder
        self.unit = unit
        self.seed = seed
        self.rounds = rounds
        self.socket = folder / "api.sock"
        self.port = folder / "device"
        self.configuration = folder / "table.toml"
        self.journal = folder / "journal"
        self.device_keys = folder / "device.keys"
        self.device_log = folder / "device.log"
        self.command_log = folder / "commands.log"
        self.notified: list[str] = []  # the daemons' notifications to systemd
        self._children: list[Child] = []
        self._notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)

    @property
    def plan(self) -> list[PlannedRound]:
        return plan_rounds(self.seed, self.unit, self.rounds)

    async def __aenter__(self) -> Self:
        self._notify.bind(str(self.folder / "notify"))
        self.journal_key = create_key_file(self.folder / "journal.key")
        self.device_keys.touch(0o600)
        self.configure()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in self._children:
            child.abandon()
        self._notify.close()

    def configure(self, *, port: Path | None = None, uid: int | None = None, law: str = "", url: str = "") -> None:
        """Write the configuration. The device is at `url`, else on a serial port.

        `law` is the casino's addition to the document, as TOML.
        """
        self.configuration.write_text(
            f'[table]\nname = "T-1"\ngame = "NC"\nunit = "{self.unit}"\nsimulated = true\n'
            "count_stub_by_hand = true\nhands_by_device = true\n"
            f'[device]\nurl = "{url or f"serial://{port or self.port}"}"\nkey_file = "device.keys"\n'
            '[journal]\nfolder = "journal"\nkey_file = "journal.key"\n'
            '[api]\nsocket = "api.sock"\n' + people_text(os.getuid() if uid is None else uid) + law
        )

    def give_to_another_user(self) -> None:
        """If this process is root, give every file so far to another user. The device keeps its owner."""
        if os.geteuid() == 0:
            for path in (self.folder, *self.folder.rglob("*")):
                if not path.is_symlink():
                    shutil.chown(path, ANOTHER_USER)

    # -- processes -------------------------------------------------------------------------------------------------

    async def start_device(
        self,
        *,
        dealer: bool = True,
        pace: float = 0.0,
        tcp: str = "",
        load: bool = False,
        faults: Sequence[str] = (),
        program: Path | None = None,
    ) -> Child:
        """Start a simulated device, with people who play the planned rounds at the daemon's table or without people.

        `tcp` is an address to listen at, instead of a pseudo-terminal. `load` puts a deck in when there are no people
        to do it. `program` is the file of the firmware that it shows to run.
        """
        self.device = self._start(
            Orders(commands=str(self.command_log), pace=pace),
            "simulate", *([] if pace else ["--fast"]),
            "--kind", KINDS[self.unit], "--seed", str(self.seed), "--rounds", str(self.rounds),
            "--link", str(self.port), "--key-file", str(self.device_keys), "--log", str(self.device_log),
            *(["--dealer", str(self.socket)] if dealer else []), *(["--tcp", tcp] if tcp else []),
            *(["--load"] if load else []), *(word for fault in faults for word in ("--fault", fault)),
            *(["--program", str(program)] if program else []),
        )  # fmt: skip
        await self.device.until(lambda: self.device.out)
        return self.device

    def spawn_daemon(self, orders: Orders | None = None, *, watchdog_us: int = 0) -> Child:
        """Start a daemon without waiting for it."""
        environment = {"NOTIFY_SOCKET": str(self.folder / "notify"), "WATCHDOG_USEC": str(watchdog_us or "")}
        self.daemon = self._start(orders, "run", "--config", str(self.configuration), environment=environment)
        return self.daemon

    async def start_daemon(self, orders: Orders | None = None, *, watchdog_us: int = 0) -> Child:
        """Start a daemon and wait until it notifies systemd that it is ready."""
        daemon = self.spawn_daemon(orders, watchdog_us=watchdog_us)
        await self.until_notified("READY=1")
        return daemon

    def start(self, *arguments: str) -> Child:
        """Start any command."""
        return self._start(None, *arguments)

    def _start(self, orders: Orders | None, *arguments: str, environment: dict[str, str] | None = None) -> Child:
        if orders is None:
            child = Child("controller", *arguments, environment=environment)
        else:
            given = msgspec.json.encode(orders).decode()
            child = Child("tests.end_to_end.child", given, *arguments, environment=environment)
        self._children.append(child)
        return child

    async def until_notified(self, wanted: str) -> None:
        """Wait until the daemon sends this to systemd again. Fail when it ends first."""
        loop = asyncio.get_running_loop()
        ended = asyncio.create_task(self.daemon.ended())
        try:
            async with asyncio.timeout(PATIENCE):
                lines: list[str] = []
                while wanted not in lines:
                    hearing = asyncio.create_task(loop.sock_recv(self._notify, 4096))
                    await asyncio.wait({hearing, ended}, return_when="FIRST_COMPLETED")
                    if not hearing.done():
                        hearing.cancel()
                        raise AssertionError(f"the daemon ended with {ended.result()} and said {self.daemon.err}")
                    lines = hearing.result().decode().splitlines()
                    self.notified += lines
        finally:
            ended.cancel()

    def drain_notified(self) -> None:
        """Take the notifications so far, so that only new ones remain."""
        with suppress(BlockingIOError):
            while True:
                self.notified += self._notify.recv(4096).decode().splitlines()

    async def kill_daemon(self) -> None:
        """Send SIGKILL."""
        self.daemon.signal(signal.SIGKILL)
        assert await self.daemon.ended() == -signal.SIGKILL

    # -- the API ---------------------------------------------------------------------------------------------------

    async def events_until(self, client: ApiClient, wanted: str, after: int = 0) -> list[dict[str, Any]]:
        """Return the events after an entry, up to the first one of that kind."""
        events: list[dict[str, Any]] = []
        async with asyncio.timeout(PATIENCE):
            stream = client.events(EventId(entry=after))
            try:
                async for event in stream:
                    if event is None:
                        continue
                    events.append(event)
                    if event["event"] == wanted:
                        return events
            finally:
                await stream.aclose()
        raise AssertionError(f"the daemon ended before {wanted}; it said {self.daemon.err}")

    async def played(self) -> int:
        """Wait until the simulated people are done, and return the last entry that they saw."""
        code = await self.device.ended()
        assert code == 0, self.device.err
        return int(self.device.out[-1].split()[-1])

    async def state(self) -> TableView:
        async with ApiClient(self.socket) as client:
            return await client.state()

    async def last_state(self) -> TableView:
        """Return the state of the table after the device disappeared."""
        async with ApiClient(self.socket) as client:
            done_at = int(self.device.out[-1].split()[-1])
            await self.events_until(client, "device_lost", done_at)
            return await client.state()
