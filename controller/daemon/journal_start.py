"""Opens a journal when the daemon starts, and finds the state with which the table continues. That is the newest saved
state, with the entries after it folded in.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

from controller.daemon.configuration import Configuration
from controller.daemon.journal_files import missing_key
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.daemon.sections import JournalSection
from controller.daemon.starting import FoldReport
from controller.daemon.witnessing import known_elsewhere
from controller.journal import JournalError
from controller.journal.chain import Head
from controller.journal.codec import Clock, Moment
from controller.journal.file import Identity, damaged
from controller.journal.folder import newest_header, newest_utc_ns
from controller.journal.pinning import Doubt, Known
from controller.journal.reader import JournalReader
from controller.journal.sealing import create_key_file, load_key_file
from controller.journal.signing import SigningKey, load_signing_key
from controller.journal.store import Journal
from controller.journal.writer import JournalWriter
from controller.table.events import AnyEvent, Event
from controller.table.evolve import evolve
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState, remember
from firmware_bridge.drivers.memory import LinkMemory
from firmware_bridge.messages import message

PAGE: Final = 2000  # entries folded between two reports
_NO_STATE: Final = message(
    "Keep a copy of the folder for an audit, and compare it with a noted head, the witness "
    "and the floor; then restore a backup, or move the files away. The next start asks "
    "people about that."
)


class OpenedJournal(NamedTuple):
    """A journal with the state after its last entry. `newest_utc_ns` is when that was recorded, or None if the journal
    is new.
    """

    writer: JournalWriter[AnyInput, AnyEvent]
    saved: SavedState
    newest_utc_ns: int | None


async def open_journal(configuration: Configuration, clock: Clock, report: FoldReport) -> OpenedJournal:
    """Open the table's journal in its thread. Raise `JournalError`, `StoppedError`."""
    section, table = configuration.journal, configuration.table
    local_key = load_key_file(section.key_file)
    identity = Identity(secrets.token_hex(16), table.name, table.simulated)
    loaded: list[tuple[SavedState, int | None]] = []

    def open_and_load() -> Journal[AnyInput, AnyEvent]:
        signer = _signing_key(section)
        journal: Journal[AnyInput, AnyEvent] = Journal.open(
            section.folder, JOURNAL_TYPES, local_key=local_key, identity=identity, signer=signer
        )
        try:
            if journal.head == Head() and not journal.pin.doubts and section.witness is not None:
                doubt = known_elsewhere(section.witness, table.name)
                if doubt is not None:
                    journal.pin.doubt(doubt)
            newest = newest_utc_ns(section.folder)  # before a file is begun
            loaded.append((load(journal, clock.now(), report), newest))
        except BaseException:
            journal.close()
            raise
        return journal

    return OpenedJournal(await JournalWriter.start(open_and_load), *loaded[0])


def _signing_key(section: JournalSection) -> SigningKey:
    """Return the signing key, which is created before the first journal, so that people can note its fingerprint from
    the first start on.

    No key is created for a journal that another key signed: it would be in doubt from then on. Raise `JournalError`.
    """
    path = section.signing_key_path
    if path.exists():
        return load_signing_key(path)
    if missing := missing_key(section, newest_header(section.folder)):
        raise missing
    path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
    try:
        return SigningKey(create_key_file(path))
    except JournalError:
        if path.exists():  # another daemon of this table has just created it; only one of the two gets the journal
            return load_signing_key(path)
        raise


def load(journal: Journal[AnyInput, AnyEvent], moment: Moment, report: FoldReport) -> SavedState:
    """Return the state after the last entry; afterwards `journal` can be appended to.

    A journal without a file gets its first one, with the state of an empty table. Raise `JournalError` and
    `StoppedError`.
    """
    saved = SavedState()
    if journal.head != Head():
        try:
            saved = _load_newest(journal, report)
            journal.look_further(Known(saved.table.doubted_keys, saved.table.files_deleted))
        except JournalError as error:
            raise _with_doubts(error, journal.pin.doubts) from error
    if not journal.is_begun or journal.is_signed_by_another:
        journal.begin_file(saved, moment)
    if not journal.pin.doubts:
        journal.accept()
    return saved


def _with_doubts(error: JournalError, doubts: Sequence[Doubt]) -> JournalError:
    """Add the doubts to the error of a failed start, because they may be its cause."""
    if not doubts:
        return error
    found = tuple(message("{code}: {what}", code=doubt.code, what=doubt.sentence) for doubt in doubts)
    return JournalError(
        error.code,
        message("{error} Before that it was found: {found:sentences}", error=error.message, found=found),
        _NO_STATE,
    )


def _load_newest(journal: Journal[AnyInput, AnyEvent], report: FoldReport) -> SavedState:
    files = journal.files()
    with closing(files.reader(files.files[-1])) as reader:
        checkpoint = reader.checkpoint()
        if checkpoint is not None and checkpoint[1].table.entry == checkpoint[0].number:
            return fold(reader, checkpoint[1], checkpoint[0], report)
        return fold(reader, reader.opening_state(), reader.header.before, report)


def fold(reader: JournalReader[Any, Any], saved: SavedState, after: Head, report: FoldReport) -> SavedState:
    """Return the state after the last entry of the file, from the one after the head `after`. The chain between is
    checked.
    """
    last = reader.head().number
    reader.verify(after, lambda head: report.reached(head.number, last))
    table, memory = saved.table, LinkMemory(saved.link)
    for entry in reader.entries(after.number):
        try:
            if isinstance(entry.value, Event):
                table = evolve(table, entry.value, entry.number)
            else:
                remember(memory, entry.value)
        except Exception as error:  # the rules may fail on events that they never produced
            why = message(
                "entry {entry} does not follow from the entries before it ({error})",
                entry=entry.number,
                error=type(error).__name__,
            )
            raise damaged(reader.path, why) from error
        if entry.number % PAGE == 0:
            report.reached(entry.number, last)
    return SavedState(table, memory.journaled())
