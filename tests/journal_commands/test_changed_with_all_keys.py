"""A journal that the holder of all keys changed and sealed again may contain anything.

No command ends in a traceback; what cannot be shown is reported with its file and entry.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stdout
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from click.testing import CliRunner, Result

from controller.commands.journal.export import follow_from
from controller.commands.journal.journal_command import journal
from controller.commands.journal.journal_options import _asked, opened, problems
from controller.journal import chain
from controller.journal.chain import Head, hash_decision
from controller.journal.codec import DECISION, NAME
from controller.journal.packing import Packing
from controller.journal.schema import SCHEMA
from controller.journal.sealing import FileKeys
from controller.journal.signing import statement
from controller.problems import ProblemError
from tests.end_to_end import fork_server
from tests.journal_commands.made import IDENTITY, KEY, SIGNER, JournaledTable, _options, _ruling, _void
from tests.support import long_forms

COMMANDS: Final = (
    ("show", "1"), ("show", "3", "--json"), ("list",), ("list", "--json"), ("report",), ("report", "--json"),
    ("stats",), ("export",), ("export", "--format", "csv"), ("verify",),
)  # fmt: skip
CODES: Final = {0, 2, 4}
SOME: Final = 20
LONG: Final = 10_000
PROCESSES: Final = 6
MANY_PROCESSES: Final = 100
NAMES: Final = ("000001.journal", "000002.journal")
VALUES: Final[tuple[Any, ...]] = (
    None, True, -1, 0, 7, 2**40, 2**63, 2**64, 1.5, "", "x", "B9", "2026-11-28", "\ud7ff", [], [[]], {}, {"x": 1},
    ["KD", 3, None], "9" * 400,
)  # fmt: skip
"""Values that may replace a field's."""
BAD_TEXT: Final = (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b'"', b"{", b"\\u", b"\\ud800", b"1e999", b"," * 3)


class File:
    """The content of a file, for changing and sealing it again with all keys."""

    def __init__(self, path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            (self.name,) = ([*row] for row in connection.execute("SELECT * FROM journal"))
            self.rows = [[*row] for row in connection.execute("SELECT * FROM decision ORDER BY last")]
            self.heads = [[*row] for row in connection.execute("SELECT * FROM head ORDER BY number")]
        self.packing = Packing(self.name[17])

    def seal(self, before: Head | None, before_id: str, key: bytes = KEY) -> Head:
        """Recompute every number, hash, MAC and signature, and return the head at the end of the file."""
        if before is not None:
            self.name[10:13] = before_id, before.number, before.hash
        keys = FileKeys(key, self.name[3])
        ends = {number: at for at, (number, *_) in enumerate(self.heads)}
        end = first = Head(self.name[11], chain.genesis(self.name[1:18]))
        self.name[18] = keys.mac(NAME, end.hash)
        found = {end.number: end}
        for row in self.rows:
            last = row[0]
            row[0] = end.number + row[1]
            row[7] = hash_decision(row[:7], end.hash)
            row[8] = keys.mac(DECISION, row[7])
            end = Head(row[0], row[7])
            found[last] = end
        for number, at in ends.items():
            head = found.get(number, first)
            said = statement(self.name[2], self.name[3], head, self.heads[at][1])
            self.heads[at] = [head.number, self.heads[at][1], SIGNER.sign(said)]
        return end

    def write(self, path: Path) -> None:
        mode = path.stat().st_mode & 0o777
        path.chmod(0o600)
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("BEGIN")
            for (trigger,) in list(connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")):
                connection.execute(f"DROP TRIGGER {trigger}")
            for table, rows in (("journal", [self.name]), ("decision", self.rows), ("head", self.heads)):
                connection.execute(f"DELETE FROM {table}")  # noqa: S608  # the schema's own names
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)  # noqa: S608
            connection.execute("DELETE FROM checkpoint")
            for guard in SCHEMA:
                if guard.startswith("CREATE TRIGGER"):
                    connection.execute(guard)
            connection.execute("COMMIT")
        path.chmod(mode)


# -- possible changes --------------------------------------------------------------------------------------------------


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each object or list, with each of its keys."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from places(value[key])


def change_field(random: Random, parts: list[Any]) -> None:
    """Change a key or an item of an input with its events."""
    holder, key = random.choice(list(places(parts)))
    how = random.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[random.choice(("x", "event", "round", f"{key}x"))] = holder.pop(key)
    elif how == 2:
        other, at = random.choice(list(places(parts)))
        holder[key] = json.loads(json.dumps(other[at]))
    elif how == 3 and isinstance(holder, list):
        holder.append(json.loads(json.dumps(holder[key])))
    else:
        holder[key] = random.choice(VALUES)


def edit_fields(random: Random, file: File) -> None:
    row = random.choice(file.rows)
    given, _, events = file.packing.unpack(row[5]).partition(b"\n")
    parts = [json.loads(given), json.loads(events)]
    for _ in range(random.choice((1, 1, 1, 2, 5))):
        change_field(random, parts)
    first, second = (json.dumps(part, separators=(",", ":"), ensure_ascii=False) for part in parts)
    row[5] = file.packing.pack(f"{first}\n{second}".encode(errors="surrogatepass"))
    if isinstance(parts[1], list) and random.random() < 0.9:
        row[1] = 1 + len(parts[1])


def other_name(random: Random, file: File) -> None:
    """Give an event the name of another kind, with the same fields."""
    row, other = random.choice(file.rows), random.choice(file.rows)
    texts = [file.packing.unpack(one[5]) for one in (row, other)]
    mine, theirs = (re.findall(rb'"(?:event|input|operation|observed)":"[a-z_]+"', text) for text in texts)
    if mine and theirs:
        row[5] = file.packing.pack(texts[0].replace(random.choice(mine), random.choice(theirs)))


def flip_text(random: Random, file: File) -> None:
    """Flip a bit of packed data, or insert bytes that are not text."""
    row = random.choice(file.rows)
    text = bytearray(file.packing.unpack(row[5]))
    at = random.randrange(len(text))
    if random.random() < 0.7:
        text[at] ^= 1 << random.randrange(8)
    else:
        text[at : at + random.randrange(3)] = random.choice(BAD_TEXT)
    row[5] = file.packing.pack(bytes(text))


def flip_column(random: Random, file: File) -> None:
    """Flip a bit of a column of a decision, with numbers as SQLite keeps them."""
    row = random.choice(file.rows)
    at = random.choice((1, 2, 3, 4, 5, 6))
    if isinstance(row[at], int):
        row[at] = row[at] ^ 1 << random.randrange(62) if at != 1 else max(1, row[at] ^ 1 << random.randrange(3))
    elif row[at]:
        data = bytearray(row[at])
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        row[at] = bytes(data)


def edit_rows(random: Random, file: File) -> None:
    at = random.randrange(len(file.rows))
    how = random.randrange(3)
    if how == 0 and len(file.rows) > 1:
        del file.rows[at]
    elif how == 1:
        file.rows.insert(at, [*random.choice(file.rows)])
    else:
        other = random.randrange(len(file.rows))
        file.rows[at], file.rows[other] = file.rows[other], file.rows[at]


def edit_name(random: Random, file: File) -> None:
    at = random.choice((2, 3, 4, 5, 10, 11, 13, 14, 15, 16, 17))
    value = file.name[at]
    if at == 15 and random.random() < 0.8:
        state = json.loads(file.packing.unpack(value))
        change_field(random, [state])
        text = json.dumps(state, separators=(",", ":"), ensure_ascii=False).encode(errors="surrogatepass")
        file.name[15] = file.packing.pack(text)
    elif isinstance(value, int):
        file.name[at] = abs(value ^ 1 << random.randrange(62))
    elif isinstance(value, str):
        file.name[at] = random.choice(("", value[:-1], "é" * 3, "x\ny", value.upper()))
    elif value:
        data = bytearray(value)
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        file.name[at] = bytes(data)


EDITS: Final[tuple[Callable[[Random, File], object], ...]] = (
    edit_fields, edit_fields, edit_fields, edit_fields, other_name, flip_text, flip_text, flip_column, edit_rows,
    edit_name,
)  # fmt: skip


# -- one attempt -------------------------------------------------------------------------------------------------------


def write(folder: Path) -> None:
    """Write three rounds of different endings, and one in play, in two files."""
    table = JournaledTable(folder)
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    _options(table)
    table.next_file()
    _void(table)
    _ruling(table)
    table.to_bets()
    table.journal.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("all keys") / "journal"
    write(folder)
    return folder


def forge(written: Path, folder: Path, random: Random) -> None:
    """Make a copy with random changes, sealed again from there to its end."""
    shutil.copytree(written, folder)
    files = [File(folder / name) for name in NAMES]
    try:
        for _ in range(random.choice((1, 1, 1, 3))):
            random.choice(EDITS)(random, random.choice(files))
    except (ValueError, TypeError, IndexError, RecursionError):
        pass  # an earlier change left no text to change
    end: Head | None = None
    before_id = ""
    for name, file in zip(NAMES, files, strict=True):
        end = file.seal(end, before_id)
        before_id = file.name[3]
        file.write(folder / name)
    (folder / "pin").unlink()


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(journal, [str(one) for one in arguments])


def follow(folder: Path) -> int:
    """Follow from the beginning, as `cardshoe journal follow` does, until it would wait."""

    def end() -> None:
        raise KeyboardInterrupt

    def follow_once() -> None:
        asked = _asked(folder, None, None, None)
        with problems(), opened(asked) as source, redirect_stdout(io.StringIO()):
            follow_from(source, 0, asked, as_json=False, wait=end)

    with pytest.raises((KeyboardInterrupt, ProblemError)) as ended:
        follow_once()
    assert ended.type is KeyboardInterrupt or re.search(r"00000[12]\.journal", str(ended.value)), ended.value
    return getattr(ended.value, "exit_code", 0)


def survive(written: Path, place: Path, seed: int, count: dict[int, int]) -> None:
    folder = place / "journal"
    forge(written, folder, Random(seed))
    for command in COMMANDS:
        done = run(*command, "--journal", folder)
        assert done.exception is None or isinstance(done.exception, SystemExit), (seed, command, done.exception)
        assert done.exit_code in CODES, (seed, command, done.output)
        count[done.exit_code] = count.get(done.exit_code, 0) + 1
        if done.exit_code == 4 and command[0] != "verify":
            assert re.search(r"00000[12]\.journal", done.stderr), (seed, command, done.stderr)
            assert re.search(r"entr(y|ies)|its name", done.stderr), (seed, command, done.stderr)
    assert follow(folder) in CODES, seed
    shutil.rmtree(folder)


def test_no_command_ends_in_a_traceback(written: Path, tmp_path: Path) -> None:
    count: dict[int, int] = {}
    for seed in range(SOME):
        survive(written, tmp_path, seed, count)
    assert count[4] > SOME, "much cannot be put into words"


@pytest.mark.soak
def test_no_command_ends_in_a_traceback_of_ten_thousand_changes(written: Path, tmp_path: Path) -> None:
    for seed in long_forms.some(range(SOME, LONG)):
        survive(written, tmp_path, seed, {})


def in_processes(written: Path, place: Path, seeds: list[int] | range) -> None:
    for seed in seeds:
        folder = place / "journal"
        forge(written, folder, Random(seed))
        command = COMMANDS[seed % len(COMMANDS)]
        done = fork_server.run("journal", *command, "--journal", str(folder), folder=place)
        assert done.returncode in CODES, (seed, done.stderr)
        assert "Traceback" not in done.stderr, seed
        shutil.rmtree(folder)


def test_no_process_ends_in_a_traceback(written: Path, tmp_path: Path) -> None:
    in_processes(written, tmp_path, range(PROCESSES))


@pytest.mark.soak
def test_no_process_of_many_ends_in_a_traceback(written: Path, tmp_path: Path) -> None:
    in_processes(written, tmp_path, long_forms.some(range(PROCESSES, MANY_PROCESSES)))
