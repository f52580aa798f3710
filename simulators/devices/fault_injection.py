"""A simulated device behind a faulty line, and every fault that it can be given, whatever carries its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Protocol

import msgspec
from msgspec.structs import replace

from firmware_bridge.device_url import DEFAULT_DRIVER
from simulators.devices.armed_faults import ArmedFaults
from simulators.devices.base import DeviceSide
from simulators.devices.fault_presets import Preset
from simulators.devices.faults import FAULTS, SIDES, BadFaultError, ChosenFault, Fault, Side, find_fault
from simulators.devices.faulty_line import FaultyLine
from simulators.devices.mechanism import Mechanism


class DeviceWithMechanism(DeviceSide, Protocol):
    """A device's side with a mechanism in it."""

    mechanism: Mechanism


class Rig:
    """`line` is what a front end carries. Everything by chance follows from the seed."""

    def __init__(
        self, device: DeviceWithMechanism, *, driver: str = DEFAULT_DRIVER, seed: int, clock: Callable[[], float]
    ) -> None:
        self.device = device
        self.mechanism = device.mechanism
        self.driver = driver
        self.line = FaultyLine(device, driver=driver, random=Random(f"{seed}/line"), clock=clock)
        kind = self.mechanism.profile.kind if driver == DEFAULT_DRIVER else driver
        self.side: Side = next(side for side in SIDES if side == kind)
        self.seed = seed
        self._preset: Preset | None = None
        self._random = Random(f"{seed}/faults")
        self._of_preset: list[ArmedFaults] = []

    @property
    def name(self) -> str:
        """What device it is, at the beginning of a sentence."""
        named = SIDES[self.side]
        return named[0].upper() + named[1:]

    def reseed(self, seed: int) -> None:
        """Draw from here on by another seed. The decks keep theirs."""
        self.seed = seed
        self._random = Random(f"{seed}/faults")
        self.line.seed(Random(f"{seed}/line"))

    # -- faults ----------------------------------------------------------------------------------------------------

    def arm(self, chosen: ChosenFault) -> None:
        """Let it happen. Raises `BadFaultError` where this device cannot show it."""
        fault = chosen.fault
        self._check(fault)
        if fault.arms:
            self.mechanism.arms.named.append(self._armed(fault, chosen.ordinal))
        elif fault.name == "silent":
            self.line.silent_from = self.line.to_host.sent + (chosen.ordinal or 1)
        elif fault.name == "unplug":
            self.line.cut_at = self.line.to_host.sent + (chosen.ordinal or 1)
        elif chosen.value is not None:
            value = int(chosen.value) if fault.unit == "bytes" else chosen.value
            self.line.trouble = replace(self.line.trouble, **{fault.line: value})
        else:
            frame = self.line.to_host.sent + (chosen.ordinal or 1)
            self.line.to_host.armed.setdefault(fault.line, set()).add(frame)

    def disarm(self, fault: Fault) -> None:
        """Whatever of it has not happened yet will not happen."""
        self._check(fault)
        if fault.arms:
            like = self._armed(fault, 1)
            arms = self.mechanism.arms
            arms.named = [one for one in arms.named if _what(one) != _what(like)]
        elif fault.name == "silent":
            self.line.silent_from = 0
            self.line.changed()
        elif fault.name == "unplug":
            self.line.cut_at = 0
        else:
            self.line.trouble = replace(self.line.trouble, **{fault.line: 0})
            self.line.to_host.armed.pop(fault.line, None)

    def armed(self) -> list[str]:
        """What will still happen, as it is written."""
        found = [
            f"{fault.name}@{place}"
            for one in self.mechanism.arms.named
            for fault in FAULTS
            if fault.arms and (place := _place_in(one, fault)) and one == self._armed(fault, place)
        ]
        line = self.line
        found += [f"{fault.name}={value:g}" for fault in FAULTS if fault.line and (value := self._value_of(fault))]
        for fault in FAULTS:
            frames = line.to_host.armed.get(fault.line, set()) if fault.line else set()
            found += [
                f"{fault.name}@{frame - line.to_host.sent}" for frame in sorted(frames) if self._is_to_come(frame)
            ]
        found += [f"unplug@{line.cut_at - line.to_host.sent}"] if line.cut_at else []
        found += [f"silent@{max(1, line.silent_from - line.to_host.sent)}"] if line.silent_from else []
        return found

    def use(self, preset: Preset) -> None:
        """Plan the faults of every deck from the next one on. Raises `BadFaultError`."""
        if self.side not in preset.sides:
            raise BadFaultError(
                f"{self.name} cannot show the faults of {preset.name}.",
                f"These can: {', '.join(SIDES[side] for side in preset.sides)}.",
            )
        self._preset = preset
        self.mechanism.before_load = self._plan_cycle

    def _plan_cycle(self, cards: int) -> None:
        """The last deck's faults that did not come about are over with it."""
        assert self._preset is not None
        arms = self.mechanism.arms
        arms.named = [one for one in arms.named if not any(one is other for other in self._of_preset)]
        planned = self._preset.plan(self._random, cards)
        self._of_preset = [self._armed(find_fault(name), place) for name, place in planned]
        arms.named += self._of_preset

    def _check(self, fault: Fault) -> None:
        if self.side not in fault.shows:
            able = ", ".join(SIDES[side] for side in fault.shows)
            raise BadFaultError(
                f"{self.name} cannot show {fault.name}: it has no word for it.",
                f"These can: {able}.",
            )

    def _armed(self, fault: Fault, ordinal: int) -> ArmedFaults:
        first = 1 if fault.of == "card of the next deck" else self.mechanism.next_out
        place = ordinal or first
        fields = {name: place if what == "ordinal" else what for name, what in fault.arms.items()}
        return msgspec.convert(fields, ArmedFaults)

    def _value_of(self, fault: Fault) -> float:
        value: float = getattr(self.line.trouble, fault.line)
        return value

    def _is_to_come(self, frame: int) -> bool:
        return frame > self.line.to_host.sent


def _place_in(armed: ArmedFaults, fault: Fault) -> int:
    field = next(name for name, what in fault.arms.items() if what == "ordinal")
    place: int = getattr(armed, field)
    return place


def _what(armed: ArmedFaults) -> ArmedFaults:
    """The same with its ordinal as 1: what it is, and not where."""
    places = {name: bool(getattr(armed, name)) for name in armed.__struct_fields__ if name.endswith("_at")}
    return replace(armed, **{name: int(there) for name, there in places.items()})


def arm_all(rig: Rig, chosen: Iterable[ChosenFault]) -> None:
    """Raises `BadFaultError` at the first that this device cannot show."""
    for one in chosen:
        rig.arm(one)
