"""Alarms: findings that a person has to look at. An open alarm is one row, with the number of times it was found.

gap            entries are missing though later ones arrived long ago; closed automatically when they arrive
fork           a different record under a stored number, or a record that does not follow the stored ones
rollback       the journal's key also signed a second chain: an older copy of the journal replaced it
other-table    a journal under the topics of a table that its beginning does not name, or two tables with one id
bad-signature  a head that was not signed with the file's key
key-changed    a file with a different key, which the previous key has not endorsed
flood          a table sends more records than a table can; the excess is dropped
unreadable     a message that is not a record, or a record with an event that no table publishes
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from controller.floor.store.database import Connection
from controller.floor.store.records import Arrived, digest_of, json_of
from controller.floor.store.rows import JournalRow
from controller.journal.outbox import DecisionMade

Kind: TypeAlias = Literal[
    "gap", "fork", "rollback", "other-table", "bad-signature", "key-changed", "flood", "unreadable"
]  # fmt: skip
KINDS: Final[tuple[str, ...]] = get_args(Kind)
LONGEST: Final = 500  # characters of a sentence
MOST_CONFLICTS: Final = 200  # conflicts for one journal, so that an endless sender does not fill the disk
LONGEST_CONFLICT: Final = 64 * 1024  # bytes that are kept of one conflict

_RAISE: Final = """INSERT INTO cardshoe.alarm (kind, journal, topic, number, sentence, count)
VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (kind, coalesce(journal, 0), topic) WHERE closed_at IS NULL
DO UPDATE SET count = alarm.count + EXCLUDED.count, last_at = now()"""
_KEEP: Final = """INSERT INTO cardshoe.conflict (journal, digest, kind, topic, number, hash, record)
SELECT %(journal)s, %(digest)s, %(kind)s, %(topic)s, %(number)s, %(hash)s, %(record)s
WHERE (SELECT count(*) FROM cardshoe.conflict WHERE journal = %(journal)s) < %(most)s ON CONFLICT DO NOTHING"""
_IS_KEPT: Final = "SELECT FROM cardshoe.conflict WHERE journal = %(journal)s AND digest = %(digest)s"
_SIGNED_BEFORE: Final = """SELECT max(h.number) FROM cardshoe.head h
JOIN cardshoe.decision d ON d.journal = h.journal AND d.last = h.number AND d.hash = h.hash
WHERE h.journal = %(journal)s AND h.key = %(key)s AND h.number <= %(verified)s
AND h.number >= (SELECT min(c.number) FROM cardshoe.conflict c WHERE c.journal = %(journal)s AND c.kind = 'fork')
AND (%(broken)s::bigint <= %(number)s OR EXISTS (SELECT FROM cardshoe.conflict c
    WHERE c.journal = %(journal)s AND c.number = %(number)s AND c.hash = %(hash)s))"""
_GAPS: Final = """INSERT INTO cardshoe.alarm (kind, journal, number, sentence)
SELECT 'gap', id, number + 1, CASE WHEN number < 0
    THEN format('Entries up to %%s have arrived, but none of their files.', highest)
    ELSE format('Entry %%s has arrived, but the entry after %%s has not.', highest, number) END
FROM cardshoe.journal WHERE incomplete_since < now() - make_interval(secs => %s) AND broken_at IS NULL
ON CONFLICT (kind, coalesce(journal, 0), topic) WHERE closed_at IS NULL DO NOTHING"""
_FILLED: Final = """UPDATE cardshoe.alarm a SET closed_at = now(), closed_because = 'they have arrived'
FROM cardshoe.journal j WHERE a.kind = 'gap' AND a.closed_at IS NULL AND j.id = a.journal
AND j.incomplete_since IS NULL"""
_OPEN: Final = "SELECT kind, count(*) FROM cardshoe.alarm WHERE closed_at IS NULL GROUP BY kind"


class Alarm(NamedTuple):
    """An alarm. `journal` is None if it concerns only a topic. `number` is the entry, or None."""

    kind: Kind
    journal: int | None
    number: int | None
    sentence: str
    topic: str = ""


def raise_alarms(connection: Connection, alarms: Sequence[Alarm]) -> None:
    counts = Counter((one.kind, one.journal, one.topic) for one in alarms)
    for key in sorted(counts, key=repr):  # in a fixed order, so that transactions do not deadlock
        first = next(one for one in alarms if (one.kind, one.journal, one.topic) == key)
        values = (*key, first.number, first.sentence[:LONGEST].replace("\0", "?"), counts[key])
        connection.execute(_RAISE, values)


def contradicts(
    connection: Connection, journal: JournalRow, arrived: Arrived, kind: Kind, sentence: str
) -> list[Alarm]:
    """Keep the record alongside the stored record, if there is room. Return the alarm, or nothing if the record is
    already kept.
    """
    record = arrived.record
    number = record.last if isinstance(record, DecisionMade) else record.number
    said = json_of(record)
    if (size := len(said.encode())) > LONGEST_CONFLICT:
        said = f'{{"bytes":{size}}}'
    row = {
        "journal": journal.id, "digest": digest_of(record), "kind": kind, "topic": arrived.topic, "number": number,
        "hash": bytes.fromhex(record.hash), "record": said, "most": MOST_CONFLICTS,
    }  # fmt: skip
    if connection.execute(_KEEP, row).rowcount == 0 and connection.execute(_IS_KEPT, row).fetchone() is not None:
        return []
    return [Alarm(kind, journal.id, number, sentence, arrived.topic if kind == "other-table" else "")]


def signed_before(connection: Connection, journal: JournalRow, number: int, hash_: bytes, key: bytes) -> int | None:
    """Return the last entry of the stored chain that the key signed, if it has also signed an entry of a second
    chain.
    """
    asked = {
        "journal": journal.id, "number": number, "hash": hash_, "key": key, "verified": journal.number,
        "broken": journal.broken_at,
    }  # fmt: skip
    row = connection.execute(_SIGNED_BEFORE, asked).fetchone()
    return None if row is None else row[0]


def look_for_gaps(connection: Connection, seconds: float) -> dict[str, int]:
    """Raise and close the alarms for gaps. Return the number of open alarms of each kind."""
    connection.execute(_GAPS, (seconds,))
    connection.execute(_FILLED)
    return dict(connection.execute(_OPEN))
