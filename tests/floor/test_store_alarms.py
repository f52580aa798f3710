"""Records that contradict the stored journal are set aside and reported; they change nothing that is stored."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest

from controller.floor.store.writing import Writer
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned, Record
from controller.journal.signing import SigningKey, key_statement, statement
from controller.table import operations
from tests.floor.postgres import TOOL
from tests.floor.reading import identity, journal_of
from tests.floor.stored import Rows, heard
from tests.journal_commands.made import IDENTITY, SIGNER, JournaledTable

pytestmark = pytest.mark.tool(TOOL)
RecordT = TypeVar("RecordT", bound=Record)
OTHER = SigningKey(bytes(range(7, 39)))
ELSEWHERE = "cardshoe/1/vienna/p1/BAC-08/journal"
HASHES = ("ab" * 32, "cd" * 32, "ef" * 32)


def history(folder: Path, then: Callable[[JournaledTable], None]) -> list[Record]:
    """Return a journal that is the same up to a point, and continues with `then`."""
    table = JournaledTable(folder)
    with closing(table.journal):
        table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
        table.connect()
        table.to_bets()
        then(table)
    return journal_of(folder)


def goes_on(table: JournaledTable) -> None:
    table.bets(("ann", "main", 1, 50))
    table.do(operations.NoMoreBets())
    table.take(2)


def goes_on_and_ends(table: JournaledTable) -> None:
    """Continue to the end of the round, which is signed."""
    table.bets(("ann", "main", 1, 50))
    table.do(operations.NoMoreBets())
    table.deal()
    table.expose_all()
    table.settle().conclude()


def goes_on_otherwise(table: JournaledTable) -> None:
    """Continue differently, for longer than `goes_on`."""
    table.bets(("bob", "main", 3, 70), ("carol", "main", 6, 20))
    table.do(operations.NoMoreBets())
    table.deal()
    table.expose_all()
    table.settle().conclude()


def cancels(table: JournaledTable) -> None:
    table.do(operations.CancelStart(announced=True))
    table.next_file()


def of_kind(records: list[Record], kind: type[RecordT]) -> list[RecordT]:
    return [one for one in records if isinstance(one, kind)]


def evidence(rows: Rows) -> dict[str, list[str]]:
    """Return the rows that nothing may change."""
    found = rows.all()
    return {table: found[table] for table in ("decision", "event", "head", "journal_file")}


@pytest.fixture
def before(writer: Writer, rows: Rows, records: list[Record]) -> dict[str, list[str]]:
    """Return the rows once the whole journal is stored."""
    writer.write(heard(records))
    assert rows.alarms() == {}
    return evidence(rows)


def test_another_decision_with_a_known_number_is_a_fork(
    writer: Writer, rows: Rows, records: list[Record], before: dict[str, list[str]]
) -> None:
    made = of_kind(records, DecisionMade)[3]
    other = msgspec.structs.replace(made, hash=HASHES[0], before=HASHES[1])
    assert [writer.write(heard([other])).refused for _ in range(2)] == [1, 1]
    assert rows.alarms() == {"fork": 1}, "the same one again does not count as another"
    writer.write(heard([msgspec.structs.replace(other, hash=HASHES[2])]))
    assert rows.ask("SELECT kind, entry, count, is_open FROM cardshoe.alarms") == [("fork", made.last, 2, True)]
    assert evidence(rows) == before
    kept = [record for (record,) in rows.ask("SELECT record FROM cardshoe.conflict ORDER BY hash")]
    assert [one["hash"] for one in kept] == [HASHES[0], HASHES[2]]
    assert len(kept[0]["events"]) == len(made.events)


def test_the_same_hash_with_other_events_is_a_fork(
    writer: Writer, rows: Rows, records: list[Record], before: dict[str, list[str]]
) -> None:
    """The hash also covers what the floor is not given: it alone does not show that the events are the table's."""
    made = next(one for one in of_kind(records, DecisionMade) if len(one.events) > 1)
    for other in (
        msgspec.structs.replace(made, events=(msgspec.Raw(b'{"event":"chips_paid"}'), *made.events[1:])),
        msgspec.structs.replace(made, utc_ns=made.utc_ns + 1),
        msgspec.structs.replace(made, round=made.round + 1),
    ):
        assert writer.write(heard([other])).refused == 1
    assert rows.alarms() == {"fork": 3}
    assert evidence(rows) == before


def test_a_decision_across_known_ones_is_refused(
    writer: Writer, rows: Rows, records: list[Record], before: dict[str, list[str]]
) -> None:
    one, other = of_kind(records, DecisionMade)[3:5]
    across = msgspec.structs.replace(
        one, last=other.last - 1, hash=HASHES[0], events=(*one.events, *other.events[:1])[: other.last - 1 - one.first]
    )
    across = msgspec.structs.replace(across, last=across.first + len(across.events))
    assert across.last > one.last
    assert writer.write(heard([across])).refused == 1
    assert sum(rows.alarms().values()) == 1
    assert evidence(rows) == before


def test_contradicting_decisions_below_the_stored_ones_are_found(
    writer: Writer, rows: Rows, records: list[Record]
) -> None:
    """The decisions fill a gap; rows stored after it are not a reason to accept both."""
    made = of_kind(records, DecisionMade)
    one, other, *later = made[1:]
    across = msgspec.structs.replace(
        other, first=one.first, hash=HASHES[0], before=one.before, events=(*one.events, *one.events[:1], *other.events)
    )
    writer.write(heard([*(one for one in records if isinstance(one, FileBegan)), made[0], *later]))
    writer.write(heard([one, across]))
    numbers = [number for (number,) in rows.ask("SELECT last FROM cardshoe.decision ORDER BY last")]
    assert numbers == [one.last for one in made if one is not other]
    assert sum(rows.alarms().values()) == 1


def test_a_decision_that_does_not_follow_ends_the_chain(writer: Writer, rows: Rows, records: list[Record]) -> None:
    made = of_kind(records, DecisionMade)
    file = made[5].file
    inside = next(at for at, one in enumerate(made) if at and made[at - 1].file == one.file == file)
    bad = msgspec.structs.replace(made[inside], before=HASHES[0])
    writer.write(heard([bad if one is made[inside] else one for one in records]))
    assert rows.verified() == made[inside - 1].last
    assert rows.alarms() == {"fork": 1}
    assert rows.ask("SELECT broken_at FROM cardshoe.journal") == [(bad.first,)]
    assert writer.look(0) == {"fork": 1}, "which is not a gap"


def test_a_file_that_does_not_follow_ends_the_chain(writer: Writer, rows: Rows, records: list[Record]) -> None:
    began = of_kind(records, FileBegan)
    other = msgspec.structs.replace(began[1], previous_hash=HASHES[0])
    writer.write(heard([other if one is began[1] else one for one in records]))
    assert rows.verified() == began[1].number
    assert rows.alarms() == {"fork": 1}


def test_an_older_copy_that_continued_is_a_rollback(writer: Writer, rows: Rows, tmp_path: Path) -> None:
    """The key signed both chains after they had parted."""
    old, new = history(tmp_path / "a", goes_on_otherwise), history(tmp_path / "b", goes_on_and_ends)
    known = set(map(identity, old))
    writer.write(heard(old))
    before, end = evidence(rows), of_kind(old, DecisionMade)[-1].last
    others = [one for one in new if identity(one) not in known]
    assert 0 < len(others) < len(new)
    for one in others:  # as they come, one by one
        writer.write(heard([one]))
    assert set(rows.alarms()) == {"rollback", "fork"}
    (first, *_) = of_kind(others, DecisionMade)
    assert rows.ask("SELECT min(entry) FROM cardshoe.alarms WHERE kind = 'fork'") == [(first.last,)]
    assert rows.verified() == end
    now = evidence(rows)
    assert all(set(before[table]) <= set(now[table]) for table in before)


def test_a_second_chain_without_a_signature_is_a_fork(writer: Writer, rows: Rows, tmp_path: Path) -> None:
    """Whoever sends in the table's name can follow any known entry: nobody has restored an older copy."""
    old, new = history(tmp_path / "a", goes_on_and_ends), history(tmp_path / "b", goes_on_otherwise)
    forged = [one for one in of_kind(new, DecisionMade) if identity(one) not in set(map(identity, old))]
    writer.write(heard(old))
    for one in forged:
        writer.write(heard([one]))
    assert set(rows.alarms()) == {"fork"}
    writer.write(heard(of_kind(old, HeadSigned)))
    assert set(rows.alarms()) == {"fork"}


def test_a_chain_that_was_forged_first_does_not_blame_the_table(writer: Writer, rows: Rows, tmp_path: Path) -> None:
    """The stored chain is not the signed chain, which is a fork, whichever came first."""
    old, new = history(tmp_path / "a", goes_on_and_ends), history(tmp_path / "b", goes_on_otherwise)
    own = of_kind(old, DecisionMade)
    writer.write(heard([*of_kind(new, FileBegan), *of_kind(new, DecisionMade)]))
    writer.write(heard(old))
    assert set(rows.alarms()) == {"fork"}
    assert rows.count("conflict") > 0
    assert own[-1].last > 0


def test_a_different_file_before_stored_ones_is_a_fork(writer: Writer, rows: Rows, tmp_path: Path) -> None:
    old, new = history(tmp_path / "a", goes_on), history(tmp_path / "b", lambda table: table.next_file())
    writer.write(heard(old))
    writer.write(heard([one for one in of_kind(new, FileBegan) if identity(one) not in set(map(identity, old))]))
    assert rows.alarms() == {"fork": 1}
    assert rows.ask("SELECT count(number) FROM cardshoe.journal_file") == [(1,)]


def signed(head: HeadSigned, key: SigningKey = SIGNER, **values: object) -> HeadSigned:
    """Return a head with other content and a valid signature."""
    other: HeadSigned = msgspec.structs.replace(head, **values)
    said = statement(other.journal, other.file, other.head, other.utc_ns)
    return msgspec.structs.replace(other, signature=key.sign(said).hex(), key=key.public_key.hex())


def test_two_heads_for_one_number(
    writer: Writer, rows: Rows, records: list[Record], before: dict[str, list[str]]
) -> None:
    head = of_kind(records, HeadSigned)[-1]
    writer.write(heard([signed(head, hash=HASHES[0])]))
    assert rows.alarms() == {"fork": 1}
    writer.write(heard([signed(head, utc_ns=head.utc_ns + 1)]))
    assert rows.alarms() == {"fork": 1, "rollback": 1}
    assert evidence(rows) == before


@pytest.mark.parametrize("is_before", [False, True])
def test_a_head_of_another_decision(writer: Writer, rows: Rows, records: list[Record], is_before: bool) -> None:
    """The right key signed it: somebody who has the key wrote another journal."""
    head = of_kind(records, HeadSigned)[-1]
    whole = [signed(head, hash=HASHES[0]) if one is head else one for one in records]
    for one in reversed(whole) if is_before else whole:
        writer.write(heard([one]))
    assert rows.alarms() == {"fork": 1}
    assert rows.ask("SELECT count(*) FROM cardshoe.heads WHERE NOT agrees") == [(1,)]


@pytest.mark.parametrize("is_before", [False, True])
@pytest.mark.parametrize("by", ["another key", "nobody"])
def test_a_head_that_the_files_key_has_not_signed(
    writer: Writer, rows: Rows, records: list[Record], by: str, is_before: bool
) -> None:
    head = of_kind(records, HeadSigned)[-1]
    bad = signed(head, OTHER) if by == "another key" else msgspec.structs.replace(head, signature="00" * 64)
    whole = [bad if one is head else one for one in records]
    for one in reversed(whole) if is_before else whole:
        writer.write(heard([one]))
    assert rows.alarms() == {"bad-signature": 1}
    assert rows.verified() == of_kind(records, DecisionMade)[-1].last


@pytest.mark.parametrize("is_before", [False, True])
@pytest.mark.parametrize("endorsed", [False, True])
def test_a_file_with_another_key(
    writer: Writer, rows: Rows, records: list[Record], endorsed: bool, is_before: bool
) -> None:
    last = of_kind(records, FileBegan)[-1]
    endorsement = SIGNER.sign(key_statement(last.journal, SIGNER.public_key, OTHER.public_key)) if endorsed else b""
    whole: list[Record] = []
    for one in records:
        if one is last:
            whole.append(msgspec.structs.replace(last, key=OTHER.public_key.hex(), endorsement=endorsement.hex()))
        elif isinstance(one, HeadSigned) and one.file == last.file:
            whole.append(signed(one, OTHER))
        else:
            whole.append(one)
    for one in reversed(whole) if is_before else whole:
        writer.write(heard([one]))
    assert rows.alarms() == ({} if endorsed else {"key-changed": 1})


def test_a_table_that_moves_to_another_pit_is_the_same_table(writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(records[:20]))
    writer.write(heard(records[20:], "cardshoe/1/vienna/p2/BAC-07/journal"))
    assert rows.alarms() == {}
    assert rows.ask("SELECT pit FROM cardshoe.tables") == [("p2",)]


def test_a_person_closes_an_alarm(writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(records[:1], ELSEWHERE))
    ((alarm,),) = rows.ask("SELECT id FROM cardshoe.alarms")
    assert rows.ask("SELECT cardshoe.close_alarm(%s, 'looked into')", alarm) == [(True,)]
    assert rows.ask("SELECT cardshoe.close_alarm(%s, 'again')", alarm) == [(False,)]
    assert writer.look(3600) == {}
    assert rows.ask("SELECT is_open, closed_because FROM cardshoe.alarms") == [(False, "looked into")]


def test_an_alarm_is_raised_again_after_it_was_closed(writer: Writer, rows: Rows, records: list[Record]) -> None:
    writer.write(heard(records))
    made = of_kind(records, DecisionMade)[3]
    for hash_ in HASHES[:2]:
        writer.write(heard([msgspec.structs.replace(made, hash=hash_, before=HASHES[2])]))
        rows.ask("SELECT cardshoe.close_alarm(id, 'seen') FROM cardshoe.alarm WHERE closed_at IS NULL")
    assert rows.ask("SELECT count(*) FROM cardshoe.alarms") == [(2,)]
