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
    message(
        "The program received only what it had sent: the line echoes, or its two wires are connected to "
        "each other. Check the wiring and the converter."
    ),
)
NOTHING_CAME: Final = LinkOver(
    "device-no-answer",
    message(
        "The device does not answer: check its power, the cable and the port, and that it speaks cardlink (driver=)."
    ),
)
NO_ANSWERS: Final = LinkOver(
    "device-no-answer",
    message("The device sends data but does not answer this program: check the wire that carries data to the device."),
)
HEARS_NOTHING: Final = LinkOver(
    "device-delayed",
    message(
        "The device stopped sending after it had received nothing from this program for some time: check the wire that "
        "carries data to the device, and what is connected to it. The program reconnects."
    ),
)
COUNTERS_USED_UP: Final = LinkOver(
    "device-counters", message("This link has used all its frame numbers; the program reconnects.")
)
FORGED: Final = LinkOver(
    "device-forged-frames",
    message(
        "Too many frames arrived that the device did not seal: someone may be tampering with the line. "
        "Check the cable and its seals. The program reconnects."
    ),
)


def garbage(first_bytes: bytes) -> LinkOver:
    """Return the end for bytes with no frame among them."""
    said = message(
        "The data from the device contains no cardlink frame: {check}.",
        check=what_to_check(first_bytes, "cardlink"),
    )
    return LinkOver("device-garbage", said)


def damaged(damaged_frames: int, good: int) -> LinkOver:
    said = message(
        "Data from the device arrives damaged ({damaged} of {frames} frames): check the cable, its plugs"
        " and the speed (baud=), and that no other program uses the port.",
        damaged=damaged_frames,
        frames=damaged_frames + good,
    )
    return LinkOver("device-damaged-frames", said)


FLOW_CONTROL: Final = LinkOver(
    "device-damaged-frames",
    message(
        "The bytes 11 and 13 are missing from the data of the device, so something on the line uses software flow "
        "control (XON/XOFF). Switch it off at the serial server, the converter or the device."
    ),
)


TELNET: Final = LinkOver(
    "device-damaged-frames",
    message(
        "The data of the device arrives as Telnet changes it (RFC 854). Set the port of the serial server to raw TCP."
    ),
)


def silent(seconds: float) -> LinkOver:
    return LinkOver("device-silent", message("The device has been silent for {seconds} s.", seconds=round(seconds)))


def no_status(seconds: float) -> LinkOver:
    said = message("The device has sent no status for {seconds} s; the program reconnects.", seconds=round(seconds))
    return LinkOver("device-silent", said)


def delayed(seconds: float) -> LinkOver:
    said = message(
        "For {seconds} s the device has not confirmed anything that was sent to it recently: data "
        "arrives late or not at all. Check the cable and what is connected to it. The program "
        "reconnects.",
        seconds=round(seconds),
    )
    return LinkOver("device-delayed", said)


def too_long(size: int) -> LinkOver:
    said = message(
        "The device's identity is too long: it sent a frame of {size} bytes, and cardlink allows {most}."
        " Ask its maker for corrected firmware.",
        size=size,
        most=MAX_DECODED,
    )
    return LinkOver("device-message", said)


def no_message(why: object) -> LinkOver:
    said = message("The device sent an invalid cardlink message: {why}.", why=str(why))
    return LinkOver("device-message", said)


def counts_too_few(taken: int) -> LinkOver:
    said = message(
        "The device counts fewer reports than the {taken} that it sent; the program reconnects.", taken=taken
    )
    return LinkOver("device-message", said)


def cannot_attest(serial: str) -> LinkOver:
    said = message(
        'The device {serial} does not show which program it runs (cardlink, "The program in the device"), and [device] '
        "image names the program that it has to run. Install approved firmware that can show it, or leave image out.",
        serial=serial,
    )
    return LinkOver("device-firmware", said, refused=True)


def other_program(serial: str, digest: str) -> LinkOver:
    said = message(
        'The program in {serial} is not the approved image ({digest}; cardlink, "The program in the device"). Do not '
        "deal from it; have its firmware checked, or name the image of the firmware that is approved in [device] "
        "image.",
        serial=serial,
        digest=digest,
    )
    return LinkOver("device-firmware", said, refused=True)


def not_attested(serial: str, seconds: float) -> LinkOver:
    said = message(
        'The device {serial} has not shown within {seconds} s which program it runs (cardlink, "The program in the '
        'device"). Do not deal from it, and have its firmware checked.',
        serial=serial,
        seconds=round(seconds),
    )
    return LinkOver("device-firmware", said, refused=True)


def report_withheld(number: int) -> LinkOver:
    said = message("The device has made report {number}, which does not arrive; the program reconnects.", number=number)
    return LinkOver("device-reports", said)
