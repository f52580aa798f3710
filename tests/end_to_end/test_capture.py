"""A daemon that records what crosses the wire, and one that cannot."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from controller.commands.capture.report import as_data
from firmware_bridge.captures.reader import Capture, read_capture
from firmware_bridge.captures.replay import Played, replay
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.stage import Stage, short_folder


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            yield stage


async def told_by(capture: Capture) -> list[str]:
    observed: list[str] = []

    def tell(ms: int, link: int, thing: Played) -> None:
        data = as_data(ms, link, thing, faces=False)
        if data.get("heard") == "reported":
            observed.append(data["observation"]["observed"])

    await replay(capture, tell)
    return observed


@pytest.mark.parametrize(("path", "records"), [("a.capture", True), ("no/such/folder/a.capture", False)])
async def test_rounds_are_played_whether_they_can_be_recorded_or_not(stage: Stage, path: str, records: bool) -> None:
    stage.configure(law=f'[capture]\npath = "{path}"\n')
    await stage.start_device()
    await stage.start_daemon()
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    Evidence(stage).check(shown)
    assert ("capture.stopped" in "\n".join(stage.daemon.err)) is not records
    if records:
        capture = read_capture([stage.folder / path])
        assert not capture.damage
        assert capture.recordings[0].header.origin == "simulated"
        assert {"shuffle_finished", "set_dispensed"} <= set(await told_by(capture))
