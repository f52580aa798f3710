"""`cardshoe pin` at a real terminal: the input is not shown, and only the hash is printed."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner

from controller.api.pins import mistake_of_hash, pin_matches
from controller.commands.main import main

PIN = "527190"


def test_at_a_terminal_the_input_is_not_shown() -> None:
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "controller", "pin"], stdin=slave, stdout=subprocess.PIPE, stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: os.close(os.open(os.ttyname(slave), os.O_RDWR)),  # the terminal of the session
    ) as running:  # fmt: skip
        os.close(slave)
        shown = b""
        for _ in range(2):
            while not shown.endswith(b": "):
                shown += os.read(master, 1000)
            os.write(master, f"{PIN}\n".encode())
            shown += os.read(master, 1000)
        assert running.stdout is not None
        printed = running.stdout.read().decode()
        assert running.wait(timeout=300) == 0
    os.close(master)
    assert PIN.encode() not in shown
    kept = printed.removesuffix("\n")
    assert mistake_of_hash(kept, simulated=False) is None
    assert pin_matches(PIN, kept)


@pytest.mark.parametrize(
    ("typed", "why"),
    [
        (f"{PIN}\n527191\n", "The two PINs differ"),
        ("1234\n", "6 to 12 digits"),
        ("777777\n", "easy to guess"),
        ("secret\n", "consists of digits"),
    ],
)
def test_a_pin_that_is_refused(typed: str, why: str) -> None:
    done = CliRunner().invoke(main, ["pin"], input=typed)
    assert done.exit_code == 2
    assert why in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("typed", ["", f"{PIN}\n"])
def test_an_input_that_ends_at_a_question_is_reported(typed: str) -> None:
    done = CliRunner().invoke(main, ["pin"], input=typed)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "The input ended before the questions were answered.\n  Nothing was done." in done.stderr


def test_two_hashes_of_one_pin_differ() -> None:
    printed = [CliRunner().invoke(main, ["pin"], input=f"{PIN}\n{PIN}\n").stdout for _ in range(2)]
    assert printed[0] != printed[1]
