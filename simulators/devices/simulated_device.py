"""A simulated device: mechanism and cardlink put together, with no idea of what carries its bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.translate import capability_words
from simulators.devices.cardlink import CardlinkDevice
from simulators.devices.mechanism import Mechanism, Profile
from simulators.people.pace import Pace

LONGEST_NAP: Final = 0.5  # seconds; a bound on how late a resend may be when the clock of the loop is coarse


class LoggedReport(msgspec.Struct, frozen=True):
    """A line of the device's own log: what it reported, whoever heard it."""

    boot: int
    number: int
    report: str
    fields: list[Any]


class SimulatedDevice:
    """Power on at once. `changed` is called whenever bytes or time may be due: the front end waits for it.

    `random` orders decks. `fresh` draws the boot number and nonces, which may not repeat with the seed. `log` takes
    each report as it is made.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        key: bytes,
        random: Random,
        fresh: Random,
        clock: Callable[[], float],
        pace: Pace,
        log: Callable[[LoggedReport], None] = lambda line: None,
    ) -> None:
        self._clock = clock
        self._pace = pace
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()
        self.changed: Callable[[], None] = lambda: None
        self._fresh = fresh
        boot = fresh.getrandbits(32) or 1
        self.mechanism = Mechanism(profile, random=Random(random.getrandbits(64)), emit=self._emit, boot=boot)
        self.link = CardlinkDevice(
            key=key,
            boot=boot,
            identity=self._identity,
            status=lambda: self.mechanism.status(self.link.last_number),
            nonce=lambda: fresh.getrandbits(128).to_bytes(16, "big"),
            on_command=self._on_command,
            on_host_lost=self._on_host_lost,
            memory=profile.memory,
        )
        self.mechanism.on_restart = self.restart
        self.mechanism.power_on()

    def restart(self, cause: str) -> None:
        """It starts anew, told in its own word: the link is gone, and so are the reports unless it retains them.

        The cards stay where they are, and so does what it has counted; its lock falls shut.
        """
        boot = self._fresh.getrandbits(32) or 1
        self.mechanism.boot, self.mechanism.exit_held = boot, True
        self.link.reboot(boot, keep_reports=self.mechanism.profile.capabilities.retains_reports)
        self.mechanism.power_on(cause)

    @property
    def idle(self) -> bool:
        """Whether every report is acknowledged and nothing moves."""
        return not self.link.unacknowledged and not self.mechanism.moving

    def receive(self, data: bytes) -> None:
        self.link.receive(data, self._clock())
        self.changed()

    def outgoing(self) -> bytes:
        """What is to be written now; asking takes it."""
        return self.link.outgoing()

    def tick(self) -> None:
        self.link.tick(self._clock())

    def nap(self) -> float:
        """Seconds until `tick` is due."""
        return max(0.0, min(self.link.wake_at() - self._clock(), LONGEST_NAP))

    def _emit(self, report: messages.Report) -> None:
        number = self.link.report(report, self._clock())
        name = type(report).__name__
        self._log(LoggedReport(self.link.boot, number, name, list(msgspec.structs.astuple(report))))
        self.changed()

    def _identity(self, nonce: bytes, kept: list[messages.KeptReports]) -> messages.Identity:
        said = self.mechanism.identity()
        return messages.Identity(
            version=1,
            kind=said.kind,
            unit=said.unit,
            maker=said.maker,
            model=said.model,
            serial=said.serial,
            firmware=said.firmware,
            firmware_digest=said.firmware_digest,
            capabilities=capability_words(said.capabilities),
            report_memory=self.mechanism.profile.memory,
            simulated=said.simulated,
            deck_size=said.deck_size,
            nonce=nonce,
            status=self.mechanism.status(self.link.last_number),
            kept=kept,
        )

    def _on_command(self, command_id: int, order: messages.AnyOrder) -> None:
        if self._pace.scale == 0:
            self._carry_out(command_id, order)
            return
        task = asyncio.get_running_loop().create_task(self._take_time(command_id, order))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _take_time(self, command_id: int, order: messages.AnyOrder) -> None:
        self.mechanism.moving = True
        try:
            await self._pace.wait(self.mechanism.seconds_for(order))
        finally:
            self.mechanism.moving = False
        self._carry_out(command_id, order)

    def _carry_out(self, command_id: int, order: messages.AnyOrder) -> None:
        answer = self.mechanism.carry_out(command_id, order)
        self.link.answer(command_id, answer.done, answer.reason)
        self.changed()

    def _on_host_lost(self) -> None:
        self.mechanism.exit_held = True
