"""The device kit as firmware on an emulated Cortex-M3 deals rounds at a real daemon and passes the bench."""

from __future__ import annotations

import json
import sys
from asyncio import create_subprocess_exec, subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest

from controller.games.specification import Facts, Unit
from controller.table import operations
from firmware_bridge.cards import DECK, Card
from firmware_bridge.device_keys import write_device_keys
from tests.c_device.board import Board, build
from tests.c_device.test_rounds import (
    ACTS,
    KEY,
    KINDS,
    SERIAL,
    begin_a_round,
    deal_a_round,
    finish,
    give_out,
    until_ready,
)
from tests.end_to_end.people_at_table import SUPERVISOR, PeopleAtTable
from tests.end_to_end.stage import Stage, short_folder

pytestmark = [pytest.mark.tool("arm-none-eabi-gcc"), pytest.mark.tool("qemu-system-arm"), pytest.mark.soak]


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("board"))


@asynccontextmanager
async def opened(firmware: Path, unit: Unit) -> AsyncIterator[tuple[Board, Stage, PeopleAtTable]]:
    """Yield a board, and the open table of a real daemon with it. The daemon must end in order."""
    with short_folder() as folder, Board(firmware, KINDS[unit], SERIAL, KEY, folder) as board:
        async with Stage(folder, unit=unit) as stage:
            write_device_keys(stage.device_keys, {SERIAL: KEY})
            stage.configure(port=Path(board.port))
            await stage.start_daemon()
            people = PeopleAtTable(stage)
            await people.until(lambda view: view.device.status_agrees)
            await people.do(operations.OpenTable())
            yield board, stage, people
            assert await stage.daemon.end() == 0


@pytest.mark.parametrize("unit", list(Unit))
async def test_rounds_are_dealt_from_firmware(firmware: Path, unit: Unit) -> None:
    async with opened(firmware, unit) as (board, _, people):
        for number in (1, 2):
            await deal_a_round(people, board, unit, number)
            view = await people.view()
            assert (view.round, str(view.phase)) == (number, "concluded")
            assert view.irregularities == ()
        assert view.device.links == 1


def order_of_a_fresh_deck(unit: Unit) -> list[Card]:
    """Return the cards that come first after `load 52 0`: in the order of `DECK`, as mechanism.c mixes them."""
    cards, drawn = list(DECK), 1
    for count in range(len(cards) if unit is Unit.SETS else 0, 1, -1):
        drawn ^= drawn << 13 & 0xFFFFFFFF
        drawn ^= drawn >> 17
        drawn ^= drawn << 5 & 0xFFFFFFFF
        cards[count - 1], cards[drawn % count] = cards[drawn % count], cards[count - 1]
    return cards


@pytest.mark.parametrize("unit", list(Unit))
async def test_power_is_cut_in_the_deal(firmware: Path, unit: Unit) -> None:
    """A card leaves unheard, then the power fails. The report comes after it, and people deal the rest by hand."""
    async with opened(firmware, unit) as (board, stage, people):
        await begin_a_round(people, board, unit, 0)
        await give_out(people, board, unit)
        dealt = (await until_ready(people, unit)).dealt
        stage.daemon.signal(SIGSTOP)
        board.control(ACTS[unit])
        board.cut_power()
        stage.daemon.signal(SIGCONT)
        view = await people.until(lambda view: view.device.links == 2 and view.device.status_agrees)
        assert view.dealt == 2 * dealt
        (power,) = view.irregularities
        assert power.row == "I17"
        unaffected = operations.ConfirmIrregularity(power.id, power.revision, Facts(affects_play=False))
        await people.do(unaffected, SUPERVISOR)
        await people.do(operations.ContinueRound())
        await people.do(operations.DealByHand(9 - view.dealt, "another deck by its number"), SUPERVISOR)
        cards = order_of_a_fresh_deck(unit)[:9]
        for place, turn in (("D", 2), ("B1", 0), ("B3", 1)):
            of_hand = cards[turn::3] if unit is Unit.SINGLES else cards[3 * turn :][:3]
            await people.do(operations.ExposeHand(place, tuple(of_hand)))
        await people.do(operations.CountCards("stub", 43, "a witness"))
        await finish(people)
        view = await people.view()
        assert view.irregularities == ()
        assert view.ledger is not None
        assert (str(view.phase), view.ledger.total) == ("concluded", 52)
        assert not view.device.open_commands  # the rest in the device is not shuffled
        await deal_a_round(people, board, unit, 2)
        view = await people.view()
        assert (view.round, view.irregularities) == (2, ())


@pytest.mark.parametrize("unit", list(Unit))
async def test_a_card_that_falls_out_unseen_is_missing_in_the_stub(firmware: Path, unit: Unit) -> None:
    async with opened(firmware, unit) as (board, _, people):
        await begin_a_round(people, board, unit, 0)
        view = await give_out(people, board, unit)
        board.control("drop")
        while view.dealt < view.to_deal:
            view = await give_out(people, board, unit)
        for place in ("D", "B1", "B3"):
            await people.do(operations.ExposeHand(place))
        if unit is Unit.SINGLES:
            await people.do(operations.CountCards("stub", 42, "a witness"))
        view = await people.until(lambda view: view.deck.stub is not None)
        assert (view.deck.stub, view.deck.stub_due) == (42, 43)
        assert [found.row for found in view.irregularities] == ["I02"]


async def bench(board: Board, keys: Path, *options: str) -> dict[str, dict[str, str]]:
    """Run the bench on the board with a fresh deck. Return each check by its name, as the bench prints it."""
    board.control("load 52 7")
    device = ("--device", f"serial://{board.port}", "--device-keys", str(keys), "--operator", "0")
    done = await create_subprocess_exec(
        Path(sys.executable).with_name("cardshoe"), "bench", *device, "--json", *options, stdout=subprocess.PIPE
    )
    printed, _ = await done.communicate()
    result = json.loads(printed)
    checks = {check["name"]: check for check in result["tests"]}
    passed = not any(check["outcome"] == "failed" for check in checks.values())
    assert (done.returncode == 0, result["verdict"]) == (passed, "passed" if passed else "failed"), result
    return checks


async def test_firmware_passes_the_bench(firmware: Path) -> None:
    """The checks measure the emulator's seconds by the host's clock, so a busy machine can make the board late.

    A check that fails is therefore run again by itself, three times at most. This hides a fault of the firmware that
    comes only sometimes: tests of the same library in its own time look for those.
    """
    with short_folder() as folder, Board(firmware, "shuffler", SERIAL, KEY, folder) as board:
        keys = folder / "keys"
        write_device_keys(keys, {SERIAL: KEY})
        checks = await bench(board, keys)
        assert sum(check["outcome"] in ("passed", "failed") for check in checks.values()) >= 80
        for name in [name for name, check in checks.items() if check["outcome"] == "failed"]:
            tries = [checks[name]]
            while tries[-1]["outcome"] != "passed" and len(tries) < 4:
                tries.append((await bench(board, keys, "--only", name))[name])
            assert tries[-1]["outcome"] == "passed", tries
