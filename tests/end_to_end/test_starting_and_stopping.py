"""The daemon's start and stop: it needs no device, stops immediately, follows systemd's protocol, and runs once."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import pytest

from controller.api.client import ApiClient, TableUnreachableError
from controller.daemon.host import host_boot_id
from simulators.people.crew import CREW
from tests.end_to_end.child import Orders
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder

LONG_GRACE = Orders(grace=3600.0)  # a daemon that waited for its requests to end would outlast the test's patience
JOURNAL_PROBLEM = 4


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder) as stage:
            yield stage


def assert_quiet_end(stage: Stage) -> None:
    said = "\n".join(stage.daemon.out + stage.daemon.err)
    assert "Traceback" not in said
    assert "exception" not in said
    assert not stage.daemon.logged("daemon.part_failed")
    assert not stage.socket.exists()


async def test_ready_without_a_device(stage: Stage) -> None:
    await stage.start_daemon()
    shown = await stage.state()
    assert shown.service == "out_of_service"
    assert not shown.device.connected
    async with ApiClient(stage.socket) as client:
        assert await client.is_healthy()
        begun = (await stage.events_until(client, "game_chosen"))[0]
    assert (begun["event"], begun["host_boot"]) == ("table_began", host_boot_id())
    assert begun["host_boot"], "the kernel names this start of the PC"
    (line,) = stage.daemon.logged("daemon.started")
    assert (line["table"], line["socket"], line["simulated"]) == ("T-1", str(stage.socket), True)
    assert line["version"]


async def test_a_late_device_is_found_and_a_lost_one_is_noticed(stage: Stage) -> None:
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        entry = 0
        for _ in range(2):
            await stage.start_device(dealer=False)
            entry = (await stage.events_until(client, "status_agrees", entry))[-1]["entry"]
            assert await stage.device.end() == 0
            entry = (await stage.events_until(client, "device_lost", entry))[-1]["entry"]
            shown = await client.state()
            assert shown.service == "out_of_service"
            assert "is gone" in str(shown.service_cause)
    assert await stage.daemon.end() == 0


@pytest.mark.parametrize(("number", "device"), [(signal.SIGTERM, True), (signal.SIGINT, False)])
async def test_asked_to_stop_while_streams_are_open(stage: Stage, number: signal.Signals, device: bool) -> None:
    if device:
        await stage.start_device()
    await stage.start_daemon(LONG_GRACE)
    async with ApiClient(stage.socket) as client, ApiClient(stage.socket) as other:
        caught_up = [asyncio.Event() for _ in range(3)]
        followers = [
            asyncio.create_task(follow(one, its)) for one, its in zip((client, client, other), caught_up, strict=True)
        ]
        for each in caught_up:
            await each.wait()
        if device:
            await stage.events_until(client, "cards_dealt")
        stage.daemon.signal(number)
        assert await stage.daemon.ended() == 0
        seen = await asyncio.gather(*followers)
    assert all(seen)
    assert_quiet_end(stage)


async def follow(client: ApiClient, caught_up: asyncio.Event) -> list[dict[str, Any]]:
    """Read everything until the stream ends."""
    seen = []
    async for event in client.events():
        if event is None:
            caught_up.set()
        else:
            seen.append(event)
    return seen


async def test_a_stop_while_followers_ask_again_immediately(stage: Stage) -> None:
    """They reuse their connection: no follower can keep a daemon running by asking again."""
    await stage.start_daemon(LONG_GRACE)
    async with ApiClient(stage.socket) as client:
        caught_up = asyncio.Event()
        followers = [asyncio.create_task(hold_on(client, caught_up)) for _ in range(3)]
        await caught_up.wait()
        assert await stage.daemon.end() == 0
        await asyncio.gather(*followers)
    assert_quiet_end(stage)


async def hold_on(client: ApiClient, caught_up: asyncio.Event) -> None:
    with suppress(TableUnreachableError):
        while True:
            await follow(client, caught_up)


async def test_asked_to_stop_before_it_is_ready(stage: Stage) -> None:
    daemon = stage.spawn_daemon()
    assert await daemon.end() in (0, -signal.SIGTERM)  # until its handler is installed, the default handler acts
    assert not stage.socket.exists()


async def test_asked_to_stop_while_it_reads_the_journal(stage: Stage) -> None:
    await stage.start_daemon()
    await stage.kill_daemon()  # it must not save its state
    stage.drain_notified()
    daemon = stage.spawn_daemon(Orders(page=1, stopped_at_page=2))
    assert await daemon.ended() == 0
    stage.drain_notified()
    assert stage.notified.count("READY=1") == 1, "only the first was ready"
    assert daemon.logged("daemon.stopped_early")
    assert not [line for line in daemon.err if not line.startswith("{")], "nothing but log lines"
    await stage.start_daemon()


@pytest.mark.parametrize("admitted", [True, False])
async def test_systemd_is_notified(stage: Stage, admitted: bool) -> None:
    """This holds even if the daemon's user represents no person, as on a table's PC."""
    if not admitted:
        stage.configure(uid=54321)
    await stage.start_daemon(watchdog_us=300_000)
    assert stage.notified == ["READY=1", "STATUS=table T-1"]
    await stage.until_notified("WATCHDOG=1")
    await stage.until_notified("WATCHDOG=1")
    stage.daemon.signal(signal.SIGTERM)
    await stage.until_notified("STOPPING=1")
    assert await stage.daemon.ended() == 0
    assert stage.notified.count("READY=1") == 1


async def test_a_hanging_daemon_does_not_feed_the_watchdog(stage: Stage) -> None:
    await stage.start_daemon(watchdog_us=300_000)
    await stage.until_notified("WATCHDOG=1")
    stage.daemon.signal(signal.SIGSTOP)
    try:
        stage.drain_notified()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(stage.until_notified("WATCHDOG=1"), 0.5)
    finally:
        stage.daemon.signal(signal.SIGCONT)
    await stage.until_notified("WATCHDOG=1")
    assert await stage.daemon.end() == 0


async def test_a_second_daemon_of_the_same_journal_is_refused_and_harms_nothing(stage: Stage) -> None:
    first = await stage.start_daemon()
    second = stage.spawn_daemon()
    assert await second.ended() == JOURNAL_PROBLEM
    assert [line for line in second.err if not line.startswith(("cardshoe: ", "  "))] == []
    assert second.err[0].startswith("cardshoe: ")
    assert len(second.err) == 2
    assert "Another program" in second.err[0]
    assert (await stage.state()).table == "T-1"  # the socket is still that of the first one
    stage.daemon = first
    assert await first.end() == 0


async def test_of_two_daemons_started_together_exactly_one_serves(stage: Stage) -> None:
    """They share one journal, socket and device. The other ends with a sentence and changes nothing."""
    await stage.start_device(dealer=False)
    entry = 0
    for _ in range(3):
        daemons = [stage.spawn_daemon() for _ in range(2)]
        ends = [asyncio.create_task(daemon.ended()) for daemon in daemons]
        async with asyncio.timeout(PATIENCE):
            (over,), (runs,) = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        refused, serving = daemons[ends.index(over)], daemons[ends.index(runs)]
        assert over.result() == JOURNAL_PROBLEM, refused.err
        assert refused.err[0].startswith("cardshoe: Another program")
        assert len(refused.err) == 2
        await serving.until(lambda serving=serving: serving.logged("daemon.started"))  # type: ignore[misc]
        async with ApiClient(stage.socket) as client:
            entry = (await stage.events_until(client, "device_ready", entry))[-1]["entry"]
        assert serving.running
        assert await serving.end() == 0
    assert_quiet_end(stage)


async def test_a_socket_left_behind_by_a_killed_daemon_is_taken_over(stage: Stage) -> None:
    await stage.start_daemon()
    await stage.kill_daemon()
    assert stage.socket.exists()
    await stage.start_daemon()
    assert (await stage.state()).table == "T-1"
    assert await stage.daemon.end() == 0
    assert_quiet_end(stage)


async def test_changed_start_arguments_are_journaled_without_secrets(stage: Stage) -> None:
    async def recorded() -> list[dict[str, Any]]:
        """Start the daemon and return all events so far."""
        await stage.start_daemon()
        async with ApiClient(stage.socket) as client:
            async with asyncio.timeout(PATIENCE):
                found = [event async for event in _so_far(client)]
        assert await stage.daemon.end() == 0
        return [event["configuration"] for event in found if event["event"] == "configuration_recorded"]

    (first,) = await recorded()
    assert first["program"] == version("cardshoe")
    assert first["device"]["url"] == f"serial://{stage.port}"
    assert [(one["id"], one["role"]) for one in first["people"]] == [(member.id, member.role) for member in CREW]
    assert first["people"][0]["uids"] == [os.getuid()]
    assert await recorded() == [first], "the same again is not recorded"
    stage.device_keys.write_text(f"CARDSHOE-1 {'ab01' * 16}\n")
    text = stage.configuration.read_text()
    stage.configuration.write_text(text.replace('name = "', 'name = "Ms ', 2).replace('name = "Ms T-1', 'name = "T-1'))
    before, after = await recorded()
    assert before == first
    assert before["device"]["keys_digest"] != after["device"]["keys_digest"]
    assert before["people"][0]["name"] != after["people"][0]["name"]
    journal = (stage.journal / "000001.journal").read_bytes()
    for secret in ("ab01" * 16, CREW[1].pin_hash(), stage.journal_key.hex()):
        assert secret.encode() not in journal


async def _so_far(client: ApiClient) -> AsyncIterator[dict[str, Any]]:
    async for event in client.events():
        if event is None:
            return
        yield event


async def test_a_socket_that_is_removed_under_the_daemon_is_made_again(stage: Stage) -> None:
    await stage.start_daemon()
    async with ApiClient(stage.socket) as before:
        await before.state()
        stage.socket.unlink()
        await stage.daemon.until(lambda: stage.daemon.logged("api.socket_renewed"))
        (warning,) = (await stage.state()).warnings
        assert str(stage.socket) in str(warning)
        assert "removed the table's socket" in str(warning)
        await before.state()
    assert await stage.daemon.end() == 0
    assert_quiet_end(stage)


async def test_a_socket_of_another_program_in_its_place_is_left_alone(stage: Stage) -> None:
    await stage.start_daemon()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(f"{stage.socket}.other")
        other.listen()
        stage.socket.with_name(f"{stage.socket.name}.other").rename(stage.socket)
        await stage.daemon.until(lambda: stage.daemon.logged("api.socket_missing"))
        assert await stage.daemon.end() == 0
        assert stage.socket.exists()
    stage.socket.unlink()


@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        (0, -3600, ["but the journal has an entry from", "Set the clock (`timedatectl`)"]),
        (0, 2 * 86_400 + 60, ["The newest entry was 2 days old when the daemon started", "`timedatectl`"]),
        (0, 3600, []),
    ],
)
async def test_a_clock_that_contradicts_the_journal_is_named(
    stage: Stage, first: int, then: int, words: list[str]
) -> None:
    await stage.start_daemon(Orders(ahead=first))
    assert (await stage.state()).warnings == (), "a new journal contradicts no clock"
    assert await stage.daemon.end() == 0
    await stage.start_daemon(Orders(ahead=then))
    warnings = (await stage.state()).warnings
    assert len(warnings) == bool(words)
    assert all(word in str(warnings[0]) for word in words)
    assert [line["sentence"] for line in stage.daemon.logged("clock.doubted")] == [str(one) for one in warnings]
