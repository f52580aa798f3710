"""The files that a table needs on its PC for systemd and udev, and the script that installs them.

They come from the folder `udev` of the sources, which the installed package carries as `system_files`. The Debian
package installs the files that all tables share, so a table's folder then has the table's own files only: a copy in
/etc would hide the package's file and all its later versions.
"""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Final

import controller
from controller.games.specification import Unit
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.registry import registered_driver

_PACKAGE: Final = Path(controller.__file__).parent
_FOLDERS: Final = (_PACKAGE / "system_files", _PACKAGE.parent / "udev")
BOARD_PORT: Final = "/dev/ttyS"
SHARED: Final = ("cardshoe.sysusers.conf", "70-cardshoe.rules", "cardshoe@.service")
"""The files that all tables of a PC share."""
PACKAGED_UNIT: Final = "/usr/lib/systemd/system/cardshoe@.service"
"""This path exists if the Debian package is installed."""


def simulate_command(unit: Unit, url: DeviceUrl, key_file: Path | str) -> str:
    """Return the command that starts a table's simulated device, where the table expects it and with the same key."""
    kind = "shuffler" if unit is Unit.SETS else "shoe"
    where = f"--link {url.path}"
    if url.scheme == "tcp":
        where = f"--tcp {url.port}" if _is_this_pc(url.host) else f"--tcp {url.known_as}"
    if not registered_driver(url.driver).needs_keys:  # a one-way shoe, which does not use keys
        return f"cardshoe simulate --driver {url.driver} {where}"
    return f"cardshoe simulate --kind {kind} {where} --key-file {key_file}"


def system_files(
    table: str, url: DeviceUrl, serial: str, cards: str = "", *, has_port: bool = True, is_packaged: bool = False
) -> dict[str, str]:
    """Return the files that `install.sh` installs, by name. `cards` is the name of the table's card table, if it has
    one. `has_port` means that browsers reach the table (`[api.http]`).
    """
    files = {} if is_packaged else {name: read_system_file(name) for name in SHARED}
    files["apart.conf"] = read_system_file("apart/cardshoe@.service.conf")
    users = read_system_file("apart/cardshoe-TABLE.sysusers.conf").replace("TABLE", table)
    files[f"cardshoe-{table}.sysusers.conf"] = users
    if network := _network(url, has_port=has_port):
        files["network.conf"] = network
    if cards:
        files["cards.conf"] = (
            "# The card table of the reader: systemd hands it to the daemon, like the keys.\n"
            f"[Service]\nLoadCredential={cards}:/etc/cardshoe/{table}/{cards}\n"
        )
    if serial:
        rules = read_system_file("apart/72-cardshoe-TABLE.rules").replace("TABLE", table).replace("SERIAL", serial)
        files[f"72-cardshoe-{table}.rules"] = rules
    elif url.scheme == "serial" and url.path.startswith(BOARD_PORT):
        files[f"72-cardshoe-{table}.rules"] = (
            f"# The port on the board that table {table} uses, for its daemon alone.\n"
            f'ACTION!="remove", KERNEL=="{Path(url.path).name}", GROUP="cardshoe-{table}", MODE="0660"\n'
        )
        files["port.conf"] = (
            "# The port on the board. It is named, because all of them share their major number with the consoles.\n"
            f"[Service]\nDeviceAllow={url.path} rw\n"
        )
    return files


def _network(url: DeviceUrl, *, has_port: bool) -> str:
    """Return the drop-in for the table's network needs, or "" if it needs only this PC, which the unit allows."""
    if url.scheme != "tcp":
        return "" if has_port else read_system_file("no-network.conf")
    if _is_this_pc(url.host):
        return ""
    address, why = url.host, "The serial server of the table."
    try:
        ipaddress.ip_address(address)
    except ValueError:
        address, why = "any", f"systemd takes no names, so that {url.host} and its name server are among all addresses."
    return f"# {why}\n[Service]\nIPAddressAllow={address}\n"


def _is_this_pc(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def script(table: str) -> str:
    """Return `install.sh` of the table's folder."""
    return read_system_file("apart/install.sh").replace("TABLE", table)


def read_system_file(name: str) -> str:
    folder = next(one for one in _FOLDERS if one.is_dir())
    return (folder / name).read_text("utf-8")
