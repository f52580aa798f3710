"""The baccarat shoe Angel Eye II-EX, used as a shoe that reads single cards: its telegrams and its driver.

Community, unverified against the maker's specification: docs/other_devices.md.
"""

from firmware_bridge.drivers.angel_eye.host import AngelEye

__all__ = ["AngelEye"]
