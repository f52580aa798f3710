"""The reasons why a link ended, as sentences with a next step: docs/cardlink.md, "How a link ends, on the host's side".

`handshake` judges what a device sent in the clear (another version, a reject, a wrong proof).
"""

from __future__ import annotations

from typing import Final

from firmware_bridge.drivers.base import LinkOver
from firmware_bridge.drivers.cardlink.framing import MAX_DECODED
from firmware_bridge.drivers.detect import what_to_check

REBOOTED: Final = LinkOver("device-rebooted", "The device has restarted; the program reconnects.")
ECHO: Final = LinkOver(
    "device-garbage",
    "Only what this program sent came back: the line echoes, or its two wires are connected to each other.",
)
NOTHING_CAME: Final = LinkOver(
    "device-no-answer",
    "The device does not answer: check its power, the cable and the port, and that it speaks cardlink (driver=).",
)
NO_ANSWERS: Final = LinkOver(
    "device-no-answer",
    "The device sends, but does not answer what this program sends: check the wire that carries the host's bytes.",
)
COUNTERS_USED_UP: Final = LinkOver(
    "device-counters", "This link has used up the numbers of its frames; the program makes another one."
)
FORGED: Final = LinkOver(
    "device-forged-frames",
    "Too many frames came that the device did not seal: someone may be in the line. Check the cable and its seals; the "
    "program reconnects.",
)


def garbage(first_bytes: bytes) -> LinkOver:
    """Return the end for bytes with no frame among them."""
    sentence = "Bytes came from the device, and none of them was part of a cardlink frame: "
    return LinkOver("device-garbage", sentence + what_to_check(first_bytes, "cardlink"))


def damaged(damaged_frames: int, good: int) -> LinkOver:
    return LinkOver(
        "device-damaged-frames",
        f"What the device sends arrives damaged ({damaged_frames} of {damaged_frames + good} frames): check the cable "
        "and its plugs, that no other program has the port, and the speed (baud=).",
    )


def silent(seconds: float) -> LinkOver:
    return LinkOver("device-silent", f"The device has been silent for {seconds:.0f} s.")


def no_status(seconds: float) -> LinkOver:
    return LinkOver("device-silent", f"The device has sent no status for {seconds:.0f} s; the program reconnects.")


def delayed(seconds: float) -> LinkOver:
    return LinkOver(
        "device-delayed",
        f"For {seconds:.0f} s the device has named nothing that was sent to it lately: what is sent arrives late or "
        "not at all. Check the cable and what lies in it; the program reconnects.",
    )


def too_long(size: int) -> LinkOver:
    return LinkOver(
        "device-message",
        f"The device sent a frame of {size} bytes, and cardlink allows {MAX_DECODED}: its identity is too long. Ask "
        "its maker for other firmware.",
    )


def no_message(why: object) -> LinkOver:
    return LinkOver("device-message", f"The device sent a message that is not cardlink's: {why}.")


def counts_too_few(taken: int) -> LinkOver:
    sentence = f"The device counts fewer reports than the {taken} that it has sent; the program reconnects."
    return LinkOver("device-message", sentence)


def report_withheld(number: int) -> LinkOver:
    sentence = f"The device has made its report {number} and does not send it; the program reconnects."
    return LinkOver("device-reports", sentence)
