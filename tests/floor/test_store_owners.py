"""Nobody takes over another table's journal by sending under its id, and what one certificate sends is limited."""

from __future__ import annotations

from contextlib import closing
from hashlib import sha256

import msgspec
import pytest
from click.testing import CliRunner

from controller.commands.main import main
from controller.floor.broker import BrokerMessage
from controller.floor.store.alarms import LONGEST_CONFLICT, MOST_CONFLICTS
from controller.floor.store.consumer import TablePace
from controller.floor.store.database import Database
from controller.floor.store.records import Heard, LeftOut, read_message
from controller.floor.store.rows import MOST_JOURNALS
from controller.floor.store.writing import Writer
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Record
from controller.journal.signing import SigningKey, fingerprint, statement
from tests.floor.postgres import TOOL
from tests.floor.stored import TOPIC, Rows, heard
from tests.floor.test_store_alarms import ELSEWHERE, OTHER, of_kind
from tests.journal_commands.made import SIGNER

pytestmark = pytest.mark.tool(TOOL)
OWN = ("vienna", "BAC-07")


def as_another_table(records: list[Record], key: SigningKey = OTHER, table: str = "BAC-08") -> list[Record]:
    """Return a journal that the holder of that table's certificate makes under the same id, with valid signatures."""
    found: list[Record] = []
    for one in records:
        if isinstance(one, FileBegan):
            found.append(msgspec.structs.replace(one, table=table, key=key.public_key.hex()))
        elif isinstance(one, HeadSigned):
            signature = key.sign(statement(one.journal, one.file, one.head, one.utc_ns)).hex()
            found.append(msgspec.structs.replace(one, signature=signature, key=key.public_key.hex()))
        else:
            found.append(one)
    return found


def own(rows: Rows, table: str) -> list[str]:
    """Return what is stored of the owning table."""
    query = {"decision": "decision", "event": "event", "head": "head", "journal_file": "journal_file"}[table]
    found = rows.ask(
        f"SELECT to_jsonb(t) - 'journal' - 'file' - 'id' FROM cardshoe.{query} t WHERE t.journal ="
        " (SELECT id FROM cardshoe.journal WHERE site = %s AND table_name = %s)", *OWN,
    )  # fmt: skip
    return sorted(map(repr, found))


def whole(rows: Rows, records: list[Record]) -> None:
    """Check that the table's journal is stored and followed to its end."""
    last = of_kind(records, DecisionMade)[-1].last
    verified = "SELECT verified_up_to, key FROM cardshoe.tables WHERE site = %s AND table_name = %s"
    assert rows.ask(verified, *OWN) == [(last, SIGNER.public_key.hex())]
    assert len(own(rows, "decision")) == len(of_kind(records, DecisionMade))


@pytest.mark.parametrize("comes_first", [True, False])
@pytest.mark.parametrize("sends", ["decisions", "the table's own records", "a beginning of its own"])
def test_another_tables_certificate_does_not_affect_a_journal(
    writer: Writer, rows: Rows, records: list[Record], sends: str, comes_first: bool
) -> None:
    kinds: dict[str, list[Record]] = {
        "decisions": [one for one in records if isinstance(one, DecisionMade)],
        "the table's own records": records,
        "a beginning of its own": as_another_table(records),
    }
    stolen = heard(kinds[sends], ELSEWHERE)
    if comes_first:
        writer.write(stolen)
    assert writer.write(heard(records)).new == len(records)
    before = [own(rows, table) for table in ("decision", "event", "head", "journal_file")]
    writer.write(stolen)
    whole(rows, records)
    assert [own(rows, table) for table in ("decision", "event", "head", "journal_file")] == before
    assert set(rows.alarms()) == {"other-table"}
    blamed = {table for (table,) in rows.ask("SELECT table_name FROM cardshoe.alarms")}
    assert blamed == ({"BAC-07", "BAC-08"} if sends == "a beginning of its own" else {"BAC-08"})


def test_two_beginnings_are_reported_with_their_keys(writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(as_another_table(records), ELSEWHERE))
    writer.write(heard(records))
    sentences = {sentence for (sentence,) in rows.ask("SELECT sentence FROM cardshoe.alarms")}
    (sentence,) = sentences
    assert fingerprint(SIGNER.public_key) in sentence
    assert fingerprint(OTHER.public_key) in sentence


def test_a_person_reassigns_a_journal(writer: Writer, database: Database, rows: Rows, records: list[Record]) -> None:
    """The site got another name: records under the new one are set aside, and come again."""
    half = len(records) // 2
    moved = "cardshoe/1/wien/p3/BAC-07/journal"
    writer.write(heard(records[:half]))
    writer.write(heard(records[half:], moved))
    ((journal,),) = rows.ask("SELECT DISTINCT journal_id FROM cardshoe.journal")
    assert not database.reassign(journal, "graz/p1/BAC-07", "wien/p3/BAC-07")
    assert database.reassign(journal, "vienna/p1/BAC-07", "wien/p3/BAC-07")
    assert rows.ask("SELECT count(*) FROM cardshoe.alarms WHERE is_open AND kind = 'other-table'") == [(0,)]
    writer.write(heard(records, moved))
    last = of_kind(records, DecisionMade)[-1].last
    asked = "SELECT site, pit, verified_up_to FROM cardshoe.tables WHERE journal = %s"
    assert rows.ask(asked, journal) == [("wien", "p3", last)]
    assert rows.ask("SELECT journal LIKE %s FROM cardshoe.tables WHERE journal <> %s", f"{journal}~%", journal) == [
        (True,)
    ]


def test_the_command_reassigns_a_journal(address: str, writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(records))
    ((journal,),) = rows.ask("SELECT journal FROM cardshoe.tables")

    def asked(*given: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["floor", "store", "--database", address, "--reassign", *given])
        return done.exit_code, done.output

    assert asked(journal, "vienna/p1/BAC-07", "wien/p1")[0] == 2
    assert asked("x", "vienna/p1/BAC-07", "wien/p1/BAC-07")[0] == 2
    code, said = asked(journal, "vienna/p1/BAC-07", "wien/p1/BAC-07")
    assert (code, said) == (0, f"The journal {journal} of vienna/p1/BAC-07 is wien/p1/BAC-07's.\n")
    assert rows.ask("SELECT site FROM cardshoe.tables") == [("wien",)]


def test_only_the_owner_of_the_schema_reassigns(own_role: str, records: list[Record]) -> None:
    from controller.floor.store import StoreError

    with closing(Database(own_role)) as database, pytest.raises(StoreError) as refused:
        database.reassign("x", "a/b/c", "d/e/f")
    assert refused.value.code == "store-refused"


def test_the_journals_of_a_table_are_bounded(writer: Writer, rows: Rows, records: list[Record]) -> None:
    first = records[0]
    ids = [f"{number:032x}" for number in range(3 * MOST_JOURNALS)]
    many: list[Record] = [msgspec.structs.replace(first, journal=one) for one in ids]
    for start in range(0, len(many), 40):
        writer.write(heard(many[start : start + 40]))
    assert rows.count("journal") == MOST_JOURNALS
    assert rows.ask("SELECT count(*), sum(count) FROM cardshoe.alarms WHERE kind = 'unreadable'") == [
        (1, 2 * MOST_JOURNALS)
    ]
    assert writer.write(heard(records, ELSEWHERE.replace("BAC-08", "BAC-09"))).new > 0, "another table's are its own"


def test_the_conflicts_of_a_journal_are_bounded_and_counted(writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(records))
    made = of_kind(records, DecisionMade)[3]
    many: list[Record] = [
        msgspec.structs.replace(made, hash=sha256(b"%d" % number).hexdigest()) for number in range(2 * MOST_CONFLICTS)
    ]
    assert writer.write(heard(many)).refused == len(many)
    assert rows.count("conflict") == MOST_CONFLICTS
    assert rows.ask("SELECT kind, count FROM cardshoe.alarms") == [("fork", len(many))]
    whole(rows, records)


def test_a_long_conflict_is_kept_by_its_hash(writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(records))
    made = of_kind(records, DecisionMade)[3]
    long = b'{"event":"from_a_later_version","said":"%s"}' % (b"x" * LONGEST_CONFLICT)
    events = (msgspec.Raw(long), *made.events[1:])
    writer.write(heard([msgspec.structs.replace(made, hash="ab" * 32, events=events)]))
    assert rows.ask("SELECT record ? 'bytes', encode(hash, 'hex') FROM cardshoe.conflict") == [(True, "ab" * 32)]


def test_a_flood_of_one_table_is_left_out_and_raises_an_alarm(
    writer: Writer, rows: Rows, records: list[Record]
) -> None:
    """Valid records come without end. The other table's records are stored as they come."""
    began, made = next(one for one in records if isinstance(one, FileBegan)), of_kind(records, DecisionMade)[-1]
    flood: list[Record] = [
        began,
        *(msgspec.structs.replace(made, first=number, last=number) for number in range(1000, 4000)),
    ]
    pace = TablePace(at_once=50)

    def take(topic: str, sent: list[Record]) -> list[Heard]:
        messages = [BrokerMessage(topic, msgspec.json.encode(one), {}, False, 1) for one in sent]
        stored, left_out = pace.admit(messages, now=0.0)
        return [*(read_message(one.topic, one.payload) for one in stored), *left_out]

    for start in range(0, len(flood), 1000):
        writer.write(take(ELSEWHERE, flood[start : start + 1000]))
    assert writer.write(take(TOPIC, records)).new == len(records) < 50
    asked = "SELECT kind, topic, count FROM cardshoe.alarms WHERE kind = 'flood'"
    assert rows.ask(asked) == [("flood", ELSEWHERE, len(flood) - 50)]
    assert rows.count("decision") < 2 * 50
    stored, left_out = pace.admit([BrokerMessage(ELSEWHERE, b"", {}, False, 1)] * 3000, now=2.0)
    assert (len(stored), left_out) == (50, [LeftOut(ELSEWHERE, 2950)]), "it goes on at its rate"
