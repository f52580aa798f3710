"""`sim:///shuffler?seed=7` and `sim:///shoe`: a simulated device in the daemon's own process.

Entry point of the group `cardshoe.transports`. A device is made when its URL is first opened and keeps its power until
the program ends: opened again, it is the same device. A deck lies in it. There are no people around it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import MutableMapping
from random import Random, SystemRandom
from typing import Final, Literal
from weakref import WeakKeyDictionary

from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.transports.base import OnData, OnLost
from firmware_bridge.transports.memory import MemoryTransport
from simulators.device import SimulatedDevice
from simulators.mechanism import Profile
from simulators.memory_front import MemoryFront
from simulators.pace import Pace
from simulators.simulate import capabilities_of

KINDS: Final[dict[str, Literal["shuffler", "shoe"]]] = {"/shuffler": "shuffler", "/shoe": "shoe"}
_KEY_LABEL: Final = b"cardshoe simulated device, no secret: "

_FRONTS: Final[MutableMapping[asyncio.AbstractEventLoop, dict[str, MemoryFront]]] = WeakKeyDictionary()


def simulated_serial(kind: str) -> str:
    """The serial number of the simulated device of that kind."""
    return f"CARDSHOE-SIM-{kind.upper()}"


def simulated_key(serial: str) -> bytes:
    """The key of a device in this process: the same everywhere and no secret, since no wire needs protecting.

    Its line belongs into the key file of a simulated table only (docs/simulators.md).
    """
    return hashlib.sha256(_KEY_LABEL + serial.encode()).digest()


async def open_simulated_device(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> MemoryTransport:
    """Connect to the device that `url` names. Raises TransportUnavailableError."""
    return front_of(url).connect(on_data, on_lost, listen_only=url.listen)


def front_of(url: DeviceUrl) -> MemoryFront:
    """The device that `url` names, on this loop; made if there is none. Raises TransportUnavailableError."""
    if url.driver != DEFAULT_DRIVER:
        raise TransportUnavailableError(
            f"The simulated devices of this process speak {DEFAULT_DRIVER} and not {url.driver}.", "Leave driver= out."
        )
    kind = KINDS.get(url.path)
    if kind is None:
        raise TransportUnavailableError(
            f"There is no simulated device {url.path}.", f"Write {' or '.join(f'sim://{path}' for path in KINDS)}."
        )
    fronts = _FRONTS.setdefault(asyncio.get_running_loop(), {})
    name = f"{kind} {url.seed}"
    if name not in fronts:
        fronts[name] = MemoryFront(_make(kind, url.seed))
    return fronts[name]


def _make(kind: Literal["shuffler", "shoe"], seed: int | None) -> SimulatedDevice:
    random = SystemRandom() if seed is None else Random(f"{seed}/device")
    serial = simulated_serial(kind)
    device = SimulatedDevice(
        Profile(kind, serial, capabilities_of(kind)),
        key=simulated_key(serial),
        random=random,
        fresh=SystemRandom(),
        clock=time.monotonic,  # not the loop's, which would be kept alive
        pace=Pace(0.0),
    )
    device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
    return device
