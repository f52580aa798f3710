"""Words for people's acts at a table: the steps of scenarios, and the lines that `cardshoe operate` accepts.

Each word has its form, its meaning, and a reader that turns the rest of the line into an act at a `TableOfWords`.
docs/scenarios.md lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.people_words.deck_words import DECK_WORDS
from controller.people_words.irregularity_words import IRREGULARITY_WORDS
from controller.people_words.round_words import ROUND_WORDS
from controller.people_words.supervisor_words import SUPERVISOR_WORDS
from controller.people_words.table_of_words import TableOfWords
from controller.people_words.word import Word
from controller.table import operations

WORDS: Final[Mapping[str, Word[TableOfWords]]] = {
    **ROUND_WORDS,
    **IRREGULARITY_WORDS,
    **SUPERVISOR_WORDS,
    **DECK_WORDS,
}
"""All words. If one word begins with another, the longer one is matched."""

WITHOUT_WORDS: Final[Mapping[type[operations.Operation], str]] = {
    operations.EnrolScreen: "a screen is enrolled at its own browser, which keeps the cookie",
    operations.SignOn: "a dealer signs on at a screen, with the PIN",
    operations.LockScreen: "a screen is locked at that screen",
}
"""Operations that no word enters, with the reason."""
