"""A device behind a faulty line and a host that reconnects: a deck is loaded, and cards leave one after the other.

Time is a number that jumps from one due event to the next.
"""

from __future__ import annotations

from itertools import count
from random import Random
from typing import Final, TypeVar

from firmware_bridge.commands import AnyCommand, Dispense, ReleaseExit, Shuffle
from firmware_bridge.device_url import DEFAULT_DRIVER, DeviceUrl
from firmware_bridge.drivers.base import Answered, Driver, Heard, LinkOver, LinkStatistics, Reported
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.observations import AnyObservation, CardDrawn, CardsDrawnTogether, SetDispensed
from simulators.devices.base import Tempo
from simulators.devices.fault_injection import FaultInjector
from simulators.devices.faults import Side, parse_fault
from simulators.devices.line_reader import simulated_identifiers
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.one_way_shoes import ONE_WAY_SHOES
from simulators.devices.simulated_device import SimulatedDevice
from simulators.driver_conformance.every_driver import reports
from simulators.usb.control import UsbPlan

from .parts import KEY
from .table import add_up

ObservationT = TypeVar("ObservationT", bound=AnyObservation)
SETTLED_WITHIN: Final = 8.0  # seconds of silence, after which nothing more comes
BACK_OFF: Final = 0.2  # seconds between one link and the next


class FaultCourse:
    """A course over a faulty line. `heard` is everything that the host hears, on all its links."""

    def __init__(self, side: Side, *, seed: int = 7) -> None:
        self.now = 0.0
        self.side = side
        self.heard: list[Heard] = []
        self.answers: list[Answered] = []
        self.drawn: list[str] = []
        self.links = 0
        self.asked = 0  # cards that should have left
        self.statistics = LinkStatistics()
        self.was_stale = False
        self._nonces = count(1)
        self._commands = count(1)
        self._held = (0, 0)
        self._make_driver = load_driver(self.driver_name)
        self.injector = FaultInjector(
            self._device(), driver=self.driver_name, seed=seed, clock=lambda: self.now, usb=self._usb_plan()
        )
        self.injector.line.on_cut = self._cut
        self.mechanism = self.injector.mechanism
        self._is_cut = False
        self._connect()

    @property
    def driver_name(self) -> str:
        return DEFAULT_DRIVER if self.side in ("shuffler", "shoe") else self.side

    # -- the tests' operations -------------------------------------------------------------------------------------

    def arm(self, *faults: str) -> None:
        for text in faults:
            self.injector.arm(parse_fault(text))

    def load(self) -> None:
        """Load a deck, ready for the deal."""
        self.mechanism.load(self.mechanism.shuffled_by_hand(), deck=1)
        if self.side == "shuffler":
            self.order(Shuffle())
        self.release()

    def release(self) -> None:
        if self.driver_name == DEFAULT_DRIVER:
            self.order(ReleaseExit())

    def order(self, command: AnyCommand) -> Answered | None:
        """Send a command, and return the answer, or None if the device does not answer."""
        command_id = next(self._commands)
        self.run()
        self._driver.command(command_id, command, self.now)
        self.run()
        return next((answer for answer in self.answers if answer.command_id == command_id), None)

    def take(self, times: int = 1, *, at_once: bool = False) -> None:
        """Draw a card, or order and lift a set. `at_once`: the next does not wait for a report of the previous one."""
        for _ in range(times):
            self.asked += 3 if self.side == "shuffler" else 1
            if self.mechanism.exit_held and not at_once:
                self.release()
            if self.side == "shuffler":
                self.order(Dispense(3))
                self.drawn += [card.code for card in self.mechanism.lift_set()]
            else:
                self.drawn += [card.code for card in self.mechanism.draw()]
            if not at_once:
                self.run()
        self.run()

    def settle(self) -> None:
        """Run until a device that needs acknowledgements has nothing left to report. Fail if that does not end."""
        assert isinstance(self.injector.device, SimulatedDevice)
        for _ in range(20):
            if self.injector.device.idle:
                return
            self.run()
        raise AssertionError("both ends have come to a standstill")

    def plug(self) -> None:
        self.injector.line.join()
        self._is_cut = False
        self._connect()

    def of(self, kind: type[ObservationT]) -> list[ObservationT]:
        """Return the reports of that kind."""
        return [one.observation for one in reports(self.heard) if isinstance(one.observation, kind)]

    @property
    def cards(self) -> list[str]:
        """Return every card reported to the host, in order; "?" for an unrecognised one."""
        reported = []
        for report in reports(self.heard):
            match report.observation:
                case CardDrawn(card=card):
                    reported.append(card)
                case CardsDrawnTogether(cards=cards) | SetDispensed(cards=cards):
                    reported += cards
        return ["?" if card is None else card.expose().code for card in reported]

    # -- time ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run until everything that is due has happened."""
        end = self.now + SETTLED_WITHIN
        self._converse()
        while (due := self._next_due()) <= end:
            self.now = max(self.now, due)
            self._converse()
        self.now = end

    def _next_due(self) -> float:
        times = [self.now + max(self.injector.line.nap(), 1e-3)]
        times += [] if self._is_cut else [self._driver.wake_at()]
        return max(self.now + 1e-3, min(times))

    def _converse(self) -> None:
        while True:
            self.injector.line.tick()
            data = self._from_device()
            over = False
            if not self._is_cut or data:
                over = self._hear([*self._driver.receive(data, self.now), *self._driver.tick(self.now)])
                self.was_stale = self.was_stale or self._driver.is_stale(self.now)
            if over:
                self._connect()
                continue
            sent = self._driver.outgoing()
            if sent and not self._is_cut:
                self._to_device(sent)
            if not data and not sent:
                return

    def _from_device(self) -> bytes:
        """Return what has arrived at the host."""
        return self.injector.line.outgoing()

    def _to_device(self, data: bytes) -> None:
        self.injector.line.receive(data)

    def _hear(self, heard: list[Heard]) -> bool:
        """Let the host hear it; return whether the link is over."""
        for thing in heard:
            self.heard.append(thing)
            match thing:
                case Reported():
                    self._held = (thing.boot, thing.number)
                    self._driver.acknowledge(thing.boot, thing.number, self.now)
                case Answered():
                    self.answers.append(thing)
                case LinkOver():
                    return True
        return False

    def _cut(self) -> None:
        self._is_cut = True

    # -- parts -----------------------------------------------------------------------------------------------------

    def _connect(self) -> None:
        if self.links:
            add_up(self.statistics, self._driver.statistics)
            self.now += BACK_OFF
        self.links += 1
        nonce = next(self._nonces).to_bytes(4, "big") + bytes(12)
        url = DeviceUrl("serial", path="/dev/cardshoe/SHOE-9", driver=self.driver_name)
        identifiers = simulated_identifiers() if self.side == "line_reader" else {}
        setting = DriverSetting(nonce, url.line, lambda serial: KEY, self._held, identifiers, True)
        self._driver: Driver = self._make_driver(setting, self.now)

    def total(self) -> LinkStatistics:
        """Return the statistics of all links."""
        summed = LinkStatistics()
        add_up(summed, self.statistics)
        add_up(summed, self._driver.statistics)
        return summed

    def _device(self) -> SimulatedDevice:
        if self.side in ONE_WAY_SHOES:
            return ONE_WAY_SHOES[self.side](serial="SHOE-9", random=Random(1))  # type: ignore[return-value]  # it has the interface that is used
        kind = "shuffler" if self.side == "shuffler" else "shoe"
        profile = Profile(kind, "SHOE-9", full_capabilities(kind))  # type: ignore[arg-type]  # one of two kinds
        clock = self._clock
        return SimulatedDevice(profile, key=KEY, random=Random(1), fresh=Random(2), clock=clock, pace=Tempo(0))

    def _usb_plan(self) -> UsbPlan | None:
        """Return None: it is not on USB."""
        return None

    def _clock(self) -> float:
        return self.now
