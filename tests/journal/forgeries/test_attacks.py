"""The table of forgeries in docs/security.md: each cell lists what finds the forgery, and nothing else finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.checking import find_damage
from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.daemon.witnessing import known_elsewhere
from controller.floor.store.audit import Audit
from controller.floor.store.database import Database
from controller.floor.store.writing import Writer
from controller.floor.topics import TablePlace, TopicSubject
from controller.journal import JournalError
from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.journal.verification import verify_journal
from controller.journal.witness import Witness, others_at, read_witness
from tests.floor.conftest import server as server_of_the_floor
from tests.floor.postgres import TOOL, Postgres
from tests.floor.reading import journal_of
from tests.floor.stored import heard
from tests.journal.forgeries.attacks import ATTACKS, COLUMNS, LOST, Attack
from tests.journal.forgeries.forger import Forger, copy, write_journal
from tests.journal.forgeries.fresh import FRESH, leave
from tests.journal.table_journals import report
from tests.journal_commands.made import IDENTITY, KEY

pytestmark = pytest.mark.tool(TOOL)
server = server_of_the_floor  # a fixture
PLACE = TablePlace("site", "pit", IDENTITY.table)
LATE = 2**62
AGAIN = Identity("77" * 16, IDENTITY.table, IDENTITY.simulated)


class Elsewhere:
    """Copies made before the forgery: the journal, its witness and the floor's store."""

    def __init__(self, place: Path, server: Postgres, *, stopped: bool) -> None:
        self.journal = place / "journal"
        write_journal(self.journal, stops=stopped)
        self.witness = place / "witness"
        self.witness.mkdir()
        Witness(self.journal, self.witness).copy()
        self.heads = [one.head for path in self.witness.iterdir() for one in read_witness(path)]
        self._server, self._name = server, f"attacks_{int(stopped)}"
        self.database = Database(server.make(self._name))
        Writer(self.database).write(heard(journal_of(self.journal), PLACE.topic(TopicSubject.JOURNAL)))

    def close(self) -> None:
        self.database.close()
        self._server.drop(self._name)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory, server: Postgres) -> Iterator[dict[bool, Elsewhere]]:
    both = {
        stopped: Elsewhere(tmp_path_factory.mktemp("attacks"), server, stopped=stopped) for stopped in (False, True)
    }
    yield both
    for one in both.values():
        one.close()


def starts(folder: Path, signer: SigningKey, witness: Path) -> bool:
    """Return whether a start continues without a finding. It begins a journal where none exists."""
    known = SigningKey(signer._key.private_bytes_raw(), journal_id="" if signer is LOST else IDENTITY.id)
    with suppress(JournalError):
        opened: Journal[Any, Any] = Journal.open(folder, JOURNAL_TYPES, local_key=KEY, identity=AGAIN, signer=known)
        with closing(opened) as journal:
            if not journal.is_begun and (doubt := known_elsewhere(witness, IDENTITY.table)) is not None:
                journal.pin.doubt(doubt)
            load(journal, Moment(10**18, 1), report())
            return not journal.pin.doubts
    return False


def found_by(
    attack: Attack, folder: Path, kept: Elsewhere, place: Path, spoil: Callable[[Path], object] = leave
) -> list[str]:
    """Return what finds the forgery, each alone. `spoil` changes the witness's folder."""
    started, beside = copy(folder, place / "started"), copy(kept.witness, place / "witness")
    spoil(beside)
    found = [] if starts(started, attack.signer, beside) else ["start"]
    if not list(folder.glob("*.journal")):  # the start has begun a journal to look at
        folder = started
    with suppress(JournalError):
        if find_damage(folder, lambda: verify_journal(folder, thorough=False)).code:
            found.append("check")
    codes = {one.code for one in verify_journal(folder).findings}
    found += ["verify"] if codes - {"other-than-noted"} else []
    found += ["key"] if verify_journal(folder, local_key=KEY, types=JOURNAL_TYPES).findings else []
    noted = {one.code for one in verify_journal(folder, noted=kept.heads[-1:]).findings}
    found += ["noted"] if "other-than-noted" in noted else []
    with suppress(JournalError):
        witness = Witness(folder, beside)
        witness.copy()
        if witness.differs or others_at(beside, IDENTITY.table, witness.identity.id):
            found.append("witness")
    with suppress(JournalError):
        if Audit(folder, PLACE, kept.database, LATE, None).run().findings:
            found.append("floor")
    return found


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: f"{attack.who}: {attack.does}")
def test_each_listed_means_finds_the_forgery(attack: Attack, elsewhere: dict[bool, Elsewhere], tmp_path: Path) -> None:
    kept = elsewhere[attack.stopped]
    forger = Forger(copy(kept.journal, tmp_path / "journal"), kept.journal)
    attack.make(forger)
    assert found_by(attack, forger.folder, kept, tmp_path) == attack.found.split()


@pytest.mark.parametrize(("attack", "spoil"), FRESH, ids=lambda one: getattr(one, "does", ""))
def test_each_listed_means_finds_a_further_forgery(
    attack: Attack, spoil: Callable[[Path], object], elsewhere: dict[bool, Elsewhere], tmp_path: Path
) -> None:
    kept = elsewhere[attack.stopped]
    forger = Forger(copy(kept.journal, tmp_path / "journal"), kept.journal)
    attack.make(forger)
    assert found_by(attack, forger.folder, kept, tmp_path, spoil) == attack.found.split()


@pytest.mark.parametrize("stopped", [False, True])
def test_nothing_is_found_where_nothing_is_forged(
    stopped: bool, elsewhere: dict[bool, Elsewhere], tmp_path: Path
) -> None:
    kept = elsewhere[stopped]
    assert found_by(ATTACKS[0], copy(kept.journal, tmp_path / "journal"), kept, tmp_path) == []


def test_each_attack_names_what_finds_it_by_a_column() -> None:
    assert all(set(attack.found.split()) <= set(COLUMNS) for attack in (*ATTACKS, *(one for one, _ in FRESH)))
