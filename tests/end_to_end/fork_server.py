"""Processes that run the product without importing it each time: a process that has imported everything forks for each.

    python -m tests.end_to_end.fork_server DESCRIPTOR

The listening socket DESCRIPTOR receives what to run, with the three descriptors of the new process. The answers are its
process ID and later its exit code. The process behaves as `python -m MODULE` would: it has its own descriptors,
environment, folder, arguments, signals and exit code. Tests of the start itself start a plain process.
"""

from __future__ import annotations

import ctypes
import gc
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

import msgspec

ROOT = Path(__file__).parents[2]
CHILD = "tests.end_to_end.child"
MODULES = ("controller", CHILD)
IMPORTED = (
    CHILD,
    "controller.commands.capture.capture_command",
    "controller.commands.evaluate",
    "controller.commands.journal.journal_command",
    "controller.commands.odds",
    "controller.commands.operate",
    "controller.commands.rules",
    "controller.commands.run",
    "controller.commands.status",
    "controller.commands.watch",
    "controller.daemon.daemon",
    "controller.daemon.logs",
    "simulators.demo.command",
)
AT_START = ("PYTHON", "LC_", "LANG", "TZ")  # variables that Python reads when it starts
LARGEST = 1 << 20  # bytes of a request
ENDS_WITHIN = 300.0  # seconds after the last output: a guard against a hang
PR_SET_PDEATHSIG = 1


class Asked(msgspec.Struct, frozen=True):
    module: str
    arguments: Sequence[str]
    folder: str
    environment: Mapping[str, str]


class ForkedProcess:
    """The part of `subprocess.Popen` that tests use."""

    def __init__(self, asked: Asked, *, listens: bool) -> None:
        given = [os.pipe() if listens else (os.open(os.devnull, os.O_RDONLY), -1)]
        given += [os.pipe()[::-1] for _ in range(2)]
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._line.connect(_address())
        socket.send_fds(self._line, [msgspec.json.encode(asked)], [theirs for theirs, _ in given])
        for theirs, _ in given:
            os.close(theirs)
        self.stdin: IO[bytes] | None = os.fdopen(given[0][1], "wb") if listens else None
        self.stdout: IO[bytes] | None = os.fdopen(given[1][1], "rb")
        self.stderr: IO[bytes] | None = os.fdopen(given[2][1], "rb")
        self.returncode: int | None = None
        self.pid = int(self._line.recv(LARGEST))

    def poll(self) -> int | None:
        return self._await(0)

    def wait(self, timeout: float) -> int:
        if (code := self._await(timeout)) is None:
            raise subprocess.TimeoutExpired("a forked process", timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _await(self, timeout: float) -> int | None:
        if self.returncode is None and select.select([self._line], [], [], timeout)[0]:
            self.returncode = int(self._line.recv(LARGEST))
            self._line.close()
        return self.returncode

    def __del__(self) -> None:
        self._line.close()


def start(module: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path, listens: bool) -> Any:
    """Run a module in a new process, forked where the effect is the same."""
    like_ours = all(environment.get(name) == os.environ.get(name) for name in environment if name.startswith(AT_START))
    if module in MODULES and like_ours:
        return ForkedProcess(Asked(module, arguments, str(folder), environment), listens=listens)
    program = [module] if module.endswith(".py") else ["-m", module]
    return subprocess.Popen(
        [sys.executable, *program, *arguments],
        cwd=folder,
        stdin=subprocess.PIPE if listens else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    )


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `cardshoe` with an empty standard input until it exits."""
    process = start("controller", arguments, dict(os.environ), folder, listens=False)
    printed = {stream: bytearray() for stream in (process.stdout, process.stderr)}
    open_streams = set(printed)
    while open_streams:
        for stream in select.select(open_streams, [], [])[0]:
            data = os.read(stream.fileno(), LARGEST)
            printed[stream].extend(data)
            if not data:
                stream.close()
                open_streams.remove(stream)
    out, err = (data.decode() for data in printed.values())
    return subprocess.CompletedProcess(["cardshoe", *arguments], process.wait(ENDS_WITHIN), out, err)


class _Server:
    """The server of this process, while tests run. It does not keep a descriptor open in this process."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="cardshoe-fork-")
        self.address = f"{self.folder}/socket"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            listening.bind(self.address)
            listening.listen(64)
            number = listening.fileno()
            command = [sys.executable, "-m", "tests.end_to_end.fork_server", str(number)]
            self.process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[number]
            )

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def _server() -> _Server:
    return _Server()


def _address() -> str:
    return _server().address


def end() -> None:
    """End the server after the last test."""
    if _server.cache_info().currsize:
        _server().end()
        _server.cache_clear()


# -- the server's process --------------------------------------------------------------------------------------------


def serve(listening: socket.socket) -> Asked:
    """Fork for each request. Returns in the new processes only."""
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *given: None)
    signal.set_wakeup_fd(wakes.fileno())
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([listening, woken], [], [])[0]
        if woken in ready:
            woken.recv(LARGEST)
            _report_ended(running)
        if listening in ready:
            line, _ = listening.accept()
            data, descriptors, _, _ = socket.recv_fds(line, LARGEST, 3)
            pid = os.fork()
            if pid == 0:
                for ours in (listening, woken, wakes, line, *running.values()):
                    ours.detach()
                return _take_over(msgspec.json.decode(data, type=Asked), descriptors)
            for descriptor in descriptors:
                os.close(descriptor)
            running[pid] = line
            line.send(str(pid).encode())


def _report_ended(running: dict[int, socket.socket]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with running.pop(pid) as line, suppress(BrokenPipeError):  # a finished test does not wait for the answer
            line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _take_over(asked: Asked, descriptors: Sequence[int]) -> Asked:
    """Turn this process into the requested process."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(len(descriptors), max(int(one.name) for one in Path("/proc/self/fd").iterdir()) + 1)
    sys.stdin = _reopened(0, sys.stdin, "r")
    sys.stdout = _reopened(1, sys.stdout, "w")
    sys.stderr = _reopened(2, sys.stderr, "w", line_buffering=True)
    os.environ.clear()
    os.environ.update(asked.environment)
    os.chdir(asked.folder)
    sys.path[0] = asked.folder
    sys.argv = [asked.module, *asked.arguments]
    return asked


def _reopened(number: int, was: Any, mode: str, line_buffering: bool = False) -> TextIOWrapper:
    """Reopen the stream as Python does when it starts."""
    file = open(number, f"{mode}b", closefd=False)  # noqa: SIM115  # it stays open
    return TextIOWrapper(file, was.encoding, was.errors, line_buffering=line_buffering, write_through=was.write_through)


def main() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for module in IMPORTED:
        import_module(module)
    del sys.modules[CHILD]  # it runs as `__main__`
    gc.collect()
    gc.freeze()
    asked = serve(socket.socket(fileno=int(sys.argv[1])))
    runpy.run_module(asked.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
