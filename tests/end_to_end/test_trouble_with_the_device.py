"""The daemon survives every fault of its device, shows in the state what is wrong and what to do, and recovers."""

from __future__ import annotations

import fcntl
import os
from collections.abc import AsyncIterator, Callable
from random import Random

import pytest

from controller.api.client import ApiClient
from controller.api.view import TableView
from controller.table.events import DeviceLost
from firmware_bridge.device_keys import read_device_keys, write_device_keys
from tests.end_to_end.child import Orders
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder
from tests.link.parts import Pty

AS_ROOT = os.geteuid() == 0


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage:
            yield stage


async def state_after(stage: Stage, event: str) -> TableView:
    """Return the state once the daemon has logged this."""
    await stage.daemon.until(lambda: stage.daemon.logged(event))
    return await stage.state()


async def assert_recovers(stage: Stage) -> None:
    """Check that the same daemon plays the rounds in the end."""
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    Evidence(stage).check(shown)


def advice_in(shown: TableView) -> str:
    """Return what a person reads: the sentence and the next step."""
    assert shown.service == "out_of_service"
    assert not shown.device.connected
    assert str(shown.device.sentence).endswith(".")
    return f"{shown.device.sentence} {shown.device.hint}"


@pytest.mark.parametrize(
    ("spoil", "code", "advice"),
    [
        (lambda keys: {serial: bytes(range(2, 34)) for serial in keys}, "device-rejects-host", "pair the device again"),
        (lambda keys: {}, "device-unknown-serial", "pair it"),
    ],
    ids=["wrong key", "no key"],
)
async def test_a_device_with_another_key(
    stage: Stage, spoil: Callable[[dict[str, bytes]], dict[str, bytes]], code: str, advice: str
) -> None:
    """When the right key is in the file, the next attempt succeeds without a restart."""
    await stage.start_device()
    right = read_device_keys(stage.device_keys)
    write_device_keys(stage.device_keys, spoil(right))
    await stage.start_daemon(Orders(longest_pause=0.2))
    shown = await state_after(stage, "link.refused")
    assert shown.device.link == "refused"
    assert shown.device.code == code
    assert advice in advice_in(shown)
    write_device_keys(stage.device_keys, right)
    await assert_recovers(stage)
    assert next(event.code for event in Evidence(stage).of(DeviceLost)) == code, "journaled"


async def test_key_file_that_vanishes(stage: Stage) -> None:
    await stage.start_device()
    right = read_device_keys(stage.device_keys)
    await stage.start_daemon(Orders(as_another_user=False, handshake_within=1.0))
    await stage.device.ended()
    await stage.daemon.until(lambda: stage.daemon.logged("link.lost"))
    stage.device_keys.unlink()
    noise = Pty(stage.port)
    try:
        await stage.daemon.until(lambda: any(line["code"] == "key-file" for line in stage.daemon.logged("link.lost")))
        shown = await stage.state()
        assert shown.device.code == "key-file"
        assert "device.keys" in advice_in(shown)
        write_device_keys(stage.device_keys, right)
    finally:
        noise.hang_up()
    assert await stage.daemon.end() == 0


@pytest.mark.soak
async def test_a_device_that_sends_garbage(stage: Stage) -> None:
    random = Random(5)  # repeatable noise
    noise = Pty(stage.port)
    try:
        await stage.start_daemon(Orders(handshake_within=1.0))
        await noise.until_received(1)
        for _ in range(20):
            noise.send(random.randbytes(100))
        shown = await state_after(stage, "link.lost")
        assert shown.device.link in ("lost", "connecting", "authenticating")
        assert shown.device.code == "device-garbage"
        assert "baud=" in advice_in(shown)
    finally:
        noise.hang_up()
    await stage.start_device()
    await assert_recovers(stage)


async def test_a_silent_device(stage: Stage) -> None:
    silent = Pty(stage.port)
    try:
        await stage.start_daemon(Orders(handshake_within=0.5))
        shown = await state_after(stage, "link.lost")
        assert shown.device.code == "device-no-answer"
        assert "power" in advice_in(shown)
    finally:
        silent.hang_up()
    assert await stage.daemon.end() == 0


async def test_a_port_that_is_missing(stage: Stage) -> None:
    await stage.start_daemon()
    shown = await state_after(stage, "link.absent")
    assert shown.device.link == "absent"
    assert shown.device.code == "port-missing"
    assert str(stage.port) in advice_in(shown)
    assert "Plug the device in" in advice_in(shown)
    await stage.start_device()
    await assert_recovers(stage)


async def test_a_port_in_use_by_another_program(stage: Stage) -> None:
    await stage.start_device()
    other = os.open(stage.port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        await stage.start_daemon()
        shown = await state_after(stage, "link.absent")
        assert shown.device.code == "port-busy"
        assert "fuser" in advice_in(shown)
    finally:
        os.close(other)
    await assert_recovers(stage)


async def test_a_port_without_permission(stage: Stage) -> None:
    await stage.start_device()
    stage.port.chmod(0o600 if AS_ROOT else 0)  # the permissions of the terminal behind the link
    stage.give_to_another_user()
    await stage.start_daemon(Orders(as_another_user=AS_ROOT))
    shown = await state_after(stage, "link.absent")
    assert shown.device.code == "port-permission"
    assert "group" in advice_in(shown)
    stage.port.chmod(0o666)
    await assert_recovers(stage)


async def test_a_port_is_free_again_after_the_daemon_was_killed(stage: Stage) -> None:
    """A killed daemon's exclusive access leaves nothing behind, even for an ordinary user."""
    await stage.start_device()
    stage.port.chmod(0o666)
    stage.give_to_another_user()
    entry = 0
    for _ in range(3):
        await stage.start_daemon(Orders(as_another_user=AS_ROOT))
        async with ApiClient(stage.socket) as client:
            entry = (await stage.events_until(client, "device_ready", entry))[-1]["entry"]
        await stage.kill_daemon()
    await stage.start_daemon(Orders(as_another_user=AS_ROOT))
    await assert_recovers(stage)


def visit(stage: Stage) -> Child:
    return Child("tests.end_to_end.visitor", str(stage.socket))


@pytest.mark.skipif(not AS_ROOT, reason="another user's program is started as root only")
async def test_another_user_is_not_admitted(stage: Stage) -> None:
    """The socket's permissions let the user connect."""
    await stage.start_daemon()
    stage.folder.chmod(0o755)
    visitor = visit(stage)
    assert await visitor.ended() == 0, visitor.err
    assert visitor.out[0] == "403"
    assert "not admitted" in visitor.out[1]
    assert "T-1" not in visitor.out[1]
