"""docs/configuration_options.md, made from the types of a configuration and the meanings of its options.

    python -m tools.generate

writes it; a test fails when page and types differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.commands.config.meanings import SECTIONS
from controller.commands.config.options import Option, Section, sections
from controller.daemon.taking_effect import effect_of

PAGE: Final = Path(__file__).parents[2] / "docs" / "configuration_options.md"
HEAD: Final = """\
# Every option of a configuration

This page lists every option, for technicians; [configuration.md](configuration.md) explains the sections.
`python -m tools.generate` makes it from the program's types. `cardshoe config example` prints a file with all options,
`cardshoe config show FILE` what is in force. A change takes effect when the file is [read
again](configuration.md#reading-it-again), or when the daemon starts.
"""


def page() -> str:
    return "\n".join([HEAD, *(line for section in sections() for line in _lines(section))])


def _lines(section: Section) -> Iterator[str]:
    meaning = SECTIONS[section.name].meaning
    yield f"## {section.heading}"
    yield ""
    yield f"{meaning[0].upper()}{meaning[1:]}."
    yield ""
    yield "| key | what may stand there | if left out | a change takes effect | meaning |"
    yield "|---|---|---|---|---|"
    yield from (_row(section, option) for option in section.options)
    yield ""


def _row(section: Section, option: Option) -> str:
    left_out = "must stand there" if option.required else f"`{option.default}`" if option.default else "see meaning"
    effect = effect_of(f"{section.name}.{option.key}")
    return f"| `{option.key}` | {option.values} | {left_out} | {effect} | {option.meaning} |"
