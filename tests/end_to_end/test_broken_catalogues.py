"""A catalogue that cannot be read leaves its language in English: the daemon logs its file and line, and runs."""

from __future__ import annotations

import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from controller.api.client import ApiClient
from controller.language import catalogue
from tests.end_to_end.child import Orders
from tests.end_to_end.stage import Stage, short_folder

CHINESE = "zh-Hans"
BROKEN = {
    "a charset other than UTF-8": (r"charset=utf-8", "charset=\udcff", 4),
    "a line that is not a catalogue's": (r"\Amsgid", "nonsense\nmsgid", 1),
}


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            yield stage


def break_catalogue(folder: Path, what: str) -> None:
    pattern, replacement, _ = BROKEN[what]
    shutil.copytree(catalogue.FOLDER, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    path = folder / f"{CHINESE}.po"
    text, changed = re.subn(pattern, replacement, path.read_text("utf-8"), count=1)
    assert changed
    path.write_text(text, "utf-8", errors="surrogateescape")


@pytest.mark.parametrize("what", BROKEN)
async def test_the_daemon_runs_in_english_and_logs_the_line(stage: Stage, what: str) -> None:
    folder = stage.folder / "language"
    break_catalogue(folder, what)
    await stage.start_daemon(Orders(catalogues=str(folder)))
    async with ApiClient(stage.socket, language=CHINESE) as client:
        said = (await client.state()).next_step
    async with ApiClient(stage.socket) as client:
        assert (await client.state()).next_step == said
    (logged,) = stage.daemon.logged("language.catalogue_unreadable")
    assert logged["language"] == CHINESE
    assert logged["sentence"].startswith(f"{CHINESE}.po, line {BROKEN[what][2]}: ")
    assert await stage.daemon.end() == 0
