"""A casino's additions to a document, from its configuration to the API: limits, readings, and its own rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random, SystemRandom
from typing import Any

import pytest

from controller.api.bodies import OperationAnswer
from controller.api.client import ApiClient
from controller.api.view import TableView
from controller.games.specification import Kind
from controller.table import operations
from controller.table.operations import AnyOperation
from firmware_bridge.cards import DECK
from firmware_bridge.device_keys import write_device_keys
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewClient, CrewMember
from simulators.ports.pty import PtyFront
from tests.end_to_end.stage import Stage, short_folder

DEALER, SUPERVISOR, _ = CREW
SERIAL = "CARDSHOE-SIM-1"
AUTHORITY = "the casino's general manager"
LAW = f"""
[limits.main]
minimum = 10
maximum = 500

[readings]
established_by = {{ option = "mathematically", chosen_by = "the shift manager", chosen_on = 2026-11-01 }}

[[house]]
rule = "house 7"
authority = "{AUTHORITY}"
kind = "before_no_more_bets"
disposition = "void"
because = "cards that came before the bets were closed are not played"
"""


class Crew:
    """The people of a table, and a device in this process that only does what the test does to it."""

    def __init__(self, stage: Stage, client: ApiClient, device: SimulatedDevice) -> None:
        self._stage = stage
        self._client = client
        self._voice = CrewClient(client, Random(5))
        self._device = device

    async def view(self) -> TableView:
        return await self._client.state()

    async def say(self, operation: AnyOperation, member: CrewMember = DEALER) -> OperationAnswer:
        return await self._voice.send(self._voice.request(member, (await self.view()).round, operation))

    async def do(self, operation: AnyOperation, member: CrewMember = DEALER) -> None:
        answer = await self.say(operation, member)
        assert answer.accepted, answer.sentence

    async def event(self, name: str) -> dict[str, Any]:
        """Return the first event of that kind."""
        return (await self._stage.events_until(self._client, name))[-1]

    async def to_betting(self) -> None:
        await self.event("status_agrees")
        await self.do(operations.OpenTable())
        self._device.mechanism.load(list(DECK), deck=1)
        await self.event("deck_shuffled")
        await self.do(operations.PlaceYourBets())
        await self.do(operations.EnterBettor("ann", 1))


@pytest.fixture
async def crew() -> AsyncIterator[Crew]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            stage.configure(law=LAW)
            key = bytes(range(1, 33))
            write_device_keys(stage.device_keys, {SERIAL: key})
            device = SimulatedDevice(
                Profile("shuffler", SERIAL, full_capabilities("shuffler", stages=False)),
                key=key,
                random=Random(1),
                fresh=SystemRandom(),
                clock=asyncio.get_running_loop().time,
                pace=Tempo(0.0),
            )
            front = PtyFront(device, stage.port)
            front.plug()
            carrier = asyncio.create_task(front.run())
            await stage.start_daemon()
            async with ApiClient(stage.socket) as client:
                yield Crew(stage, client, device)
            assert await stage.daemon.end() == 0
            carrier.cancel()
            with suppress(asyncio.CancelledError):
                await carrier


async def test_the_site_settings_enter_the_journal_with_the_game(crew: Crew) -> None:
    settings = (await crew.event("game_chosen"))["settings"]
    assert settings["limits"] == [{"wager": "main", "minimum": 10, "maximum": 500}]
    assert settings["readings"] == [
        {
            "setting": "established_by",
            "option": "mathematically",
            "chosen_by": "the shift manager",
            "chosen_on": "2026-11-01",
        }
    ]
    (row,) = settings["house"]
    assert (row["id"], row["clause"], row["authority"]) == ("H1", "house 7", AUTHORITY)


async def test_a_wager_under_the_minimum_is_refused_and_an_excess_returned(crew: Crew) -> None:
    await crew.to_betting()
    answer = await crew.say(operations.PlaceWager("ann", "main", 1, 9))
    assert (answer.accepted, answer.code) == (False, "under-minimum")
    assert (await crew.view()).bets == ()
    await crew.do(operations.PlaceWager("ann", "main", 1, 501))
    await crew.do(operations.RejectExcess())
    assert [bet.amount for bet in (await crew.view()).bets] == [500]


async def test_a_casinos_own_row_is_proposed_and_carried_out_by_its_authority(crew: Crew) -> None:
    """NC has no provision for I28."""
    await crew.to_betting()
    await crew.do(operations.PlaceWager("ann", "main", 1, 10))
    await crew.do(operations.ReportIrregularity(Kind.BEFORE_NO_MORE_BETS))
    (found,) = (await crew.view()).irregularities
    assert (found.row, found.clause, found.authority, found.proposes) == ("H1", "house 7", AUTHORITY, "void")
    assert (await crew.say(operations.ConfirmIrregularity(found.id, found.revision))).code == "role"
    for _ in range(2):  # an act that voids a round may ask for a repeat first
        for open_ in (await crew.view()).irregularities:
            await crew.do(operations.ConfirmIrregularity(open_.id, open_.revision), SUPERVISOR)
    voided = await crew.event("round_voided")
    assert (voided["clause"], voided["authority"], voided["irregularity"]) == ("house 7", AUTHORITY, found.id)
    view = await crew.view()
    assert (view.phase, view.irregularities) == ("voided", ())
    (bet,) = view.settlement
    assert (bet.verdict, bet.returned, bet.clause) == ("returned", "10", "house 7")
