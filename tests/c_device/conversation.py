"""The device in C as a separate process: compiled, started, controlled and read."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tty
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

import pytest

HERE: Final = Path(__file__).parent
KIT: Final = HERE.parents[1] / "device_kit"
STRICT: Final = ("-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror")
WITH_INTERRUPT: Final = "-DCARDLINK_INTERRUPT_OUTPUT=512"
CHECKED: Final = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
PLAIN: Final = ("-O2",)

Over = Literal["socketpair", "pty", "own pty"]


def compiler() -> str | None:
    return shutil.which("gcc") or shutil.which("clang")


def build(tmp_path_factory: pytest.TempPathFactory, options: tuple[str, ...] = CHECKED) -> Path:
    """Compile the program into a temporary folder; call it once in a session (the fixture `program` does).

    With the default `options` an access out of bounds or an undefined operation ends it, which `CDevice` notices.
    """
    with_compiler = compiler()
    assert with_compiler is not None
    program = tmp_path_factory.mktemp("c_device") / "cardlink-device"
    sources = [*sorted(KIT.glob("*.c")), *sorted(HERE.glob("*.c"))]
    subprocess.run([with_compiler, *STRICT, WITH_INTERRUPT, *options, f"-I{KIT}", *sources, "-o", program], check=True)
    return program


class EndedError(AssertionError):
    """Raised when the device has ended: it crashed, or its power was cut (`cut`)."""


class CDevice:
    """A running device, as a context manager that ends only its own child.

    `over`: its connection. "socketpair": use `read` and `write` here, or `host_socket` for another reader. "pty": a pty
    is made here and the device gets its master; `port` is its path. "own pty": the device opens it; `port` is its path.
    `virtual`: only `tick` advances its clock. `random`: if False, it has no true random source. `removal`: it dispenses
    on removal. `flash`: the file of its flash memory. `interrupt`: it has a USB interrupt endpoint; `read_interrupt`
    reads it. `lines`: all its output so far but `ok` and `no`, oldest first; `control` returns what is new.
    """

    def __init__(
        self,
        program: Path,
        kind: Literal["shuffler", "shoe"],
        serial: str,
        key: bytes,
        start: int = 1,
        *,
        over: Over = "socketpair",
        virtual: bool = False,
        random: bool = True,
        removal: bool = False,
        flash: Path | None = None,
        interrupt: bool = False,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.lines: list[str] = []
        self.host_socket: socket.socket | None = None
        self.interrupt_socket: socket.socket | None = None
        self.port = ""
        self._open: list[int] = []
        handed: list[int] = []
        if over == "socketpair":
            self.host_socket, device_side = socket.socketpair()
            self.host_socket.setblocking(False)
            handed.append(device_side.detach())
        elif over == "pty":
            master, slave = os.openpty()
            tty.setraw(slave)
            self.port = os.ttyname(slave)
            self._open.append(slave)
            handed.append(master)
        options = ["--virtual"] if virtual else []
        options += ["--removal"] if removal else []
        options += ["--flash", str(flash)] if flash else []
        inherited = list(handed)
        if interrupt:
            self.interrupt_socket, device_side = socket.socketpair()
            self.interrupt_socket.setblocking(False)
            inherited.append(device_side.detach())
            options += ["--interrupt", str(inherited[-1])]
        self._child = subprocess.Popen(
            [program, *options, kind, serial, key.hex(), str(start), *map(str, handed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=inherited,
            env={**os.environ, **(environment or {}), **({} if random else {"CARDLINK_NO_RANDOM": "1"})},
        )
        for descriptor in inherited:
            os.close(descriptor)
        if over == "own pty":
            self.port = self.wait_for("port ").removeprefix("port ")
        self.boot = 0
        self.start = 0
        self._started(self.wait_for("boot "))

    def _started(self, line: str) -> None:
        _, boot, _, start = line.split()
        self.boot, self.start = int(boot), int(start)

    def line(self) -> str:
        """Wait for its next line and return it. Raise `EndedError` if the device has ended."""
        assert self._child.stdout is not None
        line: bytes = self._child.stdout.readline()
        if not line.endswith(b"\n"):
            raise EndedError(f"the device ended, code {self._child.wait()}")
        return line.decode().rstrip("\n")

    def wait_for(self, beginning: str) -> str:
        """Wait for the next line that begins like this."""
        while True:
            line = self.line()
            self.lines.append(line)
            if line.startswith(beginning):
                return line

    def control(self, line: str, *, possible: bool = True) -> list[str]:
        """Send a control line. Return the output up to its completion. `possible`: whether the line
        can be carried out.
        """
        assert self._child.stdin is not None
        try:
            self._child.stdin.write(line.encode() + b"\n")
            self._child.stdin.flush()
        except BrokenPipeError as error:
            raise EndedError("the device has ended") from error
        said: list[str] = []
        while (answer := self.line()) not in ("ok", "no"):
            said.append(answer)
            self.lines.append(answer)
            if answer.startswith("boot "):
                self._started(answer)
        assert (answer == "ok") == possible, f"{line}: {answer}"
        return said

    def tick(self, ms: int) -> list[str]:
        """Let virtual time pass, after everything written to the device so far was taken."""
        return self.control(f"tick {ms}")

    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of frames forged, repeated and damaged since the start."""
        line = next(one for one in self.control("count") if one.startswith("count "))
        _, _, forged, _, repeated, _, damaged = line.split()
        return int(forged), int(repeated), int(damaged)

    def write(self, data: bytes) -> None:
        assert self.host_socket is not None
        try:
            self.host_socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise EndedError("the device has ended") from error

    def read(self) -> bytes:
        """Return what the device has written so far."""
        assert self.host_socket is not None
        return _read_all(self.host_socket)

    def read_interrupt(self) -> bytes:
        """Return what the device has written on its interrupt endpoint so far."""
        assert self.interrupt_socket is not None
        return _read_all(self.interrupt_socket)

    def close(self) -> None:
        """End the device. Faults that the sanitizers found make this fail."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        with suppress(BrokenPipeError):  # it has ended already; its exit code shows why
            self._child.stdin.write(b"quit\n")
            self._child.stdin.close()
        self._child.stdout.read()
        self._child.stdout.close()
        code = self._child.wait()
        for end in (self.host_socket, self.interrupt_socket):
            if end is not None:
                end.close()
        while self._open:
            os.close(self._open.pop())
        assert code == 0, f"the device ended with code {code}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _read_all(end: socket.socket) -> bytes:
    data = b""
    while True:
        try:
            piece = end.recv(65536)
        except (BlockingIOError, ConnectionResetError):
            return data
        if not piece:
            return data
        data += piece
