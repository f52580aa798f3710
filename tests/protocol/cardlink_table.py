"""A table whose device is a mechanism that speaks cardlink in memory: real driver, real decisions, no daemon.

It replaces a scripted device, so that the crew of `tests.table.way_out` can lead it. No time passes.
"""

from __future__ import annotations

from random import Random
from typing import cast

from controller.daemon.table_service import input_of
from controller.games.specification import Unit
from controller.table import operations
from controller.table.inputs import DeviceGone
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.cards import DECK, Card
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import Heard, Reported
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.messages import AnyText
from firmware_bridge.observations import AnyObservation, DoorMoved
from simulators.devices.base import Tempo
from simulators.devices.fault_injection import FaultInjector
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from tests.support.uncooperative_device import UncooperativeDevice
from tests.table.watched import WatchedTable

from .parts import KEY, nonces


class WiredDevice:
    """A simulated device and the host's end of its link. `hear` takes what the host hears."""

    def __init__(self, unit: Unit, seed: int, table: CardlinkTable) -> None:
        kind = "shuffler" if unit is Unit.SETS else "shoe"
        random = Random(f"{seed}/device")
        self.unit = unit
        profile = Profile(kind, "T-1", full_capabilities(kind))  # type: ignore[arg-type]  # one of two kinds
        made = SimulatedDevice(
            profile, key=KEY, random=random, fresh=Random(seed), clock=lambda: 0.0, pace=Tempo(0)
        )  # fmt: skip
        self.injector = FaultInjector(made, seed=seed, clock=lambda: 0.0)
        self.made = made
        self.mechanism = made.mechanism
        self.capabilities = profile.capabilities
        self.simulated = True
        self.cycles = 0
        self._table = table
        self._nonce = nonces()
        self._host: CardlinkHost | None = None
        self._held = (0, 0)
        self._pumping = False

    # -- the crew's view -------------------------------------------------------------------------------------------

    @property
    def linked(self) -> bool:
        return self._host is not None

    @linked.setter
    def linked(self, linked: bool) -> None:
        if not linked:
            self._host = None

    @property
    def inside(self) -> list[Card]:
        return self.mechanism.inside

    @property
    def tray(self) -> list[Card]:
        return self.mechanism.tray

    @property
    def deck(self) -> int:
        return 1

    @property
    def left(self) -> int:
        return len(self.inside) + len(self.tray)

    @property
    def identity(self) -> DeviceIdentity:
        return self.mechanism.identity()

    @property
    def faults(self) -> tuple[str, ...]:
        return (f"jam: {self.mechanism.jammed}",) if self.mechanism.jammed else ()

    @faults.setter
    def faults(self, faults: tuple[str, ...]) -> None:
        """Set the faults. A jam does not end by itself, so clear it."""

    # -- acts of people --------------------------------------------------------------------------------------------

    def load(self) -> None:
        self.cycles += 1
        shoe = self.mechanism.profile.kind == "shoe"
        self.mechanism.load(self.mechanism.shuffled_by_hand() if shoe else list(DECK), deck=1)
        self.converse()

    def lift(self) -> None:
        self.mechanism.lift_set()
        self.converse()

    def draw(self) -> None:
        self.mechanism.draw(forced=True)
        self.converse()

    def give_out(self) -> None:
        (self.lift if self.mechanism.profile.kind == "shuffler" else self.draw)()

    def clear_jam(self, zone: str) -> None:
        if self.mechanism.jammed:
            self.mechanism.clear_jam()
        self.converse()

    def report(self, observation: AnyObservation) -> None:
        """Report the door, the only thing that people move."""
        assert observation == DoorMoved(False)
        self.made.link.report(messages.DoorMovedReport(0, False), 0.0)
        self.converse()

    # -- the link --------------------------------------------------------------------------------------------------

    def obey(self, command_id: int, command: AnyCommand) -> None:
        if self._host is not None:
            self._host.command(command_id, command, 0.0)
            self.converse()

    def connect(self) -> None:
        self._host = CardlinkHost(nonce=self._nonce(), key_of=lambda serial: KEY, held=self._held, now=0.0)
        self.converse()

    def heartbeat(self) -> None:
        if self.made.link.linked:
            self.made.link.send_status(0.0)
            self.converse()

    def converse(self) -> None:
        """Exchange bytes until neither side has anything to send. Anything heard meanwhile waits for its turn."""
        if self._pumping:
            return
        self._pumping = True
        try:
            while self._host is not None:
                sent = self._host.outgoing()
                self.injector.line.receive(sent)
                self.injector.line.tick()
                data = self.injector.line.outgoing()
                if not sent and not data:
                    return
                for thing in self._host.receive(data, 0.0):
                    self._take(thing)
        finally:
            self._pumping = False

    def _take(self, thing: Heard) -> None:
        self._table.give(input_of(thing))
        if isinstance(thing, Reported):
            self._held = (thing.boot, thing.number)
            if self._host is not None:
                self._host.acknowledge(*self._held, 0.0)


class CardlinkTable(WatchedTable):
    """A table with a cardlink device. `wired` is the same device with its real type."""

    def __init__(self, unit: Unit, seed: int) -> None:
        super().__init__(unit)
        self.wired = WiredDevice(unit, seed, self)
        self.device = cast(UncooperativeDevice, self.wired)

    def connect(self) -> None:
        self.wired.connect()
        self.heartbeat()

    def lose_link(self, sentence: AnyText = "The cable was pulled.") -> None:
        self.wired.linked = False
        self.give(DeviceGone("link-lost", sentence))

    def heartbeat(self) -> None:
        self.wired.heartbeat()

    def fresh_deck(self) -> None:
        """Load a deck. A deck that a shoe miscounts is refused, and people load another deck."""
        self.wired.load()
        if self.wired.unit is Unit.SINGLES:
            self.say(operations.ShuffledOutside("batch shuffler"))
