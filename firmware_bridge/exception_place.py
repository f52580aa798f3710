"""Describes an exception for the log: its type, and where it was raised. Its text may name a card.

`int(b"4H")` says "invalid literal for int() with base 10: b'4H'", and the error of any decoder may quote its input. The
input itself is sealed in the journal and in captures.
"""

from __future__ import annotations

import traceback
from typing import Final

from firmware_bridge.cards import Evidence

OURS: Final = ("firmware_bridge", "controller", "simulators")
UNKNOWN: Final = "unknown"
LONGEST: Final = 4096  # bytes


def raised_at(error: BaseException) -> str:
    """Return the module and line in this project that raised the error, or that called the foreign code which did."""
    place = UNKNOWN
    for frame, line in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] in OURS:
            place = f"{module}:{line}"
    return place


def as_fields(error: BaseException) -> dict[str, str]:
    """Return type and place as fields of a log line."""
    return {"error": type(error).__name__, "place": raised_at(error)}


def named(error: BaseException) -> str:
    """Return type and place for a sentence, with the name of a module that is not installed."""
    missing = f" {error.name}" if isinstance(error, ModuleNotFoundError) and error.name else ""
    return f"{type(error).__name__}{missing} at {raised_at(error)}"


def whole(error: BaseException) -> Evidence:
    """Return the whole traceback, to be sealed in a size that reveals nothing about its text."""
    return Evidence("".join(traceback.format_exception(error)).encode(errors="replace")[-LONGEST:], LONGEST)
