"""Forgeries other than edits: files, heads, saved states, the pin, and truncation."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Final, NamedTuple

from controller.journal.chain import Head
from controller.journal.signing import statement
from tests.journal.forgeries.forger import ALSO_HIS, FILES, Forger, forged_pin

HEAD: Final = "INSERT INTO head VALUES (?, ?, ?)"


class Forgery(NamedTuple):
    """A forgery. `found` holds what finds it, each alone, as in `WHERE`; it is empty where nothing ever does."""

    name: str
    make: Callable[[Forger], object]
    found: str


def _sql(*statements: str, file: int = 2, guards: bool = True) -> Callable[[Forger], None]:
    return lambda forger: forger.change(file, *statements, guards=guards)


def _cut(forger: Forger, after: int) -> None:
    """End the newest file at that point."""
    for table, column in (("decision", "last"), ("head", "number"), ("checkpoint", "number")):
        forger.change(3, f"DELETE FROM {table} WHERE {column} > {after}")


def _cut_and_pinned(forger: Forger, after: int) -> None:
    _cut(forger, after)
    forger.pin()


def _last_signed(forger: Forger, at: int = -1) -> int:
    return forger.heads(3)[at][0]


def _remove(forger: Forger, file: int) -> None:
    forger.path(file).unlink()


def _shorter_and_pinned(forger: Forger) -> None:
    _remove(forger, 3)
    forger.pin()


def _another_key(forger: Forger) -> None:
    forger.name(2, public_key=ALSO_HIS.public_key)
    forger.rechain(2)


def _rename(forger: Forger, file: int, name: str) -> None:
    forger.path(file).rename(forger.folder / name)


def _exchange(forger: Forger, one: int, two: int) -> None:
    aside = forger.folder / "aside"
    forger.path(one).rename(aside)
    forger.path(two).rename(forger.path(one))
    aside.rename(forger.path(two))


def _from_other(forger: Forger, file: int) -> None:
    forger.path(file).unlink()
    shutil.copy2(forger.other / forger.path(file).name, forger.path(file))


def _all_from_other(forger: Forger) -> None:
    for file in FILES:
        _from_other(forger, file)


def _row_from_other(forger: Forger) -> None:
    theirs = Forger(forger.other, forger.other).rows()
    rows = forger.rows()
    rows[5] = theirs[5]._replace(last=rows[5].last, utc_ns=rows[5].utc_ns + 1)
    forger.put(2, rows)


def _head_from(forger: Forger, file: int) -> None:
    """Replace a signature with that of another head."""
    theirs, mine = forger.heads(file)[-1], forger.heads(2)[-1]
    forger.change(2, f"DELETE FROM head WHERE number = {mine[0]}", (HEAD, (mine[0], *theirs[1:])))


def _head_signed_by_another(forger: Forger) -> None:
    header, row = forger.header(2), forger.rows()[4]
    signature = ALSO_HIS.sign(statement(header.identity.id, header.file_id, Head(row.last, row.hash), 1))
    forger.change(2, (HEAD, (row.last, 1, signature)))


def _tail(forger: Forger) -> None:
    """Change rows after the last signed head, which only the pin covers."""
    rows = forger.rows(3)
    rows[-1] = rows[-1]._replace(utc_ns=1)
    forger.put(3, rows)
    heads, states = forger.heads(3), _states(forger, 3)
    forger.rechain(3)
    forger.change(3, "DELETE FROM head", *((HEAD, head) for head in heads))
    _put_states(forger, 3, states)


def _tail_and_pin(forger: Forger) -> None:
    _tail(forger)
    forger.pin()


def _states(forger: Forger, file: int) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(forger.path(file))) as connection:
        return list(connection.execute("SELECT * FROM checkpoint"))


def _put_states(forger: Forger, file: int, states: list[tuple[Any, ...]]) -> None:
    forger.change(file, *(("INSERT INTO checkpoint VALUES (?, ?, ?, ?, ?, ?)", state) for state in states))


def _state_moved(forger: Forger) -> None:
    forger.change(2, "UPDATE checkpoint SET number = (SELECT min(last) FROM decision)")


def _state_copied(forger: Forger) -> None:
    (state,) = _states(forger, 3)
    last = forger.rows()[-1].last
    _put_states(forger, 2, [(last, *state[1:])])


def _bytes(file: int, change: Callable[[bytes], bytes]) -> Callable[[Forger], None]:
    def make(forger: Forger) -> None:
        path = forger.path(file)
        path.chmod(0o600)
        path.write_bytes(change(path.read_bytes()))
        path.chmod(0o440 if file < max(FILES) else 0o600)

    return make


def _beside(ending: str, data: bytes = b"x" * 64) -> Callable[[Forger], object]:
    return lambda forger: Path(f"{forger.path(2)}{ending}").write_bytes(data)


def _link(forger: Forger) -> None:
    _rename(forger, 2, "aside")
    forger.path(2).symlink_to(forger.folder / "aside")


def _no_signing_key(forger: Forger) -> None:
    """Add a file with another key that the table's key did not endorse."""
    forger.name(3, public_key=ALSO_HIS.public_key, endorsement=ALSO_HIS.sign(b"whatever"))
    forger.rechain(3)
    forger.sign(ALSO_HIS, 3)


def _deleted_by_age(forger: Forger) -> None:
    """Delete the first file, and let the next claim to be the first."""
    _remove(forger, 1)
    forger.name(2, previous_file="")
    forger.rechain(2)
    forger.sign(None, 2)


def _earlier_pin(forger: Forger) -> None:
    row = forger.rows(3)[2]
    forged_pin(forger.folder, row.last, row.hash)


OTHERS: Final = (
    # Truncation
    Forgery("the end cut off after the last signed head", lambda f: _cut(f, _last_signed(f)), "pin"),
    Forgery(
        "the end cut off after the last signed head, and the pin written again",
        lambda f: _cut_and_pinned(f, _last_signed(f)), "",
    ),
    Forgery("the end cut off at an earlier signed head", lambda f: _cut(f, _last_signed(f, -3)), "pin noted"),
    Forgery(
        "the end cut off at an earlier signed head, and the pin written again",
        lambda f: _cut_and_pinned(f, _last_signed(f, -3)), "noted",
    ),
    Forgery("all entries of the newest file removed", lambda f: _cut(f, _last_signed(f, 0)), "pin noted"),
    Forgery("the newest file deleted", lambda f: _remove(f, 3), "pin noted"),
    Forgery("the newest file deleted, and the pin written again", _shorter_and_pinned, "noted"),
    Forgery("entries changed that no head signs yet", _tail, "pin local"),
    Forgery("entries changed that no head signs yet, and the pin written again", _tail_and_pin, "local"),
    # Files
    Forgery("a file in the middle deleted", lambda f: _remove(f, 2), "nothing"),
    Forgery("the first file deleted", lambda f: _remove(f, 1), "nothing"),
    Forgery("the first file deleted, and the next says it is the first", _deleted_by_age, "nothing"),
    Forgery("a file renamed, so that a number is missing", lambda f: _rename(f, 3, "000004.journal"), "nothing"),
    Forgery("a file renamed to a name of another kind", lambda f: _rename(f, 2, "b.journal"), "nothing"),
    Forgery("two files exchanged", lambda f: _exchange(f, 1, 2), "nothing"),
    Forgery("the newest two files exchanged", lambda f: _exchange(f, 2, 3), "nothing"),
    Forgery("a file twice", lambda f: shutil.copy2(f.path(3), f.path(4)), "nothing"),
    Forgery("a number twice", lambda f: shutil.copy2(f.path(2), f.folder / "0000002.journal"), "nothing"),
    Forgery("a file of another journal of the same keys", lambda f: _from_other(f, 2), "nothing"),
    Forgery("the newest file of another journal", lambda f: _from_other(f, 3), "nothing"),
    Forgery("the first file of another journal", lambda f: _from_other(f, 1), "nothing"),
    Forgery("all files of another journal of the same keys", _all_from_other, "pin noted"),
    Forgery("a decision of another journal", _row_from_other, "nothing"),
    Forgery("a file cut in the middle", _bytes(2, lambda data: data[: len(data) // 2]), "nothing"),
    Forgery("the newest file cut in the middle", _bytes(3, lambda data: data[: len(data) // 2]), "nothing"),
    Forgery("a file without content", _bytes(2, lambda data: b""), "nothing"),
    Forgery("something else in a file's place", _bytes(2, lambda data: b"no journal\n" * 500), "nothing"),
    Forgery("the first page filled with zeros", _bytes(2, lambda data: bytes(4096) + data[4096:]), "nothing"),
    Forgery("the last page filled with zeros", _bytes(2, lambda data: data[:-4096] + bytes(4096)), "nothing"),
    Forgery("a write-ahead log beside a closed file", _beside("-wal"), "nothing"),
    Forgery("a rollback journal beside a closed file", _beside("-journal"), "nothing"),
    Forgery("a symbolic link in a file's place", _link, "nothing"),
    Forgery("a second name for a file", lambda f: (f.folder / "more").hardlink_to(f.path(2)), "nothing"),
    # Heads
    Forgery("every signature removed", lambda f: f.sign(None), "nothing"),
    Forgery("the signature of a file's name removed",
            lambda f: f.change(2, f"DELETE FROM head WHERE number = {f.heads(2)[0][0]}"), "nothing"),
    Forgery("the signature of a round removed",
            lambda f: f.change(2, f"DELETE FROM head WHERE number = {f.heads(2)[-2][0]}"), "nothing"),
    Forgery("the signature of a file's end removed",
            lambda f: f.change(2, f"DELETE FROM head WHERE number = {f.heads(2)[-1][0]}"), "nothing"),
    Forgery("the last signature removed, which no round's end needs",
            lambda f: f.change(3, f"DELETE FROM head WHERE number = {_last_signed(f)}"), ""),
    Forgery("a signature of the same file copied",
            _sql("UPDATE head SET signature = (SELECT signature FROM head ORDER BY number LIMIT 1)"), "nothing"),
    Forgery("a signature of another file copied", lambda f: _head_from(f, 3), "nothing"),
    Forgery("a signature moved to another decision",
            lambda f: f.change(2, f"UPDATE head SET number = number - 3 WHERE number = {f.heads(2)[-2][0]}"),
            "nothing"),
    Forgery("a signature where no decision ends", _sql("INSERT INTO head VALUES (1, 1, zeroblob(64))"), "nothing"),
    Forgery("the time of a signature", _sql("UPDATE head SET utc_ns = utc_ns + 1"), "nothing"),
    Forgery("a bit of a signature", _sql("UPDATE head SET signature = zeroblob(64)"), "nothing"),
    Forgery("a head that another key signed", _head_signed_by_another, "nothing"),
    Forgery("a next file with a key that was not endorsed", _no_signing_key, "nothing"),
    Forgery("another public key, and nothing signed again",
            _another_key, "nothing"),
    # Saved states
    Forgery("a saved state changed", _sql("UPDATE checkpoint SET state = zeroblob(40)"), "local"),
    Forgery("what is sealed of a saved state", _sql("UPDATE checkpoint SET sealed = zeroblob(40)"), "local"),
    Forgery("the MAC of a saved state", _sql("UPDATE checkpoint SET mac = zeroblob(16)"), "local"),
    Forgery("the version of a saved state", _sql("UPDATE checkpoint SET version = 0"), "local"),
    Forgery("a saved state moved", _state_moved, "local"),
    Forgery("a saved state of another file copied", _state_copied, "local"),
    Forgery("a saved state where no decision ends", _sql("UPDATE checkpoint SET number = 1"), "local"),
    Forgery("a saved state removed, which is a cache", _sql("DELETE FROM checkpoint"), ""),
    Forgery("a saved state changed by the holder of the local key", Forger.save_otherwise, "deep"),
    # Tables and triggers
    Forgery("a guard taken off", _sql("DROP TRIGGER decision_update", guards=False), "nothing"),
    Forgery("all guards taken off", _sql(*(
        f"DROP TRIGGER {table}_{verb}" for table in ("journal", "decision", "head", "checkpoint")
        for verb in ("update", "delete")), guards=False), "nothing"),
    Forgery("a guard that does nothing", _sql(
        "DROP TRIGGER head_delete", "CREATE TRIGGER head_delete BEFORE DELETE ON head BEGIN SELECT 1; END",
        guards=False), "nothing"),
    Forgery("a view added", _sql("CREATE VIEW more AS SELECT 1", guards=False), "nothing"),
    Forgery("an index added", _sql("CREATE INDEX more ON decision (round)", guards=False), "nothing"),
    Forgery("a table added", _sql("CREATE TABLE more (one)", guards=False), "nothing"),
    Forgery("a column added", _sql("ALTER TABLE decision ADD COLUMN more TEXT", guards=False), "nothing"),
    Forgery("a file's name removed", _sql("DELETE FROM journal"), "nothing"),
    Forgery("another format", _sql("UPDATE journal SET format = 2"), "nothing"),
    # The pin
    Forgery("the pin damaged", lambda f: (f.folder / "pin").write_bytes(b"x" * 9000), "pin"),
    Forgery("a pin of an earlier head", _earlier_pin, ""),
    Forgery("the pin deleted, which a start of the daemon finds", lambda f: (f.folder / "pin").unlink(), ""),
)  # fmt: skip
