"""Changed entries are not reported as sound: commands mark them, and end with exit code 4."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result

from controller.commands.journal.journal_command import journal
from controller.commands.journal.source import Source
from controller.journal import reader
from controller.journal.packing import Packing
from controller.journal.schema import SCHEMA
from tests.journal_commands.made import KEY, evening
from tests.support import long_forms

ROUND = 1
READERS = (("show", str(ROUND)), ("list",), ("report",), ("stats",), ("export",))
FLIPS = 40


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("changed") / "journal"
    evening(folder).journal.close()
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "journal"))


def change(path: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    """Change a file, as anyone who may write to it could, and restore its triggers."""
    path.chmod(0o600)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for (name,) in list(connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")):
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(*statement)
        for guard in SCHEMA:
            if guard.startswith("CREATE TRIGGER"):
                connection.execute(guard)
    path.chmod(0o440)


def edit(path: Path, old: bytes, new: bytes) -> tuple[int, int]:
    """Replace a word in the first decision that has it, and return that decision's entries."""
    with closing(sqlite3.connect(path)) as connection:
        ((words,),) = connection.execute("SELECT words FROM journal")
        rows = list(connection.execute("SELECT last, count, body FROM decision ORDER BY last"))
    packing = Packing(words)
    last, count, text = next((last, count, text) for last, count, body in rows if old in (text := packing.unpack(body)))
    change(path, ("UPDATE decision SET body = ? WHERE last = ?", (packing.pack(text.replace(old, new)), last)))
    return last - count + 1, last


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(journal, [str(one) for one in arguments])


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_an_edited_verdict_is_marked(folder: Path, command: tuple[str, ...]) -> None:
    assert run(*command, "--journal", folder).exit_code == 0
    first, last = edit(folder / "000001.journal", b'"outcome":"win"', b'"outcome":"lose"')
    done = run(*command, "--journal", folder)
    assert done.exit_code == 4, done.output
    assert f"NOT AS IT WAS WRITTEN: entries {first} to {last} of 000001.journal were changed" in done.stderr
    assert "Traceback" not in done.output
    if command == ("export",):
        marked = [line for line in map(json.loads, done.stdout.splitlines()) if line.get("changed")]
        assert {event["entry"] for event in marked} == set(range(first + 1, last + 1))
    else:
        assert "NOT AS IT WAS WRITTEN" in done.stdout


def test_only_the_changed_round_is_marked_in_a_list(folder: Path) -> None:
    edit(folder / "000001.journal", b'"outcome":"win"', b'"outcome":"lose"')
    rounds = [json.loads(line) for line in run("list", "--json", "--journal", folder).stdout.splitlines()]
    assert [one["round"] for one in rounds if "changed" in one] == [ROUND]


def test_an_end_of_a_round_without_its_signature_is_marked(folder: Path) -> None:
    change(
        folder / "000001.journal",
        ("DELETE FROM head WHERE number = (SELECT max(last) FROM decision WHERE round = 1)", ()),
    )
    done = run("show", "1", "--journal", folder)
    assert (done.exit_code, "NOT AS IT WAS WRITTEN" in done.stdout) == (4, True)


def test_a_decision_without_its_mac_is_marked_with_the_key(folder: Path, tmp_path: Path) -> None:
    path = folder / "000001.journal"
    change(path, ("UPDATE decision SET mac = zeroblob(16) WHERE last = (SELECT min(last) FROM decision)", ()))
    for local_key, changed in ((None, 0), (KEY, 1)):
        source = Source(folder, local_key)
        list(source.decisions())
        assert len(source.changed) == changed


def test_rounds_that_end_during_the_check_are_not_reported_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their signatures came after those of the file were read."""
    table = evening(tmp_path / "journal")
    with closing(table.journal):
        source = Source(tmp_path / "journal")
        monkeypatch.setattr(reader, "PAGE", 5)
        decisions = source.decisions(source.file(-1).before)
        first = next(decisions)
        table.take(1)
        table.finish()
        table.to_bets()
        assert first.holds
        assert all(one.holds for one in decisions)
        assert next(source.decisions(source.last_entry() - 1)).round == table.state.round.number
    assert not source.changed


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_flipped_bits_end_in_sentences(written: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    flip_bits(written, tmp_path, command, range(FLIPS))


@pytest.mark.soak
@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_many_flipped_bits_end_in_sentences(written: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    flip_bits(written, tmp_path, command, long_forms.some(range(FLIPS, 3000)))


def flip_bits(written: Path, place: Path, command: tuple[str, ...], seeds: range | list[int]) -> None:
    sound = run(*command, "--journal", written)
    for seed in seeds:
        random = Random(seed)
        folder = place / f"{seed}"
        shutil.copytree(written, folder)
        path = folder / random.choice(("000001.journal", "000002.journal"))
        data = bytearray(path.read_bytes())
        at = random.randrange(len(data) * 8)
        data[at // 8] ^= 1 << at % 8
        path.chmod(0o600)
        path.write_bytes(data)
        path.chmod(0o440)
        done = run(*command, "--journal", folder)
        assert done.exception is None or isinstance(done.exception, SystemExit), (seed, done.exception)
        assert done.exit_code in (0, 2, 4), (seed, done.output)
        if done.exit_code == 0 and command[0] != "stats":
            assert done.stdout == sound.stdout, seed
        else:
            assert done.exit_code == 0 or done.stderr.startswith("cardshoe: ") or "Error" in done.stderr, seed
        shutil.rmtree(folder)
