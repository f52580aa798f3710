"""A real daemon with a simulated device whose cards a test moves by the device's own console."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

from controller.api.client import ApiClient
from controller.games.specification import Unit
from simulators.people.crew import CREW
from tests.end_to_end.processes import PATIENCE, Child
from tests.end_to_end.stage import KINDS, Stage, people_text, short_folder

PINS = "".join(f"{member.id} {member.pin}\n" for member in CREW[1:])


class BenchTable(Stage):
    """The daemon of a table, its device, and scripts that operate it."""

    game = "NC"

    def configure(self, **_given: object) -> None:
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
        """Start the device with a deck in it."""
        self.device = Child(
            "controller", "simulate", "--fast", "--console", "--kind", KINDS[self.unit], "--seed", str(self.seed),
            "--link", str(self.port), "--key-file", str(self.device_keys),
            *(part for fault in faults for part in ("--fault", fault)), listens=True,
        )  # fmt: skip
        self._children.append(self.device)
        await self.device.until(lambda: self.device.out)

    async def move(self, line: str) -> str:
        """Send a line to the device's console, and return its answer."""
        before = len(self.device.out)
        self.device.tell(line)
        await self.device.until(lambda: len(self.device.out) > before)
        return self.device.out[before]

    def operate(self, *options: str) -> Child:
        """Start `cardshoe operate`, which reads lines from standard input."""
        child = Child("controller", "operate", "--socket", str(self.socket), *options, listens=True)
        self._children.append(child)
        return child

    def script(self, text: str, *options: str) -> Child:
        """Start `cardshoe operate --script` with a file of these lines."""
        file = self.folder / "lines"
        file.write_text(text)
        return self.operate("--script", str(file), *options)

    async def give_out(self, moving: str) -> None:
        """Move cards as soon as the device allows it."""
        async with asyncio.timeout(PATIENCE):
            while not (await self.move(moving)).endswith(("drawn.", "lifted.")):
                pass

    async def deal(self, script: Child, moves: Mapping[str, int]) -> None:
        """When the script reaches a line, `lift` or `draw` cards on the device's console as often as `moves` says."""
        moving = "lift" if self.unit is Unit.SETS else "draw"
        seen = 0
        for line, times in moves.items():
            seen = await script.until(partial(_after, script, f"> {line}", seen))
            for _ in range(times):
                await self.give_out(moving)


def _after(script: Child, line: str, seen: int) -> int:
    """Return the place after the next such line, or 0 if it has not come yet."""
    return script.out.index(line, seen) + 1 if line in script.out[seen:] else 0


@asynccontextmanager
async def bench_table(*, unit: Unit = Unit.SETS, game: str = "NC", seed: int = 7) -> AsyncIterator[BenchTable]:
    with short_folder() as folder:
        table = BenchTable(folder, unit=unit, seed=seed)
        table.game = game
        async with table:
            await table.start_console()
            await table.start_daemon()
            async with ApiClient(table.socket) as client:
                (*_, ready) = await table.events_until(client, "device_ready")
                await table.events_until(client, "service_changed", after=ready["entry"])
            yield table
