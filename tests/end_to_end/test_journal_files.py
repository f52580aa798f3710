"""The files of a running table's journal: the next one is begun after a round, and no failure loses anything."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
import structlog

from controller.api.client import ApiClient
from controller.api.narration import with_messages
from controller.daemon.checking import LONGEST_REST, Pace, check_beside, find_damage
from controller.daemon.checking import JournalCheck as Found
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.games.specification import Unit
from controller.journal.chain import Head
from controller.journal.folder import JournalFolder
from controller.journal.pin import read_pin
from controller.journal.schema import SCHEMA
from controller.journal.verification import Finding, Verified
from controller.table import operations
from simulators.people.crew import CREW, CrewClient
from tests.end_to_end.child import Fault, Orders, Point
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder
from tests.journal.test_keeper import Log

DEALER, SUPERVISOR, _ = CREW
A_FILE_A_ROUND = Orders(file_a_round=True)
OF_FILES = (Point.SAVING, Point.SAVED, Point.FILE_ENDING, Point.FILE_MADE, Point.FILE_BEGUN)
IN_EVERY_RUN = (Point.SAVED, Point.FILE_MADE)


def files_of(stage: Stage) -> list[Path]:
    return sorted(stage.journal.glob("*.journal"))


async def finish(stage: Stage) -> None:
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    Evidence(stage).check(shown)


async def test_a_file_ends_between_rounds_and_is_closed_for_ever() -> None:
    with short_folder() as folder:
        async with Stage(folder, rounds=3) as stage:
            await stage.start_device()
            await stage.start_daemon(A_FILE_A_ROUND)
            await stage.played()
            assert await stage.daemon.end() == 0
            await stage.start_daemon()  # closes what was read at that moment
            assert await stage.daemon.end() == 0
            *closed, last = files_of(stage)
            assert len(closed) >= 2
            for path in closed:
                assert path.stat().st_mode & 0o777 == 0o440
            beside = {path.name for path in stage.journal.iterdir() if path.name.startswith(closed[0].name)}
            assert beside == {closed[0].name}, "no log is left"
            assert last.stat().st_mode & 0o200
            files: JournalFolder[Any, Any] = JournalFolder.open_to_read(
                stage.journal, JOURNAL_TYPES, local_key=stage.journal_key
            )
            for reader in list(files.readers())[1:]:
                with closing(files.reader(reader.path)) as one:
                    assert not one.opening_state().table.in_round


@pytest.mark.parametrize(
    "point", [pytest.param(one, marks=() if one in IN_EVERY_RUN else pytest.mark.soak) for one in OF_FILES]
)
async def test_killed_while_a_state_is_saved_or_a_file_begun(point: Point) -> None:
    await kill_at(point, (2, 1), Unit.SINGLES, rounds=4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("point", OF_FILES)
@pytest.mark.parametrize("unit", list(Unit))
async def test_killed_again_and_again_while_files_are_begun(point: Point, unit: Unit) -> None:
    await kill_at(point, (1, 2, 1, 2, 1), unit, rounds=9)


async def kill_at(point: Point, times: tuple[int, ...], unit: Unit, rounds: int) -> None:
    """Run daemons in sequence, each of which kills itself when it reaches the point for the n-th time."""
    with short_folder() as folder:
        async with Stage(folder, unit=unit, rounds=rounds) as stage:
            await stage.start_device()
            for nth in times:
                daemon = stage.spawn_daemon(Orders(faults=(Fault(point, nth),), file_a_round=True))
                assert await daemon.ended() == -9, daemon.err
            await stage.start_daemon(A_FILE_A_ROUND)
            await finish(stage)


# -- the check of a running table ------------------------------------------------------------------------------------


async def test_damage_of_an_older_file_is_found_while_the_table_runs() -> None:
    """The daemon is ready before that, since it reads only the newest file. A supervisor decides that the table
    continues.
    """
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            await stage.start_device()
            await stage.start_daemon(A_FILE_A_ROUND)
            await stage.played()
            assert await stage.daemon.end() == 0
            spoil(files_of(stage)[0])
            await stage.start_daemon()
            (fault,) = await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
            assert fault["code"] == "journal-damaged"
            assert files_of(stage)[0].name in fault["sentence"]
            shown = await stage.state()
            assert (shown.service, shown.service_cause) == ("out_of_service", fault["sentence"])
            async with ApiClient(stage.socket) as client:
                assert await client.is_healthy(), "a restart would change nothing"
                voice = CrewClient(client, Random(1))  # repeatable
                for member, accepted in ((DEALER, False), (SUPERVISOR, True)):
                    request = voice.request(member, shown.round, operations.ReturnToService())
                    assert (await voice.send(request)).accepted is accepted
                assert fault["sentence"] not in str((await client.state()).service_cause)
                noted = (await stage.events_until(client, "journal_doubted"))[-1]
            assert (noted["code"], str(with_messages(noted["sentence"]))) == (fault["code"], fault["sentence"])
            assert await stage.daemon.end() == 0


def spoil(path: Path) -> None:
    """Change one decision, and leave the triggers as they were."""
    path.chmod(0o640)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER decision_update")
        connection.execute("UPDATE decision SET round = round + 1 WHERE last = (SELECT max(last) FROM decision)")
        for statement in SCHEMA:
            if "TRIGGER decision_update" in statement:
                connection.execute(statement)
    path.chmod(0o440)


async def test_a_journal_without_damage_keeps_the_table_in_service() -> None:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await stage.start_daemon()
            found = await check_beside(stage.journal, structlog.get_logger())
            assert found == Found()
            assert not stage.daemon.logged("table.fault")
            assert not stage.daemon.logged("journal.check_failed")


def own_children() -> set[int]:
    return set(map(int, Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split()))


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
async def test_a_check_that_a_stop_ends_is_no_failure(tmp_path: Path, sent: signal.Signals) -> None:
    log, before = Log(), own_children()
    checking = asyncio.ensure_future(check_beside(tmp_path, log))
    await asyncio.sleep(0)  # it starts its process in its first step
    (process,) = own_children() - before
    os.kill(process, sent)
    assert (await checking, log.events) == (Found(), [])


async def test_a_check_that_cannot_run_is_reported_and_finds_nothing(tmp_path: Path) -> None:
    """The folder is missing: the process ends with a failure."""
    log = Log()
    assert await check_beside(tmp_path / "nowhere", log) == Found()
    assert log.events == ["journal.check_failed"]


async def test_a_folder_without_a_journal_is_found_while_the_table_runs(tmp_path: Path) -> None:
    """Somebody took the files away while the table was running."""
    log = Log()
    found = await check_beside(tmp_path, log)
    assert (found.code, log.events) == ("journal-damaged", [])
    assert f"{tmp_path} is not a journal of cardshoe" in str(found.sentence)


async def test_the_check_ends_with_the_daemon() -> None:
    """Its standard input ends when the daemon dies, even by SIGKILL."""
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await stage.start_daemon()
            await stage.kill_daemon()
            check = Child("controller.daemon.checking", str(stage.journal))  # its standard input has ended
            assert await check.ended() == 0
            assert check.out == []


def test_the_check_rests_after_each_page() -> None:
    now, rests = 0.0, list[float]()
    pace = Pace(lambda: now, rests.append, share=0.2)
    for worked in (0.01, 0.5, 60.0):
        now += worked
        pace.step()
    assert rests == [pytest.approx(0.04), pytest.approx(2.0), LONGEST_REST]
    now -= 5.0  # a clock that was set back
    pace.step()
    assert rests[-1] == 0.0


def test_a_file_deleted_during_its_check_is_not_damage(tmp_path: Path) -> None:
    gone = Finding("journal-io", "000001.journal", 0, "The file is gone.")
    answers = [verified(gone), verified()]
    assert find_damage(tmp_path, lambda: answers.pop(0)) == Found()
    assert not answers
    answers = [verified(gone), verified(gone, gone)]
    assert find_damage(tmp_path, lambda: answers.pop(0)).code == "journal-damaged"


def verified(*findings: Finding) -> Verified:
    return Verified(findings, 1, 1, 1, Head(), Head(), (), ())


async def test_an_orderly_stop_with_the_device_plugged_in_saves_the_state() -> None:
    """The end of the link at the stop is recorded before the state is saved."""
    with short_folder() as folder:
        async with Stage(folder) as stage:
            await stage.start_device()
            for _ in range(3):
                await stage.start_daemon()
                await stage.played()
                assert await stage.daemon.end() == 0
                (path,) = files_of(stage)
                with closing(sqlite3.connect(path)) as connection:
                    ((saved,),) = connection.execute("SELECT max(number) FROM checkpoint")
                    ((last,),) = connection.execute("SELECT max(last) FROM decision")
                assert saved == last
                pinned = read_pin(stage.journal / "pin")
                assert pinned is not None
                assert (pinned.head.number, pinned.stopped) == (last, True)
