"""Keeps the journal of a scenario as this version writes it, with the screens, once for each format.

    python -m tests.journal.keep nc/i12-exposed-and-each-bettor-chooses

A kept journal is never written again: later versions have to fold it to the same state.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from controller.api.bodies import encode_hook
from controller.api.in_language import in_language
from controller.api.view import LinkView, view_of
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.table import events
from controller.table.decide import decide
from controller.table.events import AnyEvent
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState
from controller.table.state import TableState
from simulators.scenarios import load
from simulators.scenarios.course import Course, TableSetting
from simulators.scenarios.player import play

KEPT = Path(__file__).with_name("kept")
SHOWN_AFTER = (events.HandJudged, events.IrregularityResolved, events.PhaseEntered)
SECOND = 1_000_000_000


def shown(state: TableState) -> Any:
    """Return the screen in English, as plain values."""
    return msgspec.to_builtins(in_language(view_of(state, LinkView()), None), enc_hook=encode_hook)


class KeptCourse(Course):
    """A scenario whose every decision is appended to a journal."""

    def __init__(self, setting: TableSetting, journal: Journal[AnyInput, AnyEvent]) -> None:
        self._journal = journal
        self.views: list[Any] = []
        super().__init__(setting)

    def _take(self, given: AnyInput) -> None:
        decided = decide(self.state, given)
        if decided.events:
            now = (self.state.entry + 1) * SECOND
            self._journal.append(given, decided.events, round=decided.state.round.number, moment=Moment(now, now))
        state = self.state
        for entry, event in enumerate(decided.events, start=self.state.entry + 2):
            state = evolve(state, event, entry)
            if isinstance(event, SHOWN_AFTER):
                self.views.append(shown(state))
        super()._take(given)


def keep(name: str) -> None:
    kept = KEPT / name.replace("/", "-")
    if kept.with_name(f"{kept.name}.key").exists():
        raise SystemExit(f"{name} is kept already, as the version that wrote it left it")
    key = Random(name).randbytes(32)
    scenario = load(name)
    with tempfile.TemporaryDirectory() as folder:
        identity = Identity(Random(name).randbytes(16).hex(), "scenario", True)
        signer = SigningKey(Random(f"{name} signer").randbytes(32))
        journal: Journal[AnyInput, AnyEvent] = Journal.open(
            Path(folder), JOURNAL_TYPES, local_key=key, identity=identity, signer=signer, random=Random(name).randbytes
        )
        journal.begin_file(SavedState(), Moment(SECOND, SECOND))
        course = KeptCourse(scenario.setting, journal)
        for _ in play(scenario, course):
            pass
        journal.close()
        kept.with_name(f"{kept.name}.journal.gz").write_bytes(gzip.compress(journal.path.read_bytes(), mtime=0))
    kept.with_name(f"{kept.name}.views.json.gz").write_bytes(gzip.compress(msgspec.json.encode(course.views), mtime=0))
    kept.with_name(f"{kept.name}.key").write_text(f"{key.hex()}\n")


if __name__ == "__main__":
    for scenario_name in sys.argv[1:]:
        keep(scenario_name)
