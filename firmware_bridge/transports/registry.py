"""The transports there are: a scheme of device URLs each, imported only when a URL asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.transports.base import OnData, OnLost, OpenTransport, Transport


def _serial() -> OpenTransport:
    from firmware_bridge.transports.serial_port import open_serial_port

    return open_serial_port


TRANSPORTS: Final[dict[str, Callable[[], OpenTransport]]] = {
    "serial": _serial,
}


async def open_transport(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
    """Open the way that `url` names. Raises TransportUnavailableError when this version or this machine cannot."""
    load = TRANSPORTS.get(url.scheme)
    if load is None:
        usable = ", ".join(f"{scheme}:" for scheme in sorted(TRANSPORTS))
        raise TransportUnavailableError(
            f"This version cannot use {url.scheme}: devices yet.",
            f"Connect the device so that one of these fits: {usable}",
        )
    return await load()(url, on_data=on_data, on_lost=on_lost)
