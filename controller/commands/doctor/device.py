"""Checks of the device: its node and who may open it, udev's rules, and programs that take ports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from controller.commands.doctor.machine import (
    READ,
    WRITE,
    CheckedTable,
    MachineFinding,
    may,
    ok,
    owner_of,
    problem,
    warning,
)
from controller.commands.init.system import read_system_file, simulate_command
from controller.daemon.configuration import ConfigurationError, read_configuration

RULES: Final = "70-cardshoe.rules"
RELOAD: Final = "udevadm control --reload && udevadm trigger --subsystem-match=usb --subsystem-match=tty"
STABLE: Final = ("/dev/cardshoe/", "/dev/serial/by-id/", "/dev/serial/by-path/", "/dev/ttyS")
BRLTTY: Final = "*brltty*.rules"


def look(table: CheckedTable) -> Iterator[MachineFinding]:
    yield from _shared_device(table)
    url = table.configuration.device_url
    if url.scheme == "tcp":
        yield ok("device", f"The device is behind {url.host}:{url.port}; its network is not examined.")
    elif url.scheme == "sim":
        yield ok("device", "The device is simulated, in the daemon itself.")
    elif url.scheme == "usb":
        yield from _usb(table, url.path)
    else:
        yield from _serial(table, url.path)


def _shared_device(table: CheckedTable) -> Iterator[MachineFinding]:
    """Warn of another table with the same device. Its daemon would find the device busy, or take its cards."""
    etc, own = table.machine.path("/etc/cardshoe"), table.configuration.device
    if not table.file.is_relative_to(etc):
        return
    for path in sorted((*etc.glob("*.toml"), *etc.glob("*/table.toml"))):
        if path == table.file:
            continue
        try:
            other = read_configuration(path)
        except ConfigurationError:
            continue  # the doctor of that table reports its mistakes
        if other.device.url == own.url or (own.serial and other.device.serial == own.serial):
            sentence = f"Table {other.table.name} names the same device, {own.serial or own.url}: {path}."
            yield problem("device", sentence, f"Name the device of each table: {table.file} and {path}")


def _serial(table: CheckedTable, written: str) -> Iterator[MachineFinding]:
    machine = table.machine
    if not written.startswith(STABLE) and not table.configuration.table.simulated:
        yield warning(
            "device name",
            f"{written} may be another device after the next start of the PC.",
            "Name the port under /dev/cardshoe: `ls -l /dev/cardshoe /dev/serial/by-id`, and `cardshoe devices`",
        )
    node = Path(written) if Path(written).exists() else machine.path(written)
    if not node.exists() and table.configuration.table.simulated:
        device, unit = table.configuration.device, table.configuration.table.unit
        start = simulate_command(unit, table.configuration.device_url, device.key_file or "device.keys")
        yield problem("device", f"There is no {written}.", f"In another terminal: {start}")
    elif not node.exists():
        yield problem("device", f"There is no {written}.", f"Plug the device in and switch it on; then {RELOAD}")
    else:
        yield _access(table, node, written)
        usb = _usb_device(table, node)
        if usb is not None:
            yield from _usb_settings(table, usb, node)
    if written.startswith(STABLE[0]):
        yield _rules(table)


def _access(table: CheckedTable, node: Path, written: str) -> MachineFinding:
    """Check that only the daemon may open the node."""
    found = node.stat()
    owner = owner_of(found)
    if table.user is None:
        return warning("device", f"{written} is there ({owner}); it is not known who has to open it.")
    if not may(table.user, found, READ | WRITE):
        return problem("device", f"{table.user.name} may not open {written} ({owner}).", RELOAD)
    if found.st_mode & 0o006:
        return warning("device", f"Every user may open {written} ({owner}), and read cards.", RELOAD)
    return ok("device", f"{table.user.name} may open {written} ({owner}).")


def _rules(table: CheckedTable) -> MachineFinding:
    paths = [f"{folder}/{RULES}" for folder in ("/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d")]
    there = [one for one in paths if table.machine.path(one).exists()]
    if not there:
        return problem("udev", f"udev has no {RULES}.", table.put(RULES, paths[0], RELOAD))
    path = there[0]
    if path != paths[-1] and paths[-1] in there:
        return warning("udev", f"{path} hides the package's file.", f"rm {path} && {RELOAD}")
    if table.machine.path(path).read_text("utf-8", errors="replace") != read_system_file(RULES):
        return warning("udev", f"{path} does not match this version.", table.put(RULES, path, RELOAD))
    return ok("udev", f"{path} matches this version.")


class UsbDevice(NamedTuple):
    """A device's folder in sysfs, with vendor and product as four hexadecimal digits each."""

    folder: Path
    vendor: str
    product: str


def _usb_device(table: CheckedTable, node: Path) -> UsbDevice | None:
    """Return the USB device behind a serial port, if any."""
    folder = table.machine.path(f"/sys/class/tty/{node.resolve().name}/device")
    if not folder.exists():
        return None
    for one in (folder.resolve(), *folder.resolve().parents):
        if (one / "idVendor").exists():
            return UsbDevice(one, _text(one / "idVendor"), _text(one / "idProduct"))
    return None


def _usb(table: CheckedTable, path: str) -> Iterator[MachineFinding]:
    """Check a device without a serial converter, named as `/VID:PID/SERIAL`."""
    pair, _, serial = path.strip("/").partition("/")
    for one in sorted(table.machine.path("/sys/bus/usb/devices").glob("*")):
        found = UsbDevice(one, _text(one / "idVendor"), _text(one / "idProduct"))
        if f"{found.vendor}:{found.product}" == pair.lower() and _text(one / "serial") == serial:
            numbers = [int(_text(one / name) or 0) for name in ("busnum", "devnum")]
            node = table.machine.path(f"/dev/bus/usb/{numbers[0]:03d}/{numbers[1]:03d}")
            if node.exists():
                yield _access(table, node, f"USB device {serial}")
                yield from _usb_settings(table, found, node)
                yield _rules(table)
                return
    yield problem("device", f"No USB device {pair} with the serial number {serial} is there.", "Plug the device in")


def _usb_settings(table: CheckedTable, usb: UsbDevice, node: Path) -> Iterator[MachineFinding]:
    if _text(usb.folder / "power/control") == "auto":
        control = f"/{(usb.folder / 'power/control').relative_to(table.machine.root.resolve())}"
        yield warning("USB power", "The PC may put the device to sleep (autosuspend).", f"echo on > {control}")
    else:
        yield ok("USB power", "The PC does not put the device to sleep.")
    yield _modem_manager(table, node)
    yield _brltty(table, usb)


def _modem_manager(table: CheckedTable, node: Path) -> MachineFinding:
    run = table.machine.run
    if run("systemctl", "is-active", "ModemManager") != "active":
        return ok("ModemManager", "ModemManager does not run.")
    found = run("udevadm", "info", "--query=property", f"--name={node}")
    if found is not None and "ID_MM_DEVICE_IGNORE=1" in found.split():
        return ok("ModemManager", "ModemManager leaves the device alone.")
    return problem("ModemManager", "ModemManager runs and may treat the device as a modem.", RELOAD)


def _brltty(table: CheckedTable, usb: UsbDevice) -> MachineFinding:
    """Check whether brltty's rules name this pair. An equally named file in /etc overrides them, even if empty."""
    named = re.compile(rf"{usb.vendor}/{usb.product}/|{usb.vendor}.*{usb.product}", re.IGNORECASE)
    for rules in sorted(table.machine.path("/usr/lib/udev/rules.d").glob(BRLTTY)):
        mask = table.machine.path("/etc/udev/rules.d") / rules.name
        text = (mask if mask.exists() or mask.is_symlink() else rules).read_text("utf-8", errors="replace")
        if named.search(text):
            link = f"ln -s /dev/null /etc/udev/rules.d/{rules.name}"
            return problem("brltty", "brltty treats this converter as a Braille display.", f"{link} && {RELOAD}")
    return ok("brltty", "brltty leaves the device alone.")


def _text(path: Path) -> str:
    """Read a line from sysfs. Return "" if it does not exist."""
    try:
        return path.read_text("ascii", errors="replace").strip()
    except OSError:
        return ""
