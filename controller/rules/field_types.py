"""Whether every field of a rules document's data has the type that it is declared with: a part of `validation`.

Data is written by hand, and nothing checks a type when it is loaded: a word in place of a member of an enumeration is
equal to it and yet not the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta
from fractions import Fraction
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from controller.games.own_words import OwnWords

WRITTEN: Final[dict[object, str]] = {Fraction: "odds(win, stake)", tuple: "(one,), with the comma", str: "a text"}


@cache
def _declared(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def mistyped(value: object, kind: Any, place: str) -> Iterator[str]:
    """What in a value is not of that declared type, each with its place, as `wagers[0].prices[1].odds`."""
    if get_origin(kind) is tuple and isinstance(value, tuple):
        yield from _in_tuple(value, get_args(kind), place)
    elif get_origin(kind) not in (None, tuple):  # the one union of the vocabulary: something, or None
        if value is not None:
            yield from mistyped(value, get_args(kind)[0], place)
    elif not isinstance(value, get_origin(kind) or kind) or (kind is int and isinstance(value, bool)):
        yield f"{place or 'GAME'} is {value!r:.60}; write {_written(kind)}"
    elif isinstance(value, msgspec.Struct | OwnWords):
        for name, declared in _declared(kind).items():
            yield from mistyped(getattr(value, name), declared, f"{place}.{name}".lstrip("."))


def _in_tuple(values: tuple[object, ...], kinds: tuple[Any, ...], place: str) -> Iterator[str]:
    if kinds[1:] != (...,) and len(values) != len(kinds):
        yield f"{place} has {len(values)} entries; give {len(kinds)}"
        return
    for at, value in enumerate(values):
        yield from mistyped(value, kinds[0 if kinds[1:] == (...,) else at], f"{place}[{at}]")


def _written(kind: Any) -> str:
    """How such a value is written."""
    plain = get_origin(kind) or kind
    if isinstance(plain, EnumMeta):
        return f"one of {plain.__name__}, as {plain.__name__}.{next(iter(plain.__members__))}"
    return WRITTEN.get(plain, f"{plain.__name__}(...)" if issubclass(plain, msgspec.Struct) else str(plain.__name__))
