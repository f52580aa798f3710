"""Shuffles by the names that people write: `riffle:7`, `shelves:10x2:top`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Final, NamedTuple

from shuffle_audit.models.by_hand import Cut, Overhand, Wash, strip_cuts
from shuffle_audit.models.faults import FavouredPlace, NotAlways, StickingPairs
from shuffle_audit.models.riffle import Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel

CARDS: Final = 52
MOST_PASSES: Final = 50
MOST_SHELVES: Final = 1000
MOST_SHELF_PASSES: Final = 2  # an order's probability takes as many terms as one pass would need shelves
MOST_SECONDS: Final = 3600


class _Form(NamedTuple):
    """`make` takes the words behind the name."""

    usage: str
    make: Callable[..., ShuffleModel]


def named(text: str) -> ShuffleModel:
    """The shuffle of that name, for a deck of 52 cards. Raises `ValueError` with a sentence."""
    name, *words = text.strip().split(":")
    form = _FORMS.get(name)
    if form is None:
        raise ValueError(f"{text!r} is no shuffle; there are {', '.join(one.usage for one in _FORMS.values())}.")
    try:
        inspect.signature(form.make).bind(*words)
    except TypeError:
        raise ValueError(f"{text!r} is no shuffle; write {form.usage}.") from None
    try:
        return form.make(*words)
    except ValueError as error:
        raise ValueError(f"{text!r} is no shuffle: {error}; write {form.usage}.") from None


def _whole(word: str, most: int) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10 and 1 <= int(word) <= most):
        raise ValueError(f"{word!r} is no whole number from 1 to {most}")
    return int(word)


def _number(word: str, most: float = 1.0) -> float:
    try:
        found = float(word)
    except ValueError:
        found = -1.0
    if not 0 <= found <= most:
        raise ValueError(f"{word!r} is no number from 0 to {most:g}")
    return found


def _shelves(shelves: str, side: str = "bottom") -> ShuffleModel:
    number, by, passes = shelves.partition("x")
    if side not in ("top", "bottom"):
        raise ValueError(f"cards are taken from the top or the bottom, not {side!r}")
    times = _whole(passes, MOST_SHELF_PASSES) if by else 1
    return Shelves(_whole(number, MOST_SHELVES), times, from_top=side == "top")


def _favoured(chance: str, before: str, after: str) -> ShuffleModel:
    return FavouredPlace(_number(chance), _whole(before, CARDS) - 1, _whole(after, CARDS) - 1)


_FORMS: Final = {
    "uniform": _Form("uniform", lambda: UNIFORM),
    "riffle": _Form("riffle:PASSES", lambda passes: Riffle(_whole(passes, MOST_PASSES))),
    "shelves": _Form("shelves:SHELVES[xPASSES][:top]", _shelves),
    "overhand": _Form(
        "overhand:PASSES:BREAKS", lambda passes, breaks: Overhand(_whole(passes, MOST_PASSES), _number(breaks))
    ),
    "strip": _Form("strip:PASSES", lambda passes: strip_cuts(_whole(passes, MOST_PASSES), CARDS)),
    "wash": _Form("wash:SECONDS", lambda seconds: Wash(_number(seconds, MOST_SECONDS))),
    "cut": _Form("cut", Cut),
    "sticking": _Form("sticking:CHANCE", lambda chance: StickingPairs(_number(chance))),
    "not-always": _Form("not-always:CHANCE", lambda chance: NotAlways(_number(chance))),
    "favoured": _Form("favoured:CHANCE:PLACE-IN:PLACE-OUT", _favoured),
}
