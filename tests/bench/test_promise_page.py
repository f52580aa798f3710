"""The tests of the bench, the table in docs/bench.md and the rules of docs/cardlink.md agree."""

from __future__ import annotations

import importlib
import re

from simulators.bench.promise import KEPT
from simulators.bench.run import TESTS
from tests.protocol.page import PAGE as CARDLINK
from tools.pages.bench import UNTESTED

SECTIONS = (
    "Sealed frames",
    "A link",
    "Reports: numbers, window, acknowledgement",
    "Signs of life",
    "Commands",
    "The program in the device",
)


def text_of(section: str) -> str:
    found = re.search(rf"^##+ {re.escape(section)}\n(.*?)(?=^#|\Z)", CARDLINK, re.M | re.S)
    assert found, section
    return found[1]


def rules_of(section: str) -> set[str]:
    """Return the page's numbered rules by their bold names; for the signs of life also their rows and bold texts."""
    rules: set[str] = set()
    under = ""
    for line in text_of(section).splitlines():
        if bold := re.match(r"\*\*(\w[\w ]*)\.?,?\*\*", line):
            under = f"{bold[1]} "
            if bold[1] in ("Fresh", "Host lost"):
                rules.add(bold[1])
        if number := re.match(r"(\d+)\. ", line):
            rules.add(f"{under}{number[1]}")
        if section == "Signs of life" and (row := re.match(r"\| (sends|counts as|stale after|lost after)", line)):
            rules.add(row[1])
    return rules - {"counts as"}


def short(section: str) -> str:
    return section.partition(":")[0]


def rules() -> set[tuple[str, str]]:
    return {(short(section), rule) for section in SECTIONS for rule in rules_of(section)}


def asked_for() -> set[tuple[str, str]]:
    for file in TESTS[1:]:
        importlib.import_module(f"simulators.bench.promises.{file.stem}")
    return {(one.section, one.rule) for kept in KEPT.values() for one in kept.promises}


def test_the_rules_are_found() -> None:
    found = rules()
    assert {("A link", f"Device {n}") for n in range(1, 6)} <= found
    assert {("Sealed frames", f"Receiving {n}") for n in range(1, 6)} <= found
    assert {("Commands", str(n)) for n in range(1, 10)} <= found
    assert ("Signs of life", "Host lost") in found


def test_every_rule_is_asked_for_or_has_a_reason() -> None:
    assert rules() - asked_for() - set(UNTESTED) == set()


def test_a_rule_without_a_test_has_its_reason_on_the_page() -> None:
    assert not set(UNTESTED) & asked_for()
    assert set(UNTESTED) <= rules()


def test_a_promise_names_a_section_of_the_page() -> None:
    headings = {short(heading) for heading in re.findall(r"^##+ (.+)$", CARDLINK, re.M)}
    assert {section for section, _ in asked_for()} <= headings


def test_a_numbered_promise_names_a_rule_of_the_page() -> None:
    numbered = {(section, rule) for section, rule in asked_for() if re.search(r"\d$", rule)}
    assert numbered <= rules()
