"""Guesses the protocol of bytes that a driver cannot read, for a message to a person.

Nothing depends on the guess. A cardlink frame is recognised with certainty, by its CRC; the others by the form of
public examples. It is a separate module because a driver may not depend on another driver.
"""

from __future__ import annotations

import re
from typing import Final

from firmware_bridge.drivers.cardlink.framing import FrameReader
from firmware_bridge.messages import Message, message

SAMPLE_SIZE: Final = 256  # bytes; enough for a guess
SEVEN_BITS_AFTER: Final = 40  # bytes: by chance none of them has its highest bit once in 10^12

_FORMS: Final[tuple[tuple[str, re.Pattern[bytes]], ...]] = (
    ("bee_tek", re.compile(rb"\[(Game|Manual Burn Cards|GameAlarm)\]<|<W0x", re.IGNORECASE)),
    ("angel_eye", re.compile(rb"\x05[!-~][!-~][\x80-\xff]{0,8}\x03[0-9A-F]{2}")),
    ("line_reader", re.compile(rb"(?:^|[\r\n])[0-9A-Za-z:-]{4,128}\r?\n")),
)


def detect_driver(data: bytes) -> str:
    """Return the driver that could read these bytes, or "".

    >>> detect_driver(b" [Game]<Card:4S> "), detect_driver(bytes(20))
    ('bee_tek', '')
    """
    if FrameReader().receive(data):
        return "cardlink"
    return next((name for name, form in _FORMS if form.search(data)), "")


def what_to_check(data: bytes, driver: str) -> Message:
    """Return the next step if `driver` could not read `data`, as the end of a sentence."""
    guess = detect_driver(data)
    if guess and guess != driver:
        return message(
            "the data looks like that of driver={driver}; correct the device URL, or connect the right device",
            driver=guess,
        )
    if driver == "cardlink" and len(data) >= SEVEN_BITS_AFTER and max(data) < 0x80:
        return message("no byte has its highest bit; set the line to 8 data bits at the serial server or converter")
    return message("check the speed (baud=) and whether this is the right device or driver (driver=)")
