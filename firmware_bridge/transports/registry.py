"""The registry of transports: one for each scheme of device URLs, imported only when a URL names it.

Other packages add theirs by the entry point group `cardshoe.transports`, with the scheme as the name. The simulators
add `sim` in this way, because nothing may import them.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Final, cast

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportUnavailableError, type_and_place
from firmware_bridge.messages import message
from firmware_bridge.transports.base import OnData, OnLost, OpenTransport, Transport

ENTRY_POINTS: Final = "cardshoe.transports"


def _serial() -> OpenTransport:
    from firmware_bridge.transports.serial_port import open_serial_port

    return open_serial_port


def _tcp() -> OpenTransport:
    from firmware_bridge.transports.tcp import open_tcp

    return open_tcp


def _usb() -> OpenTransport:
    from firmware_bridge.transports.usb import open_usb_device

    return open_usb_device


TRANSPORTS: Final[dict[str, Callable[[], OpenTransport]]] = {
    "serial": _serial,
    "tcp": _tcp,
    "usb": _usb,
}


def find_transport(scheme: str, find_entries: Callable[..., Any] = entry_points) -> OpenTransport:
    """Return the transport that opens connections for a URL scheme. `find_entries` finds entry points.

    Raise TransportUnavailableError if nothing is installed for it.
    """
    load = TRANSPORTS.get(scheme)
    if load is not None:
        return load()
    for row in find_entries(group=ENTRY_POINTS, name=scheme):
        try:
            return cast(OpenTransport, row.load())
        except Exception as error:  # code of another package
            raise TransportUnavailableError(
                message(
                    "The transport for {scheme}: devices cannot be imported ({error}).",
                    scheme=scheme,
                    error=type_and_place(error),
                ),
                message("Reinstall the package that contains {package}.", package=row.value),
            ) from error
    raise TransportUnavailableError(
        message("No transport for {scheme}: devices is installed.", scheme=scheme),
        message(
            "Reinstall this program completely, or connect the device so that one of these fits: {kinds:list}",
            kinds=tuple(f"{known}:" for known in sorted(TRANSPORTS)),
        ),
    )


async def open_transport(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
    """Open the connection that `url` names. Raise TransportUnavailableError if this version or machine cannot."""
    return await find_transport(url.scheme)(url, on_data=on_data, on_lost=on_lost)
