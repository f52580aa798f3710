"""Logs of other packages: one line with type and place, without a traceback, and not one for each request."""

from __future__ import annotations

import logging
import os
import pty

import pytest
import structlog.testing

from controller.daemon.logs import MOST_WAITING, OF_ONE_PLACE, ONE_MORE_EVERY, LibraryLogs, LogLines

SECRET = "4H"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def log_fault(handler: LibraryLogs) -> None:
    logger = logging.Logger("aiohttp.server")
    logger.addHandler(handler)
    try:
        int(SECRET)
    except ValueError:
        logger.exception("cannot read %s", SECRET)


def test_type_and_place_and_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    with structlog.testing.capture_logs() as lines:
        log_fault(LibraryLogs())
    (line,) = lines
    assert (line["event"], line["logger"], line["error"]) == ("library.logged", "aiohttp.server", "ValueError")
    assert line["place"].startswith("test_library_logs:")
    assert SECRET not in repr(line)
    assert capsys.readouterr() == ("", "")


def test_few_of_one_place_and_the_next_line_counts_those_left_out() -> None:
    clock = Clock()
    handler = LibraryLogs(clock)
    with structlog.testing.capture_logs() as lines:
        for _ in range(100):
            log_fault(handler)
        assert len(lines) == OF_ONE_PLACE
        clock.now += ONE_MORE_EVERY
        log_fault(handler)
    assert lines[-1]["left_out"] == 100 - OF_ONE_PLACE


def test_a_terminal_that_nobody_reads_delays_nobody() -> None:
    """A terminal is ready before it has room for a whole line, and a blocking write waits for the rest."""
    reader, terminal = pty.openpty()
    lines = LogLines(terminal)
    for _ in range(2 * MOST_WAITING):
        lines.add("x" * 1000)
    assert lines.lost
    os.close(reader)
    lines.close()
    os.close(terminal)
