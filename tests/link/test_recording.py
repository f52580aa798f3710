"""A replay of a recording hears the same as the original link. Also tests the bytes that the log entry of a fault
contains.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs

from firmware_bridge.captures import capture_format
from firmware_bridge.captures.reader import read_capture
from firmware_bridge.captures.recorder import Bounds, CaptureRecorder
from firmware_bridge.captures.replay import Played, ReplayInputs, links_of, replay
from firmware_bridge.commands import HoldExit
from firmware_bridge.device_keys import DeviceKeys
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.base import Answered, Driver, Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.bee_tek import BeeTek
from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.cardlink.host import CardlinkHost
from firmware_bridge.drivers.setting import DevicePolicy, DriverSetting
from firmware_bridge.link import PIECES_KEPT
from firmware_bridge.link_keeper import LinkState
from tests.captures.make import FOLDER

from .parts import KEY, SERIAL, Bench, Desk, HandClock, running
from .test_captures import file_at

NONCE = bytes(range(16))


@pytest.fixture
async def desk() -> Desk:
    return Desk()


@pytest.fixture
async def clock(desk: Desk) -> HandClock:
    return HandClock(desk.changes)


def recorded_driver(recorder: CaptureRecorder) -> Callable[[float], Driver]:
    def make_driver(now: float) -> Driver:
        recorder.driver_made(NONCE, (0, 0))
        keys = {SERIAL: KEY}
        return CardlinkHost(nonce=NONCE, key_of=keys.get, held=(0, 0), now=now, note_keys=recorder.link_keys)

    return make_driver


async def heard_again(*paths: Path, inputs: ReplayInputs | None = None) -> list[Heard]:
    heard: list[Heard] = []

    def keep(ms: int, link: int, thing: Played) -> None:
        if not isinstance(thing, capture_format.Record):
            heard.append(thing)

    await replay(read_capture(paths), keep, inputs)
    return heard


def as_recorded(heard: list[Heard]) -> list[Heard]:
    """Return what was heard, with the sentences in English, as a capture has them."""
    return [
        msgspec.structs.replace(one, sentence=str(one.sentence)) if isinstance(one, LinkOver) else one for one in heard
    ]


async def test_a_replay_hears_the_same(desk: Desk, clock: HandClock, tmp_path: Path) -> None:
    """One link ends when its cable is pulled, the other because the driver decides so. A replay repeats both, with and
    without the key.
    """
    path = tmp_path / "a.capture"
    recorder = CaptureRecorder(file_at(path), clock=clock, log=None, keeps_keys=True)
    bench = Bench(desk, clock, make_driver=recorded_driver(recorder), recorder=recorder)
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
        bench.far_ends[-1].write(bench.device.report(1, messages.ButtonPressedReport(5100, "shuffle")))
        await desk.changes.until(lambda: isinstance(desk.heard[-1], Reported))
        assert bench.keeper.command(9, HoldExit())
        await desk.changes.until(lambda: isinstance(desk.heard[-1], Answered))
        bench.far_ends[-1].close()
        await desk.until_state(LinkState.LOST)
        await clock.pass_next_wait()
        await desk.until_state(LinkState.READY)
        while not (desk.ends and desk.ends[-1].code == "device-silent"):
            await clock.pass_next_wait()
            await desk.changes.until(lambda: bool(clock.waits))
        bench.plugged_in = False
    recorder.close()
    assert not recorder.stopped
    kinds = [type(record).__name__ for recording in read_capture([path]).recordings for record in recording.records]
    assert kinds.count("Opened") == kinds.count("Lost") == kinds.count("DriverMade") == 2
    assert kinds.count("Commanded") == 1
    assert [end.code for end in desk.ends] == ["transport-lost", "device-silent"]
    assert as_recorded(await heard_again(path)) == as_recorded(desk.heard)
    again = await heard_again(path, inputs=ReplayInputs(DeviceKeys({SERIAL: KEY})))
    assert as_recorded(again) == as_recorded(desk.heard)


async def test_a_plain_recording_of_hardware_contains_no_keys(desk: Desk, clock: HandClock, tmp_path: Path) -> None:
    """They would open the link to any reader of the file: it is replayed with the device's own key."""
    path = tmp_path / "a.capture"
    recorder = CaptureRecorder(file_at(path), clock=clock, log=None)
    bench = Bench(desk, clock, make_driver=recorded_driver(recorder), recorder=recorder)
    async with running(bench.keeper):
        await desk.until_state(LinkState.READY)
    recorder.close()
    records = [record for recording in read_capture([path]).recordings for record in recording.records]
    assert not [record for record in records if isinstance(record, capture_format.LinkKeys)]
    (end,) = await heard_again(path)
    assert isinstance(end, LinkOver)
    assert end.code == "device-unknown-serial"
    assert "--device-keys" in str(end.sentence)
    assert isinstance((await heard_again(path, inputs=ReplayInputs(DeviceKeys({SERIAL: KEY}))))[0], LinkReady)


@pytest.mark.parametrize(
    "over",
    [
        capture_format.Lost(100, "device-silent", "Silent.", by_driver=True),
        capture_format.Lost(100, "link-fault", "It failed."),
    ],
    ids=["a verdict", "a failure"],
)
async def test_an_end_that_does_not_occur_again_is_reported(tmp_path: Path, over: capture_format.Lost) -> None:
    file = file_at(tmp_path / "a.capture")
    for record in (capture_format.Opened(0), over):
        file.write(record)
    file.close()
    assert [thing.code for thing in await heard_again(tmp_path / "a.capture") if isinstance(thing, LinkOver)] == [
        "capture-differs"
    ]


async def test_a_device_refused_by_the_configuration_is_refused_in_the_replay(
    desk: Desk, clock: HandClock, tmp_path: Path
) -> None:
    """The pin is the table's and is not among the bytes: the capture of a refused device is valid."""
    path = tmp_path / "a.capture"
    recorder = CaptureRecorder(file_at(path), clock=clock, log=None, keeps_keys=True)
    bench = Bench(
        desk, clock, make_driver=recorded_driver(recorder), recorder=recorder, policy=DevicePolicy(serial="SHOE-2")
    )
    async with running(bench.keeper):
        health = await desk.until_state(LinkState.REFUSED)
    recorder.close()
    (over,) = (thing for thing in await heard_again(path) if isinstance(thing, LinkOver))
    assert isinstance(over, LinkOver)
    assert (over.code, str(over.sentence), over.refused) == ("device-other-serial", str(health.sentence), True)


async def test_a_link_continued_in_another_file_is_one_link(tmp_path: Path) -> None:
    whole = FOLDER / "cardlink-singles.capture"
    (recording,) = read_capture([whole]).recordings
    path = tmp_path / "a.capture"
    file = file_at(path, Bounds(largest=2000, files=9))
    for record in recording.records:
        file.write(record)
    file.close()
    parts = [*(path.with_name(f"a.capture.{n}") for n in range(8, 0, -1)), path]
    parts = [part for part in parts if part.exists()]
    assert len(parts) > 2
    assert await heard_again(*parts) == await heard_again(whole)
    (link,) = links_of(read_capture(parts))
    assert link.whole
    assert not links_of(read_capture(parts[1:]))[0].whole
    gap = links_of(read_capture([parts[0], parts[2]]))
    assert [one.whole for one in gap] == [True, False], "what is not the next file does not continue it"


async def test_a_capture_that_ends_before_its_link(tmp_path: Path) -> None:
    """The link need not have been ready: here it was only opened."""
    file = file_at(tmp_path / "a.capture")
    file.write(capture_format.Opened(0))
    file.close()
    (over,) = await heard_again(tmp_path / "a.capture")
    assert isinstance(over, LinkOver)
    assert (over.code, str(over.sentence)) == ("capture-ended", "The capture ends here, before its link ended.")


class Broken:
    """A recorder that always raises."""

    def __getattr__(self, name: str) -> Any:
        def fail(*given: object, **named: object) -> None:
            raise OSError(28, "No space left on device")

        return fail


async def test_a_recorder_that_raises_ends_no_link(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock, recorder=Broken())
    with capture_logs() as logged:
        async with running(bench.keeper):
            await desk.until_state(LinkState.READY)
            assert bench.keeper.command(9, HoldExit())
            await desk.changes.until(lambda: isinstance(desk.heard[-1], Answered))
    assert [line["event"] for line in logged].count("capture.fault") == 1
    assert [end.code for end in desk.ends] == ["link-stopped"]


def bee_tek(now: float) -> Driver:
    return BeeTek(DriverSetting(bytes(16), DeviceUrl("sim", path="/shoe", driver="bee_tek").line, no_key), now)


def no_key(serial: str) -> None:
    """Return no keys."""


async def lines_after_a_loss(desk: Desk, clock: HandClock, card: bytes, *, simulated: bool) -> list[str]:
    """Return the log's lines on the last pieces when the cable is pulled after many cards."""
    bench = Bench(desk, clock, make_driver=bee_tek, simulated=simulated)
    with capture_logs() as logged:
        async with running(bench.keeper):
            while LinkState.READY not in [health.state for health in desk.healths]:
                await clock.pass_next_wait()
            for _ in range(PIECES_KEPT + 5):
                before = len(desk.heard)
                bench.far_ends[-1].write(b" [Manual Burn Cards]<Card:" + card + b"> \r\n")
                await desk.changes.until(lambda before=before: len(desk.heard) > before)  # type: ignore[misc]  # a lambda's default
            clock.now += 0.25
            bench.unplug()
            await desk.until_state(LinkState.LOST)
    assert [line["code"] for line in logged if line["event"] == "link.lost"] == ["transport-lost"]
    (line,) = [line for line in logged if line["event"] == "link.traffic"]
    return list(line["last"])


async def test_the_last_pieces_are_logged_with_a_fault_and_reveal_no_card(desk: Desk, clock: HandClock) -> None:
    lines = await lines_after_a_loss(desk, clock, b"9D", simulated=False)
    assert lines == ["-250 ms from device"] * PIECES_KEPT
    assert lines == await lines_after_a_loss(Desk(), HandClock(Desk().changes), b"10D", simulated=False)


async def test_of_a_simulated_device_the_bytes_are_logged(desk: Desk, clock: HandClock) -> None:
    lines = await lines_after_a_loss(desk, clock, b"9D", simulated=True)
    assert len(lines) == PIECES_KEPT
    assert b"Card:9D".hex() in lines[-1]


async def test_a_link_that_the_program_ends_logs_no_pieces(desk: Desk, clock: HandClock) -> None:
    bench = Bench(desk, clock)
    with capture_logs() as logged:
        async with running(bench.keeper):
            await desk.until_state(LinkState.READY)
    assert all("last" not in line for line in logged)
