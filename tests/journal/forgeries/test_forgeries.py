"""Every forgery is found by the means listed for it, and by nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from controller.journal import verification
from controller.journal.codec import Moment
from controller.table.inputs import CommandAnswered
from tests.journal.forgeries.edits import EDITS, OF_ALL, SKILLS, Edit, Skill
from tests.journal.forgeries.forger import (
    FILES,
    WHERE,
    Evidence,
    Forger,
    Table,
    content,
    copy,
    evidence_of,
    verify,
    write_journal,
)
from tests.journal.forgeries.others import OTHERS, Forgery
from tests.journal_commands.made import IDENTITY, _ruling
from tests.support import long_forms

DAMAGES = 60
LONG_DAMAGES = 10_000


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "journal"
    write_journal(folder)
    return folder


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a journal of another table with the same keys."""
    folder = tmp_path_factory.mktemp("other") / "journal"
    write_journal(folder, seed=2)
    return folder


@pytest.fixture(scope="module")
def evidence(written: Path) -> Evidence:
    return evidence_of(written)


@pytest.fixture
def forger(written: Path, other: Path, tmp_path: Path) -> Forger:
    return Forger(copy(written, tmp_path / "journal"), other)


def found_by(folder: Path, evidence: Evidence) -> list[str]:
    """Return the means that find something. A finding that does not need evidence is found with any means."""
    if verify(folder, "nothing", evidence).findings:
        return ["nothing"]
    found = [one for one in WHERE if one not in ("nothing", "deep") and verify(folder, one, evidence).findings]
    return found if "local" in found or not verify(folder, "deep", evidence).findings else [*found, "deep"]


@pytest.mark.parametrize("at_hand", WHERE)
def test_nothing_is_found_in_what_the_daemon_wrote(written: Path, evidence: Evidence, at_hand: str) -> None:
    assert verify(written, at_hand, evidence).findings == ()


def hidden(edits: Sequence[Edit]) -> Iterator[object]:
    """Yield each edit with each skill. Every run has it with all skills together and with one of the others in turn."""
    for at, edit in enumerate(edits):
        for number, skill in enumerate(SKILLS):
            in_every_run = skill is OF_ALL or at % (len(SKILLS) - 1) == number
            marks = () if in_every_run else (pytest.mark.exhaustive,)
            yield pytest.param(edit, skill, id=f"{edit.name}-{skill.name}", marks=marks)


@pytest.mark.parametrize(("edit", "skill"), list(hidden(EDITS)))
def test_every_edit_is_found(forger: Forger, evidence: Evidence, edit: Edit, skill: Skill) -> None:
    edit.make(forger)
    skill.hide(forger)
    more = edit.found.split() if skill is OF_ALL else []
    assert found_by(forger.folder, evidence) == [*skill.found.split(), *more]


@pytest.mark.parametrize("forgery", OTHERS, ids=lambda forgery: forgery.name)
def test_every_other_forgery_is_found(forger: Forger, evidence: Evidence, forgery: Forgery) -> None:
    forgery.make(forger)
    assert found_by(forger.folder, evidence) == forgery.found.split()


def test_there_are_enough_and_the_page_has_them_all() -> None:
    assert len(EDITS) * len(SKILLS) + len(OTHERS) >= 100


def test_all_findings_are_listed(forger: Forger, evidence: Evidence) -> None:
    forger.change(1, "UPDATE decision SET utc_ns = utc_ns + 1 WHERE last IN (24, 138)")
    forger.change(3, "UPDATE head SET utc_ns = 1 WHERE number = 368")
    (forger.folder / "pin").write_bytes(b"x")
    found = verify(forger.folder, "pin", evidence).findings
    assert [(one.code, one.file, one.entry) for one in found] == [
        ("pin-damaged", "", 0),
        ("chain", "000001.journal", 24),
        ("chain", "000001.journal", 138),
        ("signature", "000003.journal", 368),
        ("round-not-signed", "000003.journal", 368),
    ]


def test_a_name_that_counts_far_is_a_finding_and_no_work(forger: Forger, evidence: Evidence) -> None:
    shutil.copy2(forger.path(3), forger.folder / f"{10**18}.journal")
    codes = [one.code for one in verify(forger.folder, "nothing", evidence).findings]
    assert codes == ["files", "file-not-linked", "end-not-signed"]


def test_nothing_is_found_beside_a_table_that_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds ended during the check were not yet signed when it read the signatures."""
    monkeypatch.setattr(verification, "PAGE", 5)
    table = Table(tmp_path / "journal")
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    rounds = [_ruling, _ruling, _ruling]
    rounds.pop()(table)

    def go_on(entry: int) -> None:
        if rounds:
            rounds.pop()(table)

    with closing(table.journal):
        before = table.journal.head
        found = verification.verify_journal(tmp_path / "journal", reached=go_on)
        assert not rounds
        assert (found.findings, found.head) == ((), before)


@pytest.mark.parametrize("starts", [True, False])
def test_a_start_after_a_stop_is_no_finding_though_the_pin_was_read_before(tmp_path: Path, starts: bool) -> None:
    """The daemon continues, or somebody else writes, after the check has read the pin and the first file."""
    folder = tmp_path / "journal"
    write_journal(folder, stops=True)

    def go_on(entry: int) -> None:
        if gone_on:
            return
        gone_on.append(entry)
        if starts:
            with closing(Table(folder, seed=9).journal) as journal:
                row = forger.rows(3)[-1]
                given = CommandAnswered(1, done=True)
                journal.append(given, [], round=row.round, moment=Moment(row.utc_ns, row.boottime_ns))
        else:
            rows = forger.rows(3)
            last = rows[-1]
            said = last._replace(last=last.last + 1, count=1, events="[]", sealed=b"")
            forger.put(3, [*rows, said])
            forger.rechain(3)

    gone_on: list[int] = []
    forger = Forger(folder, folder)
    found = verification.verify_journal(folder, reached=go_on)
    codes = {one.code for one in found.findings}
    assert ("after-stop" in codes) is not starts
    assert gone_on


# -- random damage -----------------------------------------------------------------------------------------------------


def damage_bytes(forger: Forger, random: Random) -> None:
    path = forger.path(random.choice(FILES))
    data = bytearray(path.read_bytes())
    at = random.randrange(len(data))
    size = random.choice((1, 1, 1, 2, 16, 512))
    data[at : at + size] = random.randbytes(len(data[at : at + size]))
    mode = path.stat().st_mode & 0o777
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(mode)


def damage_row(forger: Forger, random: Random) -> None:
    """Replace a value in the row with a value of another row, another number, or nothing."""
    file = random.choice(FILES)
    table, key = random.choice((("decision", "last"), ("head", "number"), ("journal", "one")))
    with closing(sqlite3.connect(forger.path(file))) as connection:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        keys = [found for (found,) in connection.execute(f"SELECT {key} FROM {table}")]
    column, at, other = random.choice(columns), random.choice(keys), random.choice(keys)
    change = random.choice(
        (
            f"DELETE FROM {table} WHERE {key} = {at}",
            f"UPDATE OR IGNORE {table} SET {column} = (SELECT {column} FROM {table} WHERE {key} = {other}) "
            f"WHERE {key} = {at}",
            f"UPDATE OR IGNORE {table} SET {column} = {column} + {random.randint(-3, 3)} WHERE {key} = {at} "
            f"AND typeof({column}) = 'integer'",
        )
    )
    forger.change(file, change)


def survive(forger: Forger, written: Path, evidence: Evidence, seed: int) -> None:
    """Check that damage is reported or leaves what a reader reads unchanged."""
    random = Random(seed)
    shutil.rmtree(forger.folder)
    copy(written, forger.folder)
    damage = random.choice((damage_bytes, damage_row))
    damage(forger, random)
    if found_by(forger.folder, evidence):
        return
    last_signature_alone = content(forger.folder, heads=False) == content(written, heads=False)
    assert content(forger.folder) == content(written) or last_signature_alone, seed


def test_random_damage_is_found(forger: Forger, written: Path, evidence: Evidence) -> None:
    for seed in range(DAMAGES):
        survive(forger, written, evidence, seed)


@pytest.mark.soak
def test_ten_thousand_random_damages_are_found(forger: Forger, written: Path, evidence: Evidence) -> None:
    for seed in long_forms.some(range(DAMAGES, LONG_DAMAGES)):
        survive(forger, written, evidence, seed)
