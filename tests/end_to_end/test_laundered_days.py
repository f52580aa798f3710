"""Days removed from a journal with a forged record: checked by a real daemon, forged with the forger's own code."""

from __future__ import annotations

from pathlib import Path
from random import Random

from click.testing import CliRunner, Result

from controller.api.client import ApiClient
from controller.commands.journal.journal_command import journal
from controller.table import operations
from controller.table.events import FilesDeleted, JournalDoubted
from simulators.people.crew import CrewClient
from tests.end_to_end.child import Orders
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_journal_doubts import MANAGER, SUPERVISOR
from tests.journal.forgeries.own_code import CREATED, deletion_of, stored_in, write_pin

GIVEN = b'{"input":"files_expired","files":[]}'
KEEP = "keep_days = 400\n"
YEARS = 3 * 365 * 86_400 * 10**9


async def play(stage: Stage) -> None:
    """Play rounds, one file each, which the configuration keeps for 400 days."""
    stage.configuration.write_text(stage.configuration.read_text().replace("[journal]\n", f"[journal]\n{KEEP}"))
    await stage.start_device()
    await stage.start_daemon(Orders(file_a_round=True))
    await stage.played()
    assert await stage.daemon.end() == 0


def launder(stage: Stage, age_ns: int, *, local: bytes = b"", private: bytes = b"") -> None:
    """Delete the first file, and append a decision that it ended long enough before.

    With the keys, it is authenticated, signed and pinned.
    """
    first, *_, newest = stored_in(stage.journal)
    newest.rows.append(newest.row(GIVEN, [deletion_of(first, newest.name[CREATED] - age_ns)]))
    at = len(newest.rows) - 1
    newest.chain(at)
    if local:
        newest.authenticate(local, at)
        newest.sign(private, newest.end.number)
    newest.write()
    if local:
        write_pin(stage.journal, newest.end, stopped=True)
    first.path.unlink()


def verify(folder: Path, *more: str) -> Result:
    return CliRunner().invoke(journal, ["verify", "--journal", str(folder), *more])


async def test_a_deletion_forged_in_the_files_raises_two_doubts() -> None:
    with short_folder() as folder:
        async with Stage(folder, rounds=3) as stage:
            await play(stage)
            before = len(Evidence(stage).of(FilesDeleted))
            launder(stage, YEARS)
            key = ("--key-file", str(stage.folder / "journal.key"))
            for more in ((), key):
                found = verify(stage.journal, *more)
                assert found.exit_code == 4
                assert "FOUND deletion-not-signed" in found.output
                assert "FOUND file-missing" in found.output
            assert "FOUND not-authentic" in verify(stage.journal, *key).output
            await stage.start_daemon()
            async with ApiClient(stage.socket) as client:
                voice, shown = CrewClient(client, Random(1)), await client.state()
                assert shown.service == "out_of_service"
                assert "orderly stop" in str(shown.service_cause) or "local key" in str(shown.service_cause)
                request = voice.request(SUPERVISOR, shown.round, operations.ReturnToService())
                refused = await voice.send(request)
                assert (refused.accepted, refused.code) == (False, "journal-added")
                answer = await voice.send(voice.request(MANAGER, shown.round, operations.ReturnToService()))
                assert answer.accepted
            assert await stage.daemon.end() == 0
            evidence = Evidence(stage)
            assert [one.code for one in evidence.of(JournalDoubted)] == ["journal-added", "journal-cut"]
            assert len(evidence.of(FilesDeleted)) == before + 1, "what was added stands there forever"
            assert "FOUND not-authentic" in verify(stage.journal, *key).output, "and so does who did not write it"


async def test_an_undue_deletion_is_found_while_the_table_runs_whoever_signed_it() -> None:
    with short_folder() as folder:
        async with Stage(folder, rounds=3) as stage:
            await play(stage)
            private = bytes.fromhex((stage.journal / "signing.key").read_text().split()[0])
            launder(stage, 0, local=stage.journal_key, private=private)
            found = verify(stage.journal, "--key-file", str(stage.folder / "journal.key"))
            assert found.exit_code == 4
            assert "FOUND deletion-not-due" in found.output
            assert "not-authentic" not in found.output
            await stage.start_daemon()
            (fault,) = await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
            assert fault["code"] == "journal-damaged"
            assert "had to be kept for 400 days" in fault["sentence"]
            assert (await stage.state()).service == "out_of_service"
            assert await stage.daemon.end() == 0


async def test_several_doubts_are_shown_together_and_the_highest_rank_decides() -> None:
    """A key change does not hide behind a missing pin, which a pit supervisor could accept."""
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            await play(stage)
            launder(stage, YEARS)
            (stage.journal / "pin").unlink()
            (stage.journal / "signing.key").write_text("37" * 32)
            await stage.start_daemon()
            async with ApiClient(stage.socket) as client:
                voice, shown = CrewClient(client, Random(1)), await client.state()
                for said in ("signed by another key", "The pin ", "local key", "no entry says that they were deleted"):
                    assert said in str(shown.service_cause)
                assert str(shown.next_step).endswith(
                    "and the floor. Call the shift manager to return the table to service."
                )
                refused = await voice.send(voice.request(SUPERVISOR, shown.round, operations.ReturnToService()))
                assert not refused.accepted
                for said in ("signed by another key", "The pin "):
                    assert said in str(refused.sentence)
                assert (await voice.send(voice.request(MANAGER, shown.round, operations.ReturnToService()))).accepted
            assert await stage.daemon.end() == 0
            codes = [one.code for one in Evidence(stage).of(JournalDoubted)]
            assert codes == ["journal-pin-gone", "journal-added", "journal-key-changed", "journal-cut"]
