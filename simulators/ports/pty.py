"""A simulated device on a real pseudo-terminal, under a path that outlives the terminal."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import pty
import termios
import tty
from contextlib import suppress
from pathlib import Path

from simulators.devices.base import DeviceSide


class PtyFront:
    """Carries a device's bytes over a pty. `link` is a symbolic link to it, created again by every `plug`.

    The cable comes out when `unplug_after` bytes have passed, counting both ways; with 0 it does not. The device keeps
    the slave's end open too: otherwise a host that goes away would cause an end of file instead of silence as on a real
    line.
    """

    def __init__(self, device: DeviceSide, link: Path) -> None:
        self._device = device
        self._link = link
        self._master = -1
        self._slave = -1
        self._wake = asyncio.Event()
        self.unplug_after = 0
        self.moved = 0  # bytes since the plug
        device.changed = self._wake.set

    @property
    def plugged(self) -> bool:
        return self._master >= 0

    def plug(self) -> None:
        """Make a terminal and point the link to it. Raise OSError, holding nothing."""
        self.moved = 0
        self._master, self._slave = pty.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        try:
            self._point_link()
        except OSError:
            os.close(self._slave)
            os.close(self._master)
            self._master = self._slave = -1
            raise
        asyncio.get_running_loop().add_reader(self._master, self._readable)
        self._wake.set()

    def _point_link(self) -> None:
        if self._link.exists() and not self._link.is_symlink():
            raise FileExistsError(errno.EEXIST, "a file of that name already exists", str(self._link))
        fresh = self._link.with_name(f".{self._link.name}.new")
        with suppress(FileNotFoundError):
            fresh.unlink()
        fresh.symlink_to(os.ttyname(self._slave))
        fresh.replace(self._link)

    def unplug(self, *, after: bytes = b"") -> None:
        """Hang up, with the first bytes of a frame (`after`) still under way."""
        if not self.plugged:
            return
        asyncio.get_running_loop().remove_reader(self._master)
        if after:
            with suppress(BlockingIOError):
                os.write(self._master, after)
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1
        self._link.unlink(missing_ok=True)

    async def run(self) -> None:
        """Write what the device sends, until cancelled."""
        try:
            while True:
                self._device.tick()
                self._free()
                self._write(self._device.outgoing())
                self._wake.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._device.nap()):
                        await self._wake.wait()
        finally:
            self.unplug()

    def _free(self) -> None:
        """Release exclusive access: a port is free after its holder has closed it, and this end stays open."""
        if self.plugged:
            fcntl.ioctl(self._slave, termios.TIOCNXCL)

    def _readable(self) -> None:
        with suppress(BlockingIOError, OSError):
            if data := os.read(self._master, self._room(4096)):
                self._device.receive(data)
                self._pass(len(data))
                self._write(self._device.outgoing())

    def _write(self, data: bytes) -> None:
        """Write bytes. A full line loses some, as on a UART; the protocol repeats what matters."""
        if data and self.plugged:
            with suppress(BlockingIOError):
                self._pass(os.write(self._master, data[: self._room(len(data))]))

    def _room(self, wanted: int) -> int:
        """Return how many bytes get through before the cable comes out."""
        return min(wanted, self.unplug_after - self.moved) if self.unplug_after else wanted

    def _pass(self, count: int) -> None:
        self.moved += count
        if self.unplug_after and self.moved >= self.unplug_after:
            self.unplug_after = 0
            self.unplug()
