"""The community drivers on a real pseudo-terminal, through the link keeper: connected, hung up, reconnected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from firmware_bridge.drivers.base import LinkOver, LinkReady, Reported
from firmware_bridge.observations import CardDrawn
from simulators.bench.bench import Bench, open_bench, simulated_device
from simulators.devices.angel_eye import AngelEyeDevice
from simulators.devices.line_reader import simulated_identifiers
from simulators.devices.one_way import OneWayDevice
from simulators.devices.one_way_shoes import ONE_WAY_SHOES, draw_all


def cards(bench: Bench) -> list[str]:
    drawn = [thing.observation for thing in bench.received if isinstance(thing, Reported)]
    return [one.card.expose().code for one in drawn if isinstance(one, CardDrawn) and one.card is not None]


async def draw(bench: Bench, device: OneWayDevice) -> str:
    """Draw one card, and wait for it."""
    place = len(bench.received)
    (drawn,) = device.mechanism.draw()
    await bench.report(CardDrawn, after=place)
    return drawn.code


@pytest.mark.parametrize(("driver", "make"), ONE_WAY_SHOES.items())
async def test_a_link_is_established_immediately_and_delivers_the_cards(
    driver: str, make: Callable[..., OneWayDevice], tmp_path: Path
) -> None:
    device = make(random=Random(7))
    device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
    async with (
        simulated_device(device, tmp_path / "SHOE-9", driver) as url,
        open_bench(url, {}, simulated_identifiers()) as bench,
    ):
        first = await bench.ready()
        assert first.identity.serial == "SHOE-9"
        drawn = [await draw(bench, device) for _ in range(5)]
        place = len(bench.received)
        bench.keeper.drop("bench", "The bench pulls the cable.")
        await bench.wait_for(LinkOver, after=place)
        again = await bench.wait_for(LinkReady, after=place)
        assert again.identity.boot != first.identity.boot
        drawn += [await draw(bench, device) for _ in range(5)]
        assert cards(bench) == drawn


async def test_a_person_draws_the_whole_deck() -> None:
    device = AngelEyeDevice(random=Random(7))
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    await draw_all(device, 0.65, sleep)
    assert waits == [0.65] * 52
    await draw_all(device, 0.0, sleep)
    assert len(device.mechanism.inside) == 52
