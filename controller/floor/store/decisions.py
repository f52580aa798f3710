"""Incoming decisions: new ones are stored with their events, stored ones are skipped, and one that differs from the
stored one with the same numbers is kept alongside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from controller.floor.store.alarms import Alarm, contradicts
from controller.floor.store.chain import ChainLink
from controller.floor.store.database import Connection
from controller.floor.store.records import Arrived, at, digest_of, name_of, text_of
from controller.floor.store.rows import FileRow, JournalRow
from controller.journal.outbox import DecisionMade

_NEAREST: Final = """SELECT w.place, d.first, d.last, d.digest
FROM unnest(%s::int[], %s::int[], %s::bigint[]) AS w(place, journal, first), LATERAL (
SELECT first, last, digest FROM cardshoe.decision
WHERE journal = w.journal AND last >= w.first ORDER BY last LIMIT 1) d"""
_COPY: Final = """COPY cardshoe.decision
(journal, last, first, file, at, utc_ns, round, hash, before, digest) FROM STDIN"""
_COPY_EVENTS: Final = "COPY cardshoe.event (journal, number, decision, at, round, name, body) FROM STDIN"
_HEADS: Final = """SELECT h.number FROM cardshoe.head h
JOIN unnest(%s::int[], %s::bigint[], %s::int[], %s::bytea[]) AS w(journal, number, file, hash)
ON h.journal = w.journal AND h.number = w.number AND h.file = w.file WHERE h.hash <> w.hash"""


class StoredDecision(NamedTuple):
    """The nearest stored decision that ends with an entry or after it."""

    first: int
    last: int
    digest: bytes


class CameDecision(NamedTuple):
    """A decision with the rows of its journal and its file."""

    arrived: Arrived
    made: DecisionMade
    journal: JournalRow
    file: FileRow

    @property
    def link(self) -> ChainLink:
        made = self.made
        return ChainLink(made.first, made.last, bytes.fromhex(made.before), bytes.fromhex(made.hash), self.file.id)


class DecisionsTaken(NamedTuple):
    """The result of a batch. `new` is in the order of journals and entries. `repeated` counts those already stored."""

    new: list[CameDecision]
    repeated: int
    alarms: list[Alarm]


def take_decisions(connection: Connection, came: Sequence[CameDecision]) -> DecisionsTaken:
    """Store the new decisions."""
    ordered = sorted(came, key=lambda one: (one.journal.id, one.made.last))
    stored = _nearest(connection, ordered)
    new: list[CameDecision] = []
    alarms: list[Alarm] = []
    repeated = 0
    for place, one in enumerate(ordered):
        made, journal = one.made, one.journal
        before = new[-1] if new and new[-1].journal is journal else None  # the previous decision in this batch
        found = stored.get(place)
        if before is not None and before.made.last >= made.first:
            found = StoredDecision(before.made.first, before.made.last, digest_of(before.made))
        if made.last <= journal.pruned:
            repeated += 1
        elif found is None or not _overlap(found, made):
            new.append(one)
        elif (found.first, found.last, found.digest) == (made.first, made.last, digest_of(made)):
            repeated += 1
        else:
            alarms += _differs(connection, one)
    _store(connection, new)
    for one in new:
        one.journal.highest = max(one.journal.highest, one.made.last)
    return DecisionsTaken(new, repeated, [*alarms, *_signed_otherwise(connection, new)])


def _nearest(connection: Connection, came: Sequence[CameDecision]) -> dict[int, StoredDecision]:
    """Return the nearest stored decision by the place in `came`. There is none for a place above every stored entry."""
    asked = [(place, one) for place, one in enumerate(came) if one.made.first <= one.journal.highest]
    if not asked:
        return {}
    columns = [place for place, _ in asked], [one.journal.id for _, one in asked], [one.made.first for _, one in asked]
    return {place: StoredDecision(*row) for place, *row in connection.execute(_NEAREST, columns)}


def _overlap(stored: StoredDecision, made: DecisionMade) -> bool:
    return stored.first <= made.last and made.first <= stored.last


def _differs(connection: Connection, came: CameDecision) -> list[Alarm]:
    made = came.made
    sentence = f"Entry {made.last} arrived again and differs from the stored one."
    return contradicts(connection, came.journal, came.arrived, "fork", sentence)


def _store(connection: Connection, new: Iterable[CameDecision]) -> None:
    rows = list(new)
    if not rows:
        return
    with connection.cursor() as cursor:
        with cursor.copy(_COPY) as copy:
            for _, made, journal, file in rows:
                copy.write_row(
                    (journal.id, made.last, made.first, file.id, at(made.utc_ns), made.utc_ns, made.round,
                     bytes.fromhex(made.hash), bytes.fromhex(made.before), digest_of(made))
                )  # fmt: skip
        with cursor.copy(_COPY_EVENTS) as copy:
            for _, made, journal, _ in rows:
                moment = at(made.utc_ns)
                for number, event in enumerate(made.events, start=made.first + 1):
                    copy.write_row((journal.id, number, made.last, moment, made.round, name_of(event), text_of(event)))


def _signed_otherwise(connection: Connection, new: Sequence[CameDecision]) -> list[Alarm]:
    """Return alarms for heads that arrived before their decisions and sign different decisions."""
    before = [one for one in new if one.made.last <= one.journal.head_number]
    if not before:
        return []
    columns = (
        [one.journal.id for one in before],
        [one.made.last for one in before],
        [one.file.id for one in before],
        [bytes.fromhex(one.made.hash) for one in before],
    )
    numbers = {row[0] for row in connection.execute(_HEADS, columns)}
    return [other_than_signed(one.journal, one.made.last) for one in before if one.made.last in numbers]


def other_than_signed(journal: JournalRow, number: int) -> Alarm:
    return Alarm("fork", journal.id, number, f"Entry {number} differs from the entry that was signed.")
