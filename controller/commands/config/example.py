"""An example of a configuration: every option with its meaning and its default."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Final

from controller.commands.config.meanings import LEFT_OUT, SECTIONS
from controller.commands.config.options import Option, Section, sections

WIDTH: Final = 118
_HEAD: Final = (
    'The configuration of one table. A key with a "#" before it is left out: its default stands there, or how it may be'
    " written. Replace the names, fill in what is made by a command, and check the file: cardshoe config check FILE"
)


def example() -> str:
    """Return the whole file."""
    return "\n".join([*_comment(_HEAD), "", *(line for section in sections() for line in _lines(section))])


def _lines(section: Section) -> Iterator[str]:
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


def _words(option: Option) -> str:
    return f"{option.meaning} ({option.values})"


def _comment(text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False, break_long_words=False
    )


def _marked(line: str, *, left_out: bool) -> str:
    return f"#{line}" if left_out else line
