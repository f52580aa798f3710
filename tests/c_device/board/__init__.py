"""The device kit as firmware on an emulated Cortex-M3: compiled, started, controlled."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tty
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from tests.c_device.conversation import KIT

HERE: Final = Path(__file__).parent
SOURCES: Final = (HERE / "main.c", HERE.parent / "mechanism.c")
FLAGS: Final = (
    *("-std=c99", "-Wall", "-Wextra", "-Werror", "-Os", "-mcpu=cortex-m3", "-mthumb", "-ffunction-sections"),
    *("-Wl,--gc-sections", "-nostartfiles", "--specs=nano.specs", f"-I{KIT}", f"-I{HERE.parent}", f"-T{HERE}/board.ld"),
)


def build(folder: Path) -> Path:
    """Compile the firmware and link it for the board."""
    firmware = folder / "firmware.elf"
    sources = [*SOURCES, *sorted(KIT.glob("*.c"))]
    subprocess.run(["arm-none-eabi-gcc", *FLAGS, *sources, "-o", firmware], check=True)
    return firmware


class Board:
    """A running board, as a context manager that ends only its own emulator. `port` is the line to the host."""

    def __init__(
        self, firmware: Path, kind: Literal["shuffler", "shoe"], serial: str, key: bytes, folder: Path
    ) -> None:
        mechanism, monitor = folder / "mechanism.sock", folder / "monitor.sock"
        command = ["qemu-system-arm", "-M", "mps2-an385", "-kernel", str(firmware), "-display", "none"]
        command += ["-serial", "pty", "-serial", f"unix:{mechanism}", "-monitor", f"unix:{monitor}"]
        with socket.socket(socket.AF_UNIX) as listening, socket.socket(socket.AF_UNIX) as also_listening:
            for one, path in ((listening, mechanism), (also_listening, monitor)):
                one.bind(str(path))
                one.listen(1)
            self._emulator = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert self._emulator.stdout is not None
            found = re.search(r"/dev/pts/\d+", self._emulator.stdout.readline())
            assert found is not None
            self.port = found.group()
            self._slave = os.open(self.port, os.O_RDWR | os.O_NOCTTY)  # keeps the line up between two hosts
            tty.setraw(self._slave)
            self._mechanism, _ = listening.accept()
            self._monitor, _ = also_listening.accept()
        self._lines = self._mechanism.makefile("r")
        self._power_on = f"power {kind} {serial} {key.hex()}"
        self.control("new")
        self.control(self._power_on)

    def control(self, line: str) -> None:
        """Send a control line, and wait until it was carried out."""
        self._mechanism.sendall(line.encode() + b"\n")
        assert self._lines.readline() == "ok\n", line

    def cut_power(self) -> None:
        """Turn the power off and on. Only the flash memory survives."""
        self._monitor.sendall(b"system_reset\n")
        received = b""
        while received.count(b"(qemu) ") < 2:  # its first prompt, and the one after the command
            received += self._monitor.recv(4096)
        self._monitor.sendall(b"\n")
        self.control(self._power_on)

    def close(self) -> None:
        self._emulator.kill()
        self._emulator.wait()
        self._lines.close()
        self._mechanism.close()
        self._monitor.close()
        os.close(self._slave)
        assert self._emulator.stdout is not None
        self._emulator.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
