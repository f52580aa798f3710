"""docs/configuration_options.md, made from the types of a configuration and the meanings of its options.

    python -m tools.generate

writes it; a test fails when page and types differ. It is short because the command `config` has the texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.commands.config.configuration_options import ConfigurationOption, ConfigurationSection, sections
from controller.commands.config.meanings import SECTIONS
from controller.daemon.taking_effect import effect_of
from controller.games.specification import FACT_QUESTIONS
from firmware_bridge.messages import Message

HEAD: Final = """\
# Every option of a configuration

This page lists every option, for technicians; [configuration.md](configuration.md) explains the sections.
`python -m tools.generate` makes it from the program's types. `cardshoe config example` prints a file with all options,
`cardshoe config show FILE` what is in force. [How a file is read again](configuration.md#reading-it-again).
"""


def page() -> str:
    return "\n".join([HEAD, *(line for section in sections() for line in _lines(section))])


def _lines(section: ConfigurationSection) -> Iterator[str]:
    meaning = SECTIONS[section.name].meaning
    yield f"## {section.heading}"
    yield ""
    yield f"{meaning[0].upper()}{meaning[1:]}. {_effects(section)}"
    yield ""
    yield "| key | value | if left out | meaning |"
    yield "|---|---|---|---|"
    yield from (_row(option) for option in section.options)
    yield ""
    if section.name == "house":
        yield from ("| fact in `when` | true where the answer is yes |", "|---|---|")
        yield from (f"| `{fact}` | {_in_any_game(question)} |" for fact, question in FACT_QUESTIONS.items())
        yield ""


def _in_any_game(question: Message) -> str:
    return str(question).replace("{dealer}", "Dealer")


def _effects(section: ConfigurationSection) -> str:
    """Return when a change takes effect: of most keys, then of the others."""
    keys: dict[str, list[str]] = {}
    for option in section.options:
        keys.setdefault(str(effect_of(f"{section.name}.{option.key}")), []).append(f"`{option.key}`")
    most, *others = sorted(keys, key=lambda effect: -len(keys[effect]))
    exceptions = "".join(f"; of {' and '.join(keys[effect])} {effect}" for effect in others)
    return f"A change takes effect {most}{exceptions}."


def _row(option: ConfigurationOption) -> str:
    left_out = "required" if option.required else f"`{option.default}`" if option.default else "see meaning"
    return f"| `{option.key}` | {option.values} | {left_out} | {option.meaning} |"
