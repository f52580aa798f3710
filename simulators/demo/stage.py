"""The surroundings of a demonstration: files in a separate folder, and two processes."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, NoReturn, Self

from controller.api.client import ApiClient
from controller.games import game
from controller.games.specification import Unit
from controller.journal.sealing import create_key_file
from controller.language import ENGLISH, Speaker
from firmware_bridge.messages import AnyText, Message, message
from simulators.demo.processes import Processes
from simulators.people.crew import CREW

DAEMON_STARTS_WITHIN = 120.0  # seconds, on a busy machine
POLL_EVERY = 0.05  # seconds
CHOSEN: Final = {"established_by": "mathematically", "tie_on": "ranking"}  # readings without a default


def played(rounds: AnyText, entry: int) -> Message:
    """Return the last line of `cardshoe simulate --dealer`, which tells a person and this program the last entry."""
    return message("played {rounds}; all of it is in the journal up to entry {entry}", rounds=rounds, entry=entry)


def readings_text(game_id: str) -> str:
    """Return the readings that must be chosen, with who chose them and when."""
    lines = [
        f'{setting.id} = {{ option = "{CHOSEN.get(setting.id, setting.words[0])}", '
        'chosen_by = "the demonstration", chosen_on = 2026-11-01 }\n'
        for setting in game(game_id).settings
        if setting.must_be_chosen
    ]
    return "".join(["[readings]\n", *lines]) if lines else ""


def configuration_text(unit: Unit, game_id: str = "NC", port: int = 0, name: str = "DEMO", more: str = "") -> str:
    """Return a table's configuration with the crew of the simulators and paths relative to its folder.

    `port` is the console's, 0 for none. `more` has sections to append.
    """
    people = "".join(
        f'[[people]]\nid = "{member.id}"\nname = "{member.name}"\nrole = "{member.role}"\n'
        f'pin_hash = "{member.pin_hash()}"\n' + (f"uids = [{os.getuid()}]\n" if member is CREW[0] else "")
        for member in CREW
    )
    return (
        f'[table]\nname = "{name}"\ngame = "{game_id}"\nunit = "{unit}"\n'
        f"simulated = true\ncount_stub_by_hand = true\nhands_by_device = true\n{readings_text(game_id)}"
        '[device]\nurl = "serial://{folder}/device"\nkey_file = "device.keys"\n'
        '[journal]\nfolder = "journal"\nkey_file = "journal.key"\n'
        f'[api]\nsocket = "api.sock"\n{people}' + (f"[api.http]\nport = {port}\n" if port else "") + more
    )


def free_port(wanted: int = 0) -> int:
    """Return a free port on the loopback address: the wanted one unless it is in use."""
    try:
        with socket.create_server(("127.0.0.1", wanted)) as server:
            port: int = server.getsockname()[1]
    except OSError:
        if not wanted:
            raise
        return free_port()
    return port


class DemoStage:
    """The folder and the processes. Leaving the context always ends both processes."""

    def __init__(
        self,
        folder: Path,
        *,
        unit: Unit,
        seed: int,
        rounds: int,
        options: Sequence[str],
        game_id: str = "NC",
        port: int = 0,
        name: str = "DEMO",
        more: str = "",
        language: str = ENGLISH,
    ) -> None:
        self.folder = folder
        self.socket = folder / "api.sock"
        self._configuration = configuration_text(unit, game_id, port, name, more).replace(
            "{folder}", str(folder.resolve())
        )
        self._language = language
        self._device_options = [
            "--language", language, "--kind", "shuffler" if unit is Unit.SETS else "shoe", "--game", game_id,
            "--seed", str(seed), "--rounds", str(rounds),
            "--link", str(folder / "device"), "--key-file", str(folder / "device.keys"),
            "--dealer", str(self.socket), "--stay", "--log", str(folder / "device.log"), *options,
        ]  # fmt: skip
        self._processes = Processes(folder)

    async def __aenter__(self) -> Self:
        (self.folder / "table.toml").write_text(self._configuration)
        create_key_file(self.folder / "journal.key")
        try:
            self.device = await self._processes.start_own("simulate", ["simulate", *self._device_options], serves=True)
            assert self.device.stdout is not None
            if not await self.device.stdout.readline():  # printed with the device's place once it is ready
                self.fail("simulate")
            self.daemon = await self._processes.start_own(
                "run", ["run", "--config", str(self.folder / "table.toml")], serves=True
            )
            await self._wait_for_daemon()
        except BaseException:
            await self._processes.end()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the daemon first, so that it does not report a lost device."""
        await self._processes.end()

    async def finished_at(self, tell: Callable[[str], None] = lambda line: None) -> int:
        """Wait for the last round. Return the journal entry at which the simulated people saw that everything was done.

        `tell` is called with what they say meanwhile.
        """
        assert self.device.stdout is not None
        end = Speaker(self._language)(played("\0", 0)).partition("\0")[0]
        while not (line := (await self.device.stdout.readline()).decode()).startswith(end):
            if not line:
                self.fail("simulate")
            tell(line.rstrip())
        return int(re.findall(r"\d+", line)[-1])

    async def until_one_fails(self) -> NoReturn:
        """Wait until the daemon or the device has ended, and raise `StageError`."""
        await self._processes.until_one_fails()

    def fail(self, name: str) -> NoReturn:
        """Raise `StageError` with the last line of that process's errors."""
        self._processes.fail(name)

    async def _wait_for_daemon(self) -> None:
        async with ApiClient(self.socket) as client, asyncio.timeout(DAEMON_STARTS_WITHIN):
            while not await client.is_healthy():
                if self.daemon.returncode is not None:
                    self.fail("run")
                await asyncio.sleep(POLL_EVERY)
