"""What every cardlink device must do; `pytest tests/bench --device URL` asks it of a real one.

The device has a deck in it that was not dealt from. What a device cannot do by its own word is not asked of it.
"""

from __future__ import annotations

import re
from typing import NoReturn

import pytest

from firmware_bridge.commands import Dispense, HoldExit, ReleaseExit, Shuffle, UnloadStub
from firmware_bridge.drivers.base import Answered, DeviceReady, Reported, StatusHeard
from firmware_bridge.observations import SetDispensed, ShuffleFinished, ShuffleStarted, StubUnloaded
from simulators.bench import Bench


class TestCardlinkDevice:
    """One device, asked what the protocol promises."""

    async def test_says_who_it_is(self, bench: Bench) -> None:
        identity = (await bench.ready()).identity
        assert re.fullmatch(r"[0-9A-Za-z_-]{1,64}", identity.serial)
        assert identity.maker
        assert identity.model
        assert identity.firmware
        assert re.fullmatch(r"[0-9a-f]{64}", identity.firmware_digest)
        assert identity.deck_size == 52

    async def test_gives_a_sign_of_life(self, bench: Bench) -> None:
        ready = await bench.ready()
        status = (await bench.wait_for(StatusHeard)).status
        assert status.boot == ready.identity.boot
        assert status.uptime_ms >= ready.status.uptime_ms

    async def test_goes_on_where_the_host_stopped(self, bench: Bench) -> None:
        """After a new link nothing that was acknowledged comes again, and the boot is the same."""
        first = await bench.ready()
        await bench.answer_to(HoldExit())
        held = bench.held
        await bench.make_link_anew()
        again = [thing for thing in bench.heard if isinstance(thing, DeviceReady)]
        assert again[-1].identity == first.identity
        numbers = [(thing.boot, thing.number) for thing in bench.heard if isinstance(thing, Reported)]
        assert len(numbers) == len(set(numbers))
        assert bench.held >= held

    async def test_repeats_what_is_not_acknowledged(self, bench: Bench) -> None:
        bench.acknowledges = False
        await bench.ready()
        if not await self._shuffled(bench):
            await self._cannot(bench, "the device does not shuffle, or has no fresh deck")
        await bench.make_link_anew()
        started = [thing for thing in bench.heard if isinstance(thing, Reported)]
        twice = [thing for thing in started if isinstance(thing.observation, ShuffleStarted)]
        assert len(twice) == 2
        assert twice[0].number == twice[1].number
        assert twice[0].evidence == twice[1].evidence

    async def test_carries_a_command_out_once(self, bench: Bench) -> None:
        await bench.ready()
        hold = bench.tell(HoldExit())
        bench.tell(HoldExit(), hold)
        await bench.wait_for(Answered)
        assert (await bench.answer_to(ReleaseExit())).done
        assert (await bench.answer_to(HoldExit())).done
        answers = [thing.command_id for thing in bench.heard if isinstance(thing, Answered)]
        assert answers.count(hold) == 1

    async def test_forms_and_counts_sets(self, bench: Bench) -> None:
        """Ordinals run on, what remains is counted, a second set does not join the first, and the stub adds up."""
        identity = (await bench.ready()).identity
        if identity.unit == "singles" or not await self._shuffled(bench):
            await self._cannot(bench, "the device forms no sets, or has no fresh deck")
        assert (await bench.answer_to(ReleaseExit())).done
        assert (await bench.answer_to(Dispense(3))).done
        dispensed = await bench.report(SetDispensed)
        assert (dispensed.ordinal, len(dispensed.cards)) == (1, 3)
        assert dispensed.remaining == identity.deck_size - 3
        if identity.capabilities.senses_tray:
            assert (await bench.answer_to(Dispense(3))).reason == "tray"
        if identity.capabilities.unloads_stub:
            assert (await bench.answer_to(UnloadStub())).done
            assert (await bench.report(StubUnloaded)).count == identity.deck_size

    async def test_holds_its_exit(self, bench: Bench) -> None:
        identity = (await bench.ready()).identity
        if not identity.capabilities.holds_exit or identity.unit == "singles" or not await self._shuffled(bench):
            await self._cannot(bench, "the device holds no exit, forms no sets, or has no fresh deck")
        assert (await bench.answer_to(HoldExit())).done
        answer = await bench.answer_to(Dispense(3))
        assert (answer.done, answer.reason) == (False, "held")

    @staticmethod
    async def _cannot(bench: Bench, why: str) -> NoReturn:
        """A real device may lack what a test needs, or a fresh deck. The simulator has both: there it is a failure."""
        if (await bench.ready()).identity.simulated:
            pytest.fail(why)
        pytest.skip(why)

    @staticmethod
    async def _shuffled(bench: Bench) -> bool:
        answer = await bench.answer_to(Shuffle())
        if not answer.done:
            return False
        finished = await bench.report(ShuffleFinished)
        return finished.count == 52 and finished.shuffle > 0
