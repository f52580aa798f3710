"""Golden captures: every version reads the same from a recording, event by event (docs/captures.md)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from controller.commands.capture import report
from firmware_bridge.captures.capture_format import Record
from firmware_bridge.captures.reader import read_capture
from firmware_bridge.captures.replay import Played, ReplayInputs, links_of, replay
from firmware_bridge.card_table import read_card_table
from firmware_bridge.device_keys import DeviceKeys
from firmware_bridge.drivers.registry import DRIVERS
from simulators.ports.in_process import KINDS, simulated_key, simulated_serial
from tests.captures.make import CARD_TABLE, FOLDER, GOLDEN, Golden, make

CAPTURES = sorted(FOLDER.glob("*.capture"))
BY_NAME = pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)


def keys_of(key_of: Callable[[str], bytes]) -> DeviceKeys:
    return DeviceKeys({simulated_serial(kind): key_of(simulated_serial(kind)) for kind in KINDS.values()})


async def heard_in(path: Path, keys: DeviceKeys | None = None) -> list[str]:
    """Return what `cardshoe capture replay --json` prints, with `--faces` where they may be shown."""
    lines: list[str] = []
    capture = read_capture([path])
    faces = all(report.may_tell_faces(recording.header) for recording in capture.recordings)

    def keep(ms: int, link: int, thing: Played) -> None:
        if not isinstance(thing, Record):
            lines.append(report.json_line(report.as_data(ms, link, thing, faces=faces)))

    await replay(capture, keep, ReplayInputs(keys or DeviceKeys(), read_card_table(CARD_TABLE)))
    return lines


@BY_NAME
async def test_a_golden_capture_replays_the_same(path: Path) -> None:
    assert await heard_in(path) == path.with_suffix(".expected").read_text("utf-8").splitlines()


@pytest.mark.parametrize("path", [path for path in CAPTURES if path.stem.startswith("cardlink")], ids=lambda p: p.stem)
async def test_with_the_devices_key_its_proof_is_judged(path: Path) -> None:
    assert await heard_in(path, keys_of(simulated_key)) == await heard_in(path)
    refused = await heard_in(path, keys_of(lambda serial: bytes(32)))
    assert "device-proof" in refused[0]
    assert len(refused) == len(links_of(read_capture([path])))


@BY_NAME
def test_it_names_its_origin_and_is_complete(path: Path) -> None:
    capture = read_capture([path])
    assert not capture.damage
    assert all(recording.header.note for recording in capture.recordings)
    assert all(link.whole for link in links_of(capture))
    assert path.with_suffix(".expected").is_file()


def test_every_driver_of_this_program_has_one() -> None:
    assert {read_capture([path]).recordings[0].header.driver for path in CAPTURES} == set(DRIVERS)


@pytest.mark.parametrize("golden", GOLDEN, ids=lambda golden: golden.name)
async def test_a_new_capture_of_the_simulators_can_be_replayed(golden: Golden, tmp_path: Path) -> None:
    """The new capture is not compared with the golden capture: simulators may change, but a recording may not."""
    await make(golden, tmp_path)
    assert '"heard":"device_ready"' in (await heard_in(tmp_path / f"{golden.name}.capture"))[0]
