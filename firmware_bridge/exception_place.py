"""An exception as it may be logged: its type, and where it was raised. Its text may name a card.

`int(b"4H")` says "invalid literal for int() with base 10: b'4H'", and any driver's or decoder's error may quote what it
was given. What was being read lies sealed in the journal and in captures.
"""

from __future__ import annotations

import traceback
from typing import Final

from firmware_bridge.cards import Evidence

OURS: Final = ("firmware_bridge", "controller", "simulators")
UNKNOWN: Final = "unknown"
LONGEST: Final = 4096  # bytes


def raised_at(error: BaseException) -> str:
    """The module and line in this project where it was raised, or passed on from code of others."""
    place = UNKNOWN
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in OURS:
            place = f"{module}:{line}"
    return place


def as_fields(error: BaseException) -> dict[str, str]:
    """Type and place, for a line of the log."""
    return {"error": type(error).__name__, "place": raised_at(error)}


def named(error: BaseException) -> str:
    """Type and place, for a sentence; of a module that is not installed, its name."""
    missing = f" {error.name}" if isinstance(error, ModuleNotFoundError) and error.name else ""
    return f"{type(error).__name__}{missing} at {raised_at(error)}"


def whole(error: BaseException) -> Evidence:
    """All of it, to be sealed in a size that tells nothing of its text."""
    return Evidence("".join(traceback.format_exception(error)).encode(errors="replace")[-LONGEST:], LONGEST)
