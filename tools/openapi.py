"""The API in OpenAPI 3.1, made from the daemon's own types, routes and refusals: `python -m tools.openapi`.

The daemon serves the file under `/v1/openapi.json`. It is not in git: every installation builds it
(`build_hook.py`), and `python -m tools.generate openapi` renews it beside the sources. A test fails when it differs
from the program.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import msgspec

from controller.api.bodies import NotInJournal
from controller.api.screen_state import Beat, OwnPart, TableMessage
from controller.language import PARAMETER, TEXTS, languages
from controller.rules.layout import BetRefusal as BetRefusal
from controller.table.events import AnyEvent
from controller.table.exposing import ENTER_CARDS
from firmware_bridge.cards import RANKS, SUITS, Card, Concealed, Exposed
from firmware_bridge.plain_text import LONGEST
from tools.openapi_routes import (
    BY_THE_JOURNAL,
    DESCRIBED,
    EVERYWHERE,
    IN_BODIES,
    REFUSALS,
    Described,
    ListOf,
    Stream,
    Text,
)

ROOT: Final = Path(__file__).parents[1]
FILE: Final = ROOT / "controller" / "api" / "openapi.json"
Json: TypeAlias = dict[str, Any]
REF: Final = "#/components/schemas/{name}"
ANY_TEXT: Final[Json] = {"anyOf": [{"type": "string"}, {"$ref": REF.format(name="Message")}]}
HEX: Final = {"type": "string", "pattern": "^[0-9a-f]+$"}
ABOUT: Final = """The local API of one table. docs/api.md of the project describes it for people.

It is served over the Unix socket of `[api] socket`, where the kernel says which user asks, and over the TCP port of
`[api.http] port`, where a cookie says which screen. At the port each request other than GET needs `X-Cardshoe: 1` and
`Content-Type: application/json`. Another method of an address is refused with 405 `method`, any other address with 404
`not-found`. Anything that is not HTTP gets a text with status 400. Clients accept unknown fields, events and codes.
"""
CODE_IS_ARGUMENT: Final = {"RefusedError": 0, "JournalError": 0, "Fault": 0, "OperationAnswer": 2, "refused": 0}
ONE_LINE: Final = (
    f"At most {LONGEST} characters, none of which is hidden: no control characters, line ends, direction marks."
)


def hook(kind: Any) -> Json:
    """Return the schema of a project type."""
    if kind is Card:
        return {
            "type": "string",
            "pattern": f"^(?:[{RANKS}]|10)[{SUITS}]$",
            "description": "A card: rank and suit, as in KD, TC or 10C, AS.",
        }
    if kind is Concealed:
        return {
            "type": "object",
            "properties": {"commitment": HEX},
            "required": ["commitment"],
            "description": "A card that lies face down: SHA-256 of its salt and its face.",
        }
    if kind is Exposed:
        fields = {"card": hook(Card), "salt": HEX, "shuffle": {"type": "integer"}, "ordinal": {"type": "integer"}}
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "description": "A card that was shown, with what opens its commitment.",
        }
    raise NotImplementedError(f"{kind!r} has no place in the API")


# -- codes


def table_codes() -> list[str]:
    """Return the codes with which the table refuses an operation, or a journal that cannot be written."""
    found = {refusal.value.replace("_", "-") for refusal in BetRefusal} | {ENTER_CARDS}
    for tree in _trees("controller/table", "controller/journal", "controller/daemon"):
        for name, given in calls(tree):
            at = CODE_IS_ARGUMENT.get(name, len(given))
            if at < len(given) and isinstance(code := given[at], ast.Constant):
                found.add(str(code.value))
    for tree in _trees("controller/journal"):  # doubts of a journal name their codes in other places, too
        texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        found |= {text for text in texts if isinstance(text, str) and re.fullmatch("journal(-[a-z]+)+", text)}
    return sorted(found - {""})


def _trees(*folders: str) -> Iterator[ast.Module]:
    """Yield every module below these folders of the sources."""
    for folder in folders:
        yield from (ast.parse(path.read_text("utf-8")) for path in sorted((ROOT / folder).rglob("*.py")))


def calls(tree: ast.AST) -> Iterator[tuple[str, list[ast.expr]]]:
    """Yield every call with its last name and its arguments."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.args:
            yield ast.unparse(node.func).rpartition(".")[2], node.args


# -- schemas


def schemas() -> Json:
    """Return every type that is sent or answered, and the few that combine them."""
    kinds = [kind for one in DESCRIBED.values() for kind in _types(one)]
    events: tuple[Any, ...] = get_args(AnyEvent)
    _, made = msgspec.json.schema_components(
        [*kinds, NotInJournal, TableMessage, OwnPart, Beat, *events], schema_hook=hook, ref_template=REF
    )
    head = {name: {"type": "integer"} for name in ("entry", "utc_ns", "round")}
    made["PublishedEvent"] = {
        "description": "An event as it is published: where it stands in the journal, when and in which round it "
        "happened, its name, and its fields.",
        "type": "object",
        "properties": head | {"event": {"type": "string"}},
        "required": [*head, "event"],
        "anyOf": [_ref(event.__name__) for event in events],
    }
    line = {"line": ANY_TEXT | {"description": "What happened, for people."}}
    made["RoundEvent"] = {"allOf": [_ref("PublishedEvent"), {"type": "object", "properties": line}]}
    made["ScreenState"] = {"allOf": [_ref("TableMessage"), _ref("OwnPart")]}
    made["OperationAnswer"]["properties"]["code"]["enum"] = ["", *table_codes()]
    made["BetRefusal"] = {
        "description": "Refused before it reached the table, with a code and a sentence that says what to do.",
        "type": "object",
        "properties": {"accepted": {"const": False}, "code": {"type": "string"}, "sentence": ANY_TEXT},
        "required": ["accepted", "code", "sentence"],
    }
    for name in _sent(made):
        _bound_texts(made[name])
    for name in ("OperationRequest", "EnrolmentRequest", "RemovalRequest"):
        made[name]["properties"]["id"]["format"] = "uuid"
    return {name: _tidied(schema) for name, schema in sorted(made.items())}


def _types(one: Described) -> Iterator[Any]:
    answer = one.answer.of if isinstance(one.answer, ListOf) else one.answer
    yield from (kind for kind in (answer, one.body) if isinstance(kind, type))


def _sent(made: Json) -> set[str]:
    """Return the schemas of client requests."""
    found: set[str] = set()
    waiting = [one.body.__name__ for one in DESCRIBED.values() if one.body is not None]
    while waiting:
        if (name := waiting.pop()) not in found:
            found.add(name)
            waiting += _named(made[name])
    return found


def _named(schema: Any) -> Iterator[str]:
    """Yield the schemas to which it refers."""
    if isinstance(schema, dict):
        if schema.get("$ref", "").startswith(REF.format(name="")):
            yield schema["$ref"].rpartition("/")[2]
        schema = list(schema.values())
    if isinstance(schema, list):
        for one in schema:
            yield from _named(one)


def _bound_texts(schema: Any) -> None:
    if isinstance(schema, list):
        for one in schema:
            _bound_texts(one)
    elif isinstance(schema, dict):
        if schema.get("type") == "string" and not {"enum", "pattern"} & schema.keys():
            schema.update({"maxLength": LONGEST, "format": "one-line"})
        for one in schema.values():
            _bound_texts(one)


def _tidied(schema: Any) -> Any:
    """Return the schema with one-line descriptions in JSON's words, and without titles, which repeat its name."""
    if isinstance(schema, list):
        return [_tidied(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _described(one) if name == "description" and isinstance(one, str) else _tidied(one)
        for name, one in schema.items()
        if not (name == "title" and isinstance(one, str))
    }


def _described(text: str) -> str:
    return re.sub(r"\bNone\b", "null", " ".join(text.split()))


def _ref(name: str) -> Json:
    return {"$ref": REF.format(name=name)}


# -- addresses


def operation(one: Described) -> Json:
    made: Json = {"operationId": one.operation_id, "summary": one.summary, "description": one.text}
    if one.port_only:
        made["description"] += " At the port of screens alone."
    parameters = list(one.parameters)
    if not isinstance(one.answer, Text):
        parameters += [{"$ref": f"#/components/parameters/{name}"} for name in ("Language", "Texts")]
    if parameters:
        made["parameters"] = parameters
    if one.body is not None:
        made["security"] = [{"page": []}, {"page": [], "screen": []}, *([] if one.port_only else [{}])]
        made["requestBody"] = {"required": True, "content": _json(_ref(one.body.__name__))}
    made["responses"] = {"200": _answered(one.answer)} | _refusals(one)
    return made


def _answered(answer: Any) -> Json:
    if isinstance(answer, Text):
        return {"description": answer.says, "content": {answer.media: {"schema": _text_schema(answer.media)}}}
    if isinstance(answer, Stream):
        return {
            "description": "A stream that does not end.",
            "content": {"text/event-stream": {"schema": {"type": "string"}}},
            "x-server-sent-events": {
                "id": answer.id,
                "events": {name: {"data": _ref(schema)} for name, schema in answer.events.items()},
                "comments": answer.comments,
                "resumes": answer.resumes,
            },
        }
    if isinstance(answer, ListOf):
        name = answer.of if isinstance(answer.of, str) else answer.of.__name__
        return {"description": "A list.", "content": _json({"type": "array", "items": _ref(name)})}
    return {"description": "The answer.", "content": _json(_ref(answer.__name__))}


def _text_schema(media: str) -> Json:
    return {"type": "object"} if media == "application/json" else {"type": "string"}


def _refusals(one: Described) -> Json:
    """Return the codes with their sentences, and the plain-text answers, grouped by status."""
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for code in (*EVERYWHERE, *(IN_BODIES if one.body is not None else ()), *one.refusals):
        by_status[REFUSALS[code].status].append(code)
    made = {str(status): _refused(codes) for status, codes in sorted(by_status.items())}
    for status, says in one.texts:
        answer = made.setdefault(str(status), {"description": "", "content": {}})
        answer["description"] = "\n".join([*filter(None, [answer["description"]]), f"- {says}"])
        answer["content"]["text/plain"] = {"schema": {"type": "string"}}
    return made


def _refused(codes: list[str]) -> Json:
    base = _ref("NotInJournal") if "other-journal" in codes else _ref("BetRefusal")
    named: Json = {"pattern": "^[a-z-]+$"} if BY_THE_JOURNAL in codes else {"enum": sorted(set(codes))}
    return {
        "description": "\n".join(f"- `{code}`: {REFUSALS[code].sentence}" for code in sorted(set(codes))),
        "content": _json({"allOf": [base, {"properties": {"code": named}}]}),
    }


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}


def document() -> Json:
    paths: defaultdict[str, Json] = defaultdict(dict)
    for (method, path), one in DESCRIBED.items():
        paths[path][method.lower()] = operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "cardshoe: the API of a table", "version": "1", "description": f"{ABOUT}\n{_formats()}"},
        "paths": dict(paths),
        "components": {
            "parameters": {
                "Language": {
                    "name": PARAMETER,
                    "in": "query",
                    "required": False,
                    "description": "In which language sentences are answered. English for any other.",
                    "schema": {"type": "string", "examples": list(languages())},
                },
                "Texts": {
                    "name": TEXTS,
                    "in": "query",
                    "required": False,
                    "description": "`messages`: each text as a `Message`, with its text, its id and its arguments.",
                    "schema": {"type": "string", "examples": ["messages"]},
                },
            },
            "securitySchemes": {
                "screen": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "cardshoe-TABLE-PORT",
                    "description": "At the port of screens: the cookie that its enrolment gave it.",
                },
                "page": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Cardshoe",
                    "description": "At the port of screens: 1. No page of others can send it.",
                },
            },
            "schemas": schemas(),
        },
    }


def _formats() -> str:
    return f"Format `one-line`: {ONE_LINE}\n"


def text() -> str:
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
