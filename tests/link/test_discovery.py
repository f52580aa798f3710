"""Discovery of plugged-in devices: each is found once, with the driver that fits, and none is opened without need."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.discovery import FoundDevice, FoundUsbDevice, Lists, discover
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.transports.serial_port import open_serial_port
from firmware_bridge.transports.usb_lookup import list_usb
from tests.support.usb_backend import SimulatedUsb, UsbGadget

OURS = {"vid": 0x1209, "pid": 0x0001, "serial_number": "CARDSHOE-0042"}


def port(device: str, **given: Any) -> Any:
    return SimpleNamespace(
        **{"serial_number": None, "vid": None, "pid": None, "description": "n/a", **given}, device=device
    )


def found(
    serial: Iterable[Any] = (), usb: Iterable[FoundUsbDevice] = (), named: Iterable[Path] = ()
) -> tuple[FoundDevice, ...]:
    around = discover(Lists(lambda: serial, lambda: usb, lambda: named))
    assert not around.problems
    return around.devices


def test_a_cardlink_device_is_known_by_all_three_of_its_names() -> None:
    (device,) = found([port("/dev/ttyACM3", **OURS, description="Example Three")])
    assert device.driver == "cardlink"
    assert device.maturity == "this project's own protocol"
    assert (device.place, device.serial, device.usb) == ("/dev/ttyACM3", "CARDSHOE-0042", "1209:0001")
    assert device.url == "serial:///dev/cardshoe/CARDSHOE-0042", "found there whatever its node is called tomorrow"
    assert device.advice == ""


@pytest.mark.parametrize(
    "changed", [{"vid": 0x0403}, {"pid": 0x6001}, {"serial_number": "OTHER-1"}, {"serial_number": None}]
)
def test_other_devices_are_unknown_and_have_a_hint(changed: dict[str, Any]) -> None:
    (device,) = found([port("/dev/ttyUSB0", **OURS | changed)])
    assert device.driver == device.maturity == ""
    for name in ("angel_eye", "bee_tek", "cardlink", "line_reader"):
        assert f"driver={name}" in str(device.advice)
    assert device.url == "serial:///dev/ttyUSB0"


def test_a_port_that_udev_has_named_is_one_device_under_its_name(tmp_path: Path) -> None:
    node = tmp_path / "ttyUSB0"
    node.touch()
    name = tmp_path / "BT-1"
    name.symlink_to(node)
    (device,) = found([port(str(node))], named=[name])
    assert (device.place, device.url) == (str(node), f"serial://{name}")


def test_a_name_that_no_listed_port_has_is_listed_too(tmp_path: Path) -> None:
    (device,) = found(named=[tmp_path / "made-by-hand"])
    assert device.url == f"serial://{tmp_path}/made-by-hand"
    assert device.driver == ""


def test_a_list_that_fails_hides_no_other() -> None:
    def fails() -> Iterable[Any]:
        raise TransportUnavailableError("libusb does not start.", "Install it.", "usb-library")

    def forbidden() -> Iterable[Any]:
        raise PermissionError(errno.EACCES, "Permission denied")

    around = discover(Lists(lambda: [port("/dev/ttyS0")], fails, forbidden))
    assert [device.place for device in around.devices] == ["/dev/ttyS0"]
    assert tuple(map(str, around.problems)) == (
        "The names under /dev/cardshoe cannot be listed: Permission denied.",
        "libusb does not start. Install it.",
    )


# -- on USB ----------------------------------------------------------------------------------------------------------


def test_usb_devices_with_a_vendor_interface_are_listed_and_closed() -> None:
    ours, other = UsbGadget("CARDSHOE-0042"), UsbGadget("X-1", vendor=0x0403, product=0x6001)
    keyboard = UsbGadget("KEYS", interface_class=3)
    seen = list_usb(lambda: SimulatedUsb(ours, other, keyboard))
    assert [(one.vendor, one.serial, one.problem) for one in seen] == [
        (0x1209, "CARDSHOE-0042", ""),
        (0x0403, "X-1", ""),
    ]
    assert not any(gadget.handles for gadget in (ours, other, keyboard))
    first, second = found(usb=seen)
    assert {one.driver for one in (first, second)} == {"cardlink", ""}
    assert parse_device_url(first.url).scheme == "usb"


def test_a_usb_device_that_this_user_may_not_open_is_reported_with_the_next_step() -> None:
    gadget = UsbGadget("CARDSHOE-0042")
    gadget.admitted = False
    (seen,) = list_usb(lambda: SimulatedUsb(gadget))
    assert seen.serial == ""
    assert "may not use the USB device 1209:0001" in str(seen.problem)
    (device,) = found(usb=[seen])
    assert device.problem == seen.problem
    assert (device.url, device.driver) == ("", ""), "without its serial number it has no URL"


# -- a known device on an unknown path -------------------------------------------------------------------------------


async def missing(ports: list[Any]) -> TransportUnavailableError:
    url = DeviceUrl("serial", path="/dev/no-such-node")
    with pytest.raises(TransportUnavailableError) as refused:
        await open_serial_port(url, on_data=lambda data: None, on_lost=lambda error: None, list_ports=lambda: ports)
    assert refused.value.code == "port-missing"
    return refused.value


async def test_a_missing_device_found_under_another_name_is_named_in_the_next_step() -> None:
    error = await missing([port("/dev/ttyS0"), port("/dev/ttyACM3", **OURS)])
    assert "CARDSHOE-0042 is at /dev/ttyACM3" in str(error.hint)
    assert 'url = "serial:///dev/cardshoe/CARDSHOE-0042"' in str(error.hint)


async def test_without_a_cardlink_device_none_is_named() -> None:
    assert "Plug the device in" in str((await missing([port("/dev/ttyUSB0", serial_number="X")])).hint)
