"""Parses names of models, in a text form that all commands share: `riffle:7`, `shelves:10x2:top`, `cut`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from shuffle_audit.models.by_hand import Cut, Overhand, Wash, strip_cuts
from shuffle_audit.models.faults import FavouredPlace, NotAlways, StickingPairs
from shuffle_audit.models.riffle import BiasedRiffle, Riffle
from shuffle_audit.models.shelf import Shelves
from shuffle_audit.models.shuffle_model import UNIFORM, ShuffleModel

MOST_RIFFLES: Final = 60
MOST_SHELVES: Final = 100_000
MOST_PASSES: Final = 20
MOST_SECONDS: Final = 3600.0


class ModelNameError(ValueError):
    """Raised for a text that does not name a model. The sentence lists the forms."""


class ModelForm(NamedTuple):
    """A form of a name. `examples` have their `meaning` for people."""

    examples: tuple[str, ...]
    meaning: str
    made: Callable[[Sequence[str], int], ShuffleModel]


class _BadPartError(ValueError):
    """Raised for a part of the text that does not fit its form. The message says what is allowed at that point."""


def model_named(text: str, cards: int = 52) -> ShuffleModel:
    """Return the model for decks of `cards` cards. Raise `ModelNameError` if there is no such model.

    >>> model_named("shelves:10x2").words
    'a shelf shuffler with 10 shelves, 2 passes'
    """
    name, *parts = text.strip().split(":")
    try:
        if name not in FORMS:
            raise _BadPartError(f"there is no model {name!r}")
        return FORMS[name].made(parts, cards)
    except _BadPartError as error:
        forms = ", ".join(example for form in FORMS.values() for example in form.examples)
        raise ModelNameError(f"{text!r} names no model: {error}. The forms are {forms}.") from error


def _parts(parts: Sequence[str], least: int, most: int) -> None:
    if not least <= len(parts) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise _BadPartError(f"{wanted} numbers follow the name, not {len(parts)}")


def _whole(text: str, what: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9 and 1 <= int(text) <= most):
        raise _BadPartError(f"{what} is a whole number from 1 to {most:,}, not {text!r}")
    return int(text)


def _number(text: str, what: str, most: float) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not (text.isascii() and 0 < found <= most):
        raise _BadPartError(f"{what} is a number above 0, at most {most:g}, not {text!r}")
    return found


def _uniform(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 0, 0)
    return UNIFORM


def _cut(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 0, 0)
    return Cut()


def _riffle(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 1, 2)
    passes = _whole(parts[0], "the number of riffles", MOST_RIFFLES)
    return Riffle(passes) if len(parts) == 1 else BiasedRiffle(passes, _number(parts[1], "the share cut off", 1.0))


def _shelves(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 1, 2)
    if parts[1:] not in ([], ["top"]):
        raise _BadPartError(f"only 'top' may follow the shelves, not {parts[1]!r}")
    shelves, times, passes = parts[0].partition("x")
    found = Shelves(
        _whole(shelves, "the number of shelves", MOST_SHELVES),
        _whole(passes, "the number of passes", MOST_PASSES) if times else 1,
        from_top=len(parts) == 2,
    )
    if found.as_one_pass > MOST_SHELVES:
        raise _BadPartError(
            f"shelves and passes equal {found.as_one_pass:,} shelves, and the limit is {MOST_SHELVES:,}"
        )
    return found


def _sticking(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 1, 1)
    return StickingPairs(_number(parts[0], "the chance", 1.0))


def _not_always(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 1, 1)
    return NotAlways(_number(parts[0], "the chance", 1.0))


def _overhand(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 2, 2)
    return Overhand(_whole(parts[0], "the number of shuffles", 1000), _number(parts[1], "the chance of a break", 1.0))


def _strip(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 1, 1)
    passes = _whole(parts[0], "the number of cuts", 1000)
    if cards < 8:
        raise _BadPartError("a strip cut needs at least 8 cards")
    return strip_cuts(passes, cards)


def _wash(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 1, 1)
    return Wash(_number(parts[0], "the time in seconds", MOST_SECONDS))


def _favoured(parts: Sequence[str], cards: int) -> ShuffleModel:
    _parts(parts, 3, 3)
    chance = _number(parts[0], "the chance", 1.0)
    return FavouredPlace(chance, _whole(parts[1], "the place", cards) - 1, _whole(parts[2], "the place", cards) - 1)


FORMS: Final = {
    "uniform": ModelForm(("uniform",), "each order is equally likely", _uniform),
    "riffle": ModelForm(("riffle:7", "riffle:7:0.4"), "that many riffles; by a dealer who cuts off 40 %", _riffle),
    "shelves": ModelForm(
        ("shelves:10", "shelves:10x2", "shelves:10:top"),
        "a machine with that many shelves; two passes; one that takes the cards from the top",
        _shelves,
    ),
    "sticking": ModelForm(("sticking:0.02",), "uniform, but neighbours stick with that chance", _sticking),
    "not-always": ModelForm(("not-always:0.05",), "uniform, but left out with that chance", _not_always),
    "cut": ModelForm(("cut",), "one cut and nothing else", _cut),
    "overhand": ModelForm(
        ("overhand:3:0.2",), "that many overhand shuffles, a break at a card with that chance", _overhand
    ),
    "strip": ModelForm(("strip:4",), "that many strip cuts", _strip),
    "wash": ModelForm(("wash:30",), "cards washed on the table for that many seconds", _wash),
    "favoured": ModelForm(("favoured:0.2:1:52",), "uniform, but with that chance card 1 comes to place 52", _favoured),
}
"""The forms by name. Places of cards count from 1, from the top."""
