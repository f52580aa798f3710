"""A start with an existing journal: the same state, from a saved one or from the beginning, in any folder."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.journal import JournalError
from controller.journal.codec import Moment
from controller.journal.reader import JournalReader
from controller.journal.schema import SCHEMA
from controller.table import saved_state
from controller.table.inputs import DeviceReported, ReportsMissing
from controller.table.saved_state import SavedState, remember
from firmware_bridge.cards import Evidence
from firmware_bridge.drivers.memory import KEPT, LinkMemory
from firmware_bridge.observations import PowerLow
from tests.journal.table_journals import OTHER_KEY, PlayedTable, start

FILE = "000001.journal"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal"


@pytest.fixture
def folded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the number of the last entry of each decision that a start folds."""
    found: list[int] = []
    entries = JournalReader.entries

    def counted(self: JournalReader[Any, Any], after: int = 0, limit: int | None = None) -> Iterator[Any]:
        for entry in entries(self, after, limit):
            found.append(entry.number)
            yield entry

    monkeypatch.setattr(JournalReader, "entries", counted)
    return found


def played(folder: Path, **given: Any) -> SavedState:
    """Play three rounds, and save the state after the second. Return the state after the last."""
    table = PlayedTable(folder, **given)
    with closing(table.journal):
        table.play(2)
        table.save()
        table.play()
        return table.state


def test_an_empty_folder_begins_with_an_empty_table(folder: Path) -> None:
    assert start(folder) == SavedState()
    assert [path.name for path in folder.glob("*.journal")] == [FILE]
    assert start(folder) == SavedState()


def test_only_entries_after_the_newest_saved_state_are_folded(folder: Path, folded: list[int]) -> None:
    state = played(folder)
    assert start(folder) == state
    saved_at = min(folded) - 1
    assert 0 < saved_at < state.table.entry
    assert folded == list(range(saved_at + 1, state.table.entry + 1))


def test_a_next_file_begins_with_the_state(folder: Path, folded: list[int]) -> None:
    table = PlayedTable(folder)
    with closing(table.journal):
        table.play()
        table.next_file()
        at = table.journal.head.number
        table.play()
    assert start(folder) == table.state
    assert min(folded) == at + 1


def test_a_state_saved_in_the_middle_of_a_round(folder: Path) -> None:
    """It contains face-down cards, which survive."""
    table = PlayedTable(folder)
    with closing(table.journal):
        table.play()
    states = [one for one in table.after.values() if one.table.in_round and one.table.round.dealt == 12]
    assert states
    with closing(PlayedTable(folder.with_name("other")).journal) as journal:
        journal.begin_file(states[0], Moment(1, 1))
    found = start(folder.with_name("other"))
    assert found == states[0]
    cards = [card for hand in found.table.round.hands.values() for card in hand.cards]
    assert all(card.face is not None for card in cards)
    assert len(cards) == 12


# -- unusable saved states -------------------------------------------------------------------------------------------

Change = Callable[[sqlite3.Connection], object]


def change(path: Path, *changes: Change) -> None:
    """Change a file in spite of its triggers, without a trace."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for one in changes:
            one(connection)
        for statement in SCHEMA:
            if statement.startswith("CREATE TRIGGER"):
                connection.execute(statement)


def set_to(column: str, value: str, *given: Any) -> Change:
    return lambda connection: connection.execute(f"UPDATE checkpoint SET {column} = {value}", given)  # noqa: S608  # the test's own text


UNUSABLE: dict[str, Change] = {
    "of another version of the program": set_to("digest", "zeroblob(32)"),
    "of a later version": set_to("version", "version + 1"),
    "cut": set_to("state", "substr(state, 1, length(state) / 2)"),
    "nothing packed": set_to("state", "x'ff'"),
    "empty": set_to("state", "x''"),
    "another state": set_to("state", "(SELECT state FROM journal)"),
    "sealed items cut": set_to("sealed", "substr(sealed, 1, length(sealed) - 1)"),
    "nothing sealed": set_to("sealed", "zeroblob(0)"),
    "an invented MAC": set_to("mac", "zeroblob(16)"),
    "at another decision": lambda connection: connection.execute(
        "UPDATE checkpoint SET number = (SELECT max(last) FROM decision WHERE last < number)"
    ),
    "at no decision": set_to("number", "number + 1000000"),
    "between two decisions": set_to("number", "number - 1"),
    "without a digest": set_to("digest", "zeroblob(0)"),
}


@pytest.mark.parametrize("how", UNUSABLE)
def test_a_saved_state_that_cannot_be_used_is_passed_over(folder: Path, how: str, folded: list[int]) -> None:
    state = played(folder)
    change(folder / FILE, UNUSABLE[how])
    assert start(folder) == state
    assert folded == list(range(1, state.table.entry + 1)), "the file is folded from its beginning"


def test_a_saved_state_of_another_entry_is_passed_over(folder: Path, folded: list[int]) -> None:
    """A program saved it whose stop overtook a commit: everything in it is correct but its position."""
    table = PlayedTable(folder)
    with closing(table.journal):
        table.play()
        earlier = table.state
        table.play()
        table.journal.save(earlier)
        table.play()
    assert start(folder) == table.state
    assert folded == list(range(1, table.state.table.entry + 1))


def test_an_earlier_saved_state_serves_where_the_newest_cannot(folder: Path, folded: list[int]) -> None:
    table = PlayedTable(folder)
    saved: list[int] = []
    with closing(table.journal):
        for _ in range(2):
            table.play()
            table.save()
            saved.append(table.journal.head.number)
    change(
        folder / FILE,
        lambda connection: connection.execute("UPDATE checkpoint SET state = x'00' WHERE number = ?", saved[1:]),
    )
    assert start(folder) == table.state
    assert min(folded) == saved[0] + 1


def test_a_saved_state_of_another_journal_is_passed_over(folder: Path, folded: list[int]) -> None:
    """It was made by a program with the same key, at the same number, for another file."""
    state = played(folder)
    other = folder.with_name("other")
    played(other)

    def take_its_states(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM checkpoint")
        connection.execute("ATTACH ? AS other", (str(other / FILE),))
        connection.execute("INSERT INTO checkpoint SELECT * FROM other.checkpoint")
        connection.execute("DETACH other")

    change(folder / FILE, take_its_states)
    assert start(folder) == state
    assert min(folded) == 1


def test_a_forged_saved_state_needs_the_key(folder: Path, folded: list[int]) -> None:
    """The forger may write the file and knows how states are saved."""
    state = played(folder)
    other = folder.with_name("other")
    played(other, local_key=OTHER_KEY)

    def forge(connection: sqlite3.Connection) -> None:
        connection.execute("ATTACH ? AS other", (str(other / FILE),))
        connection.execute(
            "UPDATE checkpoint SET (state, sealed, mac) = (SELECT state, sealed, mac FROM other.checkpoint)"
        )
        connection.execute("DETACH other")

    change(folder / FILE, forge)
    assert start(folder) == state
    assert min(folded) == 1


def test_entries_after_a_saved_state_are_checked(folder: Path) -> None:
    played(folder)
    change(
        folder / FILE,
        lambda connection: connection.execute(
            "UPDATE decision SET utc_ns = utc_ns + 1 WHERE last = (SELECT max(last) FROM decision)"
        ),
    )
    with pytest.raises(JournalError) as caught:
        start(folder)
    assert caught.value.code == "journal-damaged"


def test_an_opening_state_of_a_newer_program_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    newer = JOURNAL_TYPES.state._replace(version=saved_state.VERSION + 1)
    with monkeypatch.context() as patch:
        patch.setattr("tests.journal.table_journals.JOURNAL_TYPES", JOURNAL_TYPES._replace(state=newer))
        start(folder)
    with pytest.raises(JournalError, match="reads up to version") as caught:
        start(folder)
    assert caught.value.code == "journal-format"


# -- the device's reports in the journal -----------------------------------------------------------------------------


def test_the_last_reports_and_the_abandoned_report_are_recognised(folder: Path) -> None:
    """Both are folded and saved. The sealed data keeps its size, because a different size could reveal a ten."""
    table = PlayedTable(folder)
    with closing(table.journal) as journal:
        begun = journal.head.number
        for number in range(1, KEPT + 3):
            given = DeviceReported(7, number, 1, PowerLow(), Evidence(b"report %d" % number, room=100))
            journal.append(given, (), round=0, moment=Moment(number, number))
        journal.append(ReportsMissing(7, KEPT + 3, None, withheld=True), (), round=0, moment=Moment(1, 1))
    assert begun
    folded = start(folder)
    with closing(PlayedTable(folder.with_name("other")).journal) as journal:
        journal.begin_file(folded, Moment(1, 1))
    for saved in (folded, start(folder.with_name("other"))):
        memory = LinkMemory(saved.link)
        assert memory.report(7, 2) is None, "further back than it keeps"
        assert memory.report(7, 3) == Evidence(b"report 3")
        assert memory.report(7, KEPT + 2) == Evidence(b"report %d" % (KEPT + 2))
        assert (memory.passed, memory.passed_newest) == ((7, KEPT + 3), None)
        assert {evidence.room >= 100 for _, _, evidence in saved.link.reports} == {True}


def test_a_report_that_is_not_withheld_is_not_given_up() -> None:
    memory = LinkMemory()
    remember(memory, ReportsMissing(7, 3, 4))
    assert memory.passed is None
