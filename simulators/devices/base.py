"""What a front end needs of a simulated device: bytes in, bytes out, and when to ask again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class DeviceSide(Protocol):
    """A device's end of the wire, whatever carries it."""

    changed: Callable[[], None]
    """Set by the front end; called whenever bytes or time may be due."""

    def receive(self, data: bytes) -> None:
        """Take what the host sent."""

    def outgoing(self) -> bytes:
        """What is to be written now; asking takes it."""

    def tick(self) -> None:
        """Let time pass."""

    def nap(self) -> float:
        """Seconds until `tick` is due."""
