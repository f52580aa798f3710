"""A small table's inputs and events, with every kind of field that the real ones have."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.store import Journal
from firmware_bridge.cards import Card, Concealed, Evidence, Exposed

LOCAL_KEY = bytes(range(32))
IDENTITY = Identity(id="5e" * 16, table="pit 1 / 7", simulated=True, created_utc_ns=1_700_000_000_000_000_000)
START = "8d8ac610-566d-4ef0-9c22-186b2a5ed793"


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


class Kept(msgspec.Struct, frozen=True, tag="kept"):
    evidence: Evidence | None


class Noted(msgspec.Struct, frozen=True, tag="noted"):
    text: str


AnyInput: TypeAlias = Dispensed | Said
AnyEvent: TypeAlias = Assigned | Shown | Kept | Noted
TestJournal: TypeAlias = Journal[AnyInput, AnyEvent]


def moment(step: int = 0) -> Moment:
    return Moment(1_700_000_000_000_000_000 + step, 5_000_000_000 + step)


def open_journal(path: Path, **changed: Any) -> TestJournal:
    asked: dict[str, Any] = {"local_key": LOCAL_KEY, "identity": IDENTITY, "start": START, **changed}
    return Journal.open(path, AnyInput, AnyEvent, **asked)


def append(journal: TestJournal, step: int, *cards: Concealed) -> list[int]:
    """An input and three events; the numbers of the entries."""
    given = Dispensed(step, cards, Evidence(b"report %d" % step))
    first = cards[0] if cards else None
    events = (Assigned("box 1", first, cards), Noted(f"step {step}"), Noted("done"))
    committed = journal.append(given, events, round=1, moment=moment(step))
    return [committed.first, *committed.events]
