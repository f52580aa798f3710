"""The content of the store, for tests: its rows without generated columns, and records as messages."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import msgspec
import psycopg

from controller.floor.store.records import Heard, read_message
from controller.floor.topics import TablePlace, TopicSubject
from controller.games.specification import Kind
from controller.journal.outbox import Record
from controller.table import operations
from tests.floor.reading import journal_of
from tests.journal_commands.made import IDENTITY, JournaledTable

PLACE: Final = TablePlace("vienna", "p1", "BAC-07")
TOPIC: Final = PLACE.topic(TopicSubject.JOURNAL)

_TABLES: Final = {
    "journal": "SELECT journal_id, site, pit, table_name, simulated, begins_at, number, encode(hash, 'hex'), highest,"
    " head_number, broken_at, pruned, encode(key, 'hex'), incomplete_since IS NULL FROM cardshoe.journal",
    "journal_file": "SELECT journal_id, file_id, f.number, encode(f.hash, 'hex'), utc_ns, f.table_name, f.simulated,"
    " encode(f.key, 'hex'), previous_file FROM cardshoe.journal_file f JOIN cardshoe.journal j ON j.id = f.journal",
    "decision": "SELECT journal_id, last, first, file_id, d.utc_ns, round, encode(d.hash, 'hex'),"
    " encode(before, 'hex'), encode(digest, 'hex') FROM cardshoe.decision d"
    " JOIN cardshoe.journal j ON j.id = d.journal JOIN cardshoe.journal_file f ON f.id = d.file",
    "event": "SELECT journal_id, e.number, decision, at, round, name, body::text FROM cardshoe.event e"
    " JOIN cardshoe.journal j ON j.id = e.journal",
    "head": "SELECT journal_id, file_id, h.number, encode(h.hash, 'hex'), h.utc_ns, encode(signature, 'hex')"
    " FROM cardshoe.head h JOIN cardshoe.journal j ON j.id = h.journal JOIN cardshoe.journal_file f ON f.id = h.file",
    "conflict": "SELECT journal_id, kind, topic, c.number, record::text FROM cardshoe.conflict c"
    " JOIN cardshoe.journal j ON j.id = c.journal",
    "alarm": "SELECT kind, journal_id, topic, a.number, sentence, count, closed_at IS NULL FROM cardshoe.alarm a"
    " LEFT JOIN cardshoe.journal j ON j.id = a.journal",
}


class Rows:
    """Reads the database independently of the store."""

    def __init__(self, address: str) -> None:
        self._connection = psycopg.connect(address, autocommit=True)

    def all(self) -> dict[str, list[str]]:
        """Return the rows of every table, in a fixed order."""
        return {table: sorted(map(repr, self.ask(query))) for table, query in _TABLES.items()}

    def alarms(self) -> dict[str, int]:
        """Return the number of open alarms of each kind."""
        return dict(self.ask("SELECT kind, sum(count)::integer FROM cardshoe.alarm WHERE closed_at IS NULL GROUP BY 1"))

    def verified(self) -> int:
        """Return the entry up to which the only journal is verified."""
        ((number,),) = self.ask("SELECT number FROM cardshoe.journal")
        return int(number)

    def count(self, table: str) -> int:
        ((number,),) = self.ask(f"SELECT count(*) FROM cardshoe.{table}")
        return int(number)

    def ask(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), values or None).fetchall()

    def do(self, statement: str) -> None:
        self._connection.execute(statement.encode())

    def empty(self) -> None:
        """Empty every table, so that a database serves for many examples."""
        self.do(f"TRUNCATE {', '.join(f'cardshoe.{table}' for table in _TABLES)} RESTART IDENTITY CASCADE")

    def close(self) -> None:
        self._connection.close()


def several_files(folder: Path) -> list[Record]:
    """Return all records of a journal in five files, two of them without a decision."""
    table = JournaledTable(folder)
    with closing(table.journal):
        table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
        table.connect()
        table.next_file()
        table.to_bets()
        for _ in range(3):
            table.next_file()
        table.bets(("ann", "main", 1, 50))
        table.do(operations.NoMoreBets())
        table.take(1)
        table.report(Kind.FOREIGN_CARD, "B1")
        table.confirm()
    return journal_of(folder)


def message_of(record: Record, topic: str = TOPIC) -> Heard:
    return read_message(topic, msgspec.json.encode(record))


def heard(records: Iterable[Record], topic: str = TOPIC) -> list[Heard]:
    return [message_of(record, topic) for record in records]


def heard_of(folder: Path, topic: str = TOPIC) -> list[Heard]:
    """Return the whole journal as messages."""
    return heard(journal_of(folder), topic)
