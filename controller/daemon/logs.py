"""Logs: one line for each event, with a stable dotted name; JSON, unless stderr is a terminal."""

from __future__ import annotations

import logging
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

import structlog

from firmware_bridge.allowance import Allowance
from firmware_bridge.errors import UNKNOWN, place_of
from firmware_bridge.link import write_log

OF_ONE_PLACE: Final = 3  # lines from one place in a library
ONE_MORE_EVERY: Final = 600.0  # seconds until another line from that place is logged


def configure_logs(level: int) -> None:
    """Log to stderr. `level` is as in the standard library: 20 info, 30 warning. No line has a traceback: texts of
    exceptions and local variables may contain cards and keys (`firmware_bridge.errors`).
    """
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    in_terminal = sys.stderr.isatty()
    renderer = structlog.dev.ConsoleRenderer() if in_terminal else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*processors, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    for before in [one for one in root.handlers if isinstance(one, LibraryLogs)]:
        root.removeHandler(before)
    root.addHandler(LibraryLogs())


class _Key(NamedTuple):
    logger: str
    place: str
    error: str


class LibraryLogs(logging.Handler):
    """Logs what other packages report through the standard library, by type and place only: their texts quote data from
    clients or devices.

    The lines from one place are limited, since a client can cause one with every request; `left_out` counts those
    dropped before this one.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(logging.WARNING)
        self._now = now
        self._allowances: dict[_Key, Allowance] = {}  # as many as there are places in the code
        self._left_out: Counter[_Key] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        place = UNKNOWN if error is None else place_of(error)
        if place == UNKNOWN:
            place = f"{record.module}:{record.lineno}"
        key = _Key(record.name, place, "" if error is None else type(error).__name__)
        if not self._allowances.setdefault(key, Allowance(OF_ONE_PLACE, ONE_MORE_EVERY)).take(self._now()):
            self._left_out[key] += 1
            return
        log, left_out = structlog.get_logger(), self._left_out.pop(key, 0)
        write_log(log.warning, "library.logged", **key._asdict(), left_out=left_out)
