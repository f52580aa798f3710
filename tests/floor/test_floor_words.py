"""The words of the floor, of page and terminal: the same in every language, short enough, none missing or left over."""

from __future__ import annotations

import json
import re
from typing import Final, get_args

import pytest

from controller.commands.floor.words import FloorWords
from controller.floor import BrokerCode
from controller.floor.floor_view import Trouble
from controller.floor.page_server import OWN, SHARED
from controller.language import LANGUAGES
from controller.table.phases import Phase
from tests.architecture.sources import ROOT
from tests.console.test_words import PLURAL
from tests.console.test_words import words as words_of_console

NAMED: Final = re.compile(r"[\"'`]([a-z_]+\.[a-z_.-]*(?:\$?\{)?)")
PLACES: Final = {
    # the beginning of a key: the most characters, in English and in Chinese
    "tile.": (14, 8),
    "age.": (8, 6),
    "headline.": (90, 40),
    "broker.": (60, 30),
    "top.": (14, 8),
}


def words(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((OWN / "words" / f"{language}.json").read_text("utf-8"))
    return found


def arguments(language: str) -> dict[str, set[str]]:
    """The arguments of each key, its plural forms taken together."""
    found: dict[str, set[str]] = {}
    for key, pattern in words(language).items():
        found.setdefault(PLURAL.sub("", key), set()).update(re.findall(r"\{(\w+)\}", pattern))
    return found


def scripts() -> str:
    """The page's own."""
    return "\n".join(file.read_text("utf-8") for file in sorted((OWN / "js").glob("*.js")))


def programs() -> str:
    """With those of the console, and with the terminal's."""
    shared = [ROOT / "controller/console" / name for name in SHARED if name.endswith(".js")]
    files = [*shared, *sorted((ROOT / "controller/commands/floor").glob("*.py"))]
    return "\n".join([scripts(), *(file.read_text("utf-8") for file in files)])


def named() -> tuple[set[str], tuple[str, ...]]:
    """The keys that page and terminal name, and the beginnings of those that they put together."""
    found = set(NAMED.findall(programs()))
    whole = {name for name in found if "{" not in name and "/" not in name}
    return whole, tuple(re.split(r"\$?\{", name)[0] for name in found if "{" in name)


def test_every_language_has_the_same_keys_and_arguments() -> None:
    for language in LANGUAGES[1:]:
        assert arguments(language) == arguments(LANGUAGES[0])


@pytest.mark.parametrize("language", LANGUAGES)
def test_keys_are_in_order_short_enough_and_in_every_form(language: str) -> None:
    found = words(language)
    assert list(found) == sorted(found)
    for key, pattern in found.items():
        if key.endswith(".one"):
            assert f"{key.removesuffix('.one')}.other" in found
        for begins, most in PLACES.items():
            length = len(re.sub(r"\{\w+\}", "00", pattern))
            assert not key.startswith(begins) or length <= most[LANGUAGES.index(language)], key


def test_every_key_that_is_named_exists_and_no_other() -> None:
    whole, begins = named()
    own, shared = set(arguments("en")), {PLURAL.sub("", key) for key in words_of_console("en")}
    parts = {key.split(".")[0] for key in own | shared}
    assert {name for name in whole if name.split(".")[0] in parts} <= own | shared
    assert {key for key in own if key not in whole and not key.startswith(begins)} == set()
    assert not own & shared, "one word for one thing"


def test_every_value_that_becomes_a_key_has_words() -> None:
    own, shared = set(arguments("en")), set(words_of_console("en"))
    troubles = set(get_args(Trouble)) - {""}
    assert {f"trouble.{trouble}" for trouble in troubles} <= own
    assert {f"tile.{trouble}" for trouble in troubles - {"warning"}} <= own
    assert {f"broker.{code}" for code in get_args(BrokerCode) if code != "floor-unread"} <= own
    assert {f"phase.{phase}" for phase in Phase} <= shared
    regions = re.findall(r'<section id="(\w+)"', (OWN / "index.html").read_text())
    assert {f"region.{region}" for region in regions} <= own


def test_what_the_page_takes_of_the_console_is_served() -> None:
    of_console = set(re.findall(r'"/console/([\w./-]+)"', scripts() + (OWN / "index.html").read_text()))
    for name in sorted(one for one in SHARED if one.endswith(".js")):
        text = (ROOT / "controller/console" / name).read_text()
        of_console |= {f"js/{other}" for other in re.findall(r'from "\./([\w.]+)"', text)}
    files = {one for one in of_console if "." in one} | {f"words/{language}.json" for language in LANGUAGES}
    assert files == set(SHARED)


def test_the_terminal_speaks_as_the_page_does() -> None:
    assert FloorWords("en")("top.tables", n=1) == "1 table"
    assert FloorWords("zh-Hans")("top.tables", n=1) == "1 张牌桌"
    assert [FloorWords("en").span(ms) for ms in (59_999, 60_000, 3_599_999, 3_600_000)] == [
        "59 s",
        "1 min",
        "59 min",
        "1 h",
    ]
    assert FloorWords("en").age(100_000, 0) == FloorWords("en").age(100_000, 50_000, 60_000) == ""
    assert FloorWords("en").phase("no_such_phase") == "no such phase"
    assert FloorWords("en").device("no such device") == "Device"
