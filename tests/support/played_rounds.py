"""Rounds of simulated people with daemon and device on the test's event loop: `cardshoe demo` in one process.

Everything is real but the processes: configuration, journal, API, link and pseudo-terminal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, Final, Literal, NamedTuple

from controller.api.client import ApiClient
from controller.api.narration import line_of
from controller.commands.vocabulary import words_of
from controller.daemon.configuration import read_configuration
from controller.daemon.daemon import run_daemon
from controller.daemon.starting import HangUps, Origin
from controller.games.specification import Unit
from controller.journal.folder import JournalFolder
from controller.journal.reader import JournaledDecision
from controller.journal.sealing import create_key_file
from firmware_bridge.device_keys import write_device_keys
from simulators.demo.account import RunAccount
from simulators.demo.stage import configuration_text
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Mechanism, Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.dealer import SimulatedDealer
from simulators.people.physical_table import PhysicalTable
from simulators.people.plan import plan_rounds
from simulators.ports.pty import PtyFront
from tests.end_to_end.stage import short_folder

SERIAL: Final = "CARDSHOE-SIM-1"


class PlayedRounds(NamedTuple):
    """The played rounds. `lines` has the command line's output for the events, `decisions` the content of the journal
    as a reader without a key gets it.
    """

    account: RunAccount
    events: list[dict[str, Any]]
    lines: list[str]
    decisions: list[JournaledDecision]


async def play_rounds(
    game_id: str, unit: Unit, rounds: int, seed: int,
    *, on_removal: bool = False, stages: bool = True, wagers: bool = False,
    layout: Callable[[Mechanism, Path], PhysicalTable] = lambda mechanism, _: PhysicalTable(mechanism, Tempo(0.0)),
) -> PlayedRounds:  # fmt: skip
    """Play from the daemon's start to the end of the last round. `layout` makes the layout from the device's mechanism
    and the path of the table's socket.
    """
    plan = plan_rounds(seed, unit, rounds, game_id=game_id, stages=stages, wagers=wagers)
    kind: Literal["shuffler", "shoe"] = "shuffler" if unit is Unit.SETS else "shoe"
    random, key = Random(f"{seed}/device"), bytes(range(1, 33))
    profile = Profile(kind, SERIAL, full_capabilities(kind, on_removal=on_removal, stages=stages))
    clock = asyncio.get_running_loop().time
    device = SimulatedDevice(profile, key=key, random=random, fresh=SystemRandom(), clock=clock, pace=Tempo(0.0))
    account, events = RunAccount(plan), []
    with short_folder() as folder:
        front = PtyFront(device, folder / "device")
        front.plug()
        write_device_keys(folder / "device.keys", {SERIAL: key})
        socket = folder / "api.sock"
        table = layout(device.mechanism, socket)
        people = SimulatedDealer(device, table, socket, plan, Random(f"{seed}/people"))
        path = _configured(folder, unit, game_id)
        daemon = run_daemon(read_configuration(path), Origin(path, HangUps()))
        async with _running(front.run()), _running(daemon):
            last = await people.play()
            async with ApiClient(socket) as client:
                async for event in client.events():
                    if event is not None:
                        account.take(event)
                        events.append(event)
                    if events and events[-1]["entry"] >= last:
                        break
        decisions = list(JournalFolder[Any, Any].open_to_read(folder / "journal").decisions())
    words = words_of(game_id)
    return PlayedRounds(account, events, [str(line) for event in events if (line := line_of(event, words))], decisions)


def _configured(folder: Path, unit: Unit, game_id: str) -> Path:
    path = folder / "table.toml"
    path.write_text(configuration_text(unit, game_id).replace("{folder}", str(folder)))
    create_key_file(folder / "journal.key")
    return path


@asynccontextmanager
async def _running(work: Any) -> AsyncIterator[None]:
    """Run the coroutine in the background of the block, and raise its exception."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
