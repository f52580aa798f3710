"""The texts of console, floor and terminal: the same keys in every language, none missing, unused or double."""

from __future__ import annotations

import re
from typing import Final, get_args

import pytest

from controller.api.view import LedgerView
from controller.floor import BrokerCode
from controller.floor.floor_view import Trouble
from controller.games.specification import Kind
from controller.language import Speaker, languages
from controller.language.catalogue import english_of_pages, texts
from controller.roles import Role
from controller.rules.hands import Outcome
from controller.table.phases import Phase
from tests.architecture.sources import ROOT
from tools.catalogue import plural_forms

FORM: Final = re.compile(r"\.(zero|one|two|few|many|other)$")  # CLDR's plural categories
ARGUMENT: Final = re.compile(r"\{(\w+)\}")
NAMED: Final = re.compile(r"[\"'`]([a-z_]+\.[\w.-]*(?:\$?\{)?)")
SCRIPTS: Final = (ROOT / "controller/console/js", ROOT / "controller/floor/page/js")
SAYS: Final = re.compile(r"\bkeyed\b|\bFloorWords\b|\bTelling\b")
"""Programs that say these words name one of these."""


def arguments(language: str) -> dict[str, set[str]]:
    """Return the arguments of each key, its plural forms taken together."""
    found: dict[str, set[str]] = {}
    for key, pattern in texts(language).keyed.items():
        found.setdefault(FORM.sub("", key), set()).update(ARGUMENT.findall(pattern))
    return found


def named() -> tuple[set[str], tuple[str, ...]]:
    """Return the keys that scripts and programs name, and the prefixes of those that they compose."""
    scripts = [path.read_text("utf-8") for folder in SCRIPTS for path in folder.glob("*.js")]
    programs = [path.read_text("utf-8") for path in (ROOT / "controller").rglob("*.py")]
    texts = [*scripts, *(text for text in programs if SAYS.search(text))]
    found = {name for text in texts for name in NAMED.findall(text)}
    whole = {name for name in found if "{" not in name}
    return whole, tuple(re.split(r"\$?\{", name)[0] for name in found if "{" in name)


@pytest.mark.parametrize("language", languages())
def test_every_language_has_the_same_keys_and_arguments(language: str) -> None:
    assert arguments(language) == arguments("en")
    counted = {FORM.sub("", key) for key in texts(language).keyed if FORM.search(key)}
    for key in counted:
        assert {f"{key}.{form}" for form in plural_forms(language)} <= set(texts(language).keyed)


def test_english_keys_are_in_order() -> None:
    assert list(english_of_pages()) == sorted(english_of_pages())


def test_every_key_that_is_named_exists_and_no_other() -> None:
    whole, begins = named()
    known = set(arguments("en"))
    parts = {key.split(".")[0] for key in known}
    plain = {
        FORM.sub("", name)
        for name in whole
        if re.fullmatch(r"[a-z_]+(\.[a-z_-]+)+", name) and name.split(".")[0] in parts
    }
    assert plain - known == set()
    assert {key for key in known if key not in whole and not key.startswith(begins)} == set()


def test_every_value_that_becomes_a_key_has_words() -> None:
    known = set(arguments("en"))
    assert {f"phase.{phase}" for phase in Phase} <= known
    assert {f"role.{role}" for role in Role} <= known
    assert {f"stage.{outcome}" for outcome in Outcome} <= known
    numbers = set(LedgerView.__struct_fields__) - {"total", "whole"}
    dealt = {"hands", "first_card"}
    assert {f"ledger.{pile}" for pile in numbers - dealt | {"dealt"}} <= known
    assert {f"device.{kind}" for kind in ("shuffler", "shoe", "device")} <= known
    assert {f"kind.{kind}" for kind in Kind} <= known
    listed = re.search(r"GROUPS = {([^}]+)}", (SCRIPTS[0] / "needs.js").read_text("utf-8"))
    assert listed is not None
    groups = dict(re.findall(r"(\w+): \[([^]]+)\]", listed[1]))
    kinds = {group: re.findall(r'"(\w+)"', row) for group, row in groups.items()}
    assert sorted(kind for row in kinds.values() for kind in row) == sorted(Kind)
    assert all(len(row) <= 6 for row in kinds.values()), "a group is seen at a glance"
    assert {f"group.{group}" for group in groups} <= known


def test_every_trouble_of_the_floor_has_words() -> None:
    known = set(arguments("en"))
    troubles = set(get_args(Trouble)) - {""}
    assert {f"trouble.{trouble}" for trouble in troubles} <= known
    assert {f"tile.{trouble}" for trouble in troubles - {"warning"}} <= known
    assert {f"broker.{code}" for code in get_args(BrokerCode) if code != "floor-unread"} <= known


def test_every_region_has_a_name() -> None:
    for page in ("console/index.html", "console/display.html", "floor/page/index.html"):
        regions = re.findall(r'<section id="(\w+)"', (ROOT / "controller" / page).read_text("utf-8"))
        assert regions
        assert {f"region.{region}" for region in regions} <= set(english_of_pages())


def test_a_key_without_words_is_shown_by_its_last_part() -> None:
    assert Speaker("en").keyed("phase.no_such_phase") == "no such phase"


def test_a_number_takes_the_form_that_exists() -> None:
    assert [Speaker("en").keyed("stage.cards", n=n) for n in (0, 1, 2)] == ["0 cards", "1 card", "2 cards"]
    assert Speaker("en").keyed("bar.silent", n=1) == "silent 1 s"
