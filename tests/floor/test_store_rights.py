"""The rights of the store and of readers in the database, and the retention of old months."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from controller.commands.main import main
from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.journal.outbox import DecisionMade, HeadSigned, Record
from tests.architecture.sources import ROOT
from tests.floor.postgres import TOOL, WITH_PASSWORD, Postgres, postgres
from tests.floor.stored import Rows, heard

pytestmark = pytest.mark.tool(TOOL)


def test_the_store_cannot_change_evidence(own_role: str, rows: Rows, records: list[Record]) -> None:
    with closing(Database(own_role)) as database:
        assert Writer(database).write(heard(records)).new == len(records)
        assert Writer(database).look() == {}
    with psycopg.connect(own_role, autocommit=True) as connection:
        for table in ("decision", "event", "head", "conflict"):
            for statement in (f"DELETE FROM cardshoe.{table}", f"UPDATE cardshoe.{table} SET journal = 0",
                              f"TRUNCATE cardshoe.{table}"):  # fmt: skip
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement.encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT cardshoe.prune('2030-01-01')")
    assert rows.verified() == max(one.last for one in records if isinstance(one, DecisionMade))


def test_a_reader_may_read_only_the_views(server: Postgres, own_role: str, rows: Rows, records: list[Record]) -> None:
    server.do(f"REVOKE cardshoe_writer FROM {WITH_PASSWORD}; GRANT cardshoe_reader TO {WITH_PASSWORD}")
    views = [name for (name,) in rows.ask("SELECT viewname FROM pg_views WHERE schemaname = 'cardshoe'")]
    assert len(views) == 9
    with psycopg.connect(own_role, autocommit=True) as connection:
        for view in views:
            connection.execute(f"SELECT * FROM cardshoe.{view}".encode())
        for table in ("decision", "event", "journal", "alarm", "conflict"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM cardshoe.{table}".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT cardshoe.close_alarm(1, '')")


# -- months


def in_months(records: list[Record], months: int) -> list[Record]:
    """Return the records with `months` decisions, each a month after the previous one. Heads are left out, since their
    times are signed.
    """
    found: list[Record] = []
    step = 0
    for one in records:
        if isinstance(one, HeadSigned):
            continue
        step += isinstance(one, DecisionMade) and step < months
        found.append(replace(one, utc_ns=one.utc_ns - (months - step) * 31 * 86_400 * 10**9))
    return found


def parts(rows: Rows) -> list[str]:
    return [
        name
        for (name,) in rows.ask(
            "SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
            " WHERE i.inhparent = 'cardshoe.event'::regclass ORDER BY 1"
        )
    ]


def test_each_month_is_a_partition(writer: Writer, rows: Rows, records: list[Record]) -> None:
    whole = in_months(records, 5)
    writer.write(heard(whole))
    months = {f"event_{at:%Y_%m}" for (at,) in rows.ask("SELECT at FROM cardshoe.event")}
    assert len(months) == 5
    assert months | {"event_other"} == set(parts(rows))
    assert rows.ask("SELECT count(*) FROM cardshoe.event_other") == [(0,)]


def test_an_implausible_month_is_created_once_its_time_has_come(
    writer: Writer, rows: Rows, records: list[Record]
) -> None:
    """The rows among the others move into it."""
    far = [replace(one, utc_ns=one.utc_ns + 40 * 365 * 86_400 * 10**9) for one in in_months(records, 0)]
    writer.write(heard(far))
    assert parts(rows) == ["event_other"]
    ((first, count),) = rows.ask("SELECT min(at)::date, count(*) FROM cardshoe.event_other")
    definition = rows.ask("SELECT pg_get_functiondef('cardshoe.add_month'::regproc)")[0][0]
    rows.do(definition.replace("interval '2 months' THEN", "interval '100 years' THEN"))
    assert rows.ask("SELECT cardshoe.add_month(%s)", first) == [(True,)]
    assert rows.ask("SELECT count(*) FROM cardshoe.event_other") == [(0,)]
    assert rows.count("event") == count
    assert rows.verified() == max(one.last for one in records if isinstance(one, DecisionMade))


def test_deleted_months_are_not_stored_again(address: str, rows: Rows, records: list[Record]) -> None:
    whole = in_months(records, 5)
    with closing(Database(address)) as database:
        writer = Writer(database)
        writer.write(heard(whole))
        times = sorted(at for (at,) in rows.ask("SELECT DISTINCT date_trunc('month', at)::date FROM cardshoe.event"))
        assert database.prune(times[2]) == 2
        left = [one for one in whole if isinstance(one, DecisionMade)][2:]
        assert rows.count("decision") == len(left)
        assert rows.ask("SELECT min(first) FROM cardshoe.decision") == [(left[0].first,)]
        before = rows.all()
        written = writer.write(heard(whole))  # as after a lost cursor
        assert (written.new, written.refused) == (0, 0)
        assert Writer(database).write(heard(whole)).new == 0
        assert rows.all() == before
        assert rows.alarms() == {}
        assert Writer(database).look(0) == {}


def test_pruning_by_the_command(address: str, rows: Rows, writer: Writer, records: list[Record]) -> None:
    writer.write(heard(in_months(records, 5)))
    done = CliRunner().invoke(main, ["floor", "store", "--database", address, "--prune", "1000"])
    assert (done.exit_code, done.output) == (0, "0 months deleted.\n")
    done = CliRunner().invoke(main, ["floor", "store", "--database", address, "--prune", "1"])
    assert done.exit_code == 0
    assert done.output.endswith(" months deleted.\n")
    begins = "date_trunc('month', now()) - interval '1 month'"
    assert rows.ask(f"SELECT count(*) FROM cardshoe.event WHERE at < {begins}") == [(0,)]


def test_the_schema_is_made_by_the_command_once(server: Postgres) -> None:
    server.do("CREATE DATABASE made")
    try:
        arguments = ["floor", "store", "--database", server.address("made"), "--create"]
        done = CliRunner().invoke(main, arguments)
        assert (done.exit_code, done.output.startswith("The schema was created in made on ")) == (0, True), done.output
        again = CliRunner().invoke(main, arguments)
        assert again.exit_code == 78
        assert "already has a schema of the store" in again.output
    finally:
        server.drop("made")


def test_a_schema_that_cannot_be_completed_leaves_nothing_behind() -> None:
    """Its owner may not create roles; an administrator creates them, and the next attempt succeeds."""
    with postgres() as bare:
        bare.do("CREATE ROLE cardshoe_owner LOGIN")
        bare.do("CREATE DATABASE half OWNER cardshoe_owner")
        arguments = ["floor", "store", "--database", bare.address("half", "cardshoe_owner"), "--create"]
        refused = CliRunner().invoke(main, arguments)
        assert refused.exit_code == 78
        assert "permission denied to create role" in refused.output
        for role in ("cardshoe_writer", "cardshoe_reader"):
            bare.do(f"CREATE ROLE {role} NOLOGIN")
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.output


def test_the_setup_of_the_page_works(server: Postgres, records: list[Record]) -> None:
    """Its owner is not a superuser; an administrator created the roles beforehand."""
    server.do("CREATE ROLE cardshoe_owner LOGIN")
    server.do(f"CREATE ROLE {WITH_PASSWORD} LOGIN PASSWORD 'right' IN ROLE cardshoe_writer")
    server.do("CREATE DATABASE of_the_page OWNER cardshoe_owner")
    owner = server.address("of_the_page", "cardshoe_owner")
    try:
        for arguments in (["--create"], ["--prune", "1000"]):
            done = CliRunner().invoke(main, ["floor", "store", "--database", owner, *arguments])
            assert done.exit_code == 0, done.output
        with closing(Database(f"{server.address('of_the_page', WITH_PASSWORD)} password=right")) as database:
            assert Writer(database).write(heard(records)).new == len(records)
    finally:
        server.drop("of_the_page")
        server.do(f"DROP ROLE cardshoe_owner; DROP ROLE {WITH_PASSWORD}")


def test_without_the_driver_the_message_names_the_package(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('no pq wrapper available')\n")
    command = [sys.executable, "-m", "controller", "floor", "store", "--database", "dbname=x", "--create"]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "cardshoe: PostgreSQL's driver cannot be used: no pq wrapper available.",
        f"  Install its packages: `{sys.executable} -m pip install --no-deps -r {ROOT}/requirements-floor.txt`. "
        "PostgreSQL's client library is in the Debian package libpq5.",
    ]
