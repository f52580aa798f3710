"""Recognition on the bench: exact bounds, orders from a file, and a simulated shoe on a pseudo-terminal."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from controller.problems import BadInputError
from firmware_bridge.cards import DECK
from firmware_bridge.device_keys import write_device_keys
from simulators.bench.bench import seeded, simulated_device
from simulators.bench.command import bench
from simulators.bench.recognition import Sample, Tally, decks_needed, lower_bound, upper_bound
from simulators.devices.armed_faults import ArmedFault
from simulators.devices.base import Tempo
from simulators.devices.line_reader import write_card_table
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.one_way import OneWayDevice
from simulators.devices.one_way_shoes import ONE_WAY_SHOES
from simulators.devices.simulated_device import SimulatedDevice
from tests.end_to_end.processes import Child

SERIAL, KEY = "SHOE-KNOWN", bytes(range(1, 33))
DECKS = 6


@pytest.mark.parametrize(
    ("errors", "cards", "alpha", "low", "high"),
    [
        (0, 10, 0.025, 0.0, 0.30850),  # tables of Clopper and Pearson, 95 % on both sides
        (1, 10, 0.025, 0.00253, 0.44502),
        (5, 10, 0.025, 0.18709, 0.81291),
        (10, 10, 0.025, 0.69150, 1.0),
        (10, 100, 0.025, 0.04900, 0.17622),
    ],
)
def test_bounds_are_those_of_the_tables(errors: int, cards: int, alpha: float, low: float, high: float) -> None:
    found = (lower_bound(errors, cards, alpha), upper_bound(errors, cards, alpha))
    assert found == pytest.approx((low, high), abs=6e-6)


def test_a_sample_without_an_error_has_the_bound_of_its_size() -> None:
    assert upper_bound(0, 520) == pytest.approx(1 - 0.05 ** (1 / 520))
    assert (decks_needed(1.0), decks_needed(0.1)) == (6, 58)
    assert Sample(5, (DECK,), 1.0).allowed == -1
    allowed = Sample(20, (DECK,), 1.0).allowed
    assert upper_bound(allowed, 1040) <= 0.01 < upper_bound(allowed + 1, 1040)


def test_a_face_that_is_always_misread_exceeds_the_limit() -> None:
    """All cards together stay within a limit of 4 %."""
    tally = Tally()
    for _ in range(20):
        tally.add(DECK, [DECK[1], *DECK[1:]])
    beyond = [one.name for one in tally.measurements(Sample(20, (DECK,), 4.0)) if not one.within]
    assert beyond == [f"{DECK[0].code} not recognised, lower bound"]


@pytest.mark.parametrize(
    "written", ["", "AC 2C\n", " ".join(["AC"] * 52), " ".join(card.code for card in DECK) + " AC"]
)
def test_a_file_without_whole_decks_is_refused(written: str, tmp_path: Path) -> None:
    file = tmp_path / "orders"
    file.write_text(written)
    with pytest.raises(BadInputError) as refused:
        bench.main(["--recognition", "6", "--order", str(file)], standalone_mode=False)
    assert refused.value.hint


def test_an_order_without_decks_is_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(bench, ["--order", str(tmp_path / "orders")])
    assert result.exit_code == BadInputError.exit_code
    assert "Say with --recognition how many." in result.output


def _said(child: Child, words: str) -> bool:
    return any(words in line for line in child.err)


class Shoe:
    """A simulated shoe on a pseudo-terminal, the bench in a separate process, and the person whom it asks."""

    def __init__(self, url: str, device: SimulatedDevice | OneWayDevice, folder: Path) -> None:
        self._url, self._device, self._folder = url, device, folder
        self._child: Child | None = None

    def start(self, decks: int, *options: str) -> Child:
        """Start the bench, which asks for `decks` decks."""
        self._child = Child(
            "simulators.bench.command", "--json", "--only", "known_order", "--recognition", str(decks),
            "--junit", str(self._folder / "junit.xml"), *options,
            "--device", self._url, "--device-keys", str(self._folder / "keys"),
        )  # fmt: skip
        return self._child

    async def bench(
        self, decks: int, faults: dict[int, list[ArmedFault]], *options: str, reverse: bool = False
    ) -> Child:
        """Draw that many decks. `faults`: by deck. `reverse`: the decks are in the opposite order to the file."""
        order = list(reversed(DECK)) if reverse else list(DECK)
        file = self._folder / "orders"
        file.write_text(" ".join(card.code.replace("T", "10") for card in order) + "\n")
        child = self.start(decks, *(["--order", str(file)] if reverse else []), *options)
        mechanism = self._device.mechanism
        for deck in range(1, decks + 1):
            mechanism.faults.named += faults.get(deck, ())
            asked = f"Deck {deck} of {decks}:"
            await child.until(partial(_said, child, asked))
            mechanism.load(order)
            while mechanism.inside:
                assert mechanism.draw()
        return child

    def abandon(self) -> None:
        if self._child is not None:
            self._child.abandon()


@pytest.fixture
async def shoe(tmp_path: Path) -> AsyncIterator[Shoe]:
    profile = Profile("shoe", SERIAL, full_capabilities("shoe"))
    clock = asyncio.get_running_loop().time
    device = SimulatedDevice(profile, key=KEY, random=seeded(1), fresh=seeded(2), clock=clock, pace=Tempo(0))
    write_device_keys(tmp_path / "keys", {SERIAL: KEY})
    async with simulated_device(device, tmp_path / "shoe") as url:
        made = Shoe(url, device, tmp_path)
        yield made
        made.abandon()


async def test_a_shoe_that_reads_every_card_passes_in_the_order_of_a_file(shoe: Shoe, tmp_path: Path) -> None:
    child = await shoe.bench(DECKS, {}, reverse=True)
    assert await child.ended() == 0, child.out + child.err
    report = json.loads(child.out[0])
    values = {one["name"]: one["value"] for one in report["measurements"]}
    assert (values["cards misread"], values["cards unreadable"]) == (0, 0)
    assert values["cards not recognised, upper bound"] == pytest.approx(100 * (1 - 0.05 ** (1 / (52 * DECKS))))
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()  # noqa: S314  # our own file
    properties = {found.get("name"): found.get("value") for found in suites.findall(".//property")}
    assert properties["cards misread"] == "0"
    assert any(re.match("52 faces: 0 of 6 each; rate at most 39", line) for line in child.err)


async def test_a_shoe_that_misreads_fails_with_its_faces_and_counts_unreadable_apart(shoe: Shoe) -> None:
    misread, unread = ArmedFault("misread", 9), ArmedFault("unreadable", 20)
    faults = {deck: [misread] + [unread] * (deck == 2) for deck in range(1, DECKS + 1)}
    child = await shoe.bench(DECKS, faults)
    assert await child.ended() == 3, child.out + child.err
    report = json.loads(child.out[0])
    values = {one["name"]: (one["value"], one["within"]) for one in report["measurements"]}
    assert values["cards misread"] == (DECKS, False)
    assert values["cards unreadable"][0] == 1
    beyond = [name for name, (_, within) in values.items() if "lower bound" in name and not within]
    assert beyond == [f"{DECK[8].code} not recognised, lower bound"]
    assert f"{DECK[19].code} not recognised, lower bound" in values
    assert any(line.startswith(f"{DECK[8].code}: 6 misread, 0 unreadable, of 6; ") for line in child.err)


async def test_a_sample_that_is_too_small_for_the_limit_fails_before_a_card_is_drawn(shoe: Shoe) -> None:
    child = shoe.start(5)
    assert await child.ended() == 3, child.out + child.err
    assert "a limit of 1 % takes at least 6 decks" in child.out[0]
    assert not any(line.startswith("Deck 1") for line in child.err)


@pytest.mark.parametrize(("driver", "make"), ONE_WAY_SHOES.items())
async def test_other_makers_shoes_are_measured_too(
    driver: str, make: Callable[..., OneWayDevice], tmp_path: Path
) -> None:
    """The ninth card of each deck is misread; the others are recognised."""
    device = make(random=Random(7))
    cards = tmp_path / "cards.csv"
    write_card_table(cards)
    write_device_keys(tmp_path / "keys", {})
    async with simulated_device(device, tmp_path / "SHOE-9", driver) as url:
        shoe = Shoe(url, device, tmp_path)
        try:
            faults = {deck: [ArmedFault("misread", 9)] for deck in range(1, DECKS + 1)}
            child = await shoe.bench(DECKS, faults, "--device-cards", str(cards))
            assert await child.ended() == 3, child.out + child.err
        finally:
            shoe.abandon()
    values = {one["name"]: (one["value"], one["within"]) for one in json.loads(child.out[0])["measurements"]}
    assert (values["cards misread"], values["cards unreadable"]) == ((DECKS, False), (0, True))
    assert f"{DECK[8].code} not recognised, lower bound" in values
