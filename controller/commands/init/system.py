"""What a table needs of its PC: the files for systemd and udev, and the script that puts them in place.

The files are those of the folder `udev` of the sources, which the installed package carries as `system_files`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import controller
from controller.games.specification import Unit
from firmware_bridge.device_url import DeviceUrl

_PACKAGE: Final = Path(controller.__file__).parent
_FOLDERS: Final = (_PACKAGE / "system_files", _PACKAGE.parent / "udev")
BOARD_PORT: Final = "/dev/ttyS"


def simulate_command(unit: Unit, link: Path | str, key_file: Path | str) -> str:
    """What starts the simulated device of a table, with the key that the table reads."""
    kind = "shuffler" if unit is Unit.SETS else "shoe"
    return f"cardshoe simulate --kind {kind} --link {link} --key-file {key_file}"


def system_files(table: str, url: DeviceUrl, serial: str) -> dict[str, str]:
    """By name, what `install.sh` puts in place."""
    files = {
        "cardshoe.sysusers.conf": read_system_file("cardshoe.sysusers.conf"),
        "70-cardshoe.rules": read_system_file("70-cardshoe.rules"),
        "cardshoe@.service": read_system_file("cardshoe@.service"),
        "apart.conf": read_system_file("apart/cardshoe@.service.conf"),
        f"cardshoe-{table}.sysusers.conf": read_system_file("apart/cardshoe-TABLE.sysusers.conf").replace(
            "TABLE", table
        ),
    }
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


def script(table: str) -> str:
    """`install.sh` of the table's folder."""
    return read_system_file("apart/install.sh").replace("TABLE", table)


def read_system_file(name: str) -> str:
    folder = next(one for one in _FOLDERS if one.is_dir())
    return (folder / name).read_text("utf-8")
