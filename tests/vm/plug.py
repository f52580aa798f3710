"""The simulated device on the host, and its cable into the machine: USB/IP to the virtual host controller inside.

The kernel's USB core, its drivers, udev and libusb inside see a device at a port. The port can be chosen, and the cable
can be pulled at any transfer. Neither a real host controller nor its timing is simulated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from random import Random, SystemRandom
from types import TracebackType
from typing import Final, Self

from simulators.devices.base import LoggedReport, Tempo
from simulators.devices.fault_injection import FaultInjector
from simulators.devices.faults import parse_fault
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.usbip import UsbipConnection, UsbIpFront
from simulators.usb.control import UsbPlan
from simulators.usb.descriptors import Foreign, UsbDescription
from simulators.usb.usb_device import Transfer, UsbDeviceSide
from simulators.usb.usb_front import UsbFront
from tests.vm.machine import HOST, Machine

PORTS: Final = 8  # the controller's ports for devices up to high speed
ATTACH: Final = Path(__file__).parent / "inside/attach.py"
INSIDE: Final = "/run/attach.py"


class Cable:
    """A device that can be plugged in, as an async context manager.

    `machine`: the machine into which it is plugged, which may change. `plugged_at`: the time of the loop when the
    machine last took the device. `log`: the observations of the device. `hub_reset`: the hub was reset, and the cable
    is out. `foreign`: interfaces that no device of ours has.
    """

    def __init__(
        self, machine: Machine, serial: str, key: bytes, *, seed: int = 7, foreign: tuple[Foreign, ...] = ()
    ) -> None:
        clock = asyncio.get_running_loop().time
        self.machine = machine
        self._clock = clock
        self.log: list[LoggedReport] = []
        self.pace = Tempo(0.0)
        self.device = SimulatedDevice(
            Profile("shuffler", serial, full_capabilities("shuffler")),
            key=key,
            random=Random(f"{seed}/device"),
            fresh=SystemRandom(),
            clock=clock,
            pace=self.pace,
            log=self.log.append,
        )
        plan = UsbPlan()
        self.injector = FaultInjector(self.device, seed=seed, clock=clock, usb=plan)
        self.usb = UsbDeviceSide(UsbDescription(serial, foreign=foreign))
        self.hub_reset = asyncio.Event()
        front = UsbFront(self.injector.line, self.usb, device=self.device, plan=plan)
        front.on_hub_reset = self._reset_hub
        self._server = _Server(front, self.usb, self)
        self.plugged_at = 0.0
        self._port = 0

    async def __aenter__(self) -> Self:
        await self._server.listen()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.close()

    async def plug(self, port: int = 0) -> None:
        """Plug the device into a port of the controller. Ports are counted from 0."""
        self._port = port
        await self._server.plug()
        await self.machine.guest.write(INSIDE, ATTACH.read_bytes())
        await self.machine.guest.run(f"python3 {INSIDE} {HOST} {self._server.port} {port}")

    async def unplug(self) -> None:
        """Unplug, and wait until the controller inside has noticed."""
        await self._server.unplug()
        await self.until_noticed()

    async def until_noticed(self) -> None:
        """Wait until the controller inside has no device at that port."""
        used = f"^hs *{self._port:04} 006 "
        await self.machine.guest.until(f"! grep -q '{used}' /sys/devices/platform/vhci_hcd.0/status")

    def unplug_at(self, so: Callable[[Transfer], bool]) -> asyncio.Event:
        """Pull the cable when the machine asks for such a transfer, which stays unanswered. Return the event that it
        happened.
        """
        happened = asyncio.Event()
        submit = self.usb.submit

        def watched(transfer: Transfer) -> None:
            if not happened.is_set() and so(transfer):
                happened.set()
                self._unplugging = asyncio.ensure_future(self._server.unplug())
            else:
                submit(transfer)

        self.usb.submit = watched  # type: ignore[method-assign]  # watches it
        return happened

    def arm(self, fault: str) -> None:
        """Arm a fault of the registry, as `cardshoe simulate --fault` takes it."""
        self.injector.arm(parse_fault(fault))

    def _reset_hub(self) -> None:
        self.hub_reset.set()
        self._unplugging = asyncio.ensure_future(self._server.unplug())

    def note_taken(self) -> None:
        self.plugged_at = self._clock()


class _Server(UsbIpFront):
    """Notes when the machine takes the device."""

    def __init__(self, front: UsbFront, usb: UsbDeviceSide, cable: Cable) -> None:
        super().__init__(front, usb, port=0)
        self._cable = cable

    def give(self, connection: UsbipConnection) -> bool:
        taken = super().give(connection)
        if taken:
            self._cable.note_taken()
        return taken
