"""The connection to PostgreSQL, the version of its schema, and the meaning of its errors.

A failed connection is not used again: the next use opens a new one and checks the schema again. A `Database` is used by
one thread at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import date
from importlib.resources import files
from typing import Any, Final, TypeAlias

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from controller.floor.store import StoreCode, StoreError
from firmware_bridge.messages import AnyText, Message, message

VERSION: Final = 1
"""The version of the schema that this program reads and writes."""

PARTS: Final = ("tables.sql", "functions.sql", "views.sql", "roles.sql")
CONNECTS_WITHIN: Final = 10  # seconds
ANSWERS_WITHIN: Final = 60_000  # milliseconds for a statement
WAITS_WITHIN: Final = 20_000  # milliseconds to wait for a lock
Connection: TypeAlias = psycopg.Connection[Any]
_SETTINGS: Final = f"-c statement_timeout={ANSWERS_WITHIN} -c lock_timeout={WAITS_WITHIN} -c timezone=UTC"
_ALIVE: Final = {"keepalives_idle": 20, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 35_000}
_VERSION: Final = "SELECT version FROM cardshoe.schema_version"

_OF_DATA: Final = frozenset({"22", "23", "54"})
"""Classes of SQLSTATE that concern the data: values, constraints, limits of the program."""

_OF_STATE: Final[Mapping[str, tuple[StoreCode, Message, Message]]] = {
    "53100": (
        "store-full",
        message("has no room left on its disk"),
        message("Free space there, or delete old months with --prune."),
    ),
    "25006": (
        "store-read-only",
        message("accepts no changes"),
        message("Check whether it is a standby, or its disk is read-only."),
    ),
    "42501": (
        "store-refused",
        message("does not permit this operation"),
        message("Log in as its owner, or as cardshoe_writer."),
    ),
    "28": ("store-refused", message("does not let this program in"), message("Check user, password and pg_hba.conf.")),
    "3D": ("store-refused", message("does not exist"), message("Create it, then create its schema with --create.")),
    "3F": ("store-schema", message("does not have the store's schema"), message("Create it with --create.")),
    "42": (
        "store-schema",
        message("has a different schema version than this program"),
        message("Use the same version of cardshoe everywhere."),
    ),
    "53": (
        "store-failed",
        message("has run out of a resource"),
        message("Its log names the resource: connections, memory or disk."),
    ),
    "57": ("store-lost", message("ended the connection"), message("The program reconnects automatically.")),
    "08": ("store-lost", message("ended the connection"), message("The program reconnects automatically.")),
}
"""Sentences by SQLSTATE, or by the class with which it begins."""

_NOT_REACHED: Final = (
    "refused", "no such file", "could not translate", "timeout", "timed out", "no route", "unreachable",
    "unexpectedly", "starting up", "shutting down", "recovery",
)  # fmt: skip
"""Sentences for a connection that failed: libpq's message then has no SQLSTATE."""


class Database:
    """A database. `conninfo` is in libpq's form, a URL or key=value. Raise `StoreError` if it cannot be parsed."""

    def __init__(self, conninfo: str, program: str = "cardshoe floor store") -> None:
        try:
            given = conninfo_to_dict(conninfo)
        except psycopg.ProgrammingError as error:
            raise StoreError(
                "store-refused",
                message("The address of the database cannot be read: {why}.", why=_first_line(error)),
                message("Write postgresql://USER@HOST/NAME, or host=... user=... dbname=..."),
            ) from error
        self.name = _called(given)
        given["options"] = f"{_SETTINGS} {given.get('options') or ''}".strip()
        given.setdefault("connect_timeout", CONNECTS_WITHIN)
        given.setdefault("application_name", program)
        self._conninfo = make_conninfo("", **{**_ALIVE, **given})
        self._connection: Connection | None = None

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.closed

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Run a transaction, which is durable when the block ends. Raise `StoreError`, or `psycopg.DataError` if the
        data itself is wrong.
        """
        with self._speaking():
            connection = self._connected()
            with connection.transaction():
                yield connection

    def check(self) -> None:
        """Raise `StoreError` if the database cannot be used."""
        with self._speaking():
            self._connected()

    def make_schema(self) -> None:
        """Create the schema. Raise `StoreError`, also if there is one already."""
        with self._speaking(), self._open() as connection, connection.transaction():
            for part in PARTS:
                connection.execute((files(__package__) / "schema" / part).read_bytes())

    def prune(self, before: date) -> int:
        """Delete the months before the month of that day and return their number. Raise `StoreError` if the database
        fails.
        """
        with self.transaction() as connection:
            connection.execute("SET LOCAL statement_timeout = 0")
            row = connection.execute("SELECT cardshoe.prune(%s)", (before,)).fetchone()
            assert row is not None
            return int(row[0])

    def reassign(self, journal: str, before: str, after: str) -> bool:
        """Move the journal to the topics of another SITE/PIT/TABLE. Return whether the journal exists. Raise
        `StoreError` if the database fails.
        """
        (site, _, table), to = before.split("/"), after.split("/")
        with self.transaction() as connection:
            query = "SELECT cardshoe.reassign(%s, %s, %s, %s, %s, %s)"
            row = connection.execute(query, (journal, site, table, *to)).fetchone()
            assert row is not None
            return bool(row[0])

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def interrupt(self) -> None:
        """Cancel the statement that runs in another thread, which then raises `StoreError` in that thread."""
        if (connection := self._connection) is not None:
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=CONNECTS_WITHIN)

    def _connected(self) -> Connection:
        if self._connection is None or self._connection.closed:
            connection = self._open()
            try:
                self._check_version(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _open(self) -> Connection:
        try:
            return psycopg.connect(self._conninfo, autocommit=True)
        except psycopg.OperationalError as error:
            said = _first_line(error)
            if any(part in str(error).lower() for part in _NOT_REACHED):
                raise StoreError(
                    "store-unreachable",
                    message("The database {name} cannot be reached: {why}.", name=self.name, why=said),
                    message("Check that PostgreSQL runs there, and check the network."),
                ) from error
            raise StoreError(
                "store-refused",
                message("The database {name} does not let this program in: {why}.", name=self.name, why=said),
                message("Check user, password, database and pg_hba.conf; a password is best kept in ~/.pgpass."),
            ) from error

    def _check_version(self, connection: Connection) -> None:
        try:
            row = connection.execute(_VERSION).fetchone()
        except psycopg.errors.UndefinedTable as error:
            _, what, hint = _OF_STATE["3F"]
            said = message("The database {name} {what}.", name=self.name, what=what)
            raise StoreError("store-schema", said, hint) from error
        found = None if row is None else row[0]
        if found != VERSION:
            raise StoreError(
                "store-schema",
                message(
                    "The database {name} has the store's schema of version {found}; this program has {version}.",
                    name=self.name,
                    found=str(found),
                    version=VERSION,
                ),
                message("Use the version of cardshoe that created it, or create another database with --create."),
            )

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn errors into sentences. Close the connection, unless the data itself is wrong."""
        try:
            yield
        except StoreError:
            self.close()
            raise
        except psycopg.Error as error:
            if is_of_data(error):
                raise
            was_lost = self._connection is None or self._connection.closed
            self.close()
            raise self._as_sentence(error, was_lost=was_lost) from error

    def _as_sentence(self, error: psycopg.Error, *, was_lost: bool) -> StoreError:
        state = error.sqlstate or ""
        lost = _OF_STATE["08"]
        code, what, hint = (
            _OF_STATE.get(state)
            or _OF_STATE.get(state[:2])
            or (
                lost
                if was_lost and not state
                else ("store-failed", message("refuses it"), message("Its log says more."))
            )
        )
        if state in ("42P06", "42P07", "42710"):
            code, what = "store-schema", message("already has a schema of the store")
            hint = message("Leave it as it is, or use another database.")
        return StoreError(
            code, message("The database {name} {what}: {why}.", name=self.name, what=what, why=_first_line(error)), hint
        )


def is_of_data(error: psycopg.Error) -> bool:
    """Return whether other data would have been accepted: a value is out of range, or a text is not valid."""
    return isinstance(error, psycopg.DataError) or (error.sqlstate or "")[:2] in _OF_DATA


def _called(given: Mapping[str, Any]) -> AnyText:
    """Return a name of the database for people, without a password."""
    host = given.get("host") or given.get("hostaddr") or message("this machine")
    port = f":{given['port']}" if given.get("port") else ""
    database = given.get("dbname") or given.get("user") or "cardshoe"
    return message("{database} on {host}{port}", database=database, host=host, port=port)


def _first_line(error: psycopg.Error) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
