"""The OpenAPI document matches the program, with every address and every refusal."""

from __future__ import annotations

import ast
import re
from typing import Any, cast, get_args

import pytest

from controller.api.callers import Turns
from controller.api.people import People
from controller.api.refusals import Refusals
from controller.api.routes import Routes, Shared
from controller.api.screens import Screens
from controller.api.serving import REFUSALS as IN_PLACE
from controller.table.operations import AnyOperation
from tests.architecture.sources import modules
from tools import openapi
from tools.openapi_routes import BY_THE_JOURNAL, DESCRIBED, EVERYWHERE, IN_BODIES, REFUSALS

NOTHING: Any = cast("Any", None)
AT_THE_DOOR = {"PersonRefusedError": 403, "PinRefusedError": 403, "NotInJournal": 409}
SAID_OF_ALL = {"method"}  # in the description of the whole, because OpenAPI has no place for it


def routes() -> set[tuple[str, str]]:
    """Return the routes of both listeners, without the page's files."""
    shared = Shared(NOTHING, People(()), NOTHING, Refusals(NOTHING, NOTHING), NOTHING)
    served = Routes(shared, Turns())
    found = [*served.all(), *Screens(shared, served, "cookie", lambda host: False).all()]
    return {(one.method, one.path) for one in found}


def refusals_of_sources() -> set[tuple[int, str]]:
    """Return status and code of each refusal in the modules of the API."""
    found = {(status, code) for status, (code, _) in IN_PLACE.items()}
    for module in modules("controller/api"):
        if module.name != "controller.api.client":
            for name, given in openapi.calls(module.tree):
                said = [one.value for one in given if isinstance(one, ast.Constant)]
                match said:
                    case [int(status), str(code), *_] if name in ("refused", "_refuse"):
                        found.add((status, code))
                    case [str(code), *_] if name in AT_THE_DOOR:
                        found.add((AT_THE_DOOR[name], code))
    return found


def test_every_address_is_described_and_no_other() -> None:
    assert set(DESCRIBED) == routes()


def test_every_refusal_is_described_with_its_status() -> None:
    described = {(refusal.status, code) for code, refusal in REFUSALS.items() if code != BY_THE_JOURNAL}
    by_the_journal = {(503, "journal-damaged")}
    assert described == refusals_of_sources() - by_the_journal


def test_every_refusal_is_one_of_some_address() -> None:
    used = {code for one in DESCRIBED.values() for code in one.refusals}
    assert used | {*EVERYWHERE, *IN_BODIES} | SAID_OF_ALL == set(REFUSALS)


@pytest.mark.parametrize("name", ["PublishedEvent", "ScreenState", "Beat"])
def test_the_streams_refer_to_schemas_that_are_there(name: str) -> None:
    made = openapi.document()
    streams = [made["paths"][path]["get"]["responses"]["200"] for path in ("/v1/events", "/v1/screen")]
    named = {one for stream in streams for one in openapi._named(stream["x-server-sent-events"])}
    assert name in named
    assert name in made["components"]["schemas"]


def test_everything_that_is_referred_to_is_there() -> None:
    made = openapi.document()
    assert set(openapi._named(made)) <= made["components"]["schemas"].keys()


def test_every_operation_is_described_in_words_of_json() -> None:
    schemas = openapi.document()["components"]["schemas"]
    described = {name: schema.get("description", "") for name, schema in schemas.items()}
    assert [kind.__name__ for kind in get_args(AnyOperation) if not described[kind.__name__]] == []
    assert [name for name, text in described.items() if re.search(r"\bNone\b", text)] == []


def test_the_codes_of_the_table_are_found() -> None:
    found = openapi.table_codes()
    assert {
        "phase",
        "role",
        "stale",
        "changed",
        "over-maximum",
        "enter-cards",
        "id-used",
        "journal-key-changed",
    } <= set(found)
