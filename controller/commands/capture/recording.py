"""Recording without a daemon: a driver listens to the device, and a recorder keeps the bytes in both directions."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog

from controller.daemon.captures import open_recorder
from controller.daemon.configuration import read_configuration
from firmware_bridge.captures.recorder import Bounds
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_keys import DeviceKeys, read_device_keys
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import Driver, Heard, Reported
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.link_keeper import Health, LinkKeeper, wait_for_event
from firmware_bridge.messages import AnyText, MessageError, message

LOOK_AFTER: Final = 0.5  # seconds between two checks that the recorder is still writing


class NotPlainError(MessageError):
    """Raised for a recording without a key and without `--plain`."""

    hint = message("Name a key with --key-file, or use --plain on a bench on which no game is played.")


class Recording(NamedTuple):
    """The options of `cardshoe capture record`. `simulated` means that the device is known to be simulated."""

    url: DeviceUrl
    out: Path
    simulated: bool = False
    key_file: Path | None = None
    plain: bool = False
    seconds: float | None = None
    acknowledge: bool = False
    device_keys: Path | None = None
    card_table: Path | None = None
    bounds: Bounds = Bounds()

    def with_options(self, **given: Any) -> Recording:
        """Return these options, overridden by those of the command line."""
        return self._replace(**{name: value for name, value in given.items() if value is not None})


class Recorded(NamedTuple):
    """The result of a recording. `stopped` says why the recorder gave up; `sentence` and `hint` say why there is no
    link.
    """

    links: int
    heard: int
    stopped: AnyText
    sentence: AnyText
    hint: AnyText


def recording_of_table(config: Path, out: Path) -> Recording:
    """Return the options for the device of a table. Raise `ConfigurationError` if the configuration cannot be used."""
    found = read_configuration(config)
    return Recording(
        found.device_url,
        out,
        simulated=found.table.simulated,
        key_file=None if found.capture is None else found.capture.key_file,
        device_keys=found.device.key_file,
        card_table=found.device.card_table,
    )


async def record_device(asked: Recording, say: Callable[[str], None]) -> Recorded:
    """Record until time is up, the recorder stops, or SIGINT or SIGTERM arrives. Raise `NotPlainError`,
    `BridgeError`.
    """
    simulated = asked.simulated or asked.url.scheme == "sim"
    if asked.key_file is None and not (simulated or asked.plain):
        raise NotPlainError(message("The records of a device that is not known to be simulated have to be sealed."))
    make = load_driver(asked.url.driver)
    keys = DeviceKeys() if asked.device_keys is None else read_device_keys(asked.device_keys)
    cards = {} if asked.card_table is None else read_card_table(asked.card_table)
    loop = asyncio.get_running_loop()
    recorder = open_recorder(
        asked.out,
        asked.url,
        simulated=simulated,
        key_file=None if asked.plain else asked.key_file,
        bounds=asked.bounds,
        clock=loop.time,
        log=structlog.get_logger(),
    )
    heard = 0
    memory = LinkMemory()

    def make_driver(now: float) -> Driver:
        nonce = secrets.token_bytes(16)
        recorder.driver_made(nonce, (0, 0))
        setting = DriverSetting(
            nonce, asked.url.line, keys.get, (0, 0), cards, simulated, memory=memory, note_keys=recorder.link_keys,
            next_key_of=keys.next.get,
        )  # fmt: skip
        return make(setting, now)

    def take(thing: Heard) -> None:
        nonlocal heard
        heard += 1
        if asked.acknowledge and isinstance(thing, Reported):
            keeper.acknowledge(thing.boot, thing.number)

    def tell(health: Health) -> None:
        say(f"{health.state}: {health.sentence} {health.hint}".rstrip(": "))

    keeper = LinkKeeper(
        asked.url,
        make_driver=make_driver,
        deliver=take,
        clock=loop.time,
        random=secrets.SystemRandom(),
        on_health=tell,
        recorder=recorder,
    )
    try:
        health = await _keep(keeper, lambda: bool(recorder.stopped), asked.seconds)
    finally:
        recorder.close()
    return Recorded(health.link, heard, recorder.stopped, health.sentence, health.hint)


async def _keep(keeper: LinkKeeper, is_over: Callable[[], bool], seconds: float | None) -> Health:
    """Keep the link until the end, and return its health before the program closed it."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    ends_at = float("inf") if seconds is None else loop.time() + seconds
    running = asyncio.create_task(keeper.run())
    try:
        while not (stop.is_set() or is_over() or loop.time() >= ends_at):
            await wait_for_event(stop, min(LOOK_AFTER, ends_at - loop.time()))
        return keeper.health
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
