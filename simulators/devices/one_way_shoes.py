"""The simulated one-way shoes by the names of their drivers, and a person who draws cards from one.

It is separate from `one_way`, which each of these devices imports.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from simulators.devices.angel_eye import AngelEyeDevice
from simulators.devices.bee_tek import BeeTekDevice
from simulators.devices.line_reader import LineReaderDevice
from simulators.devices.one_way import OneWayDevice

ONE_WAY_SHOES: Final[dict[str, type[AngelEyeDevice | BeeTekDevice | LineReaderDevice]]] = {
    "angel_eye": AngelEyeDevice,
    "bee_tek": BeeTekDevice,
    "line_reader": LineReaderDevice,
}


async def draw_all(
    device: OneWayDevice, every: float, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Load a shuffled deck and draw a card every `every` seconds until none is left; with 0 nobody draws."""
    device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
    while every and device.mechanism.inside:
        await sleep(every)
        device.mechanism.draw()
