"""The types in the journal of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from controller.journal.codec import StateForm, Types
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import VERSION, SavedState, digest, upgrade

WORDS: Final = Path(__file__).with_name("journal_words.txt")
"""Decisions as a table makes them, the most frequent last, written by `python -m tests.journal.words`. Each file of a
journal has its own copy, so these may change.
"""

JOURNAL_TYPES: Final = Types(AnyInput, AnyEvent, StateForm(SavedState, VERSION, digest(), upgrade), WORDS.read_bytes())
