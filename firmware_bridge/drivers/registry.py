"""The drivers there are: one row each, imported only when a device asks for it.

>>> registered_driver("cardlink").maturity.value
"this project's own protocol"
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Final, Protocol

import msgspec

from firmware_bridge.drivers.base import Driver
from firmware_bridge.errors import BadDeviceUrlError


class Maturity(Enum):
    """How far a driver can be relied on. Shown wherever a device is shown."""

    OWN = "this project's own protocol"
    COMMUNITY = "community, unverified against the maker's specification"


class DriverFactory(Protocol):
    """Makes one link's driver; a driver leaves what its protocol does not need.

    `nonce` is 16 random bytes, never used before; `key_of` gives the key of a serial number, or None; `held` is the
    last report that the journal holds, as (boot, number), (0, 0) for none; `now` is in seconds, monotonic.
    """

    def __call__(
        self,
        *,
        nonce: bytes,
        key_of: Callable[[str], bytes | None],
        held: tuple[int, int],
        now: float,
    ) -> Driver: ...


class RegisteredDriver(msgspec.Struct, frozen=True):
    """A row of the registry. `can_listen`: it works on a line on which nothing may be written."""

    name: str
    maturity: Maturity
    can_listen: bool
    load: Callable[[], DriverFactory]


def _cardlink() -> DriverFactory:
    from firmware_bridge.drivers.cardlink.host import CardlinkHost

    return CardlinkHost


DRIVERS: Final[dict[str, RegisteredDriver]] = {
    row.name: row
    for row in (
        RegisteredDriver("cardlink", Maturity.OWN, False, _cardlink),  # a handshake cannot be listened to
    )
}


def registered_driver(name: str) -> RegisteredDriver:
    """The row of that name. Raises BadDeviceUrlError when there is none."""
    row = DRIVERS.get(name)
    if row is None:
        raise BadDeviceUrlError(
            f"There is no driver called {name!r}.", f"Use one of these after driver=: {', '.join(sorted(DRIVERS))}."
        )
    return row
