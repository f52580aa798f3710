"""What a word of a scenario is: its form, what it means, and who reads what follows it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from simulators.scenarios.course import Course
from simulators.scenarios.words import Words

Act: TypeAlias = Callable[[Course], None]


class Word(NamedTuple):
    """`read` takes what follows the word; it raises `UnreadableError` where that says nothing known."""

    form: str
    meaning: str
    read: Callable[[Words], Act]


def plain(act: Act) -> Callable[[Words], Act]:
    """A word that nothing follows."""
    return lambda words: act
