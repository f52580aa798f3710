"""Common helpers for tests of the community drivers."""

from __future__ import annotations

from collections.abc import Mapping

from firmware_bridge.cards import Card
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.setting import DriverSetting


def setting(
    driver: str, *, arm: bool = False, listen: bool = False, card_table: Mapping[str, Card] | None = None
) -> DriverSetting:
    url = DeviceUrl("serial", path="/dev/cardshoe/SHOE-9", driver=driver, arm=arm, listen=listen)
    return DriverSetting(bytes(range(16)), url.line, card_table=card_table or {})
