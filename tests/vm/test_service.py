"""The daemon under systemd: a silent device, reload, restart, the watchdog."""

from __future__ import annotations

from tests.vm.conftest import Rig
from tests.vm.image import CONFIGURATION, SERVICE, TABLE


async def shown(rig: Rig, name: str) -> str:
    """Return a property of the service."""
    return await rig.machine.guest.run(f"systemctl show {SERVICE} --property {name} --value")


async def test_a_silent_device_becomes_stale_and_the_daemon_lives_on(rig: Rig) -> None:
    await rig.cable.plug()
    await rig.table.until(lambda view: view.device.connected)
    daemon = await shown(rig, "MainPID")
    rig.cable.usb.faults.silent = True
    await rig.table.until(lambda view: view.device.link != "ready")
    await rig.table.until(lambda view: not view.device.connected)
    rig.cable.usb.faults.silent = False
    await rig.table.until(lambda view: view.device.connected and view.device.link == "ready")
    assert await shown(rig, "MainPID") == daemon
    assert await shown(rig, "NRestarts") == "0"


async def test_reload_takes_the_configuration_and_keeps_the_process(rig: Rig) -> None:
    daemon = await shown(rig, "MainPID")
    before = await rig.table.view()
    await rig.machine.guest.run(f"sed -i 's/Sam Ho/Samuel Ho/' {CONFIGURATION} && systemctl reload {SERVICE}")
    await rig.table.until(lambda view: view.entry > before.entry)
    names = [event["event"] for event in await rig.table.events(before.entry)]
    assert "configuration_recorded" in names
    assert await shown(rig, "MainPID") == daemon
    assert await shown(rig, "ActiveState") == "active"


async def test_a_reload_of_a_wrong_configuration_fails_and_logs_why(rig: Rig) -> None:
    before = await rig.table.view()
    change = f"sed -i 's/^\\[table\\]/[table]\\nboxs = 7/' {CONFIGURATION}"
    assert (await rig.machine.guest.attempt(f"{change} && systemctl reload {SERVICE}")).code
    log = await rig.machine.guest.run(f"journalctl --unit {SERVICE} --no-pager --output cat --lines 9")
    assert "boxs" in log
    assert "configuration.refused" in log
    assert await shown(rig, "ActiveState") == "active"
    view = await rig.table.until(lambda view: bool(view.warnings))
    assert any("boxs" in str(one) for one in view.warnings)
    assert view.entry == before.entry


async def test_a_reload_of_a_change_that_needs_a_restart_fails(rig: Rig) -> None:
    """systemd gives the commands of a reload the changed file in place of the one from the start."""
    change = f"sed -i 's/^simulated = true/simulated = false/' {CONFIGURATION}"
    assert (await rig.machine.guest.attempt(f"{change} && systemctl reload {SERVICE}")).code
    view = await rig.table.until(lambda view: bool(view.warnings))
    assert any("simulated" in str(one) for one in view.warnings)


async def test_doctor_names_keys_paired_since_the_start(rig: Rig) -> None:
    """The daemon's copies are mounted for the daemon alone, but doctor, run as root, still finds them."""
    pair = f"cardshoe devices pair CARDSHOE-0002 --key-file /etc/cardshoe/{TABLE}/device.keys"
    doctor = f"cardshoe doctor --no-journal --config {CONFIGURATION}"
    said = (await rig.machine.guest.attempt(f"{pair} && {doctor}")).out
    assert "changed since the daemon's start" in said


async def test_restart_keeps_the_journal_and_finds_the_device_again(rig: Rig) -> None:
    await rig.cable.plug()
    before = await rig.table.until(lambda view: view.device.connected)
    daemon = await shown(rig, "MainPID")
    await rig.machine.guest.run(f"systemctl restart {SERVICE}")
    after = await rig.table.until(lambda view: view.device.connected)
    assert await shown(rig, "MainPID") != daemon
    assert after.journal == before.journal
    assert after.entry > before.entry


async def test_the_watchdog_ends_a_process_that_is_stopped_and_systemd_starts_another(rig: Rig) -> None:
    daemon = await shown(rig, "MainPID")
    await rig.machine.guest.run(f"kill -STOP {daemon}")
    await rig.machine.guest.until(
        f'test "$(systemctl show {SERVICE} --property NRestarts --value)" = 1 && systemctl is-active {SERVICE}'
    )
    assert await shown(rig, "MainPID") != daemon
    assert (await rig.table.until(lambda view: True)).entry > 0
    log = await rig.machine.guest.run(f"journalctl --unit {SERVICE} --no-pager --output cat")
    assert "Watchdog timeout" in log
