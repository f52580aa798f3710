"""A journal that is older, shorter, missing or exchanged at startup: the table is out of service until a person
decides.
"""

from __future__ import annotations

import secrets
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from typing import TypeAlias

import pytest
from click.testing import CliRunner

from controller.api.client import ApiClient
from controller.commands.journal.journal_command import journal
from controller.commands.main import main
from controller.journal.pin import read_pin
from controller.journal.signing import SigningKey, fingerprint
from controller.journal.verification import verify_journal
from controller.roles import Role
from controller.table import operations
from controller.table.events import JournalDoubted
from simulators.people.crew import CREW, CrewClient
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder

Spoil: TypeAlias = Callable[[Stage, Path], object]
FILE = "000001.journal"
DEALER, SUPERVISOR = (next(one for one in CREW if one.role is role) for role in (Role.DEALER, Role.PIT_SUPERVISOR))
MANAGER = next(one for one in CREW if one.role is Role.SHIFT_MANAGER)


def older(stage: Stage, before: Path) -> None:
    (before / "pin").unlink()
    shutil.copytree(before, stage.journal, dirs_exist_ok=True)


def shorter(stage: Stage, before: Path) -> None:
    """Truncate the journal, as somebody who can write to the file, in spite of its triggers."""
    with closing(sqlite3.connect(stage.journal / FILE)) as connection:
        guards = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in guards:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute("DELETE FROM decision WHERE last = (SELECT max(last) FROM decision)")
        connection.execute("DELETE FROM checkpoint")
        for _, sql in guards:
            connection.execute(sql)
        connection.commit()


def gone(stage: Stage, before: Path) -> None:
    for path in stage.journal.glob("*.journal*"):
        path.unlink()


def begun_again(stage: Stage, before: Path) -> None:
    """Replace it with a journal of another day of the same table, with its own id."""
    pin = (stage.journal / "pin").read_bytes()
    shutil.rmtree(stage.journal)
    shutil.copytree(before.parent / "other", stage.journal)
    (stage.journal / "pin").write_bytes(pin)


def without_pin(stage: Stage, before: Path) -> None:
    (stage.journal / "pin").unlink()


def with_a_bad_pin(stage: Stage, before: Path) -> None:
    (stage.journal / "pin").write_bytes(b"?")


WHAT_TO_DO = (
    "Compare the journal with a backup and a noted head. Call the pit supervisor to return the table to service."
)
SPOILT = [
    pytest.param(spoil, codes, id=spoil.__name__)
    for spoil, codes in (
        (older, ("journal-cut", "journal-changed")),
        (shorter, ("journal-cut", "journal-changed")),
        (gone, ("journal-gone", "journal-exchanged")),  # the first start begins another journal
        (begun_again, ("journal-exchanged", "journal-exchanged")),
        (without_pin, ("journal-pin-gone", "journal-pin-gone")),
        (with_a_bad_pin, ("journal-pin-damaged", "journal-pin-damaged")),
    )
]


async def play(stage: Stage) -> None:
    await stage.start_daemon()
    assert await stage.daemon.end() == 0


@pytest.mark.parametrize(("spoil", "codes"), SPOILT)
async def test_a_pit_supervisor_decides(spoil: Spoil, codes: tuple[str, str], tmp_path: Path) -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            if spoil is begun_again:
                await play(stage)
                shutil.move(stage.journal, tmp_path / "other")
            await play(stage)
            shutil.copytree(stage.journal, tmp_path / "before")
            await play(stage)
            assert not Evidence(stage).of(JournalDoubted)
            spoil(stage, tmp_path / "before")
            for once_more in (False, True):  # a restart decides nothing
                await stage.start_daemon()
                async with ApiClient(stage.socket) as client:
                    voice, shown = CrewClient(client, Random(1)), await client.state()
                    assert shown.service == "out_of_service"
                    assert str(shown.next_step) == WHAT_TO_DO
                    refused = await voice.send(voice.request(DEALER, shown.round, operations.ReturnToService()))
                    assert (refused.accepted, refused.code) == (False, codes[once_more])
                    assert str(refused.sentence).endswith(WHAT_TO_DO)
                    if once_more:
                        answer = await voice.send(voice.request(SUPERVISOR, shown.round, operations.ReturnToService()))
                        assert answer.accepted
                assert await stage.daemon.end() == 0
            evidence = Evidence(stage)
            assert [doubted.code for doubted in evidence.of(JournalDoubted)] == list(codes)
            pinned = read_pin(stage.journal / "pin")
            assert pinned is not None
            assert pinned.head == evidence.head
            await play(stage)
            assert len(Evidence(stage).of(JournalDoubted)) == 2, "no more is in doubt"


async def test_another_signing_key_is_a_shift_managers_decision() -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await play(stage)
            key = stage.journal / "signing.key"
            key.write_text(secrets.token_bytes(32).hex())
            await stage.start_daemon()
            async with ApiClient(stage.socket) as client:
                voice, shown = CrewClient(client, Random(1)), await client.state()
                request = voice.request(SUPERVISOR, shown.round, operations.ReturnToService())
                assert (await voice.send(request)).code == "journal-key-changed"
                request = voice.request(MANAGER, shown.round, operations.ReturnToService())
                assert (await voice.send(request)).accepted
            assert await stage.daemon.end() == 0
            await play(stage)
            evidence = Evidence(stage)
            assert [doubted.code for doubted in evidence.of(JournalDoubted)] == ["journal-key-changed"]
            assert sorted(path.name for path in stage.journal.glob("*.journal")) == [FILE, "000002.journal"]


async def test_an_endorsed_key_continues_the_journal() -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await play(stage)
            before = (stage.journal / "signing.key").read_text()
            asked = ["new-key", "--config", str(stage.configuration)]
            done = CliRunner().invoke(journal, asked)
            assert done.exit_code == 0, done.output
            after = SigningKey(bytes.fromhex((stage.journal / "signing.key").read_text().split()[0]))
            assert fingerprint(after.public_key) in done.output
            (kept,) = stage.journal.glob("signing.key.*")
            assert kept.read_text() == before
            assert {path.stat().st_mode & 0o777 for path in stage.journal.glob("signing.key*")} == {0o600}
            again = CliRunner().invoke(journal, asked)
            assert (again.exit_code, "has signed nothing yet" in again.output) == (4, True)
            await play(stage)
            await play(stage)
            assert not Evidence(stage).of(JournalDoubted)
            assert sorted(path.name for path in stage.journal.glob("*.journal")) == [FILE, "000002.journal"]
            assert not verify_journal(stage.journal, key=fingerprint(after.public_key)).findings


async def test_no_key_is_made_silently_beside_a_journal_signed_by_another() -> None:
    """The journal would be in doubt from then on. The key comes back from the safe, or a person confirms that it is
    lost.
    """
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await play(stage)
            key = stage.journal / "signing.key"
            kept = key.read_text()
            key.unlink()
            refused = stage.spawn_daemon()
            assert await refused.ended() == 78, refused.err
            said = " ".join(refused.err)
            assert f"{key}, which held it, is missing" in said
            assert "from the safe" in said
            assert "cardshoe journal new-key --lost" in said
            assert not key.exists()
            checked = CliRunner().invoke(main, ["config", "check", str(stage.configuration)])
            assert (checked.exit_code, "[journal] signing_key_file" in checked.stderr) == (78, True)
            key.write_text(kept)
            key.chmod(0o600)
            await play(stage)
            assert not Evidence(stage).of(JournalDoubted)


async def test_a_key_that_is_lost_is_replaced_on_purpose() -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await play(stage)
            key = stage.journal / "signing.key"
            asked = ["new-key", "--lost", "--config", str(stage.configuration)]
            there = CliRunner().invoke(journal, asked)
            assert (there.exit_code, "exists and is not lost" in there.output) == (4, True)
            key.unlink()
            done = CliRunner().invoke(journal, asked)
            assert done.exit_code == 0, done.output
            assert (key.stat().st_mode & 0o777, key.stat().st_uid) == (0o600, stage.journal.stat().st_uid)
            await stage.start_daemon()
            async with ApiClient(stage.socket) as client:
                voice, shown = CrewClient(client, Random(1)), await client.state()
                request = voice.request(MANAGER, shown.round, operations.ReturnToService())
                assert (await voice.send(request)).accepted
            assert await stage.daemon.end() == 0
            assert [doubted.code for doubted in Evidence(stage).of(JournalDoubted)] == ["journal-key-changed"]
