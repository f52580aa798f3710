"""The words of the console: the same in every language, short enough for their places, none missing or left over."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

import controller
from controller.api.view import LedgerView
from controller.games.specification import Kind
from controller.rules.hands import Outcome
from controller.table.phases import Phase

CONSOLE: Final = Path(controller.__file__).parent / "console"
LANGUAGES: Final = ("en", "zh-Hans")
PLURAL: Final = re.compile(r"\.(one|other)$")
SAID: Final = re.compile(r"\b(?:say|key)\w*\(\s*[\"`]([^\"`]+)[\"`]|[\"`]([a-z_]+\.[a-z_.]+)[\"`]")
PLACES: Final = {
    # the beginning of a key: the most characters, in English and in Chinese
    "button.": (20, 9),
    "contact.": (90, 40),
    "deal.": (90, 40),
    "headline.": (90, 40),
    "display.": (30, 14),
    "phase.": (14, 7),
    "stage.": (14, 11),
}


def words(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((CONSOLE / "words" / f"{language}.json").read_text("utf-8"))
    return found


def arguments(language: str) -> dict[str, set[str]]:
    """The arguments of each key, its plural forms taken together."""
    found: dict[str, set[str]] = {}
    for key, pattern in words(language).items():
        found.setdefault(PLURAL.sub("", key), set()).update(re.findall(r"\{(\w+)\}", pattern))
    return found


def scripts() -> str:
    return "\n".join(file.read_text("utf-8") for file in sorted((CONSOLE / "js").glob("*.js")))


def test_every_language_has_the_same_keys_and_arguments() -> None:
    english = arguments("en")
    for language in LANGUAGES[1:]:
        assert arguments(language) == english


@pytest.mark.parametrize("language", LANGUAGES)
def test_keys_are_in_order_and_every_plural_form_is_there(language: str) -> None:
    found = words(language)
    assert list(found) == sorted(found)
    for key in found:
        if key.endswith(".one"):
            assert f"{key.removesuffix('.one')}.other" in found


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_go_into_their_places(language: str) -> None:
    too_long = [
        (key, len(pattern))
        for key, pattern in words(language).items()
        for begins, most in PLACES.items()
        if key.startswith(begins) and len(pattern) > most[LANGUAGES.index(language)]
    ]
    assert not too_long


def test_every_key_that_the_page_names_exists_and_no_other() -> None:
    """A key that a script puts together (`phase.${...}`) stands for all that begin so."""
    named = {one or other for one, other in SAID.findall(scripts())}
    begins = {name.split("${")[0] for name in named if "${" in name}
    whole = {name for name in named if "${" not in name and "/" not in name}
    known = set(arguments("en"))
    parts = {key.split(".")[0] for key in known}
    assert {name for name in whole if name.split(".")[0] in parts} <= known
    unused = {key for key in known if key not in whole and not key.startswith(tuple(begins))}
    assert not unused


def test_every_value_that_the_page_makes_a_key_of_has_words() -> None:
    known = set(arguments("en"))
    assert {f"phase.{phase}" for phase in Phase} <= known
    assert {f"stage.{outcome}" for outcome in Outcome} <= known
    numbers = set(LedgerView.__struct_fields__) - {"total", "whole"}
    assert {f"ledger.{pile}" for pile in numbers} <= known
    assert {f"device.{kind}" for kind in ("shuffler", "shoe", "device")} <= known
    assert {f"kind.{kind}" for kind in Kind} <= known
    listed = re.search(r"KINDS_IN_ORDER = \[([^]]+)\]", scripts())
    assert listed is not None
    assert sorted(re.findall(r'"(\w+)"', listed[1])) == sorted(Kind)
