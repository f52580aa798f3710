"""A small table's inputs and events, with every kind of field that the real ones have."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from controller.journal.codec import Moment, StateForm, Types
from controller.journal.file import Identity
from controller.journal.reader import Entry, JournalReader
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed

LOCAL_KEY = bytes(range(32))
IDENTITY = Identity(id="5e" * 16, table="pit 1 / 7", simulated=True)
SIGNER = SigningKey(bytes(range(1, 33)))


class Dispensed(msgspec.Struct, frozen=True, tag="dispensed"):
    number: int
    cards: tuple[Concealed | None, ...]
    evidence: Evidence


class Said(msgspec.Struct, frozen=True, tag="said"):
    text: str
    card: Card | None = None
    events: int = 0


class Assigned(msgspec.Struct, frozen=True, tag="assigned"):
    place: str
    card: Concealed | None
    others: tuple[Concealed | None, ...] = ()


class Shown(msgspec.Struct, frozen=True, tag="shown"):
    cards: tuple[Exposed, ...]
    face_up: Card | None = None


class Noted(msgspec.Struct, frozen=True, tag="noted"):
    text: str


class Cards(msgspec.Struct, frozen=True):
    """A state: the cards that were dispensed, and the number of inputs."""

    cards: tuple[Concealed, ...] = ()
    inputs: int = 0


AnyInput: TypeAlias = Dispensed | Said
AnyEvent: TypeAlias = Assigned | Shown | Noted
TYPES = Types(AnyInput, AnyEvent, StateForm(Cards, 1, b"digest of cards", lambda version, saved: saved))
TestJournal: TypeAlias = Journal[AnyInput, AnyEvent]


def moment(step: int = 0) -> Moment:
    return Moment(1_700_000_000_000_000_000 + step, 5_000_000_000 + step)


def open_journal(folder: Path, **changed: Any) -> TestJournal:
    """Open the journal in that folder, ready for entries."""
    asked: dict[str, Any] = {"local_key": LOCAL_KEY, "identity": IDENTITY, "signer": SIGNER, **changed}
    journal: TestJournal = Journal.open(folder, TYPES, **asked)
    try:
        if not journal.is_begun:
            journal.begin_file(Cards(), moment())
    except BaseException:
        journal.close()
        raise
    return journal


def append(journal: TestJournal, step: int, *cards: Concealed) -> list[int]:
    """Append an input and three events; return the numbers of the entries."""
    given = Dispensed(step, cards, Evidence(b"report %d" % step))
    first = cards[0] if cards else None
    events = (Assigned("box 1", first, cards), Noted(f"step {step}"), Noted("done"))
    committed = journal.append(given, events, round=1, moment=moment(step))
    return [committed.first, *committed.events]


def entries(journal: TestJournal, after: int = 0) -> list[Entry[AnyInput, AnyEvent]]:
    """Return all entries of the journal, read over separate connections."""
    return list(journal.files().entries(after))


def reader_of(path: Path, local_key: bytes | None = LOCAL_KEY) -> JournalReader[AnyInput, AnyEvent]:
    """Return a reader of one of its files."""
    return JournalReader.open_to_read(path, TYPES, local_key=local_key)
