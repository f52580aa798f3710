"""The file of the program that is approved for a device, apart from the drivers, which read no files."""

from __future__ import annotations

from pathlib import Path

from firmware_bridge.edited_text import read_named, why_unreadable
from firmware_bridge.errors import ImageError
from firmware_bridge.messages import message


def read_image(path: Path) -> bytes:
    """Read the program that is approved for a device. Raise `ImageError`."""
    name = message("Name the file with the bytes of the approved firmware, as its maker gives it.")
    try:
        image = read_named(path)
    except OSError as error:
        why = why_unreadable(error)
        said = message("The image {path} ([device] image) cannot be read: {why}.", path=str(path), why=why)
        raise ImageError(said, name) from error
    if not image:
        raise ImageError(message("The image {path} ([device] image) is empty.", path=str(path)), name)
    return image
