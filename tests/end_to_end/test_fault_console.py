"""The fault console, driven through a pipe as a process: over every transport and for every device."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from firmware_bridge.commands import Dispense, ReleaseExit, Shuffle
from firmware_bridge.device_keys import read_device_keys
from firmware_bridge.drivers.base import LinkOver, LinkReady, Reported
from firmware_bridge.observations import CardDrawn, FaceUpFound, JamCleared, Jammed, SetDispensed
from simulators.bench.bench import Bench, open_bench
from simulators.devices.faults import BY_NAME
from simulators.devices.line_reader import simulated_identifiers
from tests.end_to_end.processes import Child


class Simulator:
    """`cardshoe simulate --console` in a separate process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.children: list[Child] = []

    async def start(self, *arguments: str) -> str:
        """Start the simulated device, and return its URL."""
        self.child = Child(
            "controller", "simulate", "--fast", "--console", "--link", str(self.folder / "device"),
            "--key-file", str(self.folder / "keys"), "--card-table", str(self.folder / "cards.csv"), *arguments,
            listens=True,
        )  # fmt: skip
        self.children.append(self.child)
        await self.child.until(lambda: self.child.out)
        return self.child.out[0]

    async def ask(self, line: str, lines: int = 1) -> str:
        """Send a command, and return the answer."""
        before = len(self.child.out)
        self.child.tell(line)
        await self.child.until(lambda: len(self.child.out) >= before + lines)
        return "\n".join(self.child.out[before:])

    def keys(self) -> dict[str, bytes]:
        return read_device_keys(self.folder / "keys") if (self.folder / "keys").exists() else {}


@pytest.fixture
async def simulator(tmp_path: Path) -> AsyncIterator[Simulator]:
    made = Simulator(tmp_path)
    yield made
    for child in made.children:
        child.abandon()


def reported(bench: Bench, kind: type) -> list[object]:
    seen = [thing.observation for thing in bench.received if isinstance(thing, Reported)]
    return [one for one in seen if isinstance(one, kind)]


@pytest.mark.parametrize("front", [[], ["--tcp", "0"]], ids=["pseudo-terminal", "TCP"])
async def test_faults_are_armed_while_it_runs(front: list[str], simulator: Simulator) -> None:
    url = await simulator.start(*front)
    assert "deck of 52 cards" in await simulator.ask("load")
    async with open_bench(url, simulator.keys()) as bench:
        await bench.ready()
        assert (await bench.answer_to(Shuffle())).done
        assert (await bench.answer_to(ReleaseExit())).done
        assert await simulator.ask("jam 2") == "jam is armed: 2."
        assert await simulator.ask("face-up 4") == "face-up is armed: 4."
        assert (await bench.answer_to(Dispense(3))).reason == "jam"
        assert await bench.report(Jammed) == Jammed("transport")
        assert await simulator.ask("clear") == "The jam is cleared."
        assert await bench.report(JamCleared) == JamCleared("transport")
        assert (await bench.answer_to(Dispense(3))).done
        assert await simulator.ask("lift") == "3 cards lifted."
        assert (await bench.answer_to(Dispense(3))).done
        assert (await bench.report(FaceUpFound)).ordinal == 4
        assert len(reported(bench, SetDispensed)) == 2


@pytest.mark.parametrize("front", [[], ["--tcp", "0"]], ids=["pseudo-terminal", "TCP"])
async def test_the_cable_is_unplugged_and_plugged_in_again(front: list[str], simulator: Simulator) -> None:
    url = await simulator.start("--kind", "shoe", *front)
    async with open_bench(url, simulator.keys()) as bench:
        await bench.ready()
        assert await simulator.ask("unplug") == "It is unplugged."
        await bench.wait_for(LinkOver)
        assert "already unplugged" in await simulator.ask("unplug")
        assert "unplugged;" in await simulator.ask("status")
        place = len(bench.received)
        assert await simulator.ask("plug") == "It is plugged in."
        await bench.wait_for(LinkReady, after=place)
        told = await simulator.ask("unplug 1", lines=2)  # the next frame is a heartbeat
        assert "unplug is armed: 1." in told
        assert "in the middle of a frame" in told
        await bench.wait_for(LinkOver, after=place)
        place = len(bench.received)
        assert await simulator.ask("plug") == "It is plugged in."
        await bench.wait_for(LinkReady, after=place)


@pytest.mark.parametrize("front", [[], ["--tcp", "0"]], ids=["pseudo-terminal", "TCP"])
@pytest.mark.parametrize("driver", ["angel_eye", "bee_tek", "line_reader"])
async def test_one_way_shoes_have_the_same_console(driver: str, front: list[str], simulator: Simulator) -> None:
    url = await simulator.start("--driver", driver, *front)
    async with open_bench(url, {}, simulated_identifiers()) as bench:
        await bench.ready()
        assert "cannot show face-up" in await simulator.ask("face-up 3")
        assert await simulator.ask("duplicate-card 1") == "duplicate-card is armed: 1."
        assert "52 cards" in await simulator.ask("load")
        first, second = await simulator.ask("draw"), await simulator.ask("draw")
        assert first == second
        await bench.collect(lambda: reported(bench, CardDrawn), 2)
        one, other = reported(bench, CardDrawn)
        assert isinstance(one, CardDrawn)
        assert isinstance(other, CardDrawn)
        assert one.card is not None
        assert other.card is not None
        assert one.card.expose().code == other.card.expose().code == first.split()[0]


async def test_its_words(simulator: Simulator) -> None:
    await simulator.start("--fault", "missing-card@7", "--seed", "5")
    printed = await simulator.ask("help", lines=len(BY_NAME) + 9)
    for name, fault in BY_NAME.items():
        assert name in printed
        assert str(fault.does) in printed or name == "unplug"
    assert "seed 5; armed: missing-card@7." in await simulator.ask("status")
    assert "51 cards" in await simulator.ask("load")
    assert "armed: nothing." in await simulator.ask("status")
    assert "This console has no command" in await simulator.ask("explode")
    assert "Write jam [N]" in await simulator.ask("jam often")
    assert "from 0 to 1" in await simulator.ask("loss=7")
    assert "loss=0.5 is armed." in await simulator.ask("loss=0.5")
    assert "loss is off." in await simulator.ask("loss off")
    assert await simulator.ask("seed 9") == "The seed of everything random is now 9. The decks keep theirs."
    assert await simulator.ask("seed") == "The seed is 9."
    assert "`lift` takes" in await simulator.ask("draw")
    simulator.child.tell("", "\udcff".encode("utf-8", "surrogateescape").decode("latin-1"))
    assert "has no command" in await simulator.ask("x" * 10_000)
    assert await simulator.child.end() == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fault", "fire@3"], "There is no fault 'fire'."),
        (["--fault", "jam=0.5"], "jam does not happen by chance."),
        (["--driver", "bee_tek", "--fault", "slow@3"], "Bee-Tek cannot show slow"),
        (["--driver", "line_reader", "--preset", "real-machine"], "cannot show the faults of real-machine"),
        (["--dealer", "nowhere.sock", "--fault", "jam@3"], "The simulated people of --dealer can handle only"),
    ],
)
async def test_an_invalid_fault_is_refused_immediately(
    arguments: list[str], sentence: str, simulator: Simulator
) -> None:
    child = Child("controller", "simulate", "--link", str(simulator.folder / "device"), *arguments,
                  "--key-file", str(simulator.folder / "keys"))  # fmt: skip
    simulator.children.append(child)
    assert await child.ended() == 2
    assert sentence in child.err[0]
