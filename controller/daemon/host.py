"""The daemon's use of its host: clocks, the boot id, systemd's socket, protected memory."""

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
_CAP_IPC_LOCK: Final = 14
_MCL_CURRENT: Final = 1
_MCL_FUTURE: Final = 2
_MCL_ONFAULT: Final = 4  # lock pages when they are used, not the whole stacks of threads
LONGEST_WATCHDOG: Final = 2**64 - 1  # microseconds, systemd's unit


class HostClock:
    """The host's clocks: UTC for people, boot time (which includes suspend) for durations."""

    def now(self) -> Moment:
        return Moment(time.time_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME))


def start_id() -> str:
    """Return the kernel's id of this boot; boot times can be compared within one boot."""
    return host_boot_id() or "unknown"


def host_boot_id() -> str:
    """Return the kernel's id of this boot for the table, or "" if unknown. A different id means that the PC was
    restarted.
    """
    return _BOOT_ID.read_text("ascii").strip() if _BOOT_ID.exists() else ""


def guard_memory() -> None:
    """Protect concealed cards and keys in memory: no core dump, and no access for the user's other programs.

    If the lockable memory is not limited, nothing goes to swap either. With a limit, a later allocation would fail.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    system = ctypes.CDLL(None, use_errno=True)
    system.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY or _has_right(_CAP_IPC_LOCK):
        system.mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT)


def _has_right(capability: int) -> bool:
    """Return whether the kernel gives this process a capability."""
    lines = Path("/proc/self/status").read_text("utf-8").splitlines()
    effective = next((line for line in lines if line.startswith("CapEff:")), "CapEff: 0").split()[1]
    return bool(int(effective, 16) >> capability & 1)


class SystemdNotifier:
    """Notifies systemd of the daemon's state if systemd started it; otherwise does nothing.

    `interval` is how often the watchdog has to be fed, in seconds, or None without a watchdog.
    """

    def __init__(self, environment: dict[str, str]) -> None:
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._fails = False
        self._sender: socket.socket | None = None  # opened here because descriptors may run out later
        if address:
            self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            self._sender.setblocking(False)
        usec = environment.get("WATCHDOG_USEC", "")
        ours = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        span = whole_number(usec, LONGEST_WATCHDOG)
        self.interval = span / 3_000_000 if span is not None and ours else None

    def tell(self, *lines: str) -> None:
        """Send without waiting: a report that systemd does not accept immediately is lost, and the next one follows."""
        if self._sender is None:
            return
        try:
            self._sender.sendto("\n".join(lines).encode(), self._address)
            self._fails = False
        except OSError as error:
            if not self._fails:  # once, until sending works again
                structlog.get_logger().warning("systemd.not_told", error=error.strerror)
            self._fails = True

    def close(self) -> None:
        if self._sender is not None:
            self._sender.close()
