"""The recorded runs of the journal, and the checks of what a cut left."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from controller.journal import JournalError, file
from controller.journal.chain import Head
from controller.journal.file import Connect
from controller.journal.file import connect as connect_in_service
from controller.journal.folder import JournalFolder
from controller.journal.reserve import Reserve
from controller.journal.store import Journal
from firmware_bridge.cards import Card, Concealed, Evidence
from tests.journal.power.cuts import Cut, memory_folder
from tests.journal.power.disk import Folder, Operation, write_folder
from tests.journal.power.recording import Recorder
from tests.journal.power.sqlite import connecting, recording
from tests.journal.vocabulary import (
    IDENTITY,
    LOCAL_KEY,
    SIGNER,
    TYPES,
    AnyEvent,
    AnyInput,
    Assigned,
    Cards,
    Dispensed,
    Noted,
    Said,
    TestJournal,
    moment,
)

NAME: Final = "journal"
CHECKPOINTS: Final = "wal_autocheckpoint=16"
"""After so many pages in its log SQLite copies them into the file: oftener than in service, so that runs are short."""


def make_log_small(set_: Callable[[object, str, object], None]) -> None:
    """Make the log small enough that it grows at opening, as in service, and again with the writes of the test."""
    set_(file, "_LOG_BYTES", 10 * 4096)
    set_(Reserve.__init__, "__defaults__", (4096,))


class Run:
    """A journal at work in a recorded folder."""

    def __init__(self, recorder: Recorder, connect: Connect, acknowledged: int, kept: int) -> None:
        self.recorder = recorder
        self.decisions = kept
        self._acknowledged = acknowledged
        self._connect = connect
        recorder.rely(acknowledged, kept)

    @contextmanager
    def journal(self) -> Iterator[TestJournal]:
        """Open the journal as a daemon does, to append after its existing content."""
        journal = open_journal(self.recorder.folder, self._connect)
        with closing(journal):
            self.decisions = count_decisions(journal.files())
            yield journal

    def append(self, journal: TestJournal, count: int = 1) -> None:
        for _ in range(count):
            self.recorder.rely(self._acknowledged, self.decisions + 1)
            append(journal, self.decisions)
            self.decisions += 1
            self._acknowledged = self.decisions
            self.recorder.rely(self._acknowledged, self.decisions)

    def save(self, journal: TestJournal) -> None:
        journal.save(state_after(self.decisions))

    def next_file(self, journal: TestJournal) -> None:
        journal.begin_file(state_after(self.decisions), moment(self.decisions))

    def killed(self, work: Work, after: int) -> None:
        """Do `after` operations of the work, like a process that is killed at that point."""
        with suppress(JournalError), self.recorder.dead(after):
            work(self)


Work: TypeAlias = Callable[[Run], None]


def open_journal(folder: Path, connect: Connect = connect_in_service) -> TestJournal:
    """Open the journal as a daemon does at its start, ready for decisions."""
    journal: TestJournal = Journal.open(
        folder / NAME, TYPES, local_key=LOCAL_KEY, identity=IDENTITY, signer=SIGNER, connect=connect
    )
    try:
        if not journal.is_begun:
            journal.begin_file(state_after(0), moment())
    except BaseException:
        journal.close()
        raise
    return journal


def append(journal: TestJournal, step: int) -> None:
    given, events = decision(step)
    journal.append(given, events, round=step, moment=moment(step), signs=step % 3 == 2)


def decision(step: int) -> tuple[AnyInput, list[AnyEvent]]:
    """Return a decision of one of many sizes: no event or several, less than a page or several pages."""
    noted: list[AnyEvent] = [Noted(f"{step}.{index}") for index in range(step % 5)]
    if step % 7 == 3:
        return Said(Random(step).randbytes(4500).hex(), events=len(noted)), noted
    card = Concealed(Card.numbered(step % 52 + 1), 1, step)
    return Dispensed(step, (card, None), Evidence(b"report %d" % step)), [*noted, Assigned("box 1", card)]


LASTS: Final = [*accumulate(1 + len(decision(step)[1]) for step in range(60))]
"""The number of each decision's last entry."""


def state_after(decisions: int) -> Cards:
    return Cards((Concealed(Card.numbered(1), 1, decisions),), decisions)


def count_decisions(files: JournalFolder[AnyInput, AnyEvent]) -> int:
    """Return the number of kept decisions, with those of deleted files. Raise AssertionError unless each is complete
    and occurs once.
    """
    values = [(entry.round, entry.kind, entry.utc_ns, entry.value) for entry in files.entries()]
    with closing(files.reader(files.files[0])) as first:
        before = first.header.previous.number
    at, step = 0, LASTS.index(before) + 1 if before else 0
    while at < len(values):
        given, events = decision(step)
        utc_ns = moment(step).utc_ns
        wanted = [(step, "input", utc_ns, given), *((step, "event", utc_ns, event) for event in events)]
        assert values[at : at + len(wanted)] == wanted, f"decision {step} is not as it was made"
        at += len(wanted)
        step += 1
    return step


def check_states(files: JournalFolder[AnyInput, AnyEvent]) -> None:
    """Raise AssertionError unless each saved state is the one after the decisions before it."""
    for reader in files.readers():
        saved = [(reader.header.previous, reader.opening_state()), reader.checkpoint() or (Head(), None)]
        for head, state in saved:
            assert state is None or state == state_after(LASTS.index(head.number) + 1 if head.number else 0)


def record(work: Work, *, connect: Connect | None = None, found: Folder | None = None, acknowledged: int = 0,
           kept: int = 0, fails: Callable[[Operation], int | None] | None = None) -> Recorder:  # fmt: skip
    """Record the work in a folder that starts as `found`, in which `acknowledged` decisions were acknowledged."""
    with memory_folder() as folder:
        write_folder(folder, found or {})
        with recording(folder) as recorder:
            if fails:
                recorder.fails = fails
            work(Run(recorder, connect or connecting([CHECKPOINTS]), acknowledged, kept))
    return recorder


def look(folder: Path, cut: Cut, doubts: Container[str] = ()) -> str | None:
    """Return what is wrong after a cut: open the journal as a daemon does, append to it, and open it again.

    `doubts`: codes that the pin may raise nevertheless.
    """
    try:
        with closing(open_journal(folder)) as journal:
            files = journal.files()
            kept = count_decisions(files)
            check_states(files)
            assert all(doubt.code in doubts for doubt in journal.pin.doubts), journal.pin.doubts
            if not cut.relied.least <= kept <= cut.relied.most:
                return f"{kept} decisions are kept"
            if files.verify() != journal.head:
                return "its head is not the end of its chain"
            append(journal, kept)
        with closing(open_journal(folder)) as journal:
            if count_decisions(journal.files()) != kept + 1:
                return "what was appended afterwards is not kept"
            journal.begin_file(state_after(kept + 1), moment(kept + 1))
            check_states(journal.files())
            journal.files().verify()
    except (JournalError, AssertionError) as error:
        return str(error)
    return None
