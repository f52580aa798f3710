"""The reasons why a link ended, as sentences with a next step: docs/cardlink.md, "How a link ends, on the host's side".

`handshake` judges what a device sent in the clear (another version, a reject, a wrong proof).
"""

from __future__ import annotations

from typing import Final

from firmware_bridge.drivers.base import LinkOver
from firmware_bridge.drivers.cardlink.framing import MAX_DECODED
from firmware_bridge.drivers.detect import what_to_check
from firmware_bridge.messages import message

REBOOTED: Final = LinkOver("device-rebooted", message("The device has restarted; the program reconnects."))
ECHO: Final = LinkOver(
    "device-garbage",
    message("Only what this program sent came back: the line echoes, or its two wires are connected to each other."),
)
NOTHING_CAME: Final = LinkOver(
    "device-no-answer",
    message(
        "The device does not answer: check its power, the cable and the port, and that it speaks cardlink (driver=)."
    ),
)
NO_ANSWERS: Final = LinkOver(
    "device-no-answer",
    message(
        "The device sends, but does not answer what this program sends: check the wire that carries the host's bytes."
    ),
)
COUNTERS_USED_UP: Final = LinkOver(
    "device-counters", message("This link has used up the numbers of its frames; the program makes another one.")
)
FORGED: Final = LinkOver(
    "device-forged-frames",
    message(
        "Too many frames came that the device did not seal: someone may be in the line. Check the cable and its seals; "
        "the program reconnects."
    ),
)


def garbage(first_bytes: bytes) -> LinkOver:
    """Return the end for bytes with no frame among them."""
    said = message(
        "Bytes came from the device, and none of them was part of a cardlink frame: {check}.",
        check=what_to_check(first_bytes, "cardlink"),
    )
    return LinkOver("device-garbage", said)


def damaged(damaged_frames: int, good: int) -> LinkOver:
    said = message(
        "What the device sends arrives damaged ({damaged} of {frames} frames): check the cable and its plugs, that no "
        "other program has the port, and the speed (baud=).",
        damaged=damaged_frames,
        frames=damaged_frames + good,
    )
    return LinkOver("device-damaged-frames", said)


def silent(seconds: float) -> LinkOver:
    return LinkOver("device-silent", message("The device has been silent for {seconds} s.", seconds=round(seconds)))


def no_status(seconds: float) -> LinkOver:
    said = message("The device has sent no status for {seconds} s; the program reconnects.", seconds=round(seconds))
    return LinkOver("device-silent", said)


def delayed(seconds: float) -> LinkOver:
    said = message(
        "For {seconds} s the device has named nothing that was sent to it lately: what is sent arrives late or not at "
        "all. Check the cable and what is connected to it; the program reconnects.",
        seconds=round(seconds),
    )
    return LinkOver("device-delayed", said)


def too_long(size: int) -> LinkOver:
    said = message(
        "The device sent a frame of {size} bytes, and cardlink allows {most}: its identity is too long. Ask its maker "
        "for other firmware.",
        size=size,
        most=MAX_DECODED,
    )
    return LinkOver("device-message", said)


def no_message(why: object) -> LinkOver:
    said = message("The device sent a message that is not cardlink's: {why}.", why=str(why))
    return LinkOver("device-message", said)


def counts_too_few(taken: int) -> LinkOver:
    said = message(
        "The device counts fewer reports than the {taken} that it has sent; the program reconnects.", taken=taken
    )
    return LinkOver("device-message", said)


def report_withheld(number: int) -> LinkOver:
    said = message(
        "The device has made its report {number} and does not send it; the program reconnects.", number=number
    )
    return LinkOver("device-reports", said)
