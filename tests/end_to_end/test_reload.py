"""SIGHUP at a real daemon: people change immediately and the game's settings between rounds; a faulty file changes
nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from random import Random, SystemRandom
from typing import Any

import aiohttp
import msgspec
import pytest

from controller.api.bodies import EventId
from controller.api.client import ApiClient
from controller.api.narration import line_of
from controller.commands.vocabulary import words_of
from controller.daemon.table_service import SETTINGS_DUE
from controller.games.specification import Unit
from controller.table import operations
from controller.table.phases import Phase
from controller.table.record import ConfigurationRecord, DeviceRecord
from controller.table.settings import Settings
from firmware_bridge.device_keys import write_device_keys
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.people.crew import CREW, CrewClient, CrewMember
from simulators.ports.pty import PtyFront
from tests.end_to_end.browser import Browser, free_port
from tests.end_to_end.child import Orders
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.end_to_end.test_disk_errors import Disk, Line, served
from tests.end_to_end.test_metrics import at_socket
from tests.end_to_end.test_site_settings import LAW, SERIAL, Crew

DEALER, SUPERVISOR, _ = CREW
HIGHER = LAW.replace("minimum = 10", "minimum = 20")


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            stage.configure(law=LAW)
            yield stage


@pytest.fixture
async def crew(stage: Stage) -> AsyncIterator[Crew]:
    """Yield a running table whose device is in this process."""
    key = bytes(range(1, 33))
    write_device_keys(stage.device_keys, {SERIAL: key})
    device = SimulatedDevice(
        Profile("shuffler", SERIAL, full_capabilities("shuffler", stages=False)),
        key=key,
        random=Random(1),
        fresh=SystemRandom(),
        clock=asyncio.get_running_loop().time,
        pace=Tempo(0.0),
    )
    front = PtyFront(device, stage.port)
    front.plug()
    carrier = asyncio.create_task(front.run())
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        yield Crew(stage, client, device)
    carrier.cancel()
    with suppress(asyncio.CancelledError):
        await carrier


async def reload(stage: Stage) -> None:
    """Reload, and wait until the daemon logs that it has read its configuration."""
    stage.drain_notified()
    stage.notified.clear()
    stage.daemon.signal(signal.SIGHUP)
    await stage.until_notified("RELOADING=1")
    assert stage.notified[-1].startswith("MONOTONIC_USEC=")
    if "READY=1" not in stage.notified:
        await stage.until_notified("READY=1")


async def events(stage: Stage, kind: str) -> list[dict[str, Any]]:
    """Return all events of that kind so far."""
    found = []
    async with ApiClient(stage.socket) as client, asyncio.timeout(PATIENCE):
        stream = client.events(EventId())
        async for event in stream:
            if event is None:
                break
            found += [event] if event["event"] == kind else []
        await stream.aclose()
    return found


def rename_dealer(stage: Stage) -> None:
    text = stage.configuration.read_text()
    assert 'name = "Dana"' in text
    stage.configuration.write_text(text.replace('name = "Dana"', 'name = "Dora"'))


async def test_people_change_immediately_and_settings_between_rounds(stage: Stage) -> None:
    await stage.start_daemon()
    stage.configure(law=HIGHER)
    rename_dealer(stage)
    await reload(stage)
    records = await events(stage, "configuration_recorded")
    assert [one["configuration"]["people"][0]["name"] for one in records] == ["Dana", "Dora"]
    chosen = await events(stage, "game_chosen")
    assert [one["settings"]["limits"][0]["minimum"] for one in chosen] == [10, 20]
    assert str(line_of(records[-1], words_of("NC")))
    assert (await stage.state()).warnings == ()
    (line,) = stage.daemon.logged("configuration.reloaded")
    assert line["people"] == len(CREW)


async def test_between_rounds_the_settings_are_in_force_when_the_reload_ends() -> None:
    """When `systemctl reload` has ended, the new limits apply to the next "place your bets"."""
    async with served(Disk(), Line()) as service:
        settings = Settings("NC", Unit.SETS, 5)
        assert await service.configure(ConfigurationRecord("1.0", DeviceRecord("tcp://127.0.0.1:1")), settings)
        assert service.state.settings == settings


async def test_the_same_file_again_records_nothing(stage: Stage) -> None:
    await stage.start_daemon()
    before = (await stage.state()).entry
    await reload(stage)
    assert (await stage.state()).entry == before


async def test_in_a_round_people_change_immediately_and_settings_after_it(stage: Stage, crew: Crew) -> None:
    await crew.to_betting()
    stage.configure(law=HIGHER)
    rename_dealer(stage)
    await reload(stage)
    assert (await events(stage, "configuration_recorded"))[-1]["configuration"]["people"][0]["name"] == "Dora"
    assert len(await events(stage, "game_chosen")) == 1
    assert any("change with the next round" in str(one) for one in (await crew.view()).warnings)
    await crew.do(operations.CancelStart())
    chosen = await events(stage, "game_chosen")
    assert [one["settings"]["limits"][0]["minimum"] for one in chosen] == [10, 20]
    assert (await crew.view()).warnings == ()


async def test_a_table_that_closes_after_a_round_takes_the_waiting_settings() -> None:
    """The new settings apply to the next device and the next dealer."""
    async with served(Disk(), Line()) as service:
        settings = Settings("NC", Unit.SETS, 5)
        state = service.state
        service.state = msgspec.structs.replace(state, phase=Phase.CONCLUDED)
        assert await service.configure(ConfigurationRecord("1.0", DeviceRecord("tcp://127.0.0.1:1")), settings)
        assert (service.state.settings, service.state.settings_wait) == (state.settings, settings)
        assert SETTINGS_DUE in service.view().warnings
        service.state = msgspec.structs.replace(service.state, phase=Phase.CLOSED)
        assert await service.answers()
        assert (service.state.settings, service.state.settings_wait) == (settings, None)
        assert str(SETTINGS_DUE) not in service.view().warnings


async def test_settings_that_wait_for_the_end_of_a_round_outlast_a_kill(stage: Stage, crew: Crew) -> None:
    await crew.to_betting()
    stage.configure(law=HIGHER)
    await reload(stage)
    await stage.kill_daemon()
    await stage.start_daemon()
    begun = (await events(stage, "table_began"))[-1]
    assert begun["settings_wait"]["limits"][0]["minimum"] == 20
    assert len(await events(stage, "game_chosen")) == 1


async def test_a_pin_that_was_changed_counts_from_the_next_request_on(stage: Stage, crew: Crew) -> None:
    await crew.event("status_agrees")
    begin, end = operations.BeginMaintenance("a test"), operations.EndMaintenance()
    await crew.do(begin, SUPERVISOR)
    new = CrewMember(SUPERVISOR.id, SUPERVISOR.name, SUPERVISOR.role, "640285")
    text = stage.configuration.read_text()
    stage.configuration.write_text(text.replace(SUPERVISOR.pin_hash(), new.pin_hash()))
    await reload(stage)
    assert (await crew.say(end, SUPERVISOR)).code == "pin"
    await crew.do(end, new)
    digests = [one["configuration"]["people"][1]["pin_digest"] for one in await events(stage, "configuration_recorded")]
    assert len(set(digests)) == 2


async def test_a_user_who_is_no_longer_named_is_disconnected(stage: Stage) -> None:
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        following = asyncio.create_task(_until_the_end(client))
        await client.state()
        stage.configure(law=LAW, uid=os.getuid() + 4000)
        await reload(stage)
        async with asyncio.timeout(PATIENCE):
            await following
    assert stage.daemon.running
    code = await stage.start("status", "--socket", str(stage.socket)).ended()
    assert code == 3


async def _until_the_end(client: ApiClient) -> None:
    async for _ in client.events():
        pass


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("minimum = 10", "minimun = 10", "minimun is not a key of"),
        ('"api.sock"\n', '"api.sock"\nhttp = { port = 8080 }\n', "[api.http] port cannot change while the daemon runs"),
    ],
)
async def test_an_invalid_configuration_changes_nothing(stage: Stage, old: str, new: str, words: str) -> None:
    await stage.start_daemon()
    before = (await stage.state()).entry
    good = stage.configuration.read_text()
    assert old in good
    rename_dealer(stage)
    stage.configuration.write_text(stage.configuration.read_text().replace(old, new, 1))
    await reload(stage)
    assert (await at_socket(stage))["cardshoe_warnings"] == 1
    view = await stage.state()
    assert view.entry == before
    (warning,) = view.warnings
    assert "nothing has changed" in str(warning)
    assert words in str(warning)
    (line,) = stage.daemon.logged("configuration.refused")
    assert words in line["sentence"]
    stage.configuration.write_text(good)
    await reload(stage)
    assert (await stage.state()).warnings == ()


async def test_everything_that_needs_a_restart_is_named_together(stage: Stage) -> None:
    await stage.start_daemon()
    text = stage.configuration.read_text()
    stage.configuration.write_text(text.replace('"journal"', '"other"').replace('"T-1"', '"T-2"'))
    await reload(stage)
    (line,) = stage.daemon.logged("configuration.refused")
    assert "[table] name, [journal] folder cannot change while the daemon runs" in line["sentence"]
    assert line["hint"] == "Put it back, or restart the daemon between rounds."


async def test_names_of_a_proxy_and_the_length_of_a_shift_change_immediately(stage: Stage) -> None:
    port = free_port()
    before, after = (f'[api.http]\nport = {port}\nhosts = ["{name}"]\nshift_hours = {hours}\n'
                     for name, hours in (("old.example", 10), ("new.example", 4)))  # fmt: skip
    stage.configure(law=LAW + before)
    await stage.start_daemon()
    async with Browser(port) as browser:
        await browser.enrol()
        assert await statuses(port) == {"old.example": 200, "new.example": 421, "localhost": 200}
        stage.configure(law=LAW + after)
        await reload(stage)
        (line,) = stage.daemon.logged("configuration.reloaded")
        assert line["changed"] == ["api.http.hosts", "api.http.shift_hours"]
        assert await statuses(port) == {"old.example": 421, "new.example": 200, "localhost": 200}
        signed = await browser.operate("sign_on", DEALER)
        assert signed.json["accepted"], signed.json
        (until,) = [one.until_utc_ns for one in (await stage.state()).screens]
        assert (await events(stage, "signed_on"))[-1]["until_utc_ns"] == until
    moments = [one["utc_ns"] for one in await events(stage, "signed_on")]
    assert abs(until - moments[-1] - 4 * 3600 * 10**9) < 10**9


async def statuses(port: int) -> dict[str, int]:
    """Return the port's status code for a request under each name."""
    found = {}
    async with aiohttp.ClientSession() as session:
        for name in ("old.example", "new.example", "localhost"):
            async with session.get(f"http://127.0.0.1:{port}/readyz", headers={"Host": f"{name}:{port}"}) as answer:
                found[name] = 200 if answer.status in (200, 503) else answer.status
    return found


async def test_a_copy_made_for_a_reload_is_read_with_the_keys_of_the_start(stage: Stage) -> None:
    """`systemctl reload` hands the copy over; without a copy, the file from startup is read."""
    copy = stage.folder / "cardshoe-reload" / "T-1.toml"
    copy.parent.mkdir()
    stage.daemon = stage.start("run", "--config", str(stage.configuration), "--reread", str(copy))
    await stage.daemon.until(lambda: stage.daemon.logged("daemon.started"))
    good = stage.configuration.read_text()
    copy.write_text(good.replace('name = "Dana"', 'name = "Dora"'))
    stage.daemon.signal(signal.SIGHUP)
    await stage.daemon.until(lambda: stage.daemon.logged("configuration.reloaded"))
    assert (await events(stage, "configuration_recorded"))[-1]["configuration"]["people"][0]["name"] == "Dora"
    copy.write_text(good.replace('folder = "journal"', 'folder = "other"'))
    stage.daemon.signal(signal.SIGHUP)
    await stage.daemon.until(lambda: stage.daemon.logged("configuration.refused"))
    said = stage.daemon.logged("configuration.refused")[0]["sentence"]
    assert said.startswith("/etc/cardshoe/T-1/table.toml: [journal] folder cannot change"), "the file that is corrected"
    copy.unlink()
    stage.daemon.signal(signal.SIGHUP)
    await stage.daemon.until(lambda: len(stage.daemon.logged("configuration.reloaded")) == 2)
    assert await stage.daemon.end() == 0


async def test_a_file_that_is_missing_changes_nothing(stage: Stage) -> None:
    await stage.start_daemon()
    stage.configuration.unlink()
    await reload(stage)
    (warning,) = (await stage.state()).warnings
    assert "It cannot be read: No such file or directory" in str(warning)
    assert await stage.daemon.end() == 0


async def test_a_change_that_cannot_be_recorded_changes_nobody(stage: Stage) -> None:
    """The disk is full when the device connects: the people stay the same until the table is back in service."""
    await stage.start_device(dealer=False)
    await stage.start_daemon(Orders(full_at=2))
    await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
    rename_dealer(stage)
    await reload(stage)
    assert any("cannot be recorded at present" in str(one) for one in (await stage.state()).warnings)
    assert len(await events(stage, "configuration_recorded")) == 1
    async with ApiClient(stage.socket) as client:
        voice = CrewClient(client, Random(1))
        answer = await voice.send(voice.request(SUPERVISOR, 0, operations.ReturnToService()))
    assert answer.accepted
    await reload(stage)
    assert (await stage.state()).warnings == ()
    assert len(await events(stage, "configuration_recorded")) == 2


async def test_people_change_where_the_record_takes_the_last_room(stage: Stage) -> None:
    """A recorded change is in force, even if the table goes out of service with it."""
    await stage.start_daemon(Orders(full_at=2))
    rename_dealer(stage)
    await reload(stage)
    await stage.daemon.until(lambda: stage.daemon.logged("table.fault"))
    assert len(await events(stage, "configuration_recorded")) == 2
    assert stage.daemon.logged("configuration.reloaded")


async def test_two_reloads_together_and_many(stage: Stage) -> None:
    await stage.start_daemon()
    rename_dealer(stage)
    for _ in range(20):
        stage.daemon.signal(signal.SIGHUP)
    await stage.until_notified("READY=1")
    await reload(stage)
    assert len(await events(stage, "configuration_recorded")) == 2
    assert await stage.daemon.end() == 0


async def test_during_the_start_it_is_read_again_afterwards(stage: Stage) -> None:
    daemon = stage.spawn_daemon(Orders(hang_up_at_start=True))
    await stage.until_notified("READY=1")
    assert stage.notified[0] == "READY=1", "first the start"
    await stage.until_notified("RELOADING=1")
    await stage.until_notified("READY=1")
    assert daemon.logged("configuration.reloaded")
    assert await daemon.end() == 0
