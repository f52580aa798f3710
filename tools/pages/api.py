"""The table of ranks in docs/api.md, made from the operations and the rows of permissions.

    python -m tools.generate

writes it; a test fails when page and operations differ. Fields and meanings of operations are in the OpenAPI document.
"""

from __future__ import annotations

import re
from typing import Final, get_args

import msgspec

from controller.roles import Role
from controller.table.operations import AnyOperation, Operation
from controller.table.permissions import PERMISSIONS

HEAD: Final = "| lowest rank | operations |\n|---|---|\n"
EVERY: Final[tuple[type[Operation], ...]] = get_args(AnyOperation)
BY_ITS_STATE: Final = {"irregularity", "revision"}  # the irregularity decides who may enter it


def table() -> str:
    """Return the whole table: a row for each rank."""
    of_rank: dict[str, list[str]] = {role.word: [] for role in Role}
    for operation in EVERY:
        of_rank.setdefault(_who(operation), []).append(f"`{operation.__struct_config__.tag}`")
    return HEAD + "".join(f"| {rank} | {', '.join(names)} |\n" for rank, names in of_rank.items())


def _who(operation: type[Operation]) -> str:
    names = {field.name for field in msgspec.structs.fields(operation)}
    return "as the irregularity says" if names >= BY_ITS_STATE else PERMISSIONS[operation].role.word


def rewritten(page: str) -> str:
    """Return the page with its table replaced by this table."""
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: table(), page)
