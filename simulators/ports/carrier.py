"""Runs a simulated device on the event loop: wakes it when it is due, and hands its bytes to a front end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from simulators.devices.base import DeviceSide


class Carrier:
    """Runs the device from `start` to `stop`, and passes its bytes to `send`; outside that its time stands still.

    It needs no task: the loop calls it when the device is due.
    """

    def __init__(self, device: DeviceSide, send: Callable[[bytes], None]) -> None:
        self._device = device
        self._send = send
        self._timer: asyncio.TimerHandle | None = None
        self._running = False

    def start(self) -> None:
        if not self._running:
            self._running = True
            self._device.changed = self._soon
            self._soon()

    def stop(self) -> None:
        if self._running:
            self._running = False
            self._device.changed = lambda: None
            self._drop_timer()

    def take(self, data: bytes) -> None:
        """Take what the host wrote."""
        if self._running and data:
            self._device.receive(data)

    def _soon(self) -> None:
        self._call_after(0.0)

    def _call_after(self, seconds: float) -> None:
        self._drop_timer()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._turn)

    def _drop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _turn(self) -> None:
        self._timer = None
        if not self._running:
            return
        self._device.tick()
        if data := self._device.outgoing():
            self._send(data)
        if self._running and self._timer is None:
            self._call_after(self._device.nap())
