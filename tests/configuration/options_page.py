"""docs/configuration_options.md, made of the types of a configuration and what each option means.

    python -m tests.configuration.options_page

writes it; a test fails when page and types differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from controller.commands.config.meanings import SECTIONS
from controller.commands.config.options import Option, Section, sections

PAGE: Final = Path(__file__).parents[2] / "docs" / "configuration_options.md"
HEAD: Final = """\
# Every option of a configuration

Made of the program's types (`python -m tests.configuration.options_page`). How the sections work together:
[configuration.md](configuration.md). `cardshoe config example` prints a file with all of this, `cardshoe config show
FILE` a table's own with what is in force.
"""


def page() -> str:
    return "\n".join([HEAD, *(line for section in sections() for line in _lines(section))])


def _lines(section: Section) -> Iterator[str]:
    meaning = SECTIONS[section.name].meaning
    yield f"## {section.heading}"
    yield ""
    yield f"{meaning[0].upper()}{meaning[1:]}."
    yield ""
    yield "| key | what may stand there | if left out | meaning |"
    yield "|---|---|---|---|"
    yield from map(_row, section.options)
    yield ""


def _row(option: Option) -> str:
    left_out = "must stand there" if option.required else f"`{option.default}`" if option.default else "see meaning"
    return f"| `{option.key}` | {option.values} | {left_out} | {option.meaning} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
