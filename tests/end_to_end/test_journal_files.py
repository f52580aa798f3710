"""The files of a running table's journal: the next one is begun after a round, and whatever happens nothing is lost."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.journal_types import JOURNAL_TYPES
from controller.games.specification import Unit
from controller.journal.folder import JournalFolder
from tests.end_to_end.child import Fault, Orders, Point
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder

A_FILE_A_ROUND = Orders(file_a_round=True)
OF_FILES = (Point.SAVING, Point.SAVED, Point.FILE_ENDING, Point.FILE_MADE, Point.FILE_BEGUN)


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


@pytest.mark.parametrize("point", OF_FILES)
async def test_killed_while_a_state_is_saved_or_a_file_begun(point: Point) -> None:
    await kill_at(point, (2, 1), Unit.SINGLES, rounds=4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("point", OF_FILES)
@pytest.mark.parametrize("unit", list(Unit))
async def test_killed_again_and_again_while_files_are_begun(point: Point, unit: Unit) -> None:
    await kill_at(point, (1, 2, 1, 2, 1), unit, rounds=9)


async def kill_at(point: Point, times: tuple[int, ...], unit: Unit, rounds: int) -> None:
    """One daemon after the other, each of which kills itself when it reaches the point for the n-th time."""
    with short_folder() as folder:
        async with Stage(folder, unit=unit, rounds=rounds) as stage:
            await stage.start_device()
            for nth in times:
                daemon = stage.spawn_daemon(Orders(faults=(Fault(point, nth),), file_a_round=True))
                assert await daemon.ended() == -9, daemon.err
            await stage.start_daemon(A_FILE_A_ROUND)
            await finish(stage)
