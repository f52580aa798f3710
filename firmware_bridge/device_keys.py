"""The keys of devices, one file for a table: a line a device, its serial number and 32 bytes in hex.

The file is its owner's alone; its group may be let read it, where root owns it and the daemon is in the group. Keys are
made here and never cross the wire.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from firmware_bridge.drivers.cardlink.proofs import KEY_SIZE
from firmware_bridge.errors import KeyFileError


def write_device_keys(path: Path, keys: dict[str, bytes]) -> None:
    """Write a key file anew, for its owner's eyes alone."""
    text = "".join(f"{serial} {key.hex()}\n" for serial, key in sorted(keys.items()))
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)


def read_device_keys(path: Path) -> dict[str, bytes]:
    """The keys by serial number. Raises `KeyFileError` with what is wrong and what to do."""
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(
            f"The device keys in {path} cannot be read: {getattr(error, 'strerror', None) or 'not a text file'}.",
            "Name the right file under [device] key_file, readable by the user that runs the daemon.",
        ) from error
    if mode & (stat.S_IWGRP | stat.S_IXGRP | stat.S_IRWXO):
        raise KeyFileError(f"Others may read or change the device keys in {path}.", f"Run: chmod 640 {path}")
    keys: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        serial, _, word = line.partition(" ")
        key = _key_of(word.strip())
        if key is None:
            raise KeyFileError(
                f"Line {number} of {path} is no device key.",
                f"Write the serial number, a blank, and {2 * KEY_SIZE} hexadecimal digits.",
            )
        keys[serial] = key
    return keys


def _key_of(word: str) -> bytes | None:
    try:
        key = bytes.fromhex(word)
    except ValueError:
        return None
    return key if len(key) == KEY_SIZE else None
