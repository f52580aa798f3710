"""The standard streams of a command.

An exit code that carries a result, such as an audit's verdict, must not come from a failed write: the reader of the
output may have gone (`| head`), or the disk may be full. So standard output notes its failure, which decides the exit
code wherever the error was caught. What standard error cannot take is dropped, since it changes no result.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import suppress
from typing import Any, Final, TextIO

from controller.problems import ProblemError
from firmware_bridge.messages import AnyText, Message, message

READER_GONE: Final = 141
"""The exit code of a command whose output has lost its reader: what a shell reports for SIGPIPE."""
UNWRITABLE: Final = 74
"""The exit code of a command whose output could not be written: `EX_IOERR` of sysexits.h."""


class OutputError(ProblemError):
    """Standard output cannot be written."""

    exit_code = UNWRITABLE

    def __init__(self, said: Message, hint: AnyText = "") -> None:
        super().__init__(said, hint)
        self._is_shown = False

    def show(self, file: Any = None) -> None:
        """Show the problem once."""
        if not self._is_shown:
            self._is_shown = True
            super().show(file)


class ReaderGoneError(OutputError):
    """The reader of standard output has gone. Nothing is shown: it wanted no more."""

    exit_code = READER_GONE

    def show(self, file: Any = None) -> None: ...


def _problem_of(error: OSError) -> OutputError:
    if error.errno == errno.EPIPE:
        return ReaderGoneError(message("The program that read the output has ended."))
    if error.errno == errno.EBADF:
        return OutputError(
            message("There is no standard output to print to."),
            message("Run the command without closing its output (>&-)."),
        )
    return OutputError(
        message("Standard output cannot be written: {why}.", why=error.strerror or str(error)),
        message("Free space where it is written, or write it elsewhere."),
    )


class _Stream(io.FileIO):
    """A standard stream without its buffer. It waits where it is not ready: another program may have set `O_NONBLOCK`
    on the same terminal or pipe.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "wb", closefd=False)

    def write(self, data: Any, /) -> int:
        while (written := super().write(data)) is None:
            select.select([], [self], [])
        return written


class _Output(_Stream):
    """Standard output. After its first failure it discards what is written, when the process ends."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.failure: OutputError | None = None
        self.ended = False

    def write(self, data: Any, /) -> int:
        if self.ended and self.failure is not None:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            self.failure = self.failure or _problem_of(error)
            raise self.failure from error


class _Errors(_Stream):
    """Standard error. It drops what cannot be written."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


class StandardStreams:
    """Replaces the streams with which the process began. Streams that a test or a program set are left as they are."""

    def __init__(self) -> None:
        self._output: _Output | None = None
        missing = [number for number in (0, 1, 2) if _is_closed(number)]
        for _ in missing:  # otherwise the next file to be opened would get this number
            os.open(os.devnull, os.O_RDONLY)  # standard output as well: it cannot be written
        if sys.stdout is None or sys.stdout is sys.__stdout__:
            self._output = _Output(1)
            sys.stdout = _text(self._output, sys.stdout)
        if sys.stderr is None or sys.stderr is sys.__stderr__:
            sys.stderr = _text(_Errors(2), sys.stderr, line_buffering=True)

    def __enter__(self) -> None: ...

    def __exit__(self, *ended: object) -> None:
        """End the process with the code of standard output's failure, if there was one, whatever it led to."""
        if self._output is None:
            return
        with suppress(OutputError):
            sys.stdout.flush()
        self._output.ended = True
        if (failure := self._output.failure) is not None:
            failure.show()
            sys.exit(failure.exit_code)


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def _text(stream: _Stream, before: TextIO | None, line_buffering: bool = False) -> TextIO:
    """Return the stream for text. A character that the terminal lacks, as with Latin-1, is shown by its number."""
    encoding = "utf-8"
    if before is not None:
        before.flush()
        encoding = before.encoding
        line_buffering = line_buffering or before.isatty()
    buffer = io.BufferedWriter(stream)
    return io.TextIOWrapper(buffer, encoding, "backslashreplace", line_buffering=line_buffering)
