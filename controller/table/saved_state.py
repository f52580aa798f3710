"""Saved states of a table, at the beginning of a journal file and within one.

`SavedState` is a plain value: the journal's codec encodes and decodes it as it does an event.

How a newer program treats a state that an older one saved:

- A field is added with a default: `VERSION` stays, and the state is read as it is.
- A type changes in any other way (a field is removed, or gets another name, meaning, type or default): `VERSION` rises
  by one, and `UPGRADES` gets a function that converts the old form to the new. Upgrades are kept forever.
- A state of a higher version is refused: an older program does not know what it means.

A state within a file is a cache. It serves only when its version and its `digest` are those of the program; otherwise
the file is folded from its beginning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, Final

import msgspec
import msgspec.inspect

from controller.table.inputs import AnyInput, DeviceConnected, DeviceReported, ReportsMissing
from controller.table.state import TableState
from firmware_bridge.drivers.memory import JournaledMemory, LinkMemory

VERSION: Final = 1

UPGRADES: Final[dict[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {}
"""By version: functions that convert the JSON object of that version to the next version."""


class SavedState(msgspec.Struct, frozen=True):
    """The fold of a journal up to an entry: the table, and what is known about the device's reports."""

    table: TableState = TableState()
    link: JournaledMemory = JournaledMemory()


def remember(memory: LinkMemory, given: AnyInput) -> None:
    """Store in the memory what a journaled input says about the device's reports and nonces."""
    if isinstance(given, DeviceReported):
        memory.take(given.boot, given.number, given.evidence)
    elif isinstance(given, DeviceConnected):
        memory.take_nonce(given.nonce)
    elif isinstance(given, ReportsMissing) and given.withheld:
        memory.passed = (given.boot, given.first)


def upgrade(version: int, saved: dict[str, Any]) -> dict[str, Any]:
    """Convert the JSON object of a state of that version to the present form. Unknown versions raise ValueError."""
    if version > VERSION:
        raise ValueError(f"the state has version {version}; this program reads states up to version {VERSION}")
    for one in range(version, VERSION):
        if one not in UPGRADES:
            raise ValueError(f"the state has version {version}, which no program wrote")
        saved = UPGRADES[one](saved)
    return saved


@cache
def digest() -> bytes:
    """Return 32 bytes that change with every type in the state."""
    return hashlib.sha256(b"%d\0" % VERSION + msgspec.json.encode(described())).digest()


def described() -> Any:
    """Return the types of a saved state as plain values: all fields, their defaults, and the values of each enum."""
    return _described(msgspec.inspect.type_info(SavedState))


def _described(value: Any, within: tuple[type, ...] = ()) -> Any:
    """Describe a type. `within`: the structs around it; a struct that holds values of its own type is only named."""
    if isinstance(value, msgspec.inspect.StructType):
        if value.cls in within:
            return value.cls.__qualname__
        within = (*within, value.cls)
    if isinstance(value, msgspec.inspect.Type | msgspec.inspect.Field):
        parts = {name: getattr(value, name) for name in value.__struct_fields__}
        said = {name: _described(part, within) for name, part in parts.items() if part not in (None, msgspec.NODEFAULT)}
        return {"is": type(value).__name__, **said}
    if isinstance(value, type) and issubclass(value, Enum):
        return [one.value for one in value]
    if isinstance(value, type):
        return value.__qualname__
    if isinstance(value, tuple | list):
        return [_described(one, within) for one in value]
    return msgspec.json.decode(msgspec.json.encode(value))
