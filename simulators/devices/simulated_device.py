"""A simulated cardlink device: mechanism and protocol together, whatever carries the bytes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.observations import AnyObservation
from simulators.devices import cardlink_messages
from simulators.devices.base import LONGEST_NAP, LoggedReport, Tempo, log_line
from simulators.devices.cardlink import CardlinkDevice
from simulators.devices.mechanism import CommandOutcome, DeckShuffle, Mechanism, Profile, UniformShuffle


class SimulatedDevice:
    """A device with its power on. `changed` is called when bytes or time may be due: the front end waits for it.

    `random` orders decks. `fresh` draws the boot number and nonces, which must not repeat with the seed. `log` takes
    each report. `shuffles` makes the shuffle of a shuffler.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        key: bytes,
        random: Random,
        fresh: Random,
        clock: Callable[[], float],
        pace: Tempo,
        log: Callable[[LoggedReport], None] = lambda line: None,
        shuffles: Callable[[Random], DeckShuffle] = UniformShuffle,
    ) -> None:
        self._clock = clock
        self._pace = pace
        self._log = log
        self._tasks: set[asyncio.Task[None]] = set()
        self._forms_set = False
        self._holds: list[int] = []  # commands that wait for the set in motion
        self.changed: Callable[[], None] = lambda: None
        self._fresh = fresh
        boot = fresh.getrandbits(32) or 1
        decks = Random(random.getrandbits(64))
        self.mechanism = Mechanism(profile, random=decks, emit=self._emit, boot=boot, shuffles=shuffles)
        self.link = CardlinkDevice(
            key=key,
            boot=boot,
            identity=self._identity,
            status=lambda heard: cardlink_messages.status_of(self.mechanism.status(self.link.last_number), heard),
            random=lambda: fresh.getrandbits(128).to_bytes(16, "big"),
            on_command=self._on_command,
            on_host_lost=self._on_host_lost,
            memory=profile.memory,
            program=profile.program,
        )
        self.mechanism.on_restart = self.restart
        self.mechanism.power_on()

    def restart(self, cause: str) -> None:
        """Restart, with the cause in the device's own word. The link is lost, and so are the reports unless the device
        retains them.

        Cards and counts stay as they are; the lock closes.
        """
        boot = self._fresh.getrandbits(32) or 1
        self.mechanism.boot, self.mechanism.exit_held = boot, True
        self.link.reboot(boot, keep_reports=self.mechanism.profile.capabilities.retains_reports)
        self.mechanism.power_on(cause)

    @property
    def idle(self) -> bool:
        """Return whether every report is acknowledged and nothing moves."""
        return not self.link.unacknowledged and not self.mechanism.moving

    def receive(self, data: bytes) -> None:
        self.link.receive(data, self._clock())
        self.changed()

    def outgoing(self) -> bytes:
        """Return the bytes to be written now, each once."""
        return self.link.outgoing()

    def tick(self) -> None:
        self.link.tick(self._clock())

    def nap(self) -> float:
        """Return the seconds until `tick` is due."""
        return max(0.0, min(self.link.wake_at() - self._clock(), LONGEST_NAP))

    def _emit(self, observation: AnyObservation) -> None:
        uptime_ms = self.mechanism.clock.uptime_ms
        number = self.link.report(cardlink_messages.report_of(observation, uptime_ms), self._clock())
        self._log(log_line(self.link.boot, number, uptime_ms, observation))
        self.changed()

    def _identity(self, nonce: bytes, kept: list[messages.KeptReports]) -> messages.IdentityBody:
        return cardlink_messages.identity_of(self.mechanism.identity(), nonce, self.mechanism.profile.memory, kept)

    def _on_command(self, command_id: int, order: messages.AnyOrder) -> None:
        command = cardlink_messages.command_of(order)
        reason = self.mechanism.why_not(command)
        if reason:
            self._answer(command_id, CommandOutcome(False, reason))
        elif self._forms_set and isinstance(command, HoldExit):
            self._holds.append(command_id)
        elif self._holds and isinstance(command, ReleaseExit):
            for one in (*self._holds, command_id):  # it replaces the hold
                self._answer(one, CommandOutcome(True))
            self._holds.clear()
        elif self._pace.scale == 0:
            self._finish(command_id, command)
        else:
            self.mechanism.moving = self.mechanism.moving or command.moves_cards
            self._forms_set = self._forms_set or isinstance(command, Dispense)
            task = asyncio.get_running_loop().create_task(self._take_time(command_id, command))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _take_time(self, command_id: int, command: AnyCommand) -> None:
        """Carry out a command after its duration. Hold, release and show may end while another command moves cards."""
        try:
            await self._pace.wait(self.mechanism.seconds_for(command))
        finally:
            if command.moves_cards:
                self.mechanism.moving = self._forms_set = False
        self._finish(command_id, command)
        if isinstance(command, Dispense):
            for hold in self._holds:
                self._finish(hold, HoldExit())
            self._holds.clear()

    def _finish(self, command_id: int, command: AnyCommand) -> None:
        self._answer(command_id, self.mechanism.finish(command_id, command))

    def _answer(self, command_id: int, answer: CommandOutcome) -> None:
        self.link.answer(command_id, answer.done, answer.reason)
        self.changed()

    def _on_host_lost(self) -> None:
        self.mechanism.exit_held = True
