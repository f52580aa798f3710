"""The whole daemon over other transports than a serial port: raw TCP, and a simulated device in its process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.metadata import entry_points

import pytest

from controller.api.client import ApiClient
from controller.api.pins import SCRYPT
from firmware_bridge.device_keys import write_device_keys
from firmware_bridge.transports.registry import ENTRY_POINTS
from simulators.people.crew import CHEAP_SCRYPT
from simulators.ports.in_process import simulated_key, simulated_serial
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import Child
from tests.end_to_end.stage import Stage, short_folder


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            yield stage


async def test_rounds_are_played_over_tcp(stage: Stage) -> None:
    device = await stage.start_device(tcp="127.0.0.1:0")
    stage.configure(url=device.out[0])
    await stage.start_daemon()
    await stage.played()
    shown = await stage.last_state()
    assert shown.device.code in ("transport-lost", "tcp-refused")
    assert await stage.daemon.end() == 0
    Evidence(stage).check(shown)


def keys_of(kind: str) -> dict[str, bytes]:
    serial = simulated_serial(kind)
    return {serial: simulated_key(serial)}


def test_the_installed_program_provides_simulated_devices() -> None:
    assert [row.name for row in entry_points(group=ENTRY_POINTS)] == ["sim"], "install it again: pip install -e ."


async def test_a_simulated_device_in_the_daemon_itself(stage: Stage) -> None:
    write_device_keys(stage.device_keys, keys_of("shuffler"))
    stage.configure(url="sim:///shuffler?seed=7")
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        await stage.events_until(client, "status_agrees")
        shown = await client.state()
    assert shown.simulated
    assert shown.device.connected
    assert shown.device.serial == "CARDSHOE-SIM-SHUFFLER"
    assert await stage.daemon.end() == 0


def make_real(stage: Stage) -> None:
    """Turn the table of the configuration into a real table."""
    chosen = 'established_by = { option = "mathematically", chosen_by = "the test", chosen_on = 2026-11-01 }'
    text = stage.configuration.read_text().replace("simulated = true", "simulated = false")
    text = text.replace(f"scrypt${CHEAP_SCRYPT}$", f"scrypt${SCRYPT[0]}$")
    added = f"[program]\ndevelopment = true\n[readings]\n{chosen}\n[device]"
    stage.configuration.write_text(text.replace("[device]", added))


async def test_a_real_table_refuses_a_simulated_device(stage: Stage) -> None:
    device = await stage.start_device(dealer=False, tcp="127.0.0.1:0")
    stage.configure(url=device.out[0])
    make_real(stage)
    await stage.start_daemon()
    async with ApiClient(stage.socket) as client:
        await stage.events_until(client, "device_lost")
        shown = await client.state()
    assert not shown.simulated
    assert shown.service == "out_of_service"
    assert "simulated" in str(shown.service_cause)
    assert await stage.daemon.end() == 0


async def test_a_simulated_shoe_without_identity_is_refused_at_a_real_table(stage: Stage) -> None:
    """Its driver repeats what the table expects: the daemon would show a real Bee-Tek, and deal from it."""
    shoe = Child("controller", "simulate", "--driver", "bee_tek", "--link", str(stage.port), "--draw-every", "0.05")
    try:
        await shoe.until(lambda: shoe.out)
        stage.configure(url=f"serial://{stage.port}?driver=bee_tek")
        make_real(stage)
        daemon = stage.spawn_daemon()
        assert await daemon.ended() == 78, daemon.err
    finally:
        await shoe.end()
    assert "is a pseudo-terminal" in daemon.err[0]
    assert not stage.journal.exists()
