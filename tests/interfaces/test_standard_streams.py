"""Exit codes of commands whose output cannot be written. Codes that carry a result never come from a failed write."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import pytest

from controller.commands.standard_streams import READER_GONE, UNWRITABLE
from shuffle_audit.order_files import write_decks
from tests.architecture.sources import ROOT
from tests.journal_commands.made import evening
from tests.shuffle_audit.decks import shuffled

CAPTURE = ROOT / "tests/captures"
COMMANDS = {  # with the exit code of the result
    "audit run good.jsonl": 0,
    "audit run bad.jsonl --json": 1,
    "audit monitor --once good.jsonl": 0,
    "audit monitor --once bad.jsonl": 1,
    "audit --help": 0,
    f"journal verify --journal journal --head 1:{'0' * 64}": 4,
    "bench --only nonce": 0,
    "bench --only nonce --json": 0,
    f"capture replay --fast {CAPTURE}/cardlink-sets.capture --expect {CAPTURE}/bee_tek.expected": 1,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    write_decks(folder / "good.jsonl", shuffled("uniform", 40))
    evening(folder / "journal").journal.close()
    write_decks(folder / "bad.jsonl", shuffled("shelves:10", 40))
    return folder


@contextmanager
def unwritable(how: str) -> Iterator[int]:
    """Yield a descriptor that cannot be written: the reader of a pipe has gone, or a disk is full."""
    if how == "full":
        number = os.open("/dev/full", os.O_WRONLY)
    else:
        reader, number = os.pipe()
        os.close(reader)
    yield number
    os.close(number)


def end_of(
    command: str, folder: Path, stdout: int = subprocess.DEVNULL, stderr: int = subprocess.PIPE
) -> tuple[int, str]:
    """Return the exit code and what standard error shows."""
    line = [sys.executable, "-m", "controller", *command.split()]
    done = subprocess.run(line, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, check=False)
    return done.returncode, (done.stderr or b"").decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_gone_is_not_a_result(folder: Path, command: str) -> None:
    with unwritable("closed") as closed:
        assert end_of(command, folder, stdout=closed) == (READER_GONE, "")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_standard_output_is_not_a_result(folder: Path, command: str) -> None:
    with unwritable("full") as full:
        code, shown = end_of(command, folder, stdout=full)
    assert code == UNWRITABLE
    assert shown.startswith("cardshoe: Standard output cannot be written: No space left on device.\n")
    assert len(shown.splitlines()) == 2, "and nothing else"


@pytest.mark.parametrize(("how", "command"), list(zip(cycle(["closed", "full"]), COMMANDS, strict=False)))
def test_an_unwritable_standard_error_does_not_change_the_result(folder: Path, command: str, how: str) -> None:
    with unwritable(how) as unwritable_number:
        assert end_of(command, folder, stderr=unwritable_number) == (COMMANDS[command], "")


def test_a_pipe_that_does_not_wait_is_written_whole(tmp_path: Path) -> None:
    """Another program may have set `O_NONBLOCK` on the same pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    line = [sys.executable, "-m", "controller", "rules", "nc", "--json"]
    with subprocess.Popen(line, cwd=tmp_path, stdout=writer) as process:
        os.close(writer)
        with os.fdopen(reader, "rb") as read:
            printed = read.read()
    assert process.returncode == 0
    assert json.loads(printed)["game"] == "NC"


def test_a_new_table_whose_pins_nobody_got_is_removed(tmp_path: Path) -> None:
    with unwritable("full") as full:
        code, said = end_of("init new --simulated --yes", tmp_path, stdout=full)
    assert (code, list(tmp_path.iterdir())) == (UNWRITABLE, []), said


INHERITED = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGHUP))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
from controller.commands.main import main
main(["completion", "bash"], standalone_mode=False)
assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())
assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL
"""


def test_signals_that_the_starting_program_blocked_end_a_command() -> None:
    done = subprocess.run([sys.executable, "-c", INHERITED], capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
