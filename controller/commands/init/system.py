"""What a table needs of its PC: the files for systemd and udev, and the script that puts them in place.

The files are those of the folder `udev` of the sources, which the installed package carries as `system_files`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import controller
from firmware_bridge.device_url import DeviceUrl

_PACKAGE: Final = Path(controller.__file__).parent
_FOLDERS: Final = (_PACKAGE / "system_files", _PACKAGE.parent / "udev")
BOARD_PORT: Final = "/dev/ttyS"
NAMED: Final = "/dev/cardshoe/"

SCRIPT: Final = """\
#!/bin/sh
# Installs table @TABLE@ on this PC: its system user, udev's rules, its files and its service. Made by `cardshoe init`.
# Run it as root. With DESTDIR=FOLDER the files are put there, and nothing is started.
set -eu
cd "$(dirname "$0")"
root="${DESTDIR:-}"
etc="$root/etc/cardshoe/@TABLE@"
if [ -e "$etc" ]; then
    echo "$etc is there already: nothing was installed. Move it away first, with its keys kept." >&2
    exit 1
fi
# The user comes first: udev leaves out a group that does not exist yet.
install -D -m 0644 system/cardshoe.sysusers.conf "$root/etc/sysusers.d/cardshoe.conf"
install -D -m 0644 system/cardshoe-@TABLE@.sysusers.conf "$root/etc/sysusers.d/cardshoe-@TABLE@.conf"
systemd-sysusers ${root:+--root="$root"} cardshoe.conf cardshoe-@TABLE@.conf
for rules in system/*.rules; do
    install -D -m 0644 "$rules" "$root/etc/udev/rules.d/$(basename "$rules")"
done
install -D -m 0644 system/cardshoe@.service "$root/etc/systemd/system/cardshoe@.service"
install -D -m 0644 system/apart.conf "$root/etc/systemd/system/cardshoe@.service.d/apart.conf"
if [ -e system/port.conf ]; then
    install -D -m 0644 system/port.conf "$root/etc/systemd/system/cardshoe@@TABLE@.service.d/port.conf"
fi
install -d -m 0700 "$root/etc/cardshoe" "$etc"
install -m 0600 table.toml journal.key device.keys "$etc/"
if [ -n "$root" ]; then
    exit 0
fi
udevadm control --reload
udevadm trigger --subsystem-match=usb --subsystem-match=tty
systemctl daemon-reload
systemctl enable --now cardshoe@@TABLE@
"""


def system_files(table: str, url: DeviceUrl, serial: str) -> dict[str, str]:
    """By name, what `install.sh` puts in place."""
    files = {
        "cardshoe.sysusers.conf": _read("cardshoe.sysusers.conf"),
        "70-cardshoe.rules": _read("70-cardshoe.rules"),
        "cardshoe@.service": _read("cardshoe@.service"),
        "apart.conf": _read("apart/cardshoe@.service.conf"),
        f"cardshoe-{table}.sysusers.conf": _read("apart/cardshoe-TABLE.sysusers.conf").replace("TABLE", table),
    }
    if serial:
        rules = _read("apart/72-cardshoe-TABLE.rules").replace("TABLE", table).replace("SERIAL", serial)
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
    return SCRIPT.replace("@TABLE@", table)


def _read(name: str) -> str:
    folder = next(one for one in _FOLDERS if one.is_dir())
    return (folder / name).read_text("utf-8")
