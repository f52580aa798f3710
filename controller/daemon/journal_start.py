"""The state with which a table goes on: the newest that is saved in the journal, and what follows it folded."""

from __future__ import annotations

from contextlib import closing
from typing import Any, Final

from controller.daemon.starting import FoldReport
from controller.journal.chain import Head
from controller.journal.codec import Moment, StateForm, Types
from controller.journal.reader import JournalReader
from controller.journal.store import Journal
from controller.table.events import AnyEvent, Event
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.saved_state import VERSION, SavedState, digest, remember, upgrade
from firmware_bridge.drivers.memory import LinkMemory

PAGE: Final = 2000  # entries folded between two reports


def journal_types() -> Types:
    """What the journal of a table holds."""
    return Types(AnyInput, AnyEvent, StateForm(SavedState, VERSION, digest(), upgrade))


def load(journal: Journal[AnyInput, AnyEvent], moment: Moment, report: FoldReport) -> SavedState:
    """The state after the last entry; `journal` can be appended to then.

    A journal without a file of this format gets its first one: with the state to which a file of format 1 folds, else
    with that of an empty table. Raises `JournalError`, and `StoppedError`.
    """
    if journal.is_begun:
        return _load_newest(journal, report)
    saved = _load_newest(journal, report) if journal.path.is_file() else SavedState()
    journal.begin_file(saved, moment)
    return saved


def _load_newest(journal: Journal[AnyInput, AnyEvent], report: FoldReport) -> SavedState:
    with closing(journal.reader()) as reader:
        checkpoint = reader.checkpoint()
        if checkpoint is not None:
            return fold(reader, checkpoint[1], checkpoint[0], report)
        return fold(reader, reader.opening_state() or SavedState(), reader.header.before, report)


def fold(reader: JournalReader[Any, Any], saved: SavedState, after: Head, report: FoldReport) -> SavedState:
    """The state after the last entry of the file, from the one after the head `after`. The chain between is checked."""
    last = reader.head().number
    reader.verify(after, lambda head: report.reached(head.number, last))
    table, memory = saved.table, LinkMemory(saved.link)
    for entry in reader.entries(after.number):
        if isinstance(entry.value, Event):
            table = evolve(table, entry.value, entry.number)
        else:
            remember(memory, entry.value)
        if entry.number % PAGE == 0:
            report.reached(entry.number, last)
    return SavedState(table, memory.journaled())
