"""A deck is put into the device during the deal: on a real pseudo-terminal, under a real daemon.

From then on the device's status describes that deck (shuffle 0, counts 0). No irregularity follows, even after lost
links and a killed daemon. The exit is held, and the rest of the round is dealt by hand from the stub.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random, SystemRandom
from typing import Literal

import pytest

from controller.api.client import ApiClient
from controller.games.specification import Unit
from controller.table import operations
from firmware_bridge.cards import DECK
from firmware_bridge.device_keys import write_device_keys
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Mechanism, Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.pty import PtyFront
from tests.end_to_end.people_at_table import SUPERVISOR, PeopleAtTable
from tests.end_to_end.stage import Stage, short_folder

SERIAL = "CARDSHOE-SIM-1"


class Table(PeopleAtTable):
    """The daemon's table, and a device in this process that only does what the test does to it."""

    def __init__(self, stage: Stage, device: SimulatedDevice, front: PtyFront) -> None:
        super().__init__(stage)
        self.device = device
        self.front = front

    @property
    def mechanism(self) -> Mechanism:
        return self.device.mechanism

    async def to_dealing(self) -> None:
        await self.until(lambda view: view.device.status_agrees)
        await self.do(operations.OpenTable())
        shoe = self.mechanism.profile.kind == "shoe"
        self.mechanism.load(self.mechanism.shuffled_by_hand() if shoe else list(DECK), deck=1)
        if shoe:
            await self.until(lambda view: view.deck.deck == 1)
            await self.do(operations.ShuffledOutside("batch shuffler"))
        await self.until(lambda view: view.deck.shuffled)
        await self.do(operations.PlaceYourBets())
        await self.do(operations.OccupyBoxes((1,)))
        await self.do(operations.NoMoreBets())

    async def give_out(self) -> None:
        """Lift a set, or draw a card."""
        before = (await self.view()).dealt
        if self.mechanism.profile.kind == "shoe":
            await self.until(lambda view: not view.device.exit_held and not view.device.open_commands)
            assert self.mechanism.draw()
        else:
            await self.until(lambda view: view.tray > 0)
            assert self.mechanism.lift_set()
        await self.until(lambda view: view.dealt > before)
        # An order sent just before another deck is put in is refused, which is a different case.
        await self.until(lambda view: not view.device.open_commands)


@pytest.fixture(params=list(Unit))
async def table(request: pytest.FixtureRequest) -> AsyncIterator[Table]:
    kind: Literal["shuffler", "shoe"] = "shuffler" if request.param is Unit.SETS else "shoe"
    with short_folder() as folder:
        async with Stage(folder, unit=request.param) as stage:
            write_device_keys(stage.device_keys, {SERIAL: bytes(range(1, 33))})
            device = SimulatedDevice(
                Profile(kind, SERIAL, full_capabilities(kind, stages=False)),
                key=bytes(range(1, 33)),
                random=Random(1),
                fresh=SystemRandom(),
                clock=asyncio.get_running_loop().time,
                pace=Tempo(0.0),
            )
            front = PtyFront(device, stage.port)
            front.plug()
            carrier = asyncio.create_task(front.run())
            await stage.start_daemon()
            yield Table(stage, device, front)
            assert await stage.daemon.end() == 0
            carrier.cancel()
            with suppress(asyncio.CancelledError):
                await carrier


async def test_a_deck_put_in_during_the_deal_puts_nothing_in_doubt(table: Table) -> None:
    await table.to_dealing()
    await table.give_out()
    table.mechanism.load(list(DECK))
    assert table.mechanism.status(0).dispensed == 0
    await table.until(lambda view: view.deck.stub_out)
    await table.until(lambda view: bool(view.device.exit_held) and not view.device.open_commands)

    table.front.unplug()
    await table.until(lambda view: not view.device.connected)
    table.front.plug()
    await table.until(lambda view: view.device.status_agrees)
    await table.stage.kill_daemon()
    await table.stage.start_daemon()
    view = await table.until(lambda view: view.device.status_agrees)
    assert view.irregularities == ()
    assert view.next_deck is not None
    assert (view.next_deck.deck, view.deck.deck) == (2, 1)
    assert view.deck.dispensed == view.dealt + view.tray
    assert view.ledger is not None
    assert view.ledger.total == 52

    await table.do(operations.ContinueRound())
    if view.tray:  # a set that had been formed before
        assert table.mechanism.lift_set()
        await table.until(lambda view: not view.tray)
    view = await table.view()
    if left := view.to_deal - view.dealt:
        assert "by hand from the stub" in str(view.next_step)
        await table.do(operations.DealByHand(left, "another deck lies in the device"), SUPERVISOR)
    assert (await table.view()).phase == "examining"
    await table.do(operations.CountCards("stub", 46, "a witness"))
    view = await table.view()
    assert view.irregularities == ()
    assert view.ledger is not None
    assert view.ledger.total == 52
    async with ApiClient(table.stage.socket) as client:
        told = {event["event"] for event in await table.stage.events_until(client, "cards_counted")}
    assert not told & {"irregularity_raised", "status_differs"}


async def test_a_card_from_the_new_deck_is_noticed(table: Table) -> None:
    """The other deck hides nothing: a card from it is a foreign card."""
    await table.to_dealing()
    await table.give_out()
    if table.mechanism.profile.kind == "shuffler":
        await table.until(lambda view: view.tray > 0)
        table.mechanism.lift_set()
    table.mechanism.load(list(DECK))
    await table.until(lambda view: view.deck.stub_out)
    if table.mechanism.profile.kind == "shuffler":
        return  # it forms no set of a deck that it has not shuffled
    assert table.mechanism.draw(forced=True)
    view = await table.until(lambda view: view.held)
    assert [found.row for found in view.irregularities] == ["I01"]
    assert view.ledger is not None
    assert view.ledger.total == 52
