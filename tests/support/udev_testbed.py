"""Prints how udev applies the rules to a made-up USB device: `udevadm test` in umockdev's testbed.

Run as `umockdev-wrapper /usr/bin/python3 tests/support/udev_testbed.py DEVICE`, in its own mount namespace, because
udevadm makes the links for which the rules ask. DEVICE is a JSON object: vendor, product, serial, and interfaces, each
a list of class and subclass in hexadecimal. The output is a JSON object with udevadm's output for the device, its port
and each interface, and `authorized` of each interface afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import gi

gi.require_version("UMockdev", "1.0")
from gi.repository import UMockdev  # noqa: E402  # after its version is chosen

USB = "/devices/pci0000:00/0000:00:14.0/usb1/1-1"


def add(testbed: Any, path: str, node: str, properties: dict[str, str], attributes: dict[str, str]) -> None:
    lines = [f"P: {path}", *([f"N: {node}"] if node else [])]
    lines += [f"E: {name}={value}" for name, value in properties.items()]
    lines += [f"A: {name}={value}\\n" for name, value in attributes.items()]
    testbed.add_from_string("\n".join(lines) + "\n")


def asked(path: str) -> str:
    done = subprocess.run(["udevadm", "test", f"/sys{path}"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main() -> None:
    about = json.loads(sys.argv[1])
    testbed = UMockdev.Testbed.new()
    node, tty = "bus/usb/001/002", f"{USB}/1-1:1.0/tty/ttyACM0"
    numbers = {"MAJOR": "189", "MINOR": "1", "DEVNAME": f"/dev/{node}", "BUSNUM": "001", "DEVNUM": "002"}
    ids = {"idVendor": about["vendor"], "idProduct": about["product"], "serial": about["serial"]}
    add(testbed, USB, node, {"SUBSYSTEM": "usb", "DEVTYPE": "usb_device", **numbers}, ids)
    interfaces = []
    for number, (kind, sub) in enumerate(about["interfaces"]):
        path = f"{USB}/1-1:1.{number}"
        attributes = {"bInterfaceClass": kind, "bInterfaceSubClass": sub, "authorized": "1"}
        add(testbed, path, "", {"SUBSYSTEM": "usb", "DEVTYPE": "usb_interface"}, attributes)
        interfaces.append(path)
    port = {"SUBSYSTEM": "tty", "MAJOR": "166", "MINOR": "0", "DEVNAME": "/dev/ttyACM0"}
    add(testbed, tty, "ttyACM0", port, {"dev": "166:0"})
    answer = {
        "device": asked(USB),
        "port": asked(tty),
        "interfaces": [asked(path) for path in interfaces],
        "authorized": [Path(f"/sys{path}/authorized").read_text().strip() for path in interfaces],
    }
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    shutil.rmtree(testbed.get_root_dir(), ignore_errors=True)
    os._exit(0)  # the testbed's own cleanup would look for its folder


if __name__ == "__main__":
    main()
