"""Two journals that differ in unseen cards: every command prints the same about them, in as many bytes.

Differences are allowed in data that hides the cards or covers sealed data: commitments, hashes, digests of files.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.commands.journal.days import CasinoClock
from controller.commands.journal.export import follow_from
from controller.commands.journal.journal_options import JournalRequest
from controller.commands.journal.source import Source
from controller.daemon.journal_days import find_zone
from controller.games.specification import Choice, Kind
from controller.roles import Role
from controller.rules.dealing_order import DEALER
from controller.table import operations
from tests.journal_commands.conftest import run
from tests.journal_commands.made import IDENTITY, KEY, JournaledTable
from tests.table.harness import BOXES

SHOWN = {"B1": "2C 3C 4C", "D": "KD QD JD"}
FACE_DOWN = ({"B3": "5C 6C 7C", "B6": "8C 9C TC"}, {"B3": "TS 9S 8S", "B6": "7D 6D 5D"})
COMMANDS = (
    "show 1",
    "show 1 --json",
    "show 2",
    "list",
    "list --json",
    "report",
    "report --json",
    "stats",
    "stats --json",
    "export",
    "export --format csv",
    "verify",
    "verify --json",
    "verify --deep --key-file {key}",
)


def half_open(folder: Path, face_down: dict[str, str]) -> Path:
    """Play a round of three boxes with two hands removed and one turned over, then recall its cards."""
    table = JournaledTable(folder, hands=SHOWN | face_down)
    table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
    table.connect()
    table.to_dealing().deal()
    table.report(Kind.EXPOSED_CARD, "B1")
    table.confirm()
    table.choose(B1=Choice.CONTINUE, B3=Choice.WITHDRAW, B6=Choice.WITHDRAW)
    table.move_cards()
    table.expose(DEALER)
    table.expose("B1")
    table.settle().conclude()
    table.do(operations.RecallCards(1, "a dispute"), Role.PIT_MANAGER)
    table.to_betting()
    table.journal.close()
    return folder


class LookedOnceError(Exception):
    """Raised when the follower has seen everything."""


def look_once() -> None:
    raise LookedOnceError


def covered(text: str) -> str:
    """Remove what may differ: hexadecimal numbers of 16 bytes and more."""
    return re.sub(r"\b[0-9a-f]{32,128}\b", "-", text)


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    at = tmp_path_factory.mktemp("secrecy")
    return [half_open(at / str(number), hands) for number, hands in enumerate(FACE_DOWN)]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_the_same_output(journals: list[Path], command: str, tmp_path: Path) -> None:
    (key := tmp_path / "journal.key").write_text(KEY.hex())
    key.chmod(0o600)
    asked = command.format(key=key).split()
    one, two = (run(*asked, "--journal", folder).replace(str(folder), "") for folder in journals)
    assert covered(one) == covered(two)
    assert len(one) == len(two)
    faces = [card for hands in FACE_DOWN for hand in hands.values() for card in hand.split()]
    assert not [face for face in faces if re.search(rf"\b{face}\b", one)]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_follower_sees_the_same(journals: list[Path], as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    seen = []
    for folder in journals:
        asked = JournalRequest(folder, CasinoClock(find_zone("UTC"), "UTC"))
        with pytest.raises(LookedOnceError):
            follow_from(Source(folder), 0, asked, as_json=as_json, wait=look_once)
        seen.append(capsys.readouterr().out)
    assert covered(seen[0]) == covered(seen[1])
    assert len(seen[0]) == len(seen[1]) > 0


def test_files_and_backups_are_as_large(journals: list[Path], tmp_path: Path) -> None:
    sizes = []
    for number, folder in enumerate(journals):
        backup = tmp_path / str(number)
        printed = run("backup", backup, "--journal", folder).replace(str(backup), "")
        files = {path.name: path.stat().st_size for path in (*folder.iterdir(), *backup.iterdir())}
        sizes.append((files, covered(printed)))
    assert sizes[0] == sizes[1]


def test_the_page_is_the_same(journals: list[Path], tmp_path: Path, fonts: None) -> None:
    pages = []
    for folder in journals:
        run("report", "--journal", folder, "--html", tmp_path / "report.html")
        pages.append((tmp_path / "report.html").read_text())
    assert covered(pages[0]) == covered(pages[1])


def test_a_hand_that_was_turned_over_makes_them_differ(tmp_path: Path) -> None:
    """Otherwise the tests above would pass whatever the commands reveal."""
    shown = []
    for number, face_down in enumerate(FACE_DOWN):
        table = JournaledTable(tmp_path / str(number), hands=SHOWN | face_down)
        table.start_daemon("start-1", "pc-1", table=IDENTITY.table)
        table.connect()
        table.to_dealing().deal()
        table.expose(DEALER)
        table.expose("B3")
        table.journal.close()
        shown.append(covered(run("show", 1, "--journal", table.journal.folder)))
    assert shown[0] != shown[1]
    assert len(BOXES) == 3
