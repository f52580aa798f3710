"""The table of operations in docs/api.md, made from the operations and the rows of permissions.

    python -m tools.generate

writes it; a test fails when page and operations differ. Types and meanings of fields are in the OpenAPI document.
"""

from __future__ import annotations

import re
from typing import Final, get_args

import msgspec

from controller.table.operations import AnyOperation, Operation
from controller.table.permissions import PERMISSIONS

HEAD: Final = "| operation | fields | what it does | who |\n|---|---|---|---|\n"
EVERY: Final[tuple[type[Operation], ...]] = get_args(AnyOperation)
BY_ITS_STATE: Final = {"irregularity", "revision"}  # the irregularity decides who may enter it


def table() -> str:
    """Return the whole table."""
    return HEAD + "".join(f"{row(operation)}\n" for operation in EVERY)


def row(operation: type[Operation]) -> str:
    name = operation.__struct_config__.tag
    return f"| `{name}` | {_fields(operation)} | {_meaning(operation)} | {_who(operation)} |"


def _fields(operation: type[Operation]) -> str:
    """Return the names of the fields; those in brackets are optional."""
    fields = msgspec.structs.fields(operation)
    return ", ".join(f"`{field.name}`" if field.required else f"(`{field.name}`)" for field in fields)


def _meaning(operation: type[Operation]) -> str:
    """Return the first sentence of the operation's docstring, or the phrase of its permission row."""
    phrase = str(PERMISSIONS[operation].phrase)
    described = vars(operation).get("__doc__") or f"{phrase[0].upper()}{phrase[1:]}."
    first = re.split(r"(?<=[.:;])\s", " ".join(described.split()), maxsplit=1)[0]
    return first.rstrip(".:;").replace("|", "\\|")


def _who(operation: type[Operation]) -> str:
    names = {field.name for field in msgspec.structs.fields(operation)}
    return "*irregularity*" if names >= BY_ITS_STATE else PERMISSIONS[operation].role.word


def rewritten(page: str) -> str:
    """Return the page with its table replaced by this table."""
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: table(), page)
