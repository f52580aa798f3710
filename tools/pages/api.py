"""The table of operations in docs/api.md, made from the operations and the rows of permissions.

    python -m tools.generate

writes it; a test fails when page and operations differ.
"""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from typing import Any, Final, get_args

import msgspec

from controller.table import operations
from controller.table.operations import AnyOperation, Operation
from controller.table.permissions import PERMISSIONS

HEAD: Final = "| operation | fields | what it does | who |\n|---|---|---|---|\n"
EVERY: Final[tuple[type[Operation], ...]] = get_args(AnyOperation)
WORDS: Final = {"str": "text", "int": "number", "bool": "true or false", "Place": "place", "Card": "card"}
BY_ITS_STATE: Final = {"irregularity", "revision"}  # the irregularity decides who may enter it
FEW: Final = 6  # the most enum values that are listed


def table() -> str:
    """Return the whole table."""
    return HEAD + "".join(f"{row(operation)}\n" for operation in EVERY)


def row(operation: type[Operation]) -> str:
    name = operation.__struct_config__.tag
    return f"| `{name}` | {_fields(operation)} | {_meaning(operation)} | {_who(operation)} |"


def _fields(operation: type[Operation]) -> str:
    return ", ".join(
        f"`{field.name}`: {_type(operation.__annotations__[field.name])}{'' if field.required else ' (optional)'}"
        for field in msgspec.structs.fields(operation)
    )


def _type(annotation: str) -> str:
    """Return how a field is written in JSON. A field that may be null is marked as optional.

    >>> _type("tuple[Place, ...]"), _type("int | None"), _type("Choice")
    ('list of place', 'number', '`continue` / `withdraw`')
    """
    return _words(ast.parse(annotation, mode="eval").body)


def _words(node: ast.expr) -> str:
    match node:
        case ast.BinOp(left=left, right=ast.Constant(value=None)):
            return _words(left)
        case ast.Subscript(slice=ast.Tuple(elts=[one, ast.Constant(value=value)])) if value is ...:
            return f"list of {_words(one)}"
        case ast.Subscript(slice=ast.Tuple(elts=elements)):
            return f"[{', '.join(map(_words, elements))}]"
        case ast.Name(id=name):
            return WORDS.get(name) or _named(getattr(operations, name))
    raise ValueError(f"no words for {ast.unparse(node)}")


def _named(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return " / ".join(f"`{value}`" for value in kind) if len(kind) <= FEW else kind.__name__.lower()
    if get_args(kind):
        return "an operation"
    required = [field.name for field in msgspec.structs.fields(kind) if field.required]
    return f"{{{', '.join(f'`{name}`' for name in required)}}}" if required else kind.__name__.lower()


def _meaning(operation: type[Operation]) -> str:
    """Return the operation's docstring, or the phrase of its permission row, on one line."""
    phrase = str(PERMISSIONS[operation].phrase)
    described = vars(operation).get("__doc__") or f"{phrase[0].upper()}{phrase[1:]}."
    text = " ".join(described.split())
    return re.sub(r"\bNone\b", "null", text).replace("|", "\\|")


def _who(operation: type[Operation]) -> str:
    names = {field.name for field in msgspec.structs.fields(operation)}
    return "as the irregularity says" if names >= BY_ITS_STATE else PERMISSIONS[operation].role.word


def rewritten(page: str) -> str:
    """Return the page with its table replaced by this table."""
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: table(), page)
