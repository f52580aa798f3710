"""What every transport is to the link keeper: a way for bytes on the event loop, and word when the way is gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportLostError

UNSENT_LIMIT: Final = 65536  # bytes; more than a device that lives leaves waiting
GONE_HINT: Final = "Check the cable and the device's power. The link comes back by itself."

OnData: TypeAlias = Callable[[bytes], None]
OnLost: TypeAlias = Callable[[TransportLostError], None]


class Transport(Protocol):
    """An open way to a device. All of it happens on the event loop's thread.

    `on_data` gets what came, never empty. `on_lost` is called at most once, perhaps from within `write`; the transport
    has then already let go of everything it held. After `close` neither is called.
    """

    def write(self, data: bytes) -> None:
        """Send, or keep for sending as soon as the way takes more. Never blocks; never raises for a lost way."""

    def close(self) -> None:
        """Let go of the way at once. What was not sent is dropped. Closing again does nothing."""


class OpenTransport(Protocol):
    """Opens the way that a URL names, within a bounded time.

    Raises TransportUnavailableError when it cannot be opened; nothing is then held. No callback comes before the
    transport has been handed over.
    """

    def __call__(self, url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Awaitable[Transport]: ...
