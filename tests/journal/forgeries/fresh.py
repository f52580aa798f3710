"""Further kinds of forgeries, made with the forger's own code: data for the tests."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from controller.journal.signing import SigningKey
from tests.journal.forgeries.attacks import A, Attack, F, L, P, S, roll_back
from tests.journal.forgeries.forger import ALSO_HIS, Forger
from tests.journal.forgeries.own_code import (
    BODY,
    COUNT,
    ENDORSED,
    LAST,
    PUBLIC,
    ROUND,
    UTC,
    WORDS,
    Stored,
    long,
    stored_in,
    write_all,
    write_pin,
)  # fmt: skip
from tests.journal_commands.made import KEY, SIGNER

PRIVATE: Final = SIGNER._key.private_bytes_raw()
HIS: Final = ALSO_HIS._key.private_bytes_raw()
SAID: Final = b'{"input":"command_answered","command_id":1,"done":true,"reason":""}'
W: Final = "all keys and the witness"
THIRD: Final = SigningKey(bytes(range(7, 39)))
"""A key that nobody has heard of."""


def of_files(change: Callable[[list[Stored]], object]) -> Callable[[Forger], None]:
    """Change the list of the three files, and write each file that is in the list afterwards."""

    def make(forger: Forger) -> None:
        files = stored_in(forger.folder)
        change(files)
        for file in files:
            file.write()

    return make


def all_keys(change: Callable[[list[Stored]], object], *, pin: bool = True) -> Callable[[Forger], None]:
    """Change the files as `of_files` does, and make everything consistent again."""

    def make(forger: Forger) -> None:
        files = stored_in(forger.folder)
        change(files)
        write_all(files, local=KEY, private=PRIVATE)
        if pin:
            write_pin(forger.folder, files[-1].end)

    return make


def pinned(stopped: bool, *, file: int = -1) -> Callable[[Forger], None]:
    """Write a pin that names the end of that file."""
    return lambda forger: write_pin(forger.folder, stored_in(forger.folder)[file].end, stopped=stopped)


def by_sql(*statements: str, file: int = 2) -> Callable[[Forger], None]:
    """Run statements that anybody can run in SQLite."""

    def make(forger: Forger) -> None:
        path = forger.path(file)
        mode = path.stat().st_mode & 0o777
        path.chmod(0o600)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement in statements:
                connection.execute(statement)
        path.chmod(mode)

    return make


def then(*changes: Callable[[Forger], object]) -> Callable[[Forger], None]:
    def make(forger: Forger) -> None:
        for change in changes:
            change(forger)

    return make


def add_row(files: list[Stored], *, by: int = 0) -> None:
    """Append a decision to the newest file, with its number raised by `by`."""
    newest = files[-1]
    row = newest.row(SAID, [])
    row[LAST] += by
    newest.rows.append(row)
    newest.chain(len(newest.rows) - 1)


def before_all(files: list[Stored]) -> None:
    """Insert a decision with a number below all others."""
    row = files[1].row(SAID, [])
    row[LAST] = -7
    files[1].rows.insert(0, row)


def before_state(files: list[Stored]) -> None:
    """Change a row before a saved state, without chaining anything again."""
    assert files[2].rows[2][LAST] < files[2].states[-1][0]
    files[2].rows[2][UTC] += 1


def pack_again(files: list[Stored]) -> None:
    """Deflate the same text to different bytes."""
    file = files[1]
    text = file.text(3)
    file.rows[3][BODY] = file.pack(text + b" ") if file.pack(text) == file.rows[3][BODY] else file.pack(text)


def trailing(files: list[Stored]) -> None:
    files[1].rows[3][BODY] += bytes(32)


def other_words(files: list[Stored]) -> None:
    """Replace the dictionary, and pack every row with it."""
    file = files[2]
    texts = [file.text(at) for at in range(len(file.rows))]
    state = file.unpack(file.name[15])
    file.name[WORDS] = b"words of his own"
    file.name[15] = file.pack(state)
    for at, text in enumerate(texts):
        file.put(at, text)
    file.states = []
    file.chain()


def move_border(files: list[Stored]) -> None:
    """Move the last decision of the second file to the beginning of the third."""
    row = files[1].rows.pop()
    row[BODY] = files[2].pack(files[1].unpack(row[BODY]))
    files[2].rows.insert(0, row)
    files[2].states = []
    files[2].follow(files[1].end)
    files[2].renumber()
    files[2].chain()


def cut_middle(files: list[Stored]) -> None:
    """End the second file at an earlier signed head."""
    file = files[1]
    last = file.heads[-2][0]
    file.rows = [row for row in file.rows if row[LAST] <= last]
    file.heads = [head for head in file.heads if head[0] <= last]
    file.states = [state for state in file.states if state[0] <= last]


def head_beyond(files: list[Stored]) -> None:
    files[2].heads.append([files[2].end.number + 5, 1, bytes(64)])


def head_of_tail(files: list[Stored]) -> None:
    """Sign, with the attacker's key, rows that no head covers yet."""
    file = files[2]
    number, hash_, _ = file.end
    file.heads.append([number, 1, file.signature(HIS, number, hash_, 1)])


def state_beyond(files: list[Stored]) -> None:
    state = [*files[2].states[-1]]
    state[0] = files[2].end.number + 5
    files[2].states.append(state)


def state_of_his_own(files: list[Stored]) -> None:
    """Save a forged state after the last decision, with its MAC: the next start begins with it."""
    file = files[2]
    _, version, digest, state, sealed, mac = file.states[-1]
    saved = json.loads(file.unpack(state))
    saved["table"]["entry"] = file.end.number
    text = file.pack(json.dumps(saved, separators=(",", ":")).encode())
    file.states.append([file.end.number, version, digest, text, sealed, mac])
    file.authenticate(KEY)


def next_file(files: list[Stored], *, private: bytes, endorse: bool, local: bool) -> None:
    """Begin a file after the newest file, whose end is signed if the attacker has its key."""
    newest = files[-1]
    if private == PRIVATE or endorse:
        newest.sign(PRIVATE, newest.end.number)
    more = Stored(newest.path)
    more.path = newest.path.with_name("000004.journal")
    shutil.copy2(newest.path, more.path)
    more.take_id("6f" * 16, newest.end.number, KEY)
    more.rows, more.heads, more.states = [], [], []
    public = SigningKey(private).public_key
    said = b"cardshoe key 1\0" + long(newest.name[2].encode()) + newest.name[PUBLIC] + public
    more.name[ENDORSED] = SIGNER.sign(said) if endorse else b""
    more.name[PUBLIC] = public
    more.follow(newest.end)
    if local:
        more.authenticate(KEY)
    more.sign(private, more.end.number)
    files.append(more)


def backdated(files: list[Stored]) -> None:
    """Append a decision that is an hour older than the others."""
    add_row(files)
    files[-1].rows[-1][UTC] -= 3600 * 10**9


def other_round(files: list[Stored]) -> None:
    """Change the number of the round in play."""
    for row in files[-1].rows:
        if row[ROUND] == files[-1].rows[-1][ROUND]:
            row[ROUND] += 1


def joined(files: list[Stored]) -> None:
    """Join the last two decisions of the newest file."""
    file = files[-1]
    one, two = file.rows[-2:]
    first, second = (file.unpack(row[BODY]).partition(b"\n") for row in (one, two))
    events = json.loads(first[2]) + json.loads(second[2])
    two[BODY] = file.pack(second[0] + b"\n" + json.dumps(events, separators=(",", ":")).encode())
    two[COUNT] = 1 + len(events)
    two[LAST] = one[LAST] - one[COUNT] + two[COUNT]
    del file.rows[-2]


def one_file(files: list[Stored]) -> None:
    """Join the second and the third file."""
    second, third = files[1:]
    for row in third.rows:
        row[BODY] = second.pack(third.unpack(row[BODY]))
    second.rows += third.rows
    second.heads += [head for head in third.heads if head[0] > third.name[11]]
    second.states = []
    del files[2]


def remove_third(forger: Forger) -> None:
    forger.path(3).unlink()


def renamed_up(forger: Forger) -> None:
    for file in (3, 2, 1):
        for ending in ("", "-wal", "-shm"):
            if (one := Path(f"{forger.path(file)}{ending}")).exists():
                one.rename(f"{forger.path(file + 1)}{ending}")


def old_copy_of_second(forger: Forger) -> None:
    """Replace a closed file with a copy from before its last round."""
    of_files(cut_middle)(forger)


def part_beside(forger: Forger) -> None:
    shutil.copy2(forger.path(2), forger.folder / "000004.journal.part")


def folder_as_file(forger: Forger) -> None:
    forger.path(4).mkdir()


def empty_file(forger: Forger) -> None:
    forger.path(4).touch(0o600)


def nonsense_log(forger: Forger) -> None:
    Path(f"{forger.path(3)}-wal").write_bytes(b"x" * 4096)


def closed_newest(forger: Forger) -> None:
    forger.path(3).chmod(0o440)


def opened_middle(forger: Forger) -> None:
    forger.path(2).chmod(0o600)


def without_reserve(forger: Forger) -> None:
    (forger.folder / "reserve").unlink(missing_ok=True)


def other_pin(forger: Forger) -> None:
    """Take the pin of another journal of the same table."""
    write_pin(forger.folder, stored_in(forger.folder)[-1].end)
    data = (forger.folder / "pin").read_bytes()
    ours = stored_in(forger.folder)[-1].name[2].encode()
    body = data[:480].replace(ours, b"77" * 16)
    (forger.folder / "pin").write_bytes((body + hashlib.sha256(body).digest()).ljust(4096, b"\0"))


def linked_pin(forger: Forger) -> None:
    pin = forger.folder / "pin"
    pin.rename(forger.folder / "elsewhere")
    pin.symlink_to(forger.folder / "elsewhere")


def one_slot(forger: Forger) -> None:
    """Erase the newer slot of the pin. The older slot names an earlier head."""
    pin = forger.folder / "pin"
    data = bytearray(pin.read_bytes().ljust(4608, b"\0"))
    turns = [int.from_bytes(data[at + 15 : at + 23], "big") for at in (0, 4096)]
    at = 0 if turns[0] > turns[1] else 4096
    data[at : at + 512] = bytes(512)
    pin.write_bytes(bytes(data))


def both_slots(forger: Forger) -> None:
    """Exchange the slots of the pin."""
    pin = forger.folder / "pin"
    data = pin.read_bytes().ljust(4608, b"\0")
    pin.write_bytes(data[4096:4608].ljust(4096, b"\0") + data[:512])


# -- changes to the witness


def leave(beside: Path) -> None:
    """Change nothing."""


def line_of_his_own(beside: Path) -> None:
    (path,) = beside.iterdir()
    *_, line = path.read_text().splitlines()
    head = json.loads(line) | {"number": 10**6, "hash": "00" * 32}
    path.write_text(path.read_text() + json.dumps(head) + "\n")


def cut_witness(beside: Path) -> None:
    """Cut the witness back to its older copy."""
    (path,) = beside.iterdir()
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-3]))


def no_witness(beside: Path) -> None:
    for path in beside.iterdir():
        path.unlink()


FRESH: Final[tuple[tuple[Attack, Callable[[Path], object]], ...]] = (
    # Everybody who may write to the files.
    (Attack(F, "rename all files one number up", renamed_up, ""), leave),
    (Attack(F, "cut a closed file at an earlier signed head", old_copy_of_second, "check verify key floor"), leave),
    (
        Attack(
            F,
            "move the border between two files, and chain again",
            of_files(move_border),
            "start check verify key noted witness floor",
        ),
        leave,
    ),
    (
        Attack(
            F,
            "edit a decision of the newest file, before its saved state",
            of_files(before_state),
            "check verify key floor",
        ),
        leave,
    ),
    (
        Attack(
            F,
            "add a decision with a number far above",
            of_files(lambda files: add_row(files, by=10**9)),
            "start check verify key",
        ),
        leave,
    ),
    (Attack(F, "add a decision with a number below all", of_files(before_all), "check verify key"), leave),
    (Attack(F, "pack the same text in other bytes", of_files(pack_again), "check verify key"), leave),
    (Attack(F, "add bytes after a packed text", of_files(trailing), "check verify key"), leave),
    (
        Attack(
            F,
            "exchange the words with which the newest file is packed",
            of_files(other_words),
            "start check verify key noted witness floor",
        ),
        leave,
    ),
    (Attack(F, "add a signature where nothing is yet", of_files(head_beyond), "check verify key"), leave),
    (
        Attack(
            F, "sign the end of the round in play with another key", of_files(head_of_tail), "check verify key floor"
        ),
        leave,
    ),
    (Attack(F, "save a state where nothing is yet", of_files(state_beyond), "key"), leave),
    (Attack(F, "put a folder in the next file's place", folder_as_file, "start check verify key"), leave),
    (Attack(F, "put an empty file in the next file's place", empty_file, "start check verify key"), leave),
    (Attack(F, "leave a file half-made", part_beside, ""), leave),
    (Attack(F, "put nonsense in the log of the newest file", nonsense_log, ""), leave),
    (Attack(F, "close the newest file", closed_newest, "start check verify key noted"), leave),
    (Attack(F, "open a closed file again", opened_middle, ""), leave),
    (Attack(F, "run ANALYZE in a closed file", by_sql("ANALYZE"), "check verify key"), leave),
    (Attack(F, "run VACUUM in a closed file", by_sql("VACUUM"), ""), leave),
    (Attack(F, "number a closed file's schema otherwise", by_sql("PRAGMA user_version=9"), ""), leave),
    (
        Attack(
            F,
            "write a guard in other words",
            by_sql(
                "DROP TRIGGER head_update",
                "CREATE TRIGGER head_update BEFORE UPDATE ON head WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END",
            ),
            "check verify key",
        ),
        leave,
    ),
    (Attack(F, "take away the room that is kept", without_reserve, ""), leave),
    (Attack(F, "take away the signing key", lambda forger: None, "start", signer=THIRD), leave),
    # Attackers who also hold the pin.
    (Attack(P, "put the pin of another journal in its place", other_pin, "start verify key"), leave),
    (Attack(P, "make the pin a symbolic link", linked_pin, "start verify key"), leave),
    (Attack(P, "take away the newer slot of the pin", one_slot, ""), leave),
    (Attack(P, "take away the newer slot of the pin after a stop", one_slot, "", stopped=True), leave),
    (Attack(P, "exchange the slots of the pin", both_slots, ""), leave),
    (Attack(P, "let the pin say that a stop ended the round in play", pinned(True), ""), leave),
    (Attack(P, "let the pin say that no stop ended the journal", pinned(False), "", stopped=True), leave),
    (Attack(P, "let the pin name the end of an earlier file", pinned(False, file=0), ""), leave),
    (
        Attack(
            P,
            "roll back, and let the pin say that a stop ended it",
            then(roll_back, pinned(True)),
            "noted witness floor",
        ),
        leave,
    ),
    # Attackers who also hold the local key.
    (Attack(L, "save a state of his own, with which the next start begins", of_files(state_of_his_own), ""), leave),
    (
        Attack(
            L,
            "begin the next file, signed by another key",
            of_files(lambda files: next_file(files, private=HIS, endorse=False, local=True)),
            "start verify key floor",
        ),
        leave,
    ),
    (Attack(S, "exchange the signing key alone", lambda forger: None, "start", signer=ALSO_HIS), leave),
    # Attackers who hold all keys.
    (
        Attack(
            A,
            "begin the next file, signed by a key that he endorses",
            then(of_files(lambda files: next_file(files, private=HIS, endorse=True, local=True)), pinned(False)),
            "floor",
            signer=ALSO_HIS,
        ),
        leave,
    ),
    (Attack(A, "append to the round in play, an hour before", all_keys(backdated), "floor"), leave),
    (Attack(A, "give the round in play another number", all_keys(other_round), "start noted witness floor"), leave),
    (Attack(A, "join the last two decisions", all_keys(joined), "floor"), leave),
    (
        Attack(
            A,
            "make one file of two",
            then(all_keys(one_file), remove_third, pinned(False)),
            "start noted witness floor",
        ),
        leave,
    ),
    # Attackers who also hold the witness.
    (Attack(F, "write a line of his own into the witness's file", lambda forger: None, "witness"), line_of_his_own),
    (Attack(F, "take away the witness's file", lambda forger: None, ""), no_witness),
    (Attack(W, "roll back, and cut the witness's file", then(roll_back, pinned(False)), "noted floor"), cut_witness),
    (
        Attack(
            W,
            "edit, write all of it again, and take away the witness's file",
            all_keys(lambda files: files[1].rows[0].__setitem__(UTC, 1)),
            "noted floor",
        ),
        no_witness,
    ),
)
