"""The words in which people's acts at a table are written: the steps of scenarios, and what `cardshoe operate` takes.

Each word has its form, what it means, and a reader that makes of the rest of the line what is done at a
`TableOfWords`. docs/scenarios.md lists them.
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
"""Where one word begins another, the longer one counts."""

WITHOUT_WORDS: Final[Mapping[type[operations.Operation], str]] = {
    operations.EnrolScreen: "the screen's browser keeps what is enrolled, so it is done at that browser",
    operations.SignOn: "a dealer signs on at a screen, with the PIN",
    operations.LockScreen: "a screen is locked at that screen",
}
"""Operations that no word enters, and why."""
