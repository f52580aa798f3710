"""A configuration as TOML: an example with every option, or one in force without secrets."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from controller.commands.config.configuration_options import ConfigurationOption, ConfigurationSection, sections, toml
from controller.commands.config.meanings import LEFT_OUT, SECTIONS
from controller.daemon.sections import Configuration

WIDTH: Final = 118
_HEAD: Final = (
    'The configuration of one table. A key after a "#" is left out; the line shows its default, or how it may be'
    " written. Replace the names, fill in what a command makes, and check the file: cardshoe config check FILE"
)


def example() -> str:
    """Return the whole file."""
    return "\n".join([*_comment(_HEAD), "", *(line for section in sections() for line in _lines(section))])


def _lines(section: ConfigurationSection) -> Iterator[str]:
    shown = SECTIONS[section.name]
    name = shown.heading or section.name
    yield from _comment(shown.meaning)
    for number, live in enumerate(shown.examples):
        yield _marked(f"[[{name}]]" if section.several else f"[{name}]", left_out=shown.optional)
        for option in section.options:
            if option.key in live:
                yield from () if number else _comment(_words(option))
                yield _marked(f"{option.key} = {live[option.key]}", left_out=shown.optional)
            elif not number:
                yield from _comment(_words(option))
                written = LEFT_OUT.get(f"{section.name}.{option.key}", option.default)
                yield _marked(f"{option.key} = {written}", left_out=True)
        yield ""


def _words(option: ConfigurationOption) -> str:
    return f"{option.meaning} ({option.values})"


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False
    )


def _marked(line: str, *, left_out: bool) -> str:
    return f"#{line}" if left_out else line


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
