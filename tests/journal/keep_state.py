"""Keeps saved states as this version of the program writes them, with the screen of each.

    python -m tests.journal.keep_state

Each version of the saved state has two files: `N.states.json.gz`, written once and read forever, and
`N.types.json.gz`, the types of which it is made. The latter is written again after additions only; any other change
requires a higher `VERSION` (`controller/table/saved_state.py`).
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from controller.table.decide import decide
from controller.table.inputs import AnyInput
from controller.table.saved_state import VERSION, SavedState, described, remember
from firmware_bridge.cards import Card, Concealed, Evidence
from firmware_bridge.drivers.memory import LinkMemory
from simulators.scenarios import packaged
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play
from tests.journal.keep import shown

KEPT: Final = Path(__file__).with_name("kept_states")


class SavingCourse(Course):
    """A scenario that keeps the state after each decision."""

    def __init__(self, setting: TableSetting) -> None:
        self._memory = LinkMemory()
        self.saved: list[SavedState] = []
        super().__init__(setting)

    def _take(self, given: AnyInput) -> None:
        decided = decide(self.state, given)
        if decided.events:
            remember(self._memory, given)
        super()._take(given)
        self.saved.append(SavedState(self.state, self._memory.journaled()))


class KeptState(msgspec.Struct, frozen=True):
    """A kept state. `state` has its cards open, since its deck was never dealt to anybody. `view` is the screen."""

    scenario: str
    state: Any
    view: Any


def path_of(version: int, what: str) -> Path:
    return KEPT / f"{version}.{what}.json.gz"


def read(path: Path) -> Any:
    return msgspec.json.decode(gzip.decompress(path.read_bytes()))


def open_hook(value: Any) -> Any:
    """Encode in the clear, for a kept state, a value that a journal would seal."""
    if isinstance(value, Card):
        return value.code
    if isinstance(value, Concealed):
        return [value.expose().code, value.shuffle, value.ordinal]
    assert isinstance(value, Evidence)
    return value.open().hex()


def read_hook(expected: type, value: Any) -> Any:
    """Read the value that `open_hook` wrote."""
    if expected is Card:
        return Card.parse(value)
    if expected is Concealed:
        return Concealed(Card.parse(value[0]), value[1], value[2])
    assert expected is Evidence
    return Evidence(bytes.fromhex(value))


def not_only_added(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """Yield the places where the types `now` differ from `before` by more than an addition.

    A type that contains itself is represented by its name there.
    """
    if isinstance(before, str) or isinstance(now, str):
        if before != now:
            yield f"{where}: {before} has become {now}"
    elif before["is"] == now["is"] == "StructType":
        yield from _fields_not_only_added(before, now, f"{where}/{before['cls']}")
    elif before["is"] == now["is"] == "EnumType":
        yield from (f"{where}: {value} is missing" for value in before["cls"] if value not in now["cls"])
    elif "UnionType" in (before["is"], now["is"]):
        for one in before.get("types", [before]):
            if all(any(not_only_added(one, other)) for other in now.get("types", [now])):
                yield f"{where}: {one['is']} is not among the types"
    else:
        parts = ("item_type", "key_type", "value_type")
        for part in parts:
            if part in before and part in now:
                yield from not_only_added(before[part], now[part], where)
        rest, other = ({name: one for name, one in each.items() if name not in parts} for each in (before, now))
        if rest.keys() != other.keys() or (before["is"] != "TupleType" and rest != other):
            yield f"{where}: {rest} has become {other}"
        elif before["is"] == "TupleType":
            for one, another in zip(before["item_types"], now["item_types"], strict=True):
                yield from not_only_added(one, another, where)


def _fields_not_only_added(before: Any, now: Any, where: str) -> Iterator[str]:
    if (before.get("tag"), before.get("tag_field")) != (now.get("tag"), now.get("tag_field")):
        yield f"{where}: its tag has changed"
    fields = {field["encode_name"]: field for field in now["fields"]}
    for field in before["fields"]:
        name = field["encode_name"]
        found = fields.pop(name, None)
        if found is None:
            yield f"{where}.{name} is missing"
            continue
        if field["required"] != found["required"] or not _is_part(field.get("default"), found.get("default")):
            yield f"{where}.{name} has another default"
        yield from not_only_added(field["type"], found["type"], f"{where}.{name}")
    yield from (f"{where}.{name} has no default" for name, field in fields.items() if field["required"])


def _is_part(before: Any, now: Any) -> bool:
    """Return whether a default is the same. A default struct may have gained fields."""
    if isinstance(before, dict) and isinstance(now, dict):
        return all(name in now and _is_part(value, now[name]) for name, value in before.items())
    return bool(before == now)


def telling_states() -> Iterator[KeptState]:
    """Yield the states of all scenarios that have a value in a place where no earlier one had it."""
    seen: set[str] = set()
    for scenario in packaged():
        course = SavingCourse(scenario.setting)
        for _ in play(scenario, course):
            pass
        for saved in course.saved:
            plain = msgspec.json.decode(msgspec.json.encode(saved, enc_hook=open_hook))
            places = set(_places(plain))
            if not places <= seen:
                seen |= places
                yield KeptState(scenario.name, plain, shown(saved.table))


def _places(value: Any, where: str = "") -> Iterator[str]:
    """Yield the path of each non-empty value; different words of an enum have different paths."""
    if isinstance(value, dict):
        kind = next((f":{value[tag]}" for tag in ("command", "operation") if isinstance(value.get(tag), str)), "")
        for name, one in value.items():
            yield from _places(one, f"{where}{kind}.{name}")
    elif isinstance(value, list):
        for one in value:
            yield from _places(one, where)
    elif value:
        yield where


def main() -> None:
    KEPT.mkdir(exist_ok=True)
    types, states = path_of(VERSION, "types"), path_of(VERSION, "states")
    wrong = list(not_only_added(read(types), described())) if types.exists() else []
    if wrong:
        raise SystemExit("\n".join((*wrong, "VERSION has to rise, with a function in UPGRADES.")))
    types.write_bytes(gzip.compress(msgspec.json.encode(described()), mtime=0))
    if not states.exists():
        states.write_bytes(gzip.compress(msgspec.json.encode(list(telling_states())), mtime=0))


if __name__ == "__main__":
    main()
