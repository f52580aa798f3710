"""The daemon, and `cardshoe doctor`, as a user who cannot enter the configuration's folder."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.end_to_end.child import Orders
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="another user's program is started as root only")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """Yield a folder like /etc/cardshoe: it belongs to root, and only its group may enter."""
    with short_folder() as folder:
        folder.chmod(0o755)
        etc = folder / "etc"
        etc.mkdir(0o750)
        async with Stage(etc) as stage:
            yield stage


def files(stage: Stage) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in stage.folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["run", "doctor", "config check"])
async def test_a_user_who_may_not_read_the_configuration_is_told(stage: Stage, command: str) -> None:
    before = files(stage)
    words = (*command.split(), *([] if command == "config check" else ["--config"]), str(stage.configuration))
    child: Child = stage._start(Orders(as_another_user=True), *words)
    code = await child.ended()
    said = child.out + child.err
    assert (code, "Traceback" in "".join(said)) == (78, False), said
    assert any("table.toml" in line and "Permission denied" in line for line in said), said
    assert len(said) <= 3
    assert files(stage) == before


async def test_a_user_who_may_not_read_the_keys_is_told_which(stage: Stage) -> None:
    """The folder is open, and the keys belong to root."""
    stage.folder.chmod(0o755)
    stage.configuration.chmod(0o644)
    before = files(stage)
    for words in (("run", "--config"), ("doctor", "--json", "--config")):
        child = stage._start(Orders(as_another_user=True), *words, str(stage.configuration))
        code = await child.ended()
        said = "\n".join(child.out + child.err)
        assert code in (1, 78), said
        assert "Traceback" not in said
        assert "device.keys" in said, said
    assert files(stage) == before
