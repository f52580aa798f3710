"""Type checks for the data of a rules document; part of `validation`.

The data is written by hand, and loading it checks no types: a string in place of an enum member compares equal to that
member but fails the `is` comparisons in the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import EnumMeta
from fractions import Fraction
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from controller.games.own_words import OwnWords
from firmware_bridge.messages import Message

WRITTEN: Final[dict[object, str]] = {
    Fraction: "odds(win, stake)",
    Message: 'message("...")',
    tuple: "(one,), with the comma",
    str: "a text",
}


@cache
def _declared(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def mistyped(value: object, kind: Any, place: str) -> Iterator[str]:
    """Yield a problem for each field that is not of its declared type, with its place: `wagers[0].prices[1].odds`."""
    if kind == str | Message:  # a casino writes its own text in a row; a document's text is translated
        kind = Message
    if get_origin(kind) is tuple and isinstance(value, tuple):
        yield from _in_tuple(value, get_args(kind), place)
    elif get_origin(kind) not in (None, tuple):  # the vocabulary's only union is "X or None"
        if value is not None:
            yield from mistyped(value, get_args(kind)[0], place)
    elif not isinstance(value, get_origin(kind) or kind) or (kind is int and isinstance(value, bool)):
        yield f"{place or 'GAME'} is {value!r:.60}; write {_written(kind)}"
    elif isinstance(value, msgspec.Struct | OwnWords) and not isinstance(value, Message):
        for name, declared in _declared(kind).items():
            yield from mistyped(getattr(value, name), declared, f"{place}.{name}".lstrip("."))


def _in_tuple(values: tuple[object, ...], kinds: tuple[Any, ...], place: str) -> Iterator[str]:
    if kinds[1:] != (...,) and len(values) != len(kinds):
        yield f"{place} has {len(values)} entries; give {len(kinds)}"
        return
    for at, value in enumerate(values):
        yield from mistyped(value, kinds[0 if kinds[1:] == (...,) else at], f"{place}[{at}]")


def _written(kind: Any) -> str:
    """Return the notation of a value of this type, for the message."""
    plain = get_origin(kind) or kind
    if isinstance(plain, EnumMeta):
        return f"one of {plain.__name__}, as {plain.__name__}.{next(iter(plain.__members__))}"
    return WRITTEN.get(plain, f"{plain.__name__}(...)" if issubclass(plain, msgspec.Struct) else str(plain.__name__))
