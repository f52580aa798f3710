"""A configuration in force: every key with its value, without secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from controller.commands.config.options import toml
from controller.daemon.sections import Configuration

SET: Final = "set"


def without_secrets(configuration: Configuration) -> Configuration:
    """Return the configuration with PIN hashes reduced to a mark and with computed defaults filled in."""
    people = tuple(msgspec.structs.replace(one, pin_hash=SET if one.pin_hash else "") for one in configuration.people)
    table = msgspec.structs.replace(configuration.table, boxes=configuration.settings.box_count)
    journal = configuration.journal
    journal = msgspec.structs.replace(journal, signing_key_file=journal.signing_key_path)
    return msgspec.structs.replace(configuration, people=people, table=table, journal=journal)


def as_toml(configuration: Configuration) -> str:
    """Return the configuration as TOML. Keys with their default value are marked."""
    return "\n".join(_section("", without_secrets(configuration))).strip()


def _section(name: str, value: msgspec.Struct) -> Iterator[str]:
    fields = {field.name: field for field in msgspec.structs.fields(type(value))}
    within: list[str] = []
    for key, field in fields.items():
        part = getattr(value, key)
        place = f"{name}.{key}" if name else key
        if isinstance(part, msgspec.Struct):
            within += ["", f"[{place}]", *_section(place, part)]
        elif isinstance(part, tuple) and part and isinstance(part[0], msgspec.Struct):
            for one in part:
                within += ["", f"[[{place}]]", *_section(place, one)]
        elif isinstance(part, dict) and part and isinstance(next(iter(part.values())), msgspec.Struct):
            for called, one in part.items():
                within += ["", f"[{place}.{toml_key(called)}]", *_section(f"{place}.{called}", one)]
        elif name:
            yield _line(key, part, field)
    yield from within


def _line(key: str, value: Any, field: msgspec.structs.FieldInfo) -> str:
    if value is None:
        return f"# {key}: none"
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    return f"{key} = {toml(value)}{'  # default' if value == default else ''}"


def toml_key(name: str) -> str:
    """Return a name as a TOML key, bare if possible.

    >>> toml_key("main"), toml_key("a b")
    ('main', '"a b"')
    """
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else toml(name)
