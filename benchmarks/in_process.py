"""A table without processes: the host's end of cardlink and `decide`, fed with the bytes of a simulated device.

`record` plays rounds with a simulated shoe and keeps the bytes and operations; `replay` gives them to a fresh host and
table, so that only the host's side is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias
from uuid import UUID

from controller.daemon.table_service import input_of
from controller.games.specification import Unit
from controller.roles import Role
from controller.table import operations
from controller.table.decide import decide
from controller.table.decision import Decided
from controller.table.events import CommandIssued
from controller.table.inputs import AnyInput, DaemonStarted, DeviceReported, PersonActed
from controller.table.operations import AnyOperation
from controller.table.phases import Phase
from controller.table.settings import Settings
from controller.table.state import TableState
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice

KEY = bytes(32)
BOXES = (1, 2, 3, 4, 5, 6, 7, 8)
START = DaemonStarted("BENCH", True, Settings("NC", Unit.SINGLES, 8, hands_by_device=True), "bench")

Step: TypeAlias = bytes | AnyOperation
Commit: TypeAlias = Callable[[AnyInput, Decided], None]


class HostSide:
    """One host and one table. `commit` is called for every decision before it takes effect."""

    def __init__(self, commit: Commit = lambda given, decided: None) -> None:
        self.state = TableState()
        self.inputs = 0
        self._commit = commit
        self._uuids = Random(1)
        self._host = CardlinkHost(nonce=bytes(16), key_of=lambda serial: KEY, held=(0, 0), now=0.0)
        self.take(START)

    def take(self, given: AnyInput) -> None:
        decided = decide(self.state, given)
        self.inputs += 1
        if decided.events:
            self._commit(given, decided)
        self.state = decided.state
        if isinstance(given, DeviceReported):
            self._host.acknowledge(given.boot, given.number, 0.0)
        first = decided.state.entry - len(decided.events) + 1
        for number, event in enumerate(decided.events, start=first):
            if isinstance(event, CommandIssued):
                self._host.command(number, event.command, 0.0)

    def step(self, step: Step) -> None:
        """Take bytes from the device, or an operation of the dealer."""
        if isinstance(step, bytes):
            for heard in self._host.receive(step, 0.0):
                self.take(input_of(heard))
        else:
            operation_id = str(UUID(int=self._uuids.getrandbits(128)))
            self.take(PersonActed(operation_id, "dealer", Role.DEALER, self.state.round.number, step))

    def outgoing(self) -> bytes:
        return self._host.outgoing()


class SmoothRounds:
    """A simulated shoe and a table that plays smooth rounds with eight boxes, card by card.

    `steps` holds the host's inputs.
    """

    def __init__(self, commit: Commit = lambda given, decided: None) -> None:
        profile = Profile("shoe", "CARDSHOE-BENCH", full_capabilities("shoe"))
        self._device = SimulatedDevice(
            profile, key=KEY, random=Random(1), fresh=Random(2), clock=lambda: 0.0, pace=Tempo(0)
        )
        self.side = HostSide(commit)
        self.steps: list[Step] = []
        self._exchange()
        self._device.tick()
        self._device_did()
        self._act(operations.OpenTable())

    def play(self) -> None:
        """Play one round."""
        mechanism = self._device.mechanism
        mechanism.load(mechanism.shuffled_by_hand(), deck=1)
        self._device_did()
        self._act(operations.ShuffledOutside("bench"), operations.PlaceYourBets(), operations.OccupyBoxes(BOXES))
        self._act(operations.NoMoreBets())
        while self.side.state.phase is Phase.DEALING_SINGLES:
            if not mechanism.draw():
                raise RuntimeError("the simulated shoe gave no card")
            self._device_did()
        self._act(*(operations.ExposeHand(place) for place in ("D", *(f"B{number}" for number in BOXES))))
        self._act(operations.RecordSettled(), operations.ConcludeRound(), operations.ConcludeRound())
        if self.side.state.phase is not Phase.CONCLUDED:
            raise RuntimeError(f"a smooth round ended in {self.side.state.phase}")

    def _exchange(self) -> None:
        while data := self.side.outgoing():
            self._device.receive(data)
            if answer := self._device.link.outgoing():
                self._step(answer)

    def _act(self, *done: AnyOperation) -> None:
        for operation in done:
            self._step(operation)
            self._exchange()

    def _device_did(self) -> None:
        if sent := self._device.link.outgoing():
            self._step(sent)
        self._exchange()

    def _step(self, step: Step) -> None:
        self.steps.append(step)
        self.side.step(step)


def record(rounds: int) -> list[Step]:
    """Return the steps of `rounds` smooth rounds."""
    table = SmoothRounds()
    for _ in range(rounds):
        table.play()
    return table.steps


def replay(steps: Sequence[Step], commit: Commit = lambda given, decided: None) -> HostSide:
    """Give the steps to a fresh host and table."""
    side = HostSide(commit)
    for step in steps:
        side.step(step)
        side.outgoing()
    return side
