"""A wrong, swapped or hostile device, or a wrong configuration of it: refused with a sentence and its code.

The refusal is journaled, and the table is out of service, never partly in service.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from hashlib import sha256
from random import Random, SystemRandom
from typing import Any

import pytest

from controller.api.client import ApiClient
from controller.api.view import TableView
from controller.table.events import DeviceDiffers, DeviceLost, DeviceReady, ServiceChanged
from controller.table.phases import Service
from firmware_bridge.device_keys import add_device_key, write_device_keys
from firmware_bridge.drivers.cardlink.framing import HEADER, FrameReader, enclose
from firmware_bridge.drivers.cardlink.messages import FrameKind
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.pty import PtyFront
from tests.end_to_end.child import Orders
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.link.parts import BOOT, KEY, SERIAL, Pty, SmallDevice

SIMULATED = "CARDSHOE-SIM-1"  # the name of a device of `cardshoe simulate`


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=1) as stage:
            yield stage


def say_of_the_device(stage: Stage, line: str) -> None:
    """Add a line to `[device]`."""
    text = stage.configuration.read_text()
    assert text.count("[journal]") == 1
    stage.configuration.write_text(text.replace("[journal]", f"{line}\n[journal]"))


async def until_journaled(stage: Stage, code: str) -> None:
    """Wait for the event that the device was lost with this code."""
    async with ApiClient(stage.socket) as client:
        event: dict[str, Any] = {"entry": 0, "code": ""}
        while event["code"] != code:
            event = (await stage.events_until(client, "device_lost", event["entry"]))[-1]


async def state_with(stage: Stage, code: str, event: str = "link.refused", *, in_journal: bool = True) -> TableView:
    """Return the state once the daemon has logged and journaled the reason: out of service, with sentence and hint."""
    await stage.daemon.until(lambda: any(line["code"] == code for line in stage.daemon.logged(event)))
    written = [line for line in stage.daemon.err if f'"event": "{event}"' in line]
    assert all(line.startswith(f'{{"event": "{event}", "sentence": ') for line in written), written
    assert all(len(line) <= 500 for line in written if event == "link.lost"), "journalctl cuts long lines"
    if in_journal:
        await until_journaled(stage, code)
    shown = await stage.state()
    assert shown.device.code == code
    assert shown.service == "out_of_service"
    assert not shown.device.connected
    assert re.search(r"[.:] ?.+\.$", f"{shown.device.sentence} {shown.device.hint}".strip())
    return shown


async def journaled(stage: Stage, code: str) -> Evidence:
    """End the daemon and check that its journal has exactly one refusal and that the table was never in service."""
    assert await stage.daemon.end() == 0
    stage.device_log.touch()
    evidence = Evidence(stage)
    lost = evidence.of(DeviceLost)
    assert [event.code for event in lost] == [code]
    assert not [change for change in evidence.of(ServiceChanged) if change.service is Service.IN_SERVICE]
    return evidence


# -- pinned and approved ---------------------------------------------------------------------------------------------


async def test_another_device_than_the_pinned_one_even_if_paired(stage: Stage) -> None:
    """The configuration decides: it is corrected, and the daemon restarted."""
    say_of_the_device(stage, 'serial = "CARDSHOE-0042"')
    await stage.start_device()
    await stage.start_daemon()
    shown = await state_with(stage, "device-other-serial")
    assert f"The connected device is {SIMULATED}" in str(shown.device.sentence)
    assert "[device] serial" in str(shown.device.sentence)
    assert shown.service_cause == shown.device.sentence
    assert not (await journaled(stage, "device-other-serial")).of(DeviceReady)
    stage.configuration.write_text(stage.configuration.read_text().replace("CARDSHOE-0042", SIMULATED))
    await stage.start_daemon()
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    Evidence(stage).check(shown)


async def test_unapproved_firmware(stage: Stage) -> None:
    say_of_the_device(stage, f'firmware_digests = ["{"a" * 64}"]')
    await stage.start_device()
    await stage.start_daemon()
    shown = await state_with(stage, "device-firmware")
    assert "0" * 64 in str(shown.device.sentence), "what would have to be approved"
    assert not (await journaled(stage, "device-firmware")).of(DeviceReady)


@pytest.mark.soak
async def test_a_paired_device_that_takes_over_between_rounds_is_reported(stage: Stage) -> None:
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    small = Pty(stage.port, SmallDevice())
    try:
        await stage.start_daemon()
        await stage.daemon.until(lambda: stage.daemon.logged("link.ready"))
    finally:
        small.hang_up()
    await stage.start_device()
    await stage.daemon.until(lambda: len(stage.daemon.logged("link.ready")) == 2)
    await stage.played()
    shown = await stage.last_state()
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    assert evidence.of(DeviceDiffers) == [DeviceDiffers("serial", SERIAL, SIMULATED)]
    assert shown.device.serial == SIMULATED


# -- proofs ----------------------------------------------------------------------------------------------------------


class Replay(SmallDevice):
    """An attacker with a recorded handshake of the right device, who answers a later one with it."""

    def __init__(self) -> None:
        super().__init__()
        self._recorded: dict[int, bytes] = {}

    def receive(self, data: bytes) -> bytes:
        answers = []
        for frame in FrameReader().receive(data):
            if frame.kind not in self._recorded:
                self._recorded[frame.kind] = super().receive(enclose(frame.content))
            answers.append(self._recorded[frame.kind])
        return b"".join(answers)


OLD_KEY, NEXT_KEY, OTHER_KEY = (bytes(range(first, first + 32)) for first in (1, 101, 201))


@pytest.fixture
def device_with_key(stage: Stage) -> Iterator[Callable[[bytes], None]]:
    """Give the simulated device at the stage's port this key; the key file has an old and a next one."""
    carried: list[asyncio.Task[None]] = []

    def plug(key: bytes) -> None:
        add_device_key(stage.device_keys, SERIAL, OLD_KEY)
        add_device_key(stage.device_keys, SERIAL, NEXT_KEY, as_next=True)
        profile = Profile("shuffler", SERIAL, full_capabilities("shuffler", stages=False))
        clock = asyncio.get_running_loop().time
        device = SimulatedDevice(profile, key=key, random=Random(1), fresh=SystemRandom(), clock=clock, pace=Tempo(0.0))
        front = PtyFront(device, stage.port)
        front.plug()
        carried.append(asyncio.create_task(front.run()))

    yield plug
    for task in carried:
        task.cancel()


@pytest.mark.parametrize(("key", "used"), [(OLD_KEY, "old"), (NEXT_KEY, "next")], ids=["old", "next"])
async def test_while_its_key_is_changed_a_device_may_have_either(
    stage: Stage, device_with_key: Callable[[bytes], None], key: bytes, used: str
) -> None:
    device_with_key(key)
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        await stage.events_until(client, "status_agrees")
        assert (await client.state()).device.key == used
    shown = stage.start("status", "--socket", str(stage.socket))
    await shown.ended()
    assert f"its {used} key" in "".join(shown.out)
    assert [line["key"] for line in stage.daemon.logged("link.key")] == [used]
    assert await stage.daemon.end() == 0
    stage.device_log.touch()
    assert [event.key for event in Evidence(stage).of(DeviceReady)] == [used]


async def test_a_device_with_neither_of_two_keys_is_refused(
    stage: Stage, device_with_key: Callable[[bytes], None]
) -> None:
    device_with_key(OTHER_KEY)
    await stage.start_daemon()
    shown = await state_with(stage, "device-rejects-host")
    assert "neither of its two keys" in str(shown.device.sentence)
    assert not (await journaled(stage, "device-rejects-host")).of(DeviceReady)


IMAGE = SystemRandom().randbytes(200_000)


async def test_a_device_with_the_approved_program_serves_and_one_with_another_does_not(stage: Stage) -> None:
    """The second device has the same key and one wrong byte in its program."""
    image, program = stage.folder / "image.bin", stage.folder / "program.bin"
    image.write_bytes(IMAGE)
    program.write_bytes(IMAGE)
    await stage.start_device(dealer=False, program=program)
    say_of_the_device(stage, f'image = "{image}"')
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        await stage.events_until(client, "status_agrees")
        assert (await client.state()).device.image == sha256(IMAGE).hexdigest()
    shown = stage.start("status", "--socket", str(stage.socket))
    await shown.ended()
    assert f"it runs the approved program {sha256(IMAGE).hexdigest()[:16]}" in "".join(shown.out)
    await stage.device.end()
    program.write_bytes(IMAGE[:-1] + bytes([IMAGE[-1] ^ 1]))
    await stage.start_device(dealer=False, program=program)
    refused = await state_with(stage, "device-firmware")
    assert "is not the approved image" in str(refused.device.sentence)
    assert await stage.daemon.end() == 0
    evidence = Evidence(stage)
    assert [event.image for event in evidence.of(DeviceReady)] == [sha256(IMAGE).hexdigest()]
    assert [event.code for event in evidence.of(DeviceLost)][-1] == "device-firmware"


class NewerVersion(SmallDevice):
    """A device with the next version of the protocol."""

    def receive(self, data: bytes) -> bytes:
        return enclose(HEADER.pack(2, FrameKind.STATUS, 0, BOOT, 0))


@pytest.mark.parametrize(
    ("device", "code", "advice"),
    [
        (SmallDevice(key=bytes(32)), "device-proof", "Pair it again."),
        (NewerVersion(), "device-version", "update the older"),
    ],
    ids=["another key", "another version"],
)
async def test_a_device_that_only_claims_to_be_ours(stage: Stage, device: SmallDevice, code: str, advice: str) -> None:
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    pty = Pty(stage.port, device)
    try:
        await stage.start_daemon()
        shown = await state_with(stage, code)
        assert advice in str(shown.device.sentence)
        assert not (await journaled(stage, code)).of(DeviceReady)
    finally:
        pty.hang_up()


async def test_a_recorded_handshake_opens_no_second_link(stage: Stage) -> None:
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    device = Replay()
    pty = Pty(stage.port, device)
    try:
        await stage.start_daemon()
        await stage.daemon.until(lambda: stage.daemon.logged("link.ready"))
        pty.hang_up()
        await stage.daemon.until(lambda: stage.daemon.logged("link.lost"))
        pty = Pty(stage.port, device)
        await state_with(stage, "device-proof")
    finally:
        pty.hang_up()
    assert await stage.daemon.end() == 0
    stage.device_log.touch()
    evidence = Evidence(stage)
    assert [event.code for event in evidence.of(DeviceLost)][-1] == "device-proof"
    assert len(evidence.of(DeviceReady)) == 1


async def test_a_device_that_repeats_its_nonce_is_found_by_the_next_daemon_too(stage: Stage) -> None:
    """The numbers of links are in the journal, where the next daemon finds those used by the daemon that was killed."""
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    device = SmallDevice()
    pty = Pty(stage.port, device)
    try:
        await stage.start_daemon()
        await stage.daemon.until(lambda: stage.daemon.logged("link.ready"))
        await stage.kill_daemon()
        stage.drain_notified()
        await stage.start_daemon()
        shown = await state_with(stage, "device-nonce-repeated")
        assert "Do not deal from it" in str(shown.device.sentence)
        assert not shown.device.connected
    finally:
        pty.hang_up()
    assert await stage.daemon.end() == 0


# -- a wrong driver or a bad line ------------------------------------------------------------------------------------


async def test_a_bee_tek_behind_the_driver_of_cardlink(stage: Stage) -> None:
    shoe = Pty(stage.port)
    try:
        await stage.start_daemon(Orders(handshake_within=1.0))
        await stage.daemon.until(lambda: stage.daemon.logged("link.authenticating"))
        shoe.send(b"[Game]<Card:4S>\r\n" * 10)
        shown = await state_with(stage, "device-garbage", "link.lost", in_journal=False)
        assert "driver=bee_tek" in str(shown.device.sentence)
    finally:
        shoe.hang_up()
    assert await stage.daemon.end() == 0


async def test_a_cardlink_device_behind_the_driver_of_bee_tek(stage: Stage) -> None:
    """It sends its heartbeat to an earlier host. Opening the port made the link ready; after the heartbeat it is not
    ready any more.
    """
    device = SmallDevice()
    stage.configure(url=f"serial://{stage.port}?driver=bee_tek")
    pty = Pty(stage.port)
    try:
        await stage.start_daemon(Orders(longest_pause=0.2))
        await stage.daemon.until(lambda: stage.daemon.logged("link.ready"))
        pty.send(device.status() * 10)
        shown = await state_with(stage, "device-garbage")
        assert "driver=cardlink" in str(shown.device.sentence)
        async with asyncio.timeout(PATIENCE):
            while (
                shown := await stage.state()
            ).device.links < 2:  # a repeated attempt with a refused device is not logged again
                pass
        assert (shown.service, shown.device.connected) == ("out_of_service", False), "it is not believed again"
        pty.send(b"[Game]<Card:4S>\r\n")
        await stage.daemon.until(lambda: len(stage.daemon.logged("link.ready")) == 2)
    finally:
        pty.hang_up()
    assert await stage.daemon.end() == 0
    stage.device_log.touch()
    assert "device-garbage" in [event.code for event in Evidence(stage).of(DeviceLost)]


class BadCable(SmallDevice):
    """A cable on which every frame of the device loses a byte once the link is established."""

    def __init__(self) -> None:
        super().__init__()
        self._bad = False

    def receive(self, data: bytes) -> bytes:
        answer = super().receive(data) or self.status()
        if self._bad:
            return answer[:9] + answer[10:]
        self._bad = FrameKind.RESUME in {frame.kind for frame in FrameReader().receive(data)}
        return answer


@pytest.mark.soak
async def test_a_cable_that_loses_bytes(stage: Stage) -> None:
    write_device_keys(stage.device_keys, {SERIAL: KEY})
    pty = Pty(stage.port, BadCable())
    try:
        await stage.start_daemon()
        shown = await state_with(stage, "device-damaged-frames", "link.lost")
        assert "cable" in str(shown.device.sentence)
        assert "no other program" in str(shown.device.sentence)
    finally:
        pty.hang_up()
    assert await stage.daemon.end() == 0
