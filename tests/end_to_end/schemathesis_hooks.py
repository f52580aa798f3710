"""Hooks for schemathesis: generated one-line texts, and requests that reach the table."""

from __future__ import annotations

from itertools import count
from typing import Any, Final
from uuid import UUID

import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode

from firmware_bridge.plain_text import LONGEST, is_plain
from simulators.people.crew import CREW

PEOPLE: Final = ("", *(member.id for member in CREW))
PINS: Final = {member.id: member.pin for member in CREW}
TEXTS: Final = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=LONGEST).filter(is_plain)
_number: Final = count(1)

schemathesis.openapi.format("one-line", TEXTS)


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case[Any]) -> bool:
    """Return False for a case that only violates a text format, which schemathesis does not know."""
    mutations = case.meta.phase.data.mutations if case.meta is not None else ()
    return not any("format" in mutation.keywords for mutation in mutations)


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case[Any], kwargs: dict[str, Any]) -> None:
    """Give each operation its own id, and five in six the current round and a person of the table.

    Otherwise nearly all would be refused for a wrong round or person.
    """
    body = case.body
    good = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if good and case.path_parameters and "number" in case.path_parameters and next(_number) % 2:
        case.path_parameters["number"] = 1
    if good and isinstance(body, dict) and case.method == "POST" and "id" in body:
        number = next(_number)
        case.body = body | {"id": str(UUID(int=number))}
        if "round" in body and number % 6:
            person = PEOPLE[number % len(PEOPLE)]
            case.body |= {"round": 1, "as_of": 0, "repeats": 0, "person": person, "pin": PINS.get(person, "")}
