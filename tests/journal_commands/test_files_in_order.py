"""Breaks in the sequence of files are reported with exit code 4: exchanged, foreign or missing files."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from controller.commands.journal.journal_command import journal
from controller.commands.journal.source import Source
from controller.daemon.journal_kinds import of_decision
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal import JournalError
from controller.journal.file import Identity
from controller.journal.pages import Pages
from controller.journal.reader import JournalReader
from controller.table.events import FilesDeleted
from controller.table.inputs import FilesExpired
from controller.table.record import FileRecord
from tests.journal.forgeries.forger import Forger
from tests.journal_commands import made
from tests.journal_commands.made import IDENTITY, KEY, JournaledTable, _correction, _options, _ruling, _void

READERS = (("show", "1"), ("list",), ("report",), ("stats",), ("export",))
FIRST, SECOND, THIRD = (f"00000{number}.journal" for number in (1, 2, 3))


def write(folder: Path, seed: int = 1) -> JournaledTable:
    """Write four rounds in three files."""
    table = JournaledTable(folder, seed)
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    _options(table)
    table.next_file()
    _void(table)
    _ruling(table)
    table.next_file()
    _correction(table)
    return table


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("order") / "journal"
    write(folder).journal.close()
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write another journal of the same table and keys."""
    folder = tmp_path_factory.mktemp("other") / "journal"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(made, "IDENTITY", Identity("77" * 16, IDENTITY.table, IDENTITY.simulated))
        write(folder, seed=2).journal.close()
    return folder


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "journal"))


def exchange(folder: Path, one: str, two: str) -> None:
    (folder / one).rename(folder / "aside")
    (folder / two).rename(folder / one)
    (folder / "aside").rename(folder / two)


def put(folder: Path, other: Path, name: str) -> None:
    (folder / name).unlink()
    shutil.copy2(other / name, folder / name)


def rename_newest(folder: Path) -> None:
    """Remove the middle file, and put the newest in its place."""
    (folder / SECOND).unlink()
    (folder / THIRD).rename(folder / SECOND)


CHANGES: dict[str, tuple[Callable[[Path, Path], object], str]] = {
    "the first two exchanged": (lambda folder, other: exchange(folder, FIRST, SECOND), f"{SECOND} does not begin"),
    "the last two exchanged": (lambda folder, other: exchange(folder, SECOND, THIRD), f"{SECOND} does not begin"),
    "the first and the last exchanged": (lambda folder, other: exchange(folder, FIRST, THIRD), "does not begin"),
    "the first one of another journal": (lambda folder, other: put(folder, other, FIRST), "belongs to another journal"),
    "the second one of another journal": (lambda folder, other: put(folder, other, SECOND), "to another journal"),
    "the newest one of another journal": (lambda folder, other: put(folder, other, THIRD), "to another journal"),
    "the first one missing": (lambda folder, other: (folder / FIRST).unlink(), f"The files before {SECOND}"),
    "the second one missing": (lambda folder, other: (folder / SECOND).unlink(), f"{SECOND} of the journal"),
    "the second one missing, and its name given to the next": (
        lambda folder, other: rename_newest(folder), f"{SECOND} does not begin where {FIRST} ends"
    ),
    "the newest one twice": (
        lambda folder, other: shutil.copy2(folder / THIRD, folder / "000004.journal"), "000004.journal does not begin"
    ),
}  # fmt: skip


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(journal, [str(one) for one in arguments])


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
@pytest.mark.parametrize("how", CHANGES)
def test_files_out_of_order_are_reported(folder: Path, other: Path, how: str, command: tuple[str, ...]) -> None:
    change, said = CHANGES[how]
    change(folder, other)
    done = run(*command, "--journal", folder)
    assert done.exit_code in ((2, 4) if command[0] == "show" else (4,)), done.output
    if done.exit_code == 4:
        assert said in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_files_in_order_are_listed(folder: Path, command: tuple[str, ...]) -> None:
    assert run(*command, "--journal", folder).exit_code == 0


def test_the_order_is_in_the_json_output(folder: Path) -> None:
    (folder / FIRST).unlink()
    done = run("report", "--json", "--journal", folder)
    (said,) = json.loads(done.stdout)["misplaced"]
    assert (done.exit_code, f"The files before {SECOND}" in said) == (4, True)


def test_a_single_file_has_no_order(folder: Path) -> None:
    assert run("list", "--journal", folder / SECOND).exit_code == 0


def test_a_state_that_is_not_a_tables_is_reported(folder: Path) -> None:
    forger = Forger(folder, folder)
    forger.name(2, state=forger.packing(2).pack(b'{"table":7}'))
    done = run("show", "2", "--journal", folder)
    assert done.exit_code == 4
    assert f"{SECOND} is damaged: the state at its beginning, after entry" in " ".join(done.stderr.split())


@pytest.mark.parametrize("signed", [True, False])
def test_a_deletion_counts_where_it_is_signed(tmp_path: Path, signed: bool) -> None:
    """It is signed in the newest file, or in its opening state. `verify` shows whether it was due."""
    table = write(tmp_path / "journal")
    with closing(table.journal) as opened:
        files = opened.files().files
        with closing(opened.reader(files[0])) as first:
            head = first.head()
            record = FileRecord(FIRST, first.header.file_id, head.number, head.hash.hex(), 1)
        given, happened = FilesExpired((record,)), FilesDeleted((record,))
        opened.append(given, [happened], round=table.state.round.number, moment=table.moment, signs=signed)
    files[0].unlink()
    assert bool(Source(tmp_path / "journal").misplaced) is not signed


# -- the API -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    ["the first two exchanged", "the second one of another journal", "the newest one of another journal",
     "the second one missing, and its name given to the next"],
)  # fmt: skip
async def test_pages_of_files_out_of_place_are_refused(folder: Path, other: Path, how: str) -> None:
    CHANGES[how][0](folder, other)
    said = r"0000\d\d\.journal is damaged: it (does not begin|belongs to a different)"
    with closing(pages_of(folder)) as pages, pytest.raises(JournalError, match=said):
        await everything(pages, last_entry(folder))


async def test_pages_of_files_in_their_order_are_given(folder: Path) -> None:
    with closing(pages_of(folder)) as pages:
        assert await everything(pages, last_entry(folder))


def last_entry(folder: Path) -> int:
    with closing(sqlite3.connect(sorted(folder.glob("*.journal"))[-1])) as connection:
        ((last,),) = connection.execute("SELECT max(last) FROM decision")
    return int(last)


def pages_of(folder: Path) -> Pages[object]:
    return Pages(
        folder, of_decision,
        open_file=lambda path: JournalReader.open_to_read(path, JOURNAL_TYPES, local_key=KEY),
    )  # fmt: skip


async def everything(pages: Pages[object], last: int) -> list[object]:
    return [one for after in range(0, last, 64) for one in await pages.page(after, min(after + 64, last))]
