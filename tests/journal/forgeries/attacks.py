"""Attackers by the access and keys they hold, and what finds each: data for the tests and for docs/security.md."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from controller.journal.chain import Head
from controller.journal.file import connect
from controller.journal.folder import files_in
from controller.journal.pinning import PIN
from controller.journal.reserve import NAME as RESERVE
from controller.journal.signing import SigningKey, statement
from controller.journal.store import _create
from controller.roles import Role
from controller.table.events import RoundVoided
from controller.table.inputs import PersonActed
from controller.table.operations import PlaceYourBets
from tests.journal.forgeries.forger import ALSO_HIS, FILES, Forger, Row
from tests.journal.forgeries.others import _cut, _last_signed
from tests.journal_commands.made import SIGNER

COLUMNS: Final = {
    "start": "start",
    "check": "background check",
    "verify": "verify",
    "key": "verify with the local key",
    "noted": "noted head",
    "witness": "witness",
    "floor": "floor",
}


class Attack(NamedTuple):
    """An attack. `found` holds each of `COLUMNS` that finds it on its own.

    `stopped`: the journal ends with an orderly stop. `signer` is the key with which the next start signs.
    """

    who: str
    does: str
    make: Callable[[Forger], object]
    found: str
    stopped: bool = False
    signer: SigningKey = SIGNER


def forged(last: Row, number: int = 2) -> list[Row]:
    """Return forged decisions that follow a row: the round is void, in the name of the shift manager."""
    event = RoundVoided("", 0, "by a ruling", "shift manager")
    made = []
    for _ in range(number):
        given = PersonActed(str(last.last), "shift-manager", Role.SHIFT_MANAGER, last.round, PlaceYourBets())
        last = last._replace(
            last=last.last + 2, count=2, input=msgspec.json.encode(given).decode(),
            events=msgspec.json.encode([event]).decode(), sealed=b"", mac=bytes(16),
        )  # fmt: skip
        made.append(last)
    return made


def keep_heads(forger: Forger, change: Callable[[], object], *files: int) -> None:
    """Chain the changed rows again, and keep the existing heads and saved states."""
    heads = {file: forger.heads(file) for file in files or (3,)}
    change()
    forger.rechain(min(heads))
    for file, rows in heads.items():
        forger.change(file, "DELETE FROM head", *(("INSERT INTO head VALUES (?, ?, ?)", row) for row in rows))


def append(forger: Forger) -> None:
    rows = forger.rows(3)
    keep_heads(forger, lambda: forger.put(3, [*rows, *forged(rows[-1])]))
    macs = {row.last: row.mac for row in rows}
    forger.put(3, [row._replace(mac=macs.get(row.last, row.mac)) for row in forger.rows(3)])


def edit_tail(forger: Forger) -> None:
    rows = forger.rows(3)
    keep_heads(forger, lambda: forger.put(3, [*rows[:-1], rows[-1]._replace(utc_ns=1)]))


def edit_row(forger: Forger) -> None:
    forger.change(2, "UPDATE decision SET utc_ns = 1 WHERE last = (SELECT min(last) FROM decision)")


def edit_all(forger: Forger) -> None:
    """Change the second file and chain the journal again to its end."""
    rows = forger.rows(2)
    keep_heads(forger, lambda: forger.put(2, [rows[0]._replace(utc_ns=1), *rows[1:]]), 2, 3)


def add_file(forger: Forger) -> None:
    """Add a file after the newest file, signed with the attacker's key."""
    header, end = forger.header(3), forger.rows(3)[-1]
    name = msgspec.structs.replace(
        header, file_id="6f" * 16, public_key=ALSO_HIS.public_key, previous_file=header.file_id,
        previous=Head(end.last, end.hash),
    )  # fmt: skip
    signature = ALSO_HIS.sign(statement(header.identity.id, name.file_id, name.before, 1))
    _create(forger.path(4), name, (end.last, 1, signature), connect)


def delete_first(forger: Forger) -> None:
    forger.path(1).unlink()


def launder(forger: Forger) -> None:
    """Delete the first file, and append a record that the deletion was due."""
    first, second = forger.header(1), forger.header(2)
    record = {"name": "000001.journal", "id": first.file_id, "last": second.previous.number,
              "hash": second.previous.hash.hex(), "ended_utc_ns": 0}  # fmt: skip
    event = {"event": "files_deleted", "files": [record]}
    rows = forger.rows(3)
    (said,) = forged(rows[-1], 1)
    said = said._replace(events=msgspec.json.encode([event]).decode())
    keep_heads(forger, lambda: forger.put(3, [*rows, said]))
    macs = {row.last: row.mac for row in rows}
    forger.put(3, [row._replace(mac=macs.get(row.last, row.mac)) for row in forger.rows(3)])
    delete_first(forger)


def launder_with_all_keys(forger: Forger) -> None:
    launder(forger)
    forger.authenticate()
    row, header = forger.rows(3)[-1], forger.header(3)
    said = SIGNER.sign(statement(header.identity.id, header.file_id, Head(row.last, row.hash), 1))
    forger.change(3, ("INSERT OR REPLACE INTO head VALUES (?, ?, ?)", (row.last, 1, said)))
    forger.pin()


def roll_back(forger: Forger) -> None:
    """Replace the newest file with an older copy."""
    _cut(forger, _last_signed(forger, -3))


def remove_files(forger: Forger) -> None:
    for path in files_in(forger.folder):
        path.unlink()


def remove_all(forger: Forger) -> None:
    remove_files(forger)
    for name in (PIN, RESERVE):
        (forger.folder / name).unlink(missing_ok=True)


def fork(forger: Forger) -> None:
    """Continue from an older copy with other decisions, as the holder of all keys."""
    roll_back(forger)
    rows = forger.rows(3)
    forger.put(3, [*rows, *forged(rows[-1])])
    write_again(forger)


def write_again(forger: Forger) -> None:
    forger.rechain()
    forger.authenticate()
    forger.sign(SIGNER)
    forger.pin()


def edit_and_write_again(forger: Forger) -> None:
    rows = forger.rows(2)
    forger.put(2, [rows[0]._replace(utc_ns=1), *rows[1:]])
    write_again(forger)


def other_key(forger: Forger) -> None:
    """Write the newest file again under the attacker's key."""
    forger.name(3, public_key=ALSO_HIS.public_key)
    forger.rechain(3)
    forger.sign(ALSO_HIS, 3)
    forger.pin()


def other_key_for_all(forger: Forger) -> None:
    """Write every file again under the attacker's key."""
    for file in FILES:
        forger.name(file, public_key=ALSO_HIS.public_key)
    forger.rechain()
    forger.sign(ALSO_HIS)
    forger.pin()


def sign_later(forger: Forger) -> None:
    """Sign the last signed head again, at another time."""
    header, (number, utc_ns, _) = forger.header(3), forger.heads(3)[-1]
    row = next(row for row in forger.rows(3) if row.last == number)
    said = SIGNER.sign(statement(header.identity.id, header.file_id, Head(number, row.hash), utc_ns + 1))
    forger.change(3, ("UPDATE head SET utc_ns = ?, signature = ? WHERE number = ?", (utc_ns + 1, said, number)))


def then(*changes: Callable[[Forger], object]) -> Callable[[Forger], None]:
    def make(forger: Forger) -> None:
        for change in changes:
            change(forger)

    return make


F, P, S, L, A = "files", "files and pin", "files, pin and another signing key", "files, pin and local key", "all keys"
LS: Final = "files, pin, local key and another signing key"
LOST: Final = SigningKey(bytes(range(1, 33)))
"""The table's signing key, put back from before it knew of a journal."""

ATTACKS: Final = (
    Attack(F, "append to the round in play", append, "start key floor"),
    Attack(F, "append after an orderly stop", append, "start verify key floor", stopped=True),
    Attack(F, "append a file signed by another key", add_file, "start verify key floor"),
    Attack(F, "cut the end of the round in play", lambda f: _cut(f, _last_signed(f)), "start verify key floor"),
    Attack(F, "cut at an earlier signed head", roll_back, "start verify key noted witness floor"),
    Attack(F, "edit a decision", edit_row, "check verify key floor"),
    Attack(F, "edit a decision and chain again", edit_all, "start check verify key noted witness floor"),
    Attack(F, "exchange two files",
           lambda f: (shutil.move(f.path(2), f.folder / "x"), shutil.move(f.path(3), f.path(2)),
                      shutil.move(f.folder / "x", f.path(3))), "start check verify key"),
    Attack(F, "delete a file in the middle", lambda f: f.path(2).unlink(),
           "start check verify key"),
    Attack(F, "delete the first file", delete_first, "start verify key"),
    Attack(F, "delete the first file and append a record of it", launder, "start check verify key floor"),
    Attack(F, "begin again: delete all files", remove_files, "start verify key noted witness floor"),
    Attack(P, "append to the round in play", then(append, Forger.pin), "start key floor"),
    Attack(P, "append after an orderly stop", then(append, Forger.pin), "start key floor", stopped=True),
    Attack(P, "edit the round in play and chain again", then(edit_tail, Forger.pin), "start key floor"),
    Attack(P, "edit a decision and chain again", then(edit_all, Forger.pin),
           "start check verify key noted witness floor"),
    Attack(P, "cut the end of the round in play", then(lambda f: _cut(f, _last_signed(f)), Forger.pin), "floor"),
    Attack(P, "roll back to an earlier signed head", then(roll_back, Forger.pin), "noted witness floor"),
    Attack(P, "begin again: delete files, pin and reserve", remove_all, "start noted witness floor"),
    Attack(P, "the same, where the signing key is an older copy", remove_all, "start noted witness floor", signer=LOST),
    Attack(S, "re-key: write the newest file again", other_key, "start verify key noted witness floor",
           signer=ALSO_HIS),
    Attack(S, "re-key: write all files again", other_key_for_all, "start key noted witness floor", signer=ALSO_HIS),
    Attack(L, "append to the round in play", then(append, Forger.authenticate, Forger.pin), "floor"),
    Attack(L, "append after an orderly stop, and leave the pin", then(append, Forger.authenticate),
           "start verify key floor", stopped=True),
    Attack(L, "append after an orderly stop", then(append, Forger.authenticate, Forger.pin), "floor", stopped=True),
    Attack(L, "edit the round in play", then(edit_tail, Forger.authenticate, Forger.pin), "floor"),
    Attack(L, "edit a signed round", then(edit_all, Forger.authenticate, Forger.pin),
           "check verify key noted witness floor"),
    Attack(LS, "re-key: write the newest file again", then(other_key, Forger.authenticate),
           "start verify key noted witness floor", signer=ALSO_HIS),
    Attack(LS, "re-key: write all files again", then(other_key_for_all, Forger.authenticate), "noted witness floor",
           signer=ALSO_HIS),
    Attack(A, "edit, and write all of it again", edit_and_write_again, "noted witness floor"),
    Attack(A, "roll back, and write the pin", then(roll_back, Forger.pin), "noted witness floor"),
    Attack(A, "fork: go on from an older copy", fork, "noted witness floor"),
    Attack(A, "sign a head again, at another time", sign_later, "witness floor"),
    Attack(A, "delete the first file, and sign a record of it", launder_with_all_keys, "check verify key floor"),
)  # fmt: skip
