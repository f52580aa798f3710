"""A real daemon with a simulated device whose cards a test moves by the device's own console."""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from controller.games.specification import Unit
from simulators.people.crew import CREW
from tests.end_to_end.processes import PATIENCE, Child
from tests.end_to_end.stage import KINDS, Stage, people_text, short_folder

PINS = "".join(f"{member.id} {member.pin}\n" for member in CREW[1:])


class BenchTable(Stage):
    """The daemon of a table, its device, and scripts that operate it."""

    game = "NC"

    def configure(self, **_given: object) -> None:  # type: ignore[override]  # the same for every test here
        self.configuration.write_text(
            f'[table]\nname = "T-1"\ngame = "{self.game}"\nunit = "{self.unit}"\nsimulated = true\n'
            "count_stub_by_hand = true\nhands_by_device = true\n"
            f'[device]\nurl = "serial://{self.port}"\nkey_file = "device.keys"\n'
            '[journal]\nfolder = "journal"\nkey_file = "journal.key"\n'
            '[api]\nsocket = "api.sock"\n' + people_text(os.getuid())
        )
        self.pins = self.folder / "pins"
        self.pins.write_text(PINS)
        self.pins.chmod(0o600)

    async def start_console(self, *faults: str) -> None:
        """The device with a deck in it."""
        self.device = Child(
            "controller", "simulate", "--fast", "--console", "--kind", KINDS[self.unit], "--seed", str(self.seed),
            "--link", str(self.port), "--key-file", str(self.device_keys),
            *(part for fault in faults for part in ("--fault", fault)), listens=True,
        )  # fmt: skip
        self._children.append(self.device)
        await self.device.until(lambda: self.device.out)

    async def move(self, line: str) -> str:
        """A line of the device's console; its answer."""
        before = len(self.device.out)
        self.device.tell(line)
        await self.device.until(lambda: len(self.device.out) > before)
        return self.device.out[before]

    async def operating(self, *options: str) -> Process:
        """`cardshoe operate`, with lines to come by its standard input."""
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "controller", "operate", "--socket", str(self.socket), *options,
            stdin=PIPE, stdout=PIPE, stderr=PIPE,
        )  # fmt: skip

    async def run_script(self, text: str, *options: str) -> tuple[int, str, str]:
        """A script to its end: exit code, standard output and error."""
        file = self.folder / "lines"
        file.write_text(text)
        return await self.ended(await self.operating("--script", str(file), *options))

    async def ended(self, process: Process) -> tuple[int, str, str]:
        async with asyncio.timeout(PATIENCE):
            out, err = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode(), err.decode()


@asynccontextmanager
async def bench_table(*, unit: Unit = Unit.SETS, game: str = "NC", seed: int = 7) -> AsyncIterator[BenchTable]:
    with short_folder() as folder:
        table = BenchTable(folder, unit=unit, seed=seed)
        table.game = game
        async with table:
            await table.start_console()
            await table.start_daemon()
            yield table


def dealt_by(path: Path) -> str:
    return path.read_text()
