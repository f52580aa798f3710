"""The options of a configuration, derived from its types: place, allowed values, default."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import msgspec

from controller.commands.config.meanings import MEANINGS
from controller.daemon.section_reader import expected, without_none
from controller.daemon.sections import Configuration


class ConfigurationOption(NamedTuple):
    """One option. `default` is written as in a file; it is empty if leaving the key out has no effect."""

    section: str
    key: str
    values: str
    required: bool
    default: str

    @property
    def meaning(self) -> str:
        return MEANINGS[f"{self.section}.{self.key}"]


class ConfigurationSection(NamedTuple):
    """One section. `several` means that it may occur repeatedly; `named` that it occurs under names that the file
    chooses, as `[limits.main]`.
    """

    name: str
    several: bool
    named: bool
    options: tuple[ConfigurationOption, ...]

    @property
    def heading(self) -> str:
        """The section's heading in a file."""
        if self.several:
            return f"[[{self.name}]]"
        return f"[{self.name}.NAME]" if self.named else f"[{self.name}]"


def sections() -> tuple[ConfigurationSection, ...]:
    """Return the sections of a whole file, in the order of the types."""
    found: list[ConfigurationSection] = []
    for field in msgspec.structs.fields(Configuration):
        found += _section(field.name, field.type)
    return tuple(found)


def _section(name: str, kind: Any) -> Iterator[ConfigurationSection]:
    """Yield the section, then the sections within it."""
    kind = without_none(kind)
    several, named = get_origin(kind) is tuple, get_origin(kind) is dict
    struct = get_args(kind)[1 if named else 0] if several or named else kind
    fields = msgspec.structs.fields(struct)
    within = [field for field in fields if _is_struct(without_none(field.type))]
    own = tuple(_option(name, field) for field in fields if field not in within)
    yield ConfigurationSection(name, several, named, own)
    for field in within:
        yield from _section(f"{name}.{field.name}", field.type)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _option(section: str, field: msgspec.structs.FieldInfo) -> ConfigurationOption:
    default: Any = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    written = "" if field.required or default is None else toml(default)
    return ConfigurationOption(section, field.name, _values(field.type), field.required, written)


def _values(kind: Any) -> str:
    """Return the allowed values in words."""
    kind = without_none(kind)
    if get_origin(kind) is tuple:
        return f"a list, each {_values(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return f"a section, each key {_values(get_args(kind)[1])}"
    return "the path of a file" if kind is Path else str(expected(kind))


def toml(value: Any) -> str:
    """Return a value as written in a TOML file.

    >>> toml(("a", 'b"')), toml(True), toml({"handled": False})
    ('["a", "b\\\\""]', 'true', '{ handled = false }')
    """
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, dict):
        pairs = ", ".join(f"{key} = {toml(one)}" for key, one in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    text = str(value.value if isinstance(value, Enum) else value)
    return msgspec.json.encode(text).decode()  # JSON's escapes are valid in TOML
