"""Edits of a journal's content, and levels of skill in hiding them: data for the tests and for docs/security.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from tests.journal.forgeries.forger import ALSO_HIS, FILES, Forger, Row, opened
from tests.journal_commands.made import SIGNER


class Edit(NamedTuple):
    """An edit. `found`: what finds it after a holder of the local key has written and signed everything again.

    It is empty where only noted heads find it.
    """

    name: str
    make: Callable[[Forger], None]
    found: str


class Skill(NamedTuple):
    """A way to hide an edit. `found`: what finds it."""

    name: str
    hide: Callable[[Forger], None]
    found: str


def rows_with(*changes: tuple[str, Callable[[Row], Row]]) -> Callable[[Forger], None]:
    """Change, for each of the changes, the first row of the second file that holds the text."""

    def make(forger: Forger) -> None:
        rows = forger.rows()
        for text, change in changes:
            at = _at(rows, text)
            rows[at] = change(rows[at])
        forger.put(2, rows)

    return make


def replaced(column: str, old: str, new: str) -> Callable[[Row], Row]:
    def change(row: Row) -> Row:
        text = getattr(row, column)
        assert old in text, text
        return row._replace(**{column: text.replace(old, new)})

    return change


def events(change: Callable[[list[Any]], list[Any]]) -> Callable[[Row], Row]:
    def changed(row: Row) -> Row:
        parts = change(msgspec.json.decode(row.events))
        return row._replace(events=msgspec.json.encode(parts).decode(), count=len(parts) + 1)

    return changed


def of_rows(change: Callable[[list[Row]], list[Row]]) -> Callable[[Forger], None]:
    return lambda forger: forger.edit(change)


def _at(rows: list[Row], text: str) -> int:
    return next(at for at, row in enumerate(rows) if text in row.input or text in row.events)


def _commitments_exchanged(parts: list[Any]) -> list[Any]:
    cards = parts[1]["cards"]
    cards[0], cards[1] = cards[1], cards[0]
    return parts


def _sealed_exchanged(rows: list[Row]) -> list[Row]:
    one, two = [at for at, row in enumerate(rows) if len(row.sealed) == 129][:2]
    first, second = rows[one].sealed, rows[two].sealed
    rows[one], rows[two] = rows[one]._replace(sealed=second), rows[two]._replace(sealed=first)
    return rows


def _split(rows: list[Row]) -> list[Row]:
    at = _at(rows, '"observed":"set_removed"')
    row = rows[at]
    first, *others = msgspec.json.decode(row.events)
    one = row._replace(count=2, events=msgspec.json.encode([first]).decode(), last=row.last - len(others))
    two = row._replace(count=len(others), events=msgspec.json.encode(others[1:]).decode())
    return [*rows[:at], one, two, *rows[at + 1 :]]


def _joined(rows: list[Row]) -> list[Row]:
    at = _at(rows, '"shuffle_started"')
    one, two = rows[at], rows[at + 1]
    parts = [*msgspec.json.decode(one.events), *msgspec.json.decode(two.events)]
    joined = two._replace(events=msgspec.json.encode(parts).decode(), count=len(parts) + 1)
    return [*rows[:at], joined, *rows[at + 2 :]]


def _swapped(rows: list[Row]) -> list[Row]:
    at = _at(rows, '"shuffle_started"')
    one, two = rows[at], rows[at + 1]
    moved = two._replace(last=one.last - one.count + two.count)
    return [*rows[:at], moved, one._replace(last=two.last), *rows[at + 2 :]]


def _inputs_exchanged(rows: list[Row]) -> list[Row]:
    at = _at(rows, '"shuffle_started"')
    one, two = rows[at], rows[at + 1]
    return [*rows[:at], one._replace(input=two.input), two._replace(input=one.input), *rows[at + 2 :]]


def _without(text: str) -> Callable[[list[Row]], list[Row]]:
    return lambda rows: [row for at, row in enumerate(rows) if at != _at(rows, text)]


def _twice(rows: list[Row]) -> list[Row]:
    at = _at(rows, '"shuffle_started"')
    return [*rows[: at + 1], *_moved(rows[at : at + 1], rows[at].count), *_moved(rows[at + 1 :], rows[at].count)]


def _moved(rows: list[Row], by: int) -> list[Row]:
    return [row._replace(last=row.last + by) for row in rows]


def _renumbered_rounds(forger: Forger) -> None:
    for file in (2, 3):
        forger.edit(lambda rows: [row._replace(round=row.round + 1) for row in rows], file)


def _shifted(forger: Forger) -> None:
    """Insert an entry that nobody wrote at the beginning of the second file."""
    first, *_ = forger.rows()
    said = first._replace(input='{"input":"command_answered","command_id":1,"done":true,"reason":""}', events="[]",
                          sealed=b"", count=1, last=first.last - first.count + 1)  # fmt: skip
    forger.edit(lambda rows: [said, *_moved(rows, 1)])


def _state(old: str, new: str) -> Callable[[Forger], None]:
    def make(forger: Forger) -> None:
        opening = forger.header(2).opening
        packing = forger.packing(2)
        state = packing.unpack(opening.state)
        assert old.encode() in state, state
        forger.name(2, state=packing.pack(state.replace(old.encode(), new.encode(), 1)))

    return make


def _named(*files: int, **columns: Any) -> Callable[[Forger], None]:
    def make(forger: Forger) -> None:
        for file in files or (2,):
            forger.name(file, **columns)

    return make


def _other_id(forger: Forger) -> None:
    forger.name(2, file_id="6f" * 16)
    forger.name(3, previous_file="6f" * 16)


def _other_bit(row: Row) -> Row:
    return row._replace(sealed=row.sealed[:-1] + bytes([row.sealed[-1] ^ 1]))


DISPENSED = '"observed":"set_dispensed"'
REMOVED = '"observed":"set_removed"'
WAGER = '"operation":"place_wager"'
RULED = '"operation":"rule"'
OPENED = '"operation":"expose_hand"'

EDITS: Final = (
    Edit("the time of a decision", rows_with((WAGER, lambda row: row._replace(utc_ns=row.utc_ns + 1))), found=""),
    Edit("the boot-time clock of a decision",
         rows_with((WAGER, lambda row: row._replace(boottime_ns=row.boottime_ns - 1))), found=""),
    Edit("an amount in an input", rows_with((WAGER, replaced("input", '"amount":20', '"amount":90'))), found=""),
    Edit("an amount in an event", rows_with((WAGER, replaced("events", '"amount":20', '"amount":90'))), found="deep"),
    Edit("the person who acted, in the input",
         rows_with((RULED, replaced("input", "shift-manager", "dealer"))), found=""),
    Edit("the person who acted, in the events",
         rows_with((RULED, replaced("events", "shift-manager", "dealer"))), found="deep"),
    Edit("a person's role", rows_with((RULED, replaced("input", "shift_manager", "dealer"))), found=""),
    Edit("an opened card's face", rows_with((OPENED, events(lambda parts: _faces(parts)))), found="deep"),
    Edit("an opened card's salt", rows_with((OPENED, events(lambda parts: _salts(parts)))), found="deep"),
    Edit("a commitment",
         rows_with((DISPENSED, replaced("events", '"commitment":"', '"commitment":"00'))), found="deep"),
    Edit("two commitments of an event exchanged",
         rows_with((DISPENSED, events(_commitments_exchanged))), found="deep"),
    Edit("sealed cards exchanged between two rows", of_rows(_sealed_exchanged), found="deep"),
    Edit("sealed cards exchanged within their row", rows_with((DISPENSED, lambda row: _items(row))), found=""),
    Edit("sealed cards removed", rows_with((DISPENSED, lambda row: row._replace(sealed=b""))), found="deep"),
    Edit("two cards that nobody saw exchanged, by the holder of the local key", Forger.deal_otherwise, found=""),
    Edit("a bit of what is sealed", rows_with((DISPENSED, lambda row: _other_bit(row))), found="deep"),
    Edit("the order of events within a decision",
         rows_with((REMOVED, events(lambda parts: parts[::-1]))), found="deep"),
    Edit("an event removed", rows_with((RULED, events(lambda parts: parts[:-1]))), found="local"),
    Edit("an event doubled", rows_with((RULED, events(lambda parts: [*parts, parts[-1]]))), found="local"),
    Edit("the inputs of two decisions exchanged", of_rows(_inputs_exchanged), found="deep"),
    Edit("two decisions exchanged", of_rows(_swapped), found="deep"),
    Edit("a decision removed", of_rows(_without(RULED)), found="local"),
    Edit("a decision doubled", of_rows(_twice), found="local"),
    Edit("a decision split into two", of_rows(_split), found="deep"),
    Edit("two decisions joined", of_rows(_joined), found="local"),
    Edit("a decision added, with the numbers moved up", _shifted, found="local"),
    Edit("rounds renumbered", _renumbered_rounds, found="deep"),
    Edit("the opening state", _state('"phase":"', '"phase":"x'), found="local"),
    Edit("what is sealed of the opening state", _named(state_sealed=b"x" * 40), found="local"),
    Edit("the version of the opening state", _named(state_version=0), found="local"),
    Edit("the digest of the opening state", _named(state_digest=bytes(32)), found=""),
    Edit("when the file was begun", _named(created_utc_ns=1), found=""),
    Edit("the table's name", _named(*FILES, table_name="BAC-08"), found=""),
    Edit("whether it is simulated", _named(*FILES, simulated=0), found=""),
    Edit("the journal's id", _named(*FILES, journal_id="6f" * 16), found="local"),
    Edit("the file's id", lambda forger: _other_id(forger), found="local"),
    Edit("the check of the local key", _named(key_check=bytes(16)), found="local"),
)  # fmt: skip


def _faces(parts: list[Any]) -> list[Any]:
    for one in opened(parts):
        one["card"] = "2C" if one["card"] != "2C" else "3C"
    return parts


def _salts(parts: list[Any]) -> list[Any]:
    for one in opened(parts):
        one["salt"] = "00" * 32
    return parts


def _items(row: Row) -> Row:
    """Change the indexes in the input, which no key covers."""
    given = msgspec.json.decode(row.input)
    cards = given["observation"]["cards"]
    cards[0], cards[1] = cards[1], cards[0]
    return row._replace(input=msgspec.json.encode(given).decode())


def _signed(forger: Forger) -> None:
    forger.rechain()
    forger.sign(SIGNER)


def _signed_by_another(forger: Forger) -> None:
    for file in FILES:
        forger.name(file, public_key=ALSO_HIS.public_key)
    forger.rechain()
    forger.sign(ALSO_HIS)


def _rechained_without_heads(forger: Forger) -> None:
    forger.rechain()
    forger.sign(None)


def _signed_and_pinned(forger: Forger) -> None:
    _signed(forger)
    forger.pin()


def _all_of_it(forger: Forger) -> None:
    """Change the name of a file: it names the end of the previous file, which its MACs do not cover."""
    _signed_and_pinned(forger)
    forger.authenticate()


SKILLS: Final = (
    Skill("nothing else is changed", lambda forger: None, "nothing"),
    Skill("every hash is computed anew", lambda forger: forger.rechain(), "nothing"),
    Skill("every hash is computed anew, and the signatures removed", _rechained_without_heads, "nothing"),
    Skill("everything is signed again with another key", _signed_by_another, "pin noted key local"),
    Skill("everything is signed again with the table's key", _signed, "pin noted local"),
    Skill("the same, and the pin is written again", _signed_and_pinned, "noted local"),
    Skill("the same, with every MAC by the holder of the local key", _all_of_it, "noted"),
)
OF_ALL: Final = SKILLS[-1]
"""With this skill, a deep check may find an edit besides: see `Edit.found`."""
