"""Serial ports on real pseudo-terminals: opened or refused with a next step, lost once, and nothing left behind."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import subprocess
import sys
import termios
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import pytest_mock
import serial

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportLostError, TransportUnavailableError, TwinDeviceError
from firmware_bridge.transports import serial_port
from firmware_bridge.transports.base import UNSENT_LIMIT
from firmware_bridge.transports.registry import open_transport
from firmware_bridge.transports.serial_port import SerialTransport, find_port, open_serial_port

from .parts import Changes, Pty, open_descriptors
from .test_link_faults import EXCEPTIONS


class Line:
    """A transport's user: the received bytes, and the reported loss."""

    def __init__(self, changes: Changes) -> None:
        self.data = bytearray()
        self.losses: list[TransportLostError] = []
        self.changes = changes

    def on_data(self, data: bytes) -> None:
        assert data
        self.data += data
        self.changes.note()

    def on_lost(self, error: TransportLostError) -> None:
        self.losses.append(error)
        self.changes.note()

    async def open(self, path: Path, *, listen: bool = False) -> SerialTransport:
        url = DeviceUrl("serial", path=str(path), listen=listen)
        transport = await open_transport(url, on_data=self.on_data, on_lost=self.on_lost)
        assert isinstance(transport, SerialTransport)
        return transport


@pytest.fixture
async def changes() -> Changes:
    return Changes()


@pytest.fixture
async def line(changes: Changes) -> Line:
    return Line(changes)


@pytest.fixture
async def pty(tmp_path: Path, changes: Changes) -> AsyncIterator[Pty]:
    pty = Pty(tmp_path / "SHOE-1", changes=changes)
    yield pty
    pty.hang_up()


async def refusal(line: Line, path: Path) -> TransportUnavailableError:
    """Try to open a device that cannot be opened, and return the error. Nothing may be left open."""
    before = open_descriptors()
    with pytest.raises(TransportUnavailableError) as refused:
        await line.open(path)
    assert open_descriptors() == before
    assert refused.value.hint
    return refused.value


# -- opening ------------------------------------------------------------------------------------------------------


async def test_a_missing_port(line: Line, tmp_path: Path) -> None:
    assert (await refusal(line, tmp_path / "SHOE-1")).code == "port-missing"


async def test_a_name_that_leads_nowhere(line: Line, tmp_path: Path) -> None:
    (tmp_path / "SHOE-1").symlink_to(tmp_path / "gone")
    assert (await refusal(line, tmp_path / "SHOE-1")).code == "port-missing"


async def test_a_file_is_not_a_port(line: Line, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("no port")
    refused = await refusal(line, tmp_path / "notes")
    assert refused.code == "port-failed"
    assert "is not a serial port" in str(refused)


async def test_a_folder_is_not_a_port(line: Line, tmp_path: Path) -> None:
    assert (await refusal(line, tmp_path)).code == "port-failed"


async def test_a_port_in_use_and_free_again(line: Line, pty: Pty) -> None:
    first = await line.open(pty.node)
    assert (await refusal(line, pty.node)).code == "port-busy"
    first.close()
    (await line.open(pty.node)).close()


@pytest.mark.parametrize("failing", ["tcsetattr", "tcgetattr"])
async def test_a_port_that_fails_while_it_is_set_up(
    line: Line, pty: Pty, mocker: pytest_mock.MockerFixture, failing: str
) -> None:
    refuse = mocker.patch.object(termios, failing, side_effect=termios.error(5, "Input/output error"))
    assert (await refusal(line, pty.node)).code == "port-failed"
    mocker.stop(refuse)
    (await line.open(pty.node)).close()


async def test_a_port_that_cannot_be_exclusive(line: Line, pty: Pty, mocker: pytest_mock.MockerFixture) -> None:
    real = fcntl.ioctl

    def refuse_exclusive_use(descriptor: int, request: int, *rest: Any) -> Any:
        if request == termios.TIOCEXCL:
            raise OSError(5, "Input/output error")
        return real(descriptor, request, *rest)

    mocker.patch("firmware_bridge.transports.serial_port.fcntl.ioctl", side_effect=refuse_exclusive_use)
    assert (await refusal(line, pty.node)).code == "port-failed"


@pytest.mark.parametrize("error", [serial.SerialException("gone"), ValueError("speed"), OverflowError("speed")])
async def test_errors_of_pyserial(line: Line, pty: Pty, mocker: pytest_mock.MockerFixture, error: Exception) -> None:
    mocker.patch.object(serial.Serial, "open", side_effect=error)
    assert (await refusal(line, pty.node)).code == "port-failed"


async def test_a_failed_registration_leaves_nothing_open(
    line: Line, pty: Pty, mocker: pytest_mock.MockerFixture
) -> None:
    before = open_descriptors()
    mocker.patch.object(asyncio.get_running_loop(), "add_reader", side_effect=RuntimeError("no more"))
    with pytest.raises(RuntimeError):
        await line.open(pty.node)
    assert open_descriptors() == before


AS_NOBODY = """
import asyncio, os, pwd, sys
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.errors import BridgeError
from firmware_bridge.transports.registry import open_transport
from firmware_bridge.transports import serial_port
if os.geteuid() == 0:
    nobody = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
url = parse_device_url("serial://" + sys.argv[1])
try:
    transport = asyncio.run(open_transport(url, on_data=print, on_lost=print))
    print("opened")
except BridgeError as error:
    print(error.code, "|", error, "|", error.hint)
"""


def opened_by_another_user(path: Path) -> str:
    """Return the error that the user `nobody` gets when opening the port, or this user when not root."""
    child = subprocess.run([sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=True)
    return child.stdout


@pytest.mark.parametrize(("mode", "advice"), [(0o060, "usermod -aG {group} USER"), (0o000, "udev rules")])
async def test_no_permission_names_the_group_that_has_it(pty: Pty, mode: int, advice: str) -> None:
    if os.geteuid() == 0:
        shutil.chown(pty.node, group="tty")
    else:
        mode, advice = 0, "udev rules"  # our own group would have access
    pty.node.chmod(mode)
    group = pty.node.group()
    said = opened_by_another_user(pty.node)
    assert said.startswith("port-permission")
    assert f"the group {group}" in said
    assert advice.format(group=group) in said


@pytest.mark.skipif(os.geteuid() != 0, reason="another user's program is started as root only")
async def test_a_program_that_asks_for_no_lock_is_kept_out_too(line: Line, pty: Pty) -> None:
    pty.node.chmod(0o666)
    assert opened_by_another_user(pty.node) == "opened\n"
    transport = await line.open(pty.node)
    assert opened_by_another_user(pty.node).startswith("port-busy")
    transport.close()
    assert opened_by_another_user(pty.node) == "opened\n"


async def test_a_group_without_a_name(line: Line, pty: Pty, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(serial.Serial, "open", side_effect=serial.SerialException(13, "Permission denied"))
    mocker.patch("firmware_bridge.transports.base.grp.getgrgid", side_effect=KeyError(4711))
    refused = await refusal(line, pty.node)
    assert refused.code == "port-permission"
    assert f"the group {pty.node.stat().st_gid}" in str(refused.hint)


async def test_a_folder_closed_to_this_user(line: Line, tmp_path: Path, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(serial.Serial, "open", side_effect=serial.SerialException(13, "Permission denied"))
    refused = await refusal(line, tmp_path / "closed" / "SHOE-1")
    assert refused.code == "port-permission"
    assert "folder" in str(refused.hint)


def port(node: Path, serial_number: str | None) -> Any:
    return SimpleNamespace(device=str(node), serial_number=serial_number)


NAMED = "/dev/cardshoe/CARDSHOE-TEST-4711"  # no machine has such a node


async def test_a_device_without_our_udev_rules_is_found_by_its_serial_number(
    line: Line, pty: Pty, tmp_path: Path
) -> None:
    """It is found even if ttyUSB0 becomes ttyUSB1."""
    ports = [port(Path("/dev/ttyS0"), None), port(pty.node, "CARDSHOE-TEST-4711"), port(Path("/dev/ttyUSB7"), "other")]
    url = DeviceUrl("serial", path=NAMED)
    given: dict[str, Any] = {"on_data": line.on_data, "on_lost": line.on_lost, "list_ports": lambda: ports}
    first = await open_serial_port(url, **given)
    pty.send(b"found")
    await line.changes.until(lambda: line.data == b"found")
    first.close()
    moved = Pty(tmp_path / "another", changes=line.changes)
    ports[1] = port(moved.node, "CARDSHOE-TEST-4711")
    second = await open_serial_port(url, **given)
    moved.send(b" again")
    await line.changes.until(lambda: line.data == b"found again")
    second.close()
    moved.hang_up()


async def test_a_serial_number_of_several_ports_identifies_none(line: Line) -> None:
    ports = [port(Path(f"/dev/ttyUSB{n}"), "CARDSHOE-TEST-4711") for n in range(2)]
    with pytest.raises(TransportUnavailableError) as refused:
        find_port(NAMED, lambda: ports)
    assert refused.value.code == "port-ambiguous"
    assert "/dev/ttyUSB0 and /dev/ttyUSB1" in str(refused.value)
    assert find_port(NAMED, lambda: ports[:1] * 2) == "/dev/ttyUSB0", "the same port listed twice is one"


async def test_a_device_for_which_the_kernel_makes_no_port(line: Line, tmp_path: Path) -> None:
    """It is plugged in, and its driver is missing: the next step names the driver, and a way that does not need one."""
    device = tmp_path / "1-4"
    (device / "1-4:1.1").mkdir(parents=True)
    for name, text in {"idVendor": "1209", "idProduct": "0001", "busnum": "1", "devnum": "7"}.items():
        (device / name).write_text(text)
    (device / "serial").write_text("CARDSHOE-TEST-4711\n")
    given: dict[str, Any] = {"on_data": line.on_data, "on_lost": line.on_lost, "list_ports": list, "devices": tmp_path}
    with pytest.raises(TransportUnavailableError) as refused:
        await open_serial_port(DeviceUrl("serial", path=NAMED), **given)
    assert refused.value.code == "port-missing"
    assert "modprobe cdc_acm" in str(refused.value.hint)
    assert 'url = "usb:///1209:0001/CARDSHOE-TEST-4711"' in str(refused.value.hint)
    (device / "1-4:1.1" / "tty").mkdir()
    with pytest.raises(TransportUnavailableError) as refused:
        await open_serial_port(DeviceUrl("serial", path=NAMED), **given)
    assert "modprobe" not in str(refused.value.hint), "it has a port, which udev has still to name"


async def test_a_name_that_udev_gave_one_of_two_devices_opens_neither(
    line: Line, pty: Pty, tmp_path: Path, mocker: pytest_mock.MockerFixture
) -> None:
    mocker.patch.object(serial_port, "_NAMED_BY_SERIAL", tmp_path)
    name = tmp_path / "CARDSHOE-1"
    name.symlink_to(pty.node)
    ports = [port(pty.node, "CARDSHOE-1"), port(Path("/dev/ttyACM7"), "CARDSHOE-1")]
    given: dict[str, Any] = {"on_data": line.on_data, "on_lost": line.on_lost, "list_ports": lambda: ports}
    url = DeviceUrl("serial", path=str(name))
    with pytest.raises(TwinDeviceError) as refused:
        await open_serial_port(url, **given)
    assert refused.value.code == "port-ambiguous"
    for one, place in zip(ports, ("1-2:1.1", "1-2:1.3"), strict=True):
        one.location = place
    (await open_serial_port(url, **given)).close()  # two ports of one device
    del ports[1]
    (await open_serial_port(url, **given)).close()


@pytest.mark.parametrize("path", ["/dev/ttyUSB0", "/dev/serial/CARDSHOE-TEST-4711", "/dev/cardshoe/CARDSHOE-TEST"])
def test_nothing_else_is_guessed(path: str) -> None:
    assert find_port(path, lambda: [port(Path("/dev/ttyUSB1"), "CARDSHOE-TEST-4711")]) == path


def test_an_existing_node_is_not_looked_up(tmp_path: Path, mocker: pytest_mock.MockerFixture) -> None:
    node = tmp_path / "CARDSHOE-1"
    mocker.patch.object(serial_port, "_NAMED_BY_SERIAL", tmp_path)
    node.touch()
    assert find_port(str(node), lambda: [port(Path("/dev/ttyUSB1"), node.name)]) == str(node)


def test_the_ports_of_this_machine_can_be_listed() -> None:
    for found in serial_port.list_ports():
        assert found.device.startswith("/dev/")


@pytest.mark.parametrize("call", ["read", "write"])
async def test_any_exception_of_a_port_is_a_loss(
    line: Line, pty: Pty, mocker: pytest_mock.MockerFixture, call: str
) -> None:
    for make in EXCEPTIONS:
        error = make()
        if isinstance(error, BlockingIOError | InterruptedError) or not isinstance(error, Exception):
            continue  # the first two are not errors, and a system call is never cancelled
        line.losses.clear()
        transport = await line.open(pty.node)
        before = open_descriptors()
        raising = mocker.patch(f"firmware_bridge.transports.fd.os.{call}", side_effect=error)
        if call == "write":
            transport.write(b"x")
        else:
            asyncio.get_running_loop().call_soon(transport._read)
            await line.changes.until(lambda: bool(line.losses))
        mocker.stop(raising)
        assert [loss.code for loss in line.losses] == ["transport-lost"]
        assert open_descriptors() == before - 1


async def test_how_the_line_is_set(line: Line, pty: Pty) -> None:
    settings = termios.tcgetattr(pty.slave)
    settings[0] |= termios.BRKINT
    settings[2] |= termios.HUPCL
    termios.tcsetattr(pty.slave, termios.TCSANOW, settings)
    transport = await line.open(pty.node)
    settings = termios.tcgetattr(pty.slave)
    assert settings[6][termios.VMIN] == 1
    assert not settings[2] & termios.HUPCL
    assert not settings[0] & termios.BRKINT
    assert not settings[3] & (termios.ECHO | termios.ICANON | termios.ISIG)
    transport.close()


# -- bytes --------------------------------------------------------------------------------------------------------


async def test_bytes_pass_unchanged_both_ways(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node)
    every = bytes(range(256))
    pty.send(every)
    transport.write(every)
    await line.changes.until(lambda: len(line.data) == 256 and len(pty.received) == 256)
    assert line.data == pty.received == every
    transport.close()


async def test_data_that_the_port_does_not_take_is_sent_later(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node)
    data = os.urandom(UNSENT_LIMIT)
    transport.write(data)
    transport.write(b"and last")
    await pty.until_received(len(data) + 8)
    assert pty.received == data + b"and last"
    transport.close()


async def test_a_port_that_is_temporarily_full(line: Line, pty: Pty, mocker: pytest_mock.MockerFixture) -> None:
    transport = await line.open(pty.node)
    write = mocker.patch("firmware_bridge.transports.serial_port.os.write", side_effect=[BlockingIOError(), 2, 3])
    transport.write(b"later")
    transport.write(b"")
    for _ in range(10):
        await asyncio.sleep(0)
    assert write.call_count == 3, "all is sent, and the port is asked no more"
    assert not line.losses
    transport.close()


async def test_a_device_that_reads_nothing_is_lost(line: Line, pty: Pty) -> None:
    before = open_descriptors()
    transport = await line.open(pty.node)
    for _ in range(8):
        transport.write(bytes(UNSENT_LIMIT // 2))  # the test does not yield, so the far end does not read
    assert [loss.code for loss in line.losses] == ["transport-stalled"]
    assert open_descriptors() == before


async def test_nothing_is_written_to_a_one_way_line(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node, listen=True)
    transport.write(b"never")
    pty.send(b"heard")
    await line.changes.until(lambda: line.data == b"heard")
    assert not pty.received
    transport.close()


# -- the end ------------------------------------------------------------------------------------------------------


async def test_a_pulled_cable_is_reported_once(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node)
    before = open_descriptors()
    pty.hang_up()
    await line.changes.until(lambda: bool(line.losses))
    transport.write(b"too late")
    transport.close()
    await asyncio.sleep(0)
    assert [loss.code for loss in line.losses] == ["transport-lost"]
    assert line.losses[0].hint
    assert open_descriptors() == before - 3  # both ends of the pty, and ours


async def test_writing_to_a_pulled_cable_is_a_loss_and_no_exception(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node)
    pty.hang_up()
    transport.write(b"too late")
    assert [loss.code for loss in line.losses] == ["transport-lost"]


async def test_a_cable_pulled_while_bytes_wait_to_be_sent(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node)
    transport.write(bytes(UNSENT_LIMIT))
    pty.hang_up()
    await line.changes.until(lambda: bool(line.losses))
    assert len(line.losses) == 1


@pytest.mark.parametrize("answer", [b"", OSError(5, "Input/output error")], ids=["no bytes", "an error"])
async def test_a_hung_up_line_is_lost(
    line: Line, pty: Pty, mocker: pytest_mock.MockerFixture, answer: bytes | OSError
) -> None:
    await line.open(pty.node)
    mocker.patch("firmware_bridge.transports.serial_port.os.read", side_effect=[answer] if answer == b"" else answer)
    os.write(pty.master, b"x")
    await line.changes.until(lambda: bool(line.losses))
    assert len(line.losses) == 1
    assert not line.data


async def test_woken_for_nothing(line: Line, pty: Pty, mocker: pytest_mock.MockerFixture) -> None:
    transport = await line.open(pty.node)
    mocker.patch("firmware_bridge.transports.serial_port.os.read", side_effect=[BlockingIOError(), b"then"])
    os.write(pty.master, b"x")
    await line.changes.until(lambda: line.data == b"then")
    assert not line.losses
    transport.close()


async def test_after_close_nothing_is_called(line: Line, pty: Pty) -> None:
    transport = await line.open(pty.node)
    pty.send(b"unread")
    transport.close()
    transport.close()
    transport.write(b"unsent")
    await asyncio.sleep(0)
    pty.hang_up()
    await asyncio.sleep(0)
    assert not line.data
    assert not line.losses


@pytest.mark.parametrize(("held", "dropped"), [(0, 0), (17, 1)])
async def test_close_does_not_wait_for_unread_data(
    line: Line, pty: Pty, mocker: pytest_mock.MockerFixture, held: int, dropped: int
) -> None:
    transport = await line.open(pty.node)
    mocker.patch.object(serial_port, "_held_by_kernel", return_value=held)  # a pty holds nothing
    drop, drain = mocker.spy(termios, "tcflush"), mocker.spy(termios, "tcdrain")
    transport.close()
    assert drop.call_count == dropped
    assert drain.call_count == 0


def test_closing_after_the_loop_has_ended() -> None:
    before = open_descriptors()
    master, slave = os.openpty()

    async def leave_open() -> SerialTransport:
        return await Line(Changes()).open(Path(os.ttyname(slave)))

    transport = asyncio.run(leave_open())
    transport.close()
    os.close(master)
    os.close(slave)
    assert open_descriptors() == before
