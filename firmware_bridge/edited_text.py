"""Files that people name and edit: UTF-8, with or without the mark that Windows editors put in front.

A module of its own, because every such file is read in this way: configurations, keys, card tables, scripts, decks.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import select
from collections.abc import Iterator
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any, Final

from firmware_bridge.messages import AnyText, Message, message

_NOT_DECODED: Final = re.compile("[\udc80-\udcff]")
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32's little-endian mark begins with UTF-16's

LARGEST: Final = 64 * 2**20
"""The most bytes of a file that is read whole. A device such as /dev/zero would fill the memory."""
WRITER_WITHIN: Final = 5.0
"""The seconds within which something must come through a named pipe, at its begin and after each read."""


class UnusableFileError(OSError):
    """Raised for a named pipe whose writer is silent or missing, and for a file that is too large. `why` ends a
    sentence.
    """

    def __init__(self, code: int, why: Message) -> None:
        self.why = why
        super().__init__(code, str(why))


class NotTextError(ValueError):
    """Raised for a file that is not UTF-8. `why` ends a sentence and says what to do; `line` counts from 1, or is 0."""

    def __init__(self, why: Message, line: int = 0) -> None:
        super().__init__(str(why))
        self.why = why
        self.line = line


class _Pipe(RawIOBase):
    """A named pipe, whose reads do not wait for ever. They raise `UnusableFileError`."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._waiting = select.poll()
        self._waiting.register(descriptor, select.POLLIN)
        self._silent = message("it is a pipe that nobody writes to")

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def readinto(self, buffer: Any) -> int:
        if not self._waiting.poll(WRITER_WITHIN * 1000):
            raise UnusableFileError(errno.ETIMEDOUT, self._silent)
        self._silent = message("it is a pipe that its writer does not close")
        return os.readv(self._descriptor, [buffer])

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def open_named(path: Path) -> BufferedReader:
    """Open a file that a person named. A pipe is not waited for without end, neither for its writer nor for its end.
    Raise OSError, of which `UnusableFileError` is one; reading may raise it, too.
    """
    if not Path(os.path.realpath(path)).is_fifo():  # a pipe of the shell, `<(...)`, has no name and has its writer
        return path.open("rb")
    return BufferedReader(_Pipe(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)))


def read_named(path: Path) -> bytes:
    """Return the bytes of a file that a person named. Raise OSError, also for a file of more than `LARGEST` bytes."""
    with open_named(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UnusableFileError(errno.EFBIG, message("it is larger than {most} MB", most=LARGEST // 2**20))
    return data


def read_edited(path: Path) -> str:
    """Return the text of a file. Raise OSError and `NotTextError`."""
    return decode_edited(read_named(path))


def decode_edited(data: bytes) -> str:
    """Return the text of a file's bytes. Raise `NotTextError`.

    >>> decode_edited(b"\\xef\\xbb\\xbfname")
    'name'
    """
    _verify_begin(data[:4])
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(data.count(b"\n", 0, error.start) + 1) from error


def edited_lines(file: BufferedReader, newline: str) -> Iterator[str]:
    """Yield the lines of a file that need not fit in memory, with their ends; `newline` is as for `open`. Raise OSError
    and `NotTextError`, which is raised after the lines before it.
    """
    _verify_begin(file.peek(4)[:4])
    with TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.isascii() and _NOT_DECODED.search(line):
                raise _not_utf8(number)
            yield line


def _verify_begin(data: bytes) -> None:
    if data.startswith(_WIDE) or b"\0" in data:
        raise NotTextError(message("it is in UTF-16; save it as UTF-8"))


def _not_utf8(line: int) -> NotTextError:
    why = message("line {line} is not in UTF-8, perhaps in Latin-1; save the file as UTF-8", line=line)
    return NotTextError(why, line)


def why_unreadable(error: OSError | NotTextError) -> AnyText:
    """Return why a file cannot be read, as the end of a sentence."""
    return error.why if isinstance(error, NotTextError | UnusableFileError) else error.strerror or str(error)
