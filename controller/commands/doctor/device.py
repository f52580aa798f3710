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
from firmware_bridge.messages import message

RULES: Final = "70-cardshoe.rules"
RELOAD: Final = "udevadm control --reload && udevadm trigger --subsystem-match=usb --subsystem-match=tty"
STABLE: Final = ("/dev/cardshoe/", "/dev/serial/by-id/", "/dev/serial/by-path/", "/dev/ttyS")
BRLTTY: Final = "*brltty*.rules"


def look(table: CheckedTable) -> Iterator[MachineFinding]:
    yield from _shared_device(table)
    url = table.configuration.device_url
    if url.scheme == "tcp":
        yield ok(
            message("device"),
            message(
                "The device is behind {host}:{port}; its network is not examined.", host=url.host, port=url.port or 0
            ),
        )
    elif url.scheme == "sim":
        yield ok(message("device"), message("The device is simulated, in the daemon itself."))
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
            sentence = message(
                "Table {name} names the same device, {serial}: {path}.",
                name=other.table.name,
                serial=own.serial or own.url,
                path=str(path),
            )
            yield problem(
                message("device"),
                sentence,
                message("Name the device of each table: {file} and {path}", file=str(table.file), path=str(path)),
            )


def _serial(table: CheckedTable, written: str) -> Iterator[MachineFinding]:
    machine = table.machine
    if not written.startswith(STABLE) and not table.configuration.table.simulated:
        yield warning(
            message("device name"),
            message("{path} may name another device after the PC restarts.", path=written),
            message(
                "Name the port under /dev/cardshoe: `ls -l /dev/cardshoe /dev/serial/by-id`, and `cardshoe devices`"
            ),
        )
    node = Path(written) if Path(written).exists() else machine.path(written)
    if not node.exists() and table.configuration.table.simulated:
        device, unit = table.configuration.device, table.configuration.table.unit
        start = simulate_command(unit, table.configuration.device_url, device.key_file or "device.keys")
        yield problem(
            message("device"),
            message("There is no {path}.", path=written),
            message("In another terminal: {command}", command=start),
        )
    elif not node.exists():
        there = sorted(one.name for one in machine.path(STABLE[0]).glob("*") if one.exists())
        others = tuple(f"{STABLE[0]}{name}" for name in there)
        named = message("There is no {path}, but {others:list}.", path=written, others=others)
        yield problem(
            message("device"),
            named if others else message("There is no {path}.", path=written),
            message("Plug the device in and switch it on; then {command}", command=RELOAD),
        )
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
        return warning(
            message("device"),
            message("{path} is there ({owner}); it is not known who has to open it.", path=written, owner=owner),
        )
    if not may(table.user, found, READ | WRITE):
        return problem(
            message("device"),
            message("{name} may not open {path} ({owner}).", name=table.user.name, path=written, owner=owner),
            RELOAD,
        )
    if found.st_mode & 0o006:
        return warning(
            message("device"),
            message("Every user may open {path} ({owner}), and read cards.", path=written, owner=owner),
            RELOAD,
        )
    return ok(
        message("device"),
        message("{name} may open {path} ({owner}).", name=table.user.name, path=written, owner=owner),
    )


def _rules(table: CheckedTable) -> MachineFinding:
    paths = [f"{folder}/{RULES}" for folder in ("/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d")]
    there = [one for one in paths if table.machine.path(one).exists()]
    if not there:
        return problem("udev", message("udev has no {rules}.", rules=RULES), table.put(RULES, paths[0], RELOAD))
    path = there[0]
    if path != paths[-1] and paths[-1] in there:
        return warning("udev", message("{path} hides the package's file.", path=str(path)), f"rm {path} && {RELOAD}")
    if table.machine.path(path).read_text("utf-8", errors="replace") != read_system_file(RULES):
        return warning(
            "udev", message("{path} does not match this version.", path=str(path)), table.put(RULES, path, RELOAD)
        )
    return ok("udev", message("{path} matches this version.", path=str(path)))


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
    yield problem(
        message("device"),
        message("No USB device {pair} with the serial number {serial} is there.", pair=pair, serial=serial),
        message("Plug the device in"),
    )


def _usb_settings(table: CheckedTable, usb: UsbDevice, node: Path) -> Iterator[MachineFinding]:
    if _text(usb.folder / "power/control") == "auto":
        control = f"/{(usb.folder / 'power/control').relative_to(table.machine.root.resolve())}"
        yield warning(
            message("USB power"), message("The PC may put the device to sleep (autosuspend)."), f"echo on > {control}"
        )
    else:
        yield ok(message("USB power"), message("The PC does not put the device to sleep."))
    yield _modem_manager(table, node)
    yield _brltty(table, usb)


def _modem_manager(table: CheckedTable, node: Path) -> MachineFinding:
    run = table.machine.run
    if run("systemctl", "is-active", "ModemManager") != "active":
        return ok("ModemManager", message("ModemManager does not run."))
    found = run("udevadm", "info", "--query=property", f"--name={node}")
    if found is not None and "ID_MM_DEVICE_IGNORE=1" in found.split():
        return ok("ModemManager", message("ModemManager leaves the device alone."))
    return problem("ModemManager", message("ModemManager runs and may treat the device as a modem."), RELOAD)


def _brltty(table: CheckedTable, usb: UsbDevice) -> MachineFinding:
    """Check whether brltty's rules name this pair. An equally named file in /etc overrides them, even if empty."""
    named = re.compile(rf"{usb.vendor}/{usb.product}/|{usb.vendor}.*{usb.product}", re.IGNORECASE)
    for rules in sorted(table.machine.path("/usr/lib/udev/rules.d").glob(BRLTTY)):
        mask = table.machine.path("/etc/udev/rules.d") / rules.name
        text = (mask if mask.exists() or mask.is_symlink() else rules).read_text("utf-8", errors="replace")
        if named.search(text):
            link = f"ln -s /dev/null /etc/udev/rules.d/{rules.name}"
            return problem(
                "brltty", message("brltty treats this converter as a Braille display."), f"{link} && {RELOAD}"
            )
    return ok("brltty", message("brltty leaves the device alone."))


def _text(path: Path) -> str:
    """Read a line from sysfs. Return "" if it does not exist."""
    try:
        return path.read_text("ascii", errors="replace").strip()
    except OSError:
        return ""
