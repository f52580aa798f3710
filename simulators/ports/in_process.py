"""Simulated devices in this process: `sim:///shuffler?seed=7`, `sim:///shoe`, `sim:///shoe?driver=bee_tek`.

`sim:///shuffler?shuffle=shelves:10` shuffles by a model of the shuffle audit, like `cardshoe simulate --shuffle`. This
is an entry point of the group `cardshoe.transports`. A device is made when its URL is first opened, with a deck in it,
and stays powered until the program ends. There are no people around it.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import MutableMapping
from random import Random, SystemRandom
from typing import Final, Literal
from weakref import WeakKeyDictionary

from controller.problems import ProblemError
from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.messages import message
from firmware_bridge.transports.base import OnData, OnLost
from simulators.cli.device_options import UNIFORM, Shuffles, read_shuffle
from simulators.devices.base import DeviceWithMechanism, Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.one_way_shoes import ONE_WAY_SHOES
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.memory import MemoryFront, MemoryTransport

KINDS: Final[dict[str, Literal["shuffler", "shoe"]]] = {"/shuffler": "shuffler", "/shoe": "shoe"}
_KEY_LABEL: Final = b"cardshoe simulated device, no secret: "

_FRONTS: Final[MutableMapping[asyncio.AbstractEventLoop, dict[str, MemoryFront]]] = WeakKeyDictionary()


def simulated_serial(kind: str) -> str:
    """Return the serial number of the simulated device of that kind."""
    return f"CARDSHOE-SIM-{kind.upper()}"


def simulated_key(serial: str) -> bytes:
    """Return the key of a device in this process. It is always the same and is not secret, because there is no wire to
    protect.

    Put it only into the key file of a simulated table (docs/simulators.md).
    """
    return hashlib.sha256(_KEY_LABEL + serial.encode()).digest()


async def open_simulated_device(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> MemoryTransport:
    """Connect to the device that `url` names. Raise TransportUnavailableError if it cannot be reached."""
    return front_of(url).connect(on_data, on_lost, listen_only=url.listen)


def front_of(url: DeviceUrl) -> MemoryFront:
    """Return the device that `url` names on this loop, made if necessary. Raise TransportUnavailableError if there is
    no such device.
    """
    if url.driver not in (DEFAULT_DRIVER, *ONE_WAY_SHOES):
        raise TransportUnavailableError(
            message("No simulated device of this process speaks {driver}.", driver=url.driver),
            message("Leave driver= out, or name one of {drivers:list} for sim:///shoe.", drivers=tuple(ONE_WAY_SHOES)),
        )
    kind = KINDS.get(url.path)
    if kind is None:
        raise TransportUnavailableError(
            message("There is no simulated device {path}.", path=url.path),
            message("Write {urls:or}.", urls=tuple(f"sim://{path}" for path in KINDS)),
        )
    if kind != "shoe" and url.driver != DEFAULT_DRIVER:
        raise TransportUnavailableError(
            message("A device that speaks {driver} is a shoe.", driver=url.driver),
            message("Write {usage}.", usage=f"sim:///shoe?driver={url.driver}"),
        )
    if url.shuffle and kind != "shuffler":
        raise TransportUnavailableError(
            message("A shoe does not shuffle."), message("Leave shuffle= out, or write sim:///shuffler.")
        )
    fronts = _FRONTS.setdefault(asyncio.get_running_loop(), {})
    name = f"{kind} {url.driver} {url.seed} {url.shuffle}"
    if name not in fronts:
        fronts[name] = MemoryFront(_make(kind, url))
    return fronts[name]


def _make(kind: Literal["shuffler", "shoe"], url: DeviceUrl) -> DeviceWithMechanism:
    """Make a device. Raise TransportUnavailableError for an unknown shuffle, or one that needs numpy."""
    random = SystemRandom() if url.seed is None else Random(f"{url.seed}/device")
    if url.driver == DEFAULT_DRIVER:
        device: DeviceWithMechanism = _cardlink(kind, random, _shuffles(url.shuffle or UNIFORM))
    else:
        device = ONE_WAY_SHOES[url.driver](random=random)
    device.mechanism.load(device.mechanism.shuffled_by_hand(), deck=1)
    return device


def _shuffles(name: str) -> Shuffles:
    try:
        return read_shuffle(name)
    except ProblemError as error:
        raise TransportUnavailableError(error.said, error.hint) from error


def _cardlink(kind: Literal["shuffler", "shoe"], random: Random, shuffles: Shuffles) -> SimulatedDevice:
    serial = simulated_serial(kind)
    return SimulatedDevice(
        Profile(kind, serial, full_capabilities(kind)),
        key=simulated_key(serial),
        random=random,
        fresh=SystemRandom(),
        clock=time.monotonic,  # the loop's own clock would keep the loop alive
        pace=Tempo(0.0),
        shuffles=shuffles,
    )
