"""Every operation can be entered at the console: it has a text, a button or a place to tap, and an offer.

Read from the page's tables, without a browser. `test_reach` presses what these say.
"""

from __future__ import annotations

import re
from typing import Final, get_args

import pytest
from msgspec.structs import replace

from controller.games.specification import Unit
from controller.language.catalogue import english_of_pages
from controller.table import operations
from controller.table.model import Screen
from controller.table.offers import offers
from controller.table.phases import Phase
from controller.table.state import Duty, TableState
from tests.architecture.sources import ROOT
from tests.console.examples import tables
from tests.table.deck_hands import with_two
from tests.table.every_state import hold, to_phase

SCRIPTS: Final = ROOT / "controller/console/js"
TABLES: Final = ("ALWAYS", "MENU", "SECONDARY", "STANDING")
"""The tables of `actions.js` with the acts that have buttons."""

ELSEWHERE: Final = {
    "choose_option": "question.js",
    "confirm_irregularity": "claim.js",
    "deny_irregularity": "question.js",
    "expose_hand": "panel.js",  # a tap on the hand
    "name_order": "question.js",
    "occupy_boxes": "panel.js",  # a tap on the boxes
    "reconstruct": "question.js",
    "rule": "question.js",
}
"""The modules that draw an operation outside those tables, and name it."""

NEXT_ACT: Final = {"conclude_round", "no_more_bets", "open_table"}
"""Operations that are only offered as the next act, whose button is the same for all."""

OWN_FORM: Final = {"enrol_screen"}
"""Operations with an address of their own, of which no state has an offer."""

TAGS: Final = tuple(operation.__struct_config__.tag for operation in get_args(operations.AnyOperation))


def acts_with_buttons() -> set[str]:
    script = (SCRIPTS / "actions.js").read_text("utf-8")
    found = [re.search(rf"const {name} = (.*?);\n", script, re.DOTALL) for name in TABLES]
    return {act for table in found if table is not None for act in re.findall(r'"(\w+)"', table[1])}


def states() -> list[TableState]:
    ruling = to_phase(Unit.SETS, Phase.BETTING)
    assert hold(ruling, "ruling")
    barred = with_two()
    barred.do(operations.QuarantineDeck("A", "a mark on the back"))
    idle = to_phase(Unit.SETS, Phase.IDLE).state
    screens = (Screen("5e" * 6, "Left", "5e" * 32, "ana", 10**18), Screen("7a" * 6, "Right", "7a" * 32))
    on_duty = replace(idle, duty=Duty("ana"), screens=screens)
    shoe = to_phase(Unit.SINGLES, Phase.IDLE).state
    counted = to_phase(Unit.SETS, Phase.EXAMINING)
    counted.do(operations.CountCards("stub", 40, "a witness"))
    single = (ruling, with_two(), barred, counted)
    return [*(table.state for _, table in tables()), *(table.state for table in single), on_duty, shoe]


@pytest.mark.parametrize("operation", TAGS)
def test_an_operation_has_a_text(operation: str) -> None:
    assert f"op.{operation}" in english_of_pages(), "add it to controller/language/en.json"


@pytest.mark.parametrize("operation", [tag for tag in TAGS if tag not in NEXT_ACT | OWN_FORM])
def test_an_operation_has_a_button_or_a_place_to_tap(operation: str) -> None:
    if operation in ELSEWHERE:
        assert f'"{operation}"' in (SCRIPTS / ELSEWHERE[operation]).read_text("utf-8")
    else:
        assert operation in acts_with_buttons(), "add it to a table of controller/console/js/actions.js"


def test_every_operation_is_offered_in_some_state() -> None:
    offered = {one.operation for state in states() for one in offers(state)}
    assert set(TAGS) - offered == OWN_FORM, "give it a row of offers"


def test_what_people_fill_in_has_a_question() -> None:
    needed = {(one.operation, need) for state in states() for one in offers(state) for need in one.needs}
    english = english_of_pages()
    without = {(tag, need) for tag, need in needed if not {f"ask.{tag}.{need}", f"ask.{need}"} & english.keys()}
    assert needed
    assert not without, "add it to controller/language/en.json"


def test_no_button_is_for_an_operation_that_does_not_exist() -> None:
    assert acts_with_buttons() | set(ELSEWHERE) | NEXT_ACT | OWN_FORM == set(TAGS)
    assert not acts_with_buttons() & (set(ELSEWHERE) | NEXT_ACT | OWN_FORM)
