"""A table's own files compared with the store: records may be missing, different or rolled back. Missing records can be
sent.
"""

from __future__ import annotations

import shutil
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from controller.commands.main import main
from controller.floor.store.audit import Audit, Audited, AuditFinding
from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.journal.folder import delete_files
from controller.journal.outbox import DecisionMade, FileBegan, HeadSigned
from tests.floor.postgres import TOOL
from tests.floor.reading import journal_of
from tests.floor.stored import PLACE, Rows, heard, heard_of, several_files
from tests.floor.test_store_alarms import goes_on, goes_on_otherwise, history

pytestmark = pytest.mark.tool(TOOL)
LATE = 2**62  # a time at which everything should have come


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    several_files(tmp_path / "journal")
    return tmp_path / "journal"


def audited(folder: Path, database: Database, *, fill: bool = False, since_ns: int = LATE) -> Audited:
    return Audit(folder, PLACE, database, since_ns, Writer(database) if fill else None).run()


def found(audited: Audited) -> list[tuple[str, int]]:
    return [(one.code, one.entry) for one in audited.findings]


def test_a_store_that_has_everything(folder: Path, database: Database, writer: Writer) -> None:
    whole = heard_of(folder)
    writer.write(whole)
    result = audited(folder, database)
    assert result.findings == []
    made = [one for one in journal_of(folder) if isinstance(one, DecisionMade)]
    assert (result.files, result.decisions, result.last) == (5, len(made), made[-1].last)
    assert result.verified_up_to == made[-1].last
    assert (result.waiting, result.filled, result.alarms) == (0, 0, 0)


def test_an_empty_store_is_filled(folder: Path, database: Database, rows: Rows, writer: Writer) -> None:
    assert {code for code, _ in found(audited(folder, database))} == {"missing", "file-missing", "head-missing"}
    result = audited(folder, database, fill=True)
    assert result.findings == []
    assert result.filled == len(journal_of(folder))
    filled = rows.all()
    rows.empty()
    writer.write(heard_of(folder))
    assert [one for one in rows.all().items() if one[0] != "journal"] == [
        one for one in filled.items() if one[0] != "journal"
    ]
    assert audited(folder, database).findings == []


@pytest.mark.parametrize("fill", [False, True])
def test_missing_records_are_found_and_sent(folder: Path, database: Database, writer: Writer, fill: bool) -> None:
    whole = journal_of(folder)
    one, next_one = [record for record in whole if isinstance(record, DecisionMade)][6:8]
    head = [record for record in whole if isinstance(record, HeadSigned)][-1]
    file = [record for record in whole if isinstance(record, FileBegan)][1]
    lacks = (one, next_one, head, file)
    writer.write(heard(record for record in whole if record not in lacks))
    result = audited(folder, database, fill=fill)
    if fill:
        assert (result.findings, result.filled) == ([], len(lacks))
        assert audited(folder, database).findings == []
    else:
        expected = {("missing", one.first), ("head-missing", head.number), ("file-missing", file.number)}
        assert set(found(result)) == expected
        assert result.findings[0].count == next_one.last - one.first + 1


def test_recent_records_may_still_be_in_transit(folder: Path, database: Database, writer: Writer) -> None:
    whole = journal_of(folder)
    writer.write(heard(whole[:-2]))
    result = audited(folder, database, since_ns=min(one.utc_ns for one in whole[-2:]))
    assert (result.findings, result.waiting) == ([], 2)


def test_a_journal_that_was_rolled_back(tmp_path: Path, database: Database, writer: Writer) -> None:
    longer = history(tmp_path / "long", goes_on)
    history(tmp_path / "short", lambda table: None)
    writer.write(heard(longer))
    result = audited(tmp_path / "short", database)
    assert "rolled-back" in [code for code, _ in found(result)]
    assert ("rolled-back", result.last + 1) in found(result)
    assert audited(tmp_path / "short", database, fill=True).findings, "nothing is filled over it"


def test_a_journal_that_went_on_from_an_older_copy(tmp_path: Path, database: Database, writer: Writer) -> None:
    old, new = history(tmp_path / "a", goes_on), history(tmp_path / "b", goes_on_otherwise)
    writer.write(heard(old))
    result = audited(tmp_path / "b", database)
    same = {one.hash for one in old}
    first = next(one for one in new if isinstance(one, DecisionMade) and one.hash not in same)
    assert ("forked", first.first) in found(result)
    writer.write(heard(new))
    assert audited(tmp_path / "b", database).alarms > 0


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ("UPDATE cardshoe.decision SET round = 7, digest = digest || 'x' WHERE last = {last}", "changed"),
        ("UPDATE cardshoe.decision SET hash = digest || digest WHERE last = {last}", "forked"),
        ("UPDATE cardshoe.event SET body = body || '{{\"by\":\"me\"}}' WHERE number = {last}", "changed"),
        ("DELETE FROM cardshoe.event WHERE number = {last}", "changed"),
        ("INSERT INTO cardshoe.event SELECT journal, number, decision, at + interval '1 second', round, name, body"
         " FROM cardshoe.event WHERE number = {last}", "changed"),
        ("INSERT INTO cardshoe.event SELECT journal, 1000000, decision, at, round, name, body"
         " FROM cardshoe.event WHERE number = {last}", "changed"),
        ("UPDATE cardshoe.head SET signature = hash || hash", "head-forked"),
        ("UPDATE cardshoe.journal_file SET table_name = 'x' WHERE number = 0", "file-forked"),
    ],
)  # fmt: skip
def test_a_row_changed_in_the_database(
    folder: Path, database: Database, rows: Rows, writer: Writer, change: str, code: str
) -> None:
    whole = journal_of(folder)
    writer.write(heard(whole))
    made = [one for one in whole if isinstance(one, DecisionMade)][6]
    rows.do(change.format(last=made.last))
    assert {one for one, _ in found(audited(folder, database))} == {code}


def test_files_that_the_table_deleted_are_not_compared(folder: Path, database: Database, writer: Writer) -> None:
    writer.write(heard_of(folder))
    delete_files(folder, ["000001.journal"])
    result = audited(folder, database)
    assert (result.findings, result.files) == ([], 4)


def test_months_that_the_store_deleted_are_not_compared(folder: Path, database: Database, writer: Writer) -> None:
    writer.write(heard_of(folder))
    database.prune(date(2100, 1, 1))
    result = audited(folder, database, fill=True)
    assert (result.findings, result.filled) == ([], 0)
    assert result.pruned_up_to == result.last


# -- the command


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(main, ["floor", "audit", *arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_the_command(folder: Path, address: str, writer: Writer) -> None:
    asked = ("vienna/p1/BAC-07", "--journal", str(folder), "--database", address)
    writer.write(heard_of(folder)[:20])
    text = run(*asked, code=4)
    assert "FOUND missing: The store lacks entries " in text
    plain: dict[str, Any] = msgspec.json.decode(run(*asked, "--json", code=4))
    assert {one["code"] for one in plain["findings"]} >= {"missing"}
    assert msgspec.convert(plain["findings"], list[AuditFinding])
    assert " sent into the store" in run(*asked, "--fill")
    assert run(*asked).splitlines()[-1] == "The store and the journal are the same."


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("BAC-07", "--journal", "{folder}"), 2, "is not a table of the floor"),
        (("a/b/#", "--journal", "{folder}"), 2, "is not a table of the floor"),
        (("vienna/p1/BAC-08", "--journal", "{folder}"), 2, "is a journal of the table BAC-07, not of BAC-08"),
        (("vienna/p1/BAC-07",), 2, "Name the journal either by its folder"),
        (("vienna/p1/BAC-07", "--journal", "{folder}/none"), 2, "There is no journal at"),
        (("vienna/p1/BAC-07", "--journal", "{empty}"), 4, "does not hold a journal"),
    ],
)
def test_a_journal_that_cannot_be_audited(
    folder: Path, tmp_path: Path, address: str, arguments: tuple[str, ...], code: int, says: str
) -> None:
    (tmp_path / "empty").mkdir()
    given = [one.format(folder=folder, empty=tmp_path / "empty") for one in arguments]
    assert says in run(*given, "--database", address, code=code)


def test_a_journal_of_another_site_is_reported(folder: Path, address: str, writer: Writer) -> None:
    writer.write(heard_of(folder, "cardshoe/1/graz/p1/BAC-07/journal"))
    asked = ("vienna/p1/BAC-07", "--journal", str(folder), "--database", address)
    assert "FOUND other-table: The store received this journal under the topics of graz/p1/BAC-07." in run(
        *asked, code=4
    )


def test_a_damaged_journal_is_reported(folder: Path, address: str) -> None:
    (folder / "000002.journal").write_bytes(b"x" * 100)
    shutil.rmtree(folder / "000003.journal", ignore_errors=True)
    asked = ("vienna/p1/BAC-07", "--journal", str(folder), "--database", address)
    assert "000002.journal" in run(*asked, code=4)


def test_a_store_of_another_schema(folder: Path, address: str, rows: Rows) -> None:
    rows.do("UPDATE cardshoe.schema_version SET version = 99")
    assert "of version 99" in run("a/b/BAC-07", "--journal", str(folder), "--database", address, code=78)
    with closing(Database(address)) as database, pytest.raises(Exception, match="99"):
        database.check()
