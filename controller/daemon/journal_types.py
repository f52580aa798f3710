"""What the journal of a table holds."""

from __future__ import annotations

from typing import Final

from controller.journal.codec import StateForm, Types
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import VERSION, SavedState, digest, upgrade

JOURNAL_TYPES: Final = Types(AnyInput, AnyEvent, StateForm(SavedState, VERSION, digest(), upgrade))
