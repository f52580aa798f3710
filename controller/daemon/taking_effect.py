"""States when each key of a configuration takes effect after the file is changed and reloaded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from controller.daemon.section_reader import without_none
from controller.daemon.sections import Configuration


class Effect(StrEnum):
    AT_ONCE = "at once"
    NEXT_ROUND = "with the next round"
    RESTART = "at a restart"


EFFECTS: Final[Mapping[str, Effect]] = {
    "table": Effect.NEXT_ROUND,
    "table.name": Effect.RESTART,  # the journal, the socket's folder and the cookies of screens are named after it
    "table.simulated": Effect.RESTART,  # part of the journal's header
    "device": Effect.RESTART,  # the link keeper and its watch for devices are made with it
    "journal": Effect.RESTART,  # the writer, the keeper and the witness are made with it
    "api.socket": Effect.RESTART,
    "api.http.port": Effect.RESTART,  # the cookies of screens are named after it
    "api.http.hosts": Effect.AT_ONCE,
    "api.http.shift_hours": Effect.AT_ONCE,  # for later sign-ons
    "people": Effect.AT_ONCE,
    "readers": Effect.AT_ONCE,
    "readings": Effect.NEXT_ROUND,
    "house": Effect.NEXT_ROUND,
    "limits": Effect.NEXT_ROUND,
    "capture": Effect.RESTART,
    "floor": Effect.RESTART,
    "program": Effect.RESTART,  # its files are read at the start
}
"""The effects of sections, and of keys that differ from their section."""


def effect_of(place: str) -> Effect:
    """Return the effect of a section and key, such as `api.http.port`, or of a section."""
    while place not in EFFECTS:
        place = place.rpartition(".")[0]
    return EFFECTS[place]


def named(place: str) -> str:
    """Return the place as messages name it: `[api.http] port`."""
    section, _, key = place.rpartition(".")
    return f"[{section}] {key}" if section else f"[{place}]"


def changed(before: Configuration, after: Configuration) -> Iterator[str]:
    """Yield the places in which two configurations differ, in the order of the file."""
    old, new = dict(_places(before, Configuration, "")), dict(_places(after, Configuration, ""))
    yield from (place for place in old if old[place] != new[place])


def _places(value: Any, kind: type[msgspec.Struct], place: str) -> Iterator[tuple[str, Any]]:
    """Yield each key of each section that occurs once. A section that is left out does not have values."""
    for field in msgspec.structs.fields(kind):
        found = getattr(value, field.name, None)
        here = f"{place}.{field.name}".lstrip(".")
        within = without_none(field.type)
        if isinstance(within, type) and issubclass(within, msgspec.Struct):
            yield from _places(found, within, here)
        else:
            yield here, found
