"""The hint for a user who lacks permission to open a device's node."""

from __future__ import annotations

import grp
import stat
from pathlib import Path

from firmware_bridge.messages import Message, message


def permission_hint(path: str) -> Message:
    """Return the next step for a user who lacks permission for the node at `path`."""
    try:
        node = Path(path).stat()
    except OSError:
        return message("This user may not enter a folder of its path: check the path in the device URL.")
    try:
        group = grp.getgrgid(node.st_gid).gr_name
    except KeyError:
        group = str(node.st_gid)
    both = stat.S_IRGRP | stat.S_IWGRP
    if node.st_gid and node.st_mode & both == both:
        return message(
            "It belongs to the group {group}: add the user to it (`usermod -aG {group} USER`) and log in again.",
            group=group,
        )
    return message(
        "It belongs to the group {group}, which may not read and write it either: install this program's udev rules.",
        group=group,
    )
