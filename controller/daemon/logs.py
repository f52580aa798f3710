"""Logs: one line for each event, with a stable dotted name; JSON, unless stderr is a terminal."""

from __future__ import annotations

import logging
import math
import os
import queue
import select
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

import click
import structlog

from firmware_bridge.allowance import Allowance
from firmware_bridge.errors import UNKNOWN, place_of
from firmware_bridge.link import write_log
from firmware_bridge.messages import Message, message

STANDARD_ERROR: Final = 2
MOST_WAITING: Final = 1000  # lines for a reader that is slow
LAST_LINES_WITHIN: Final = 1.0  # seconds at the end of the process
SHOWN_FOR: Final = 600.0  # seconds for which a lost line is a warning
READ_FIRST: Final = ("event", "sentence", "hint")
PRIORITIES: Final = {"debug": 7, "info": 6, "warning": 4, "error": 3, "critical": 2}  # as in syslog(3)
OF_ONE_PLACE: Final = 3  # lines from one place in a library
ONE_MORE_EVERY: Final = 600.0  # seconds until another line from that place is logged


def configure_logs(level: int) -> LogLines:
    """Log to standard error until the command ends. `level` is as in the standard library: 20 info, 30 warning.

    No line has a traceback: texts of exceptions and local variables may contain cards and keys
    (`firmware_bridge.errors`).
    """
    processors: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _sentence_first,
        structlog.dev.ConsoleRenderer() if os.isatty(STANDARD_ERROR) else structlog.processors.JSONRenderer(),
    ]
    if _is_journald(os.environ.get("JOURNAL_STREAM", "")):
        processors.append(_with_priority)
    lines = LogLines()
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=lambda *_: _Logger(lines.add),
        cache_logger_on_first_use=True,
    )
    root = logging.getLogger()
    for before in [one for one in root.handlers if isinstance(one, LibraryLogs)]:
        root.removeHandler(before)
    root.addHandler(LibraryLogs())
    click.get_current_context().call_on_close(lines.close)
    return lines


def _is_journald(stream: str) -> bool:
    """Return whether standard error is the stream that systemd connected to its journal (systemd.exec(5))."""
    found = os.fstat(STANDARD_ERROR)
    return stream == f"{found.st_dev}:{found.st_ino}"


def _sentence_first(logger: object, level: str, fields: MutableMapping[str, Any]) -> dict[str, Any]:
    """Put what people read first, so that a line that is cut off still says what happened."""
    return {name: fields[name] for name in READ_FIRST if name in fields} | dict(fields)


def _with_priority(logger: object, level: str, line: Any) -> str:
    """Put the level in front of the line, where journald reads it (sd-daemon(3))."""
    return f"<{PRIORITIES.get(level, PRIORITIES['info'])}>{line}"


class _Logger:
    """The logger that structlog wraps: a method for each level."""

    def __init__(self, add: Callable[[str], None]) -> None:
        self.debug = self.info = self.warning = self.error = self.critical = add


def _mode(number: int) -> int:
    """Return the mode of an open file, or 0 if it is closed."""
    try:
        return os.fstat(number).st_mode
    except OSError:
        return 0


class LogLines:
    """The lines of the log, on standard error.

    A reader that is stuck or has gone, or a full disk, delays nobody. A line that fits into a pipe or a socket is
    written at once, so that it is not lost if the process is killed; a thread writes all others. Lines that cannot be
    written are dropped and counted in `lost`.
    """

    def __init__(self, number: int = STANDARD_ERROR, now: Callable[[], float] = time.monotonic) -> None:
        self._number = number
        self._now = now
        self._waiting: queue.Queue[bytes | threading.Event | None] = queue.Queue(MOST_WAITING)
        self._behind = 0  # lines that the thread has not written yet
        self._order = threading.Lock()
        # A disk may hang although a file is always ready, and a ready terminal may take only a part of a line.
        self._writes_at_once = stat.S_ISFIFO(_mode(number)) or stat.S_ISSOCK(_mode(number))
        self._lost_at = -math.inf
        self.lost = 0
        self._writer = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._writer.start()

    def add(self, line: str) -> None:
        """Write a line. Called in any thread."""
        data = f"{line}\n".encode("utf-8", "backslashreplace")
        with self._order:
            if not self._behind and self._fits(data):
                try:
                    data = data[os.write(self._number, data) :]
                except BlockingIOError:
                    pass
                except OSError:
                    self._lose()
                    return
            if not data:
                return
            try:
                self._waiting.put_nowait(data)
                self._behind += 1
            except queue.Full:
                self._lose()

    def flush(self, within: float = LAST_LINES_WITHIN) -> None:
        """Wait for the lines so far to be written, for at most `within` seconds."""
        written = threading.Event()
        with suppress(queue.Full):
            self._waiting.put_nowait(written)
            written.wait(within)

    def close(self, within: float = LAST_LINES_WITHIN) -> None:
        """Write the lines so far, for at most `within` seconds, and end the thread. Later lines are not written."""
        try:
            self._waiting.put_nowait(None)
        except queue.Full:
            with suppress(queue.Empty):
                self._waiting.get_nowait()  # the oldest line gives way
                self._lose()
            with suppress(queue.Full):
                self._waiting.put_nowait(None)
        self._writer.join(within)

    @property
    def warning(self) -> Message | None:
        """Return a warning, or None if no line was lost for ten minutes."""
        if self._now() - self._lost_at > SHOWN_FOR:
            return None
        return message(
            "The log cannot be written, so lines are lost. The table deals without it. Have the disk of the log "
            "checked, and the service that reads it (`systemctl status systemd-journald`)."
        )

    def _lose(self) -> None:
        self.lost += 1
        self._lost_at = self._now()

    def _write_all(self) -> None:
        while (one := self._waiting.get()) is not None:
            if isinstance(one, threading.Event):
                one.set()
                continue
            try:
                self._write(one)
            except OSError:
                self._lose()
            with self._order:
                self._behind -= 1

    def _fits(self, data: bytes) -> bool:
        """Return whether the line can be written without waiting: a pipe or socket that is ready takes `PIPE_BUF`
        bytes.
        """
        if not self._writes_at_once or len(data) > select.PIPE_BUF:
            return False
        ready = select.poll()
        ready.register(self._number, select.POLLOUT)
        return any(event & select.POLLOUT for _, event in ready.poll(0))

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self._number, data) :]
            except BlockingIOError:  # another program may have set `O_NONBLOCK` on the same terminal or pipe
                select.select([], [self._number], [])


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
