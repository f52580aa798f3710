"""`cardshoe demo` on a real terminal of 80 by 24: its first lines, its view, and its end by Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from simulators.demo.command import INTERRUPTED

DEMO = [sys.executable, "-m", "controller", "demo"]
FIRST_SENTENCE = "Non-Commission Three Pictures: "
WATCHED = """
import asyncio, sys
import click

starts, say = asyncio.create_subprocess_exec, click.echo

def echo(*words, **options):
    say("<<with " + ("much" if "aiohttp" in sys.modules else "little") + " imported>>")
    click.echo = say
    say(*words, **options)

async def start(*command, **options):
    say("<<a process starts>>")
    return await starts(*command, **options)

click.echo, asyncio.create_subprocess_exec = echo, start
from controller.commands.main import main
main(prog_name="cardshoe")
"""

PRESSED_IN_AN_IMPORT = """
import signal, sys

class Presses:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "simulators.demo.play":
            type("Made", (), {"attribute": Presses()})  # where an interrupt becomes a RuntimeError

sys.meta_path.insert(0, Finder())
from controller.commands.main import main
main(prog_name="cardshoe")
"""


class Terminal:
    """A command that has a terminal of 80 by 24."""

    def __init__(self, command: list[str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        modes = termios.tcgetattr(slave)
        modes[3] |= termios.NOFLSH  # the kernel drops output that is not read yet some time after it sends SIGINT
        termios.tcsetattr(slave, termios.TCSANOW, modes)
        environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2])}
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # no thread runs here
        )  # fmt: skip
        os.close(slave)
        self.shown = ""

    def read_until(self, condition: Callable[[str], bool]) -> None:
        """Read the output until the condition holds, or until the end."""
        while not condition(self.shown):
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the last process has ended
                return
            self.shown += data.decode(errors="replace")

    def press_ctrl_c(self) -> None:
        os.write(self._master, b"\x03")

    def children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def ended(self) -> int:
        """Read the output to the end, and return the exit code."""
        self.read_until(lambda shown: False)
        return self.process.wait()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        os.close(self._master)


@pytest.fixture
def open_terminal() -> Iterator[Callable[[list[str]], Terminal]]:
    opened: list[Terminal] = []

    def make(command: list[str]) -> Terminal:
        opened.append(Terminal(command))
        return opened[-1]

    yield make
    for terminal in opened:
        terminal.close()


def test_the_introduction_is_printed_before_slow_imports(
    open_terminal: Callable[[list[str]], Terminal],
) -> None:
    terminal = open_terminal([sys.executable, "-c", WATCHED, "demo", "--fast", "--rounds", "4"])
    assert terminal.ended() == 0
    shown = terminal.shown
    assert shown.startswith("<<with little imported>>")
    assert shown.index(FIRST_SENTENCE) < shown.index("?? is a card that lies face down") < shown.index("<<a process")
    for word in ("SIMULATED", "Box ", "Dealer", "last report", "none invented"):
        assert word in shown


def test_ctrl_c_ends_it_with_one_line_and_leaves_no_process(open_terminal: Callable[[list[str]], Terminal]) -> None:
    terminal = open_terminal([*DEMO, "--rounds", "100"])
    terminal.read_until(lambda shown: "SIMULATED" in shown)
    children = terminal.children()
    assert len(children) == 2, "the device and the daemon"
    terminal.press_ctrl_c()
    assert terminal.ended() == INTERRUPTED
    after = terminal.shown.rpartition("\x1b[?25h")[2]  # the cursor is shown again when the live view ends
    assert after.strip() == "Interrupted: the demonstration has ended, with its device and its daemon."
    assert "Traceback" not in terminal.shown
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_terminal_that_is_closed_leaves_no_process(
    open_terminal: Callable[[list[str]], Terminal], number: signal.Signals
) -> None:
    terminal = open_terminal([*DEMO, "--rounds", "100"])
    terminal.read_until(lambda shown: "SIMULATED" in shown)
    children = terminal.children()
    assert len(children) == 2
    terminal.process.send_signal(number)
    assert terminal.ended() == INTERRUPTED
    assert not any(Path(f"/proc/{pid}").exists() for pid in children)


def test_ctrl_c_before_anything_runs_is_one_line_too(open_terminal: Callable[[list[str]], Terminal]) -> None:
    terminal = open_terminal(DEMO)
    terminal.read_until(lambda shown: "Ctrl-C ends it." in shown)
    terminal.press_ctrl_c()
    assert terminal.ended() == INTERRUPTED, terminal.shown
    assert terminal.shown.rstrip().endswith("Interrupted: the demonstration has ended, with its device and its daemon.")
    assert "Traceback" not in terminal.shown


def test_ctrl_c_in_an_import_waits_for_its_end(open_terminal: Callable[[list[str]], Terminal]) -> None:
    terminal = open_terminal([sys.executable, "-c", PRESSED_IN_AN_IMPORT, *DEMO[3:]])
    assert terminal.ended() == INTERRUPTED
    assert terminal.shown.count("Interrupted: ") == 1
