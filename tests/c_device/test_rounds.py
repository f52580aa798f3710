"""The device in C deals rounds at a real daemon, sealed: sets from a shuffler, single cards from a shoe."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from controller.api.view import TableView
from controller.games.specification import Unit
from controller.table import operations
from firmware_bridge.device_keys import write_device_keys
from tests.c_device.board import Board
from tests.c_device.conversation import CDevice
from tests.end_to_end.people_at_table import PeopleAtTable
from tests.end_to_end.stage import Stage, short_folder

SERIAL = "C-7"
KEY = bytes(range(1, 33))
KINDS: dict[Unit, Literal["shuffler", "shoe"]] = {Unit.SETS: "shuffler", Unit.SINGLES: "shoe"}


ACTS = {Unit.SETS: "lift", Unit.SINGLES: "draw"}


async def begin_a_round(people: PeopleAtTable, device: CDevice | Board, unit: Unit, seed: int) -> None:
    """Put in a fresh deck, and play as far as the deal."""
    device.control(f"load 52 {seed}")
    if unit is Unit.SINGLES:
        await people.until(lambda view: view.deck.loaded == 52 and not view.deck.dispensed)
        await people.do(operations.ShuffledOutside("batch shuffler"))
    await people.until(lambda view: view.deck.shuffled and not view.deck.dispensed)
    await people.do(operations.PlaceYourBets())
    await people.do(operations.OccupyBoxes((1, 3)))
    await people.do(operations.NoMoreBets())


async def until_ready(people: PeopleAtTable, unit: Unit) -> TableView:
    """Wait until the next set can be lifted, or the next card drawn."""
    if unit is Unit.SINGLES:
        return await people.until(lambda view: not view.device.exit_held and not view.device.open_commands)
    return await people.until(lambda view: view.tray > 0 and not view.device.open_commands)


async def give_out(people: PeopleAtTable, device: CDevice | Board, unit: Unit) -> TableView:
    """Lift a set, or draw a card, and wait until it is dealt."""
    dealt = (await until_ready(people, unit)).dealt
    device.control(ACTS[unit])
    return await people.until(lambda view: view.dealt > dealt)


async def deal_a_round(people: PeopleAtTable, device: CDevice | Board, unit: Unit, seed: int) -> None:
    """Play a round from a fresh deck until it ends, with hands that the device read."""
    await begin_a_round(people, device, unit, seed)
    view = await people.view()
    while view.dealt < view.to_deal:
        view = await give_out(people, device, unit)
    for place in ("D", "B1", "B3"):
        await people.do(operations.ExposeHand(place))
    if unit is Unit.SINGLES:
        await people.do(operations.CountCards("stub", 52 - view.dealt, "a witness"))
    await finish(people)


async def finish(people: PeopleAtTable) -> None:
    """Pay, and end the round."""
    await people.until(lambda view: view.deck.stub is not None and not view.device.open_commands)
    await people.do(operations.RecordSettled())
    for _ in range(2):  # the request is repeated
        await people.do(operations.ConcludeRound())


@pytest.mark.tool("gcc")
@pytest.mark.parametrize(("unit", "removal"), [(Unit.SETS, False), (Unit.SETS, True), (Unit.SINGLES, False)])
async def test_rounds_are_dealt_from_it(program: Path, unit: Unit, removal: bool) -> None:
    with (
        short_folder() as folder,
        CDevice(program, KINDS[unit], SERIAL, KEY, over="own pty", removal=removal) as device,
    ):
        async with Stage(folder, unit=unit) as stage:
            write_device_keys(stage.device_keys, {SERIAL: KEY})
            stage.configure(port=Path(device.port))
            await stage.start_daemon()
            people = PeopleAtTable(stage)
            await people.until(lambda view: view.device.status_agrees)
            await people.do(operations.OpenTable())
            for number in (1, 2):
                await deal_a_round(people, device, unit, number)
                view = await people.view()
                assert (view.round, str(view.phase)) == (number, "concluded")
                assert view.irregularities == ()
                assert [len(hand.cards) for hand in view.hands] == [3, 3, 3]
            assert view.device.links == 1
            assert device.counts() == (0, 0, 0)
            assert await stage.daemon.end() == 0
