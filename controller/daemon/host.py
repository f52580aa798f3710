"""What the daemon takes from its host and hands on: clocks, the start id, systemd's socket, no core dumps."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import time
from pathlib import Path
from typing import Final

import structlog

from controller.journal.codec import Moment
from firmware_bridge.plain_text import whole_number

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_PR_SET_DUMPABLE: Final = 4
LONGEST_WATCHDOG: Final = 2**64 - 1  # microseconds, as systemd counts


class HostClock:
    """UTC for people, boot time (which runs through suspend) for durations."""

    def now(self) -> Moment:
        return Moment(time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME))


def start_id() -> str:
    """The kernel's id of this start of the host; boot times of one start can be compared."""
    return host_boot_id() or "unknown"


def host_boot_id() -> str:
    """The kernel's id of this boot for the table: another one: the PC was restarted. Empty: unknown."""
    return _BOOT_ID.read_text("ascii").strip() if _BOOT_ID.exists() else ""


def forbid_core_dumps() -> None:
    """A dump of this process would contain concealed cards."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


class SystemdNotifier:
    """Notifies systemd of the daemon's state, when it was started by it; otherwise does nothing.

    `interval` is how often the watchdog has to be fed, in seconds; None: no watchdog.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._fails = False
        self._sender: socket.socket | None = None  # opened now: later there may be no descriptor left
        if address:
            self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._sender.setblocking(False)
        usec = environment.get("WATCHDOG_USEC", "")
        ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        span = whole_number(usec, LONGEST_WATCHDOG)
        self.interval = span / 3_000_000 if span is not None and ours else None

    def tell(self, *lines: str) -> None:
        """Does not wait: what systemd does not take at once is lost, and the next report follows."""
        if self._sender is None:
            return
        try:
            self._sender.sendto("\n".join(lines).encode(), self._address)
            self._fails = False
        except OSError as error:
            if not self._fails:  # once, until it listens again
                structlog.get_logger().warning("systemd.not_told", error=error.strerror)
            self._fails = True

    def close(self) -> None:
        if self._sender is not None:
            self._sender.close()
