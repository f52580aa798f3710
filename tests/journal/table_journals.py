"""Journals of whole tables: a table plays smooth rounds into a folder, and a start reads it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final, TypeAlias

from benchmarks.in_process import SmoothRounds
from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.daemon.starting import FoldReport
from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.table.decision import Decided
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState, remember
from firmware_bridge.drivers.memory import LinkMemory

KEY: Final = bytes(range(32))
OTHER_KEY: Final = bytes(range(1, 33))
TableJournal: TypeAlias = Journal[AnyInput, AnyEvent]


class Quiet:
    """A service manager that nobody asked for."""

    def tell(self, *lines: str) -> None:
        """Do nothing: nobody listens."""


def report() -> FoldReport:
    return FoldReport(Quiet(), lambda: 0.0, lambda: False)


def open_journal(folder: Path, *, local_key: bytes = KEY, table: str = "BENCH") -> TableJournal:
    identity = Identity("5e" * 16, table, True)
    return Journal.open(folder, JOURNAL_TYPES, local_key=local_key, identity=identity, signer=SigningKey(KEY))


def start(folder: Path, *, table: str = "BENCH", local_key: bytes = KEY) -> SavedState:
    """Return the state with which a daemon would continue."""
    with closing(open_journal(folder, local_key=local_key, table=table)) as journal:
        return load(journal, Moment(10**18, 1), report())


class PlayedTable:
    """A table that plays smooth rounds into a journal. `after` has the state after each decision, by its last entry."""

    def __init__(self, folder: Path, *, local_key: bytes = KEY) -> None:
        self.journal = open_journal(folder, local_key=local_key)
        self._memory = LinkMemory()
        load(self.journal, Moment(10**18, 1), report())
        self.after: dict[int, SavedState] = {}
        self._rounds = SmoothRounds(self._commit)

    def play(self, rounds: int = 1) -> None:
        for _ in range(rounds):
            self._rounds.play()

    def save(self) -> None:
        self.journal.save(self.state)

    def next_file(self) -> None:
        self.journal.begin_file(self.state, Moment(10**18, 1))

    @property
    def state(self) -> SavedState:
        return self.after[self.journal.head.number]

    def _commit(self, given: AnyInput, decided: Decided) -> None:
        number = self.journal.head.number
        self.journal.append(given, decided.events, round=decided.state.round.number, moment=Moment(number, number))
        remember(self._memory, given)
        self.after[self.journal.head.number] = SavedState(decided.state, self._memory.journaled())
