"""Injects every fault into a simulated device and its line, whatever carries the bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

import msgspec
from msgspec.structs import replace

from firmware_bridge.device_url import DEFAULT_DRIVER
from firmware_bridge.messages import Message, message
from simulators.devices.armed_faults import ArmedFault
from simulators.devices.base import DeviceWithMechanism
from simulators.devices.faults import FAULTS, SIDES, BadFaultError, ChosenFault, Side, SimulatedFault, find_fault
from simulators.devices.faulty_line import FaultyLine
from simulators.devices.mechanism import SET_SIZE
from simulators.usb.control import UsbPlan

SURE_TO_LEAVE: Final = 2 * SET_SIZE  # cards in a deck that every round deals: one box and the Dealer


class Preset(msgspec.Struct, frozen=True):
    """A mix of independent faults: `counted` says in how many of `cycles` each fault came.

    A cycle is a deck that is loaded. A fault of a card that leaves comes at one of the first six, which every round
    deals.
    """

    name: str
    does: str
    cycles: int
    counted: Mapping[str, int]
    sides: tuple[Side, ...]

    def chance(self, fault: str) -> float:
        return self.counted[fault] / self.cycles

    def plan(self, random: Random, cards: int) -> list[tuple[str, int]]:
        """Return the faults of one cycle, each with its card. `cards` is the number of cards loaded."""
        planned = []
        for name in self.counted:
            happens, place = random.random() < self.chance(name), random.random()
            last = cards if find_fault(name).of == "card of the next deck" else SURE_TO_LEAVE
            if happens:
                planned.append((name, 1 + int(place * last)))
        return planned


PRESETS: Final = {
    preset.name: preset
    for preset in (
        Preset(
            "real-machine",
            "The log of a real machine: how many of 1056 cycles had each kind of fault.",
            1056,
            {"missing-card": 201, "extra-card": 4, "door-jam": 231, "jam-recovery": 2, "platform-fault": 631},
            ("shuffler", "shoe"),
        ),
    )
}


class FaultInjector:
    """A device behind `line`, which a port carries, and the faults of both. All chances follow from the seed.

    `usb` has the faults of a device on USB; `on_hub_reset` is called when the hub resets.
    """

    def __init__(
        self,
        device: DeviceWithMechanism,
        *,
        driver: str = DEFAULT_DRIVER,
        seed: int,
        clock: Callable[[], float],
        usb: UsbPlan | None = None,
    ) -> None:
        self.usb = usb
        self.on_hub_reset: Callable[[], None] = lambda: None
        self.device = device
        self.mechanism = device.mechanism
        self.driver = driver
        self.line = FaultyLine(device, driver=driver, random=Random(f"{seed}/line"), clock=clock)
        kind = self.mechanism.profile.kind if driver == DEFAULT_DRIVER else driver
        self.side: Side = next(side for side in SIDES if side == kind)
        self.seed = seed
        self._preset: Preset | None = None
        self._random = Random(f"{seed}/faults")
        self._of_preset: list[ArmedFault] = []

    @property
    def name(self) -> Message:
        """The kind of device."""
        return SIDES[self.side]

    def reseed(self, seed: int) -> None:
        """Draw with a new seed from now on. The decks keep their seeds."""
        self.seed = seed
        self._random = Random(f"{seed}/faults")
        self.line.seed(Random(f"{seed}/line"))

    # -- faults ----------------------------------------------------------------------------------------------------

    def arm(self, chosen: ChosenFault) -> None:
        """Arm a fault. Raise `BadFaultError` if this device cannot show it."""
        fault = chosen.fault
        self._check(fault)
        if fault.of_cards:
            self.mechanism.faults.named.append(self._armed(fault, chosen.ordinal))
        elif fault.usb:
            self._arm_on_usb(chosen)
        elif fault.name == "silent":
            self.line.silent_from = self.line.to_host.sent + (chosen.ordinal or 1)
        elif fault.name == "unplug":
            self.line.cut_at = self.line.to_host.sent + (chosen.ordinal or 1)
        elif chosen.value is not None:
            value = int(chosen.value) if fault.unit == "bytes" else chosen.value
            self.line.faults = replace(self.line.faults, **{fault.line: value})
        else:
            frame = self.line.to_host.sent + (chosen.ordinal or 1)
            self.line.to_host.armed.setdefault(fault.line, set()).add(frame)

    def disarm(self, fault: SimulatedFault) -> None:
        """Disarm a fault that has not happened yet."""
        self._check(fault)
        if fault.of_cards:
            faults = self.mechanism.faults
            faults.named = [one for one in faults.named if one.name != fault.name]
        elif fault.usb:
            setattr(self.usb, fault.usb, set() if fault.of == "frame" else 0)
        elif fault.name == "silent":
            self.line.silent_from = 0
            self.line.changed()
        elif fault.name == "unplug":
            self.line.cut_at = 0
        else:
            self.line.faults = replace(self.line.faults, **{fault.line: 0})
            self.line.to_host.armed.pop(fault.line, None)

    def armed(self) -> list[str]:
        """Return the faults that will still happen, as written after --fault."""
        found = [f"{one.name}@{one.at}" for one in self.mechanism.faults.named]
        line = self.line
        found += [f"{fault.name}={value:g}" for fault in FAULTS if fault.line and (value := self._value_of(fault))]
        for fault in FAULTS:
            frames = line.to_host.armed.get(fault.line, set()) if fault.line else set()
            found += [
                f"{fault.name}@{frame - line.to_host.sent}" for frame in sorted(frames) if self._is_to_come(frame)
            ]
        found += [f"unplug@{line.cut_at - line.to_host.sent}"] if line.cut_at else []
        found += [f"silent@{max(1, line.silent_from - line.to_host.sent)}"] if line.silent_from else []
        return found + self._armed_on_usb()

    def use(self, preset: Preset) -> None:
        """Plan the faults of every deck, beginning with the next deck. Raise `BadFaultError` if this device cannot show
        them.
        """
        if self.side not in preset.sides:
            raise BadFaultError(
                message("{device} cannot show the faults of {preset}.", device=self.name, preset=preset.name),
                message("These can: {devices:list}.", devices=tuple(SIDES[side] for side in preset.sides)),
            )
        self._preset = preset
        self.mechanism.before_load = self._plan_cycle

    def _plan_cycle(self, cards: int) -> None:
        """Plan the next deck's faults. Those of the last deck that did not happen are dropped."""
        assert self._preset is not None
        faults = self.mechanism.faults
        faults.named = [one for one in faults.named if not any(one is other for other in self._of_preset)]
        planned = self._preset.plan(self._random, cards)
        self._of_preset = [self._armed(find_fault(name), place) for name, place in planned]
        faults.named += self._of_preset

    def _arm_on_usb(self, chosen: ChosenFault) -> None:
        plan, name = self.usb, chosen.fault.usb
        assert plan is not None, "it was checked"
        if chosen.fault.of == "frame":
            getattr(plan, name).add(plan.sent + (chosen.ordinal or 1))
        else:
            setattr(plan, name, int(chosen.value or chosen.ordinal or 1))

    def _armed_on_usb(self) -> list[str]:
        plan, found = self.usb, []
        for fault in (one for one in FAULTS if plan is not None and one.usb):
            value = getattr(plan, fault.usb)
            if fault.of == "frame" and plan is not None:
                found += [f"{fault.name}@{frame - plan.sent}" for frame in sorted(value) if frame > plan.sent]
            elif value:
                found.append(f"{fault.name}{'@' if fault.of == 'request' else '='}{value}")
        return found

    def _check(self, fault: SimulatedFault) -> None:
        if fault.usb and self.usb is None:
            raise BadFaultError(
                message("Only a device on USB can show {fault}.", fault=fault.name), message("Start it with --usbip.")
            )
        if self.side not in fault.shows:
            raise BadFaultError(
                message("{device} cannot show {fault}.", device=self.name, fault=fault.name),
                message("These can: {devices:list}.", devices=tuple(SIDES[side] for side in fault.shows)),
            )

    def _armed(self, fault: SimulatedFault, ordinal: int) -> ArmedFault:
        first = 1 if fault.of == "card of the next deck" else self.mechanism.next_out
        return ArmedFault(fault.name, ordinal or first)

    def _value_of(self, fault: SimulatedFault) -> float:
        value: float = getattr(self.line.faults, fault.line)
        return value

    def _is_to_come(self, frame: int) -> bool:
        return frame > self.line.to_host.sent
