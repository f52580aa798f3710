"""Files that people edit: UTF-8, with or without the mark that Windows editors put in front.

A module of its own, because every such file is read in this way: configurations, keys, card tables, scripts, decks.
"""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Final

from firmware_bridge.messages import AnyText, Message, message

_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # UTF-32's little-endian mark begins with UTF-16's


class NotTextError(ValueError):
    """Raised for a file that is not UTF-8. `why` ends a sentence and says what to do; `line` counts from 1, or is 0."""

    def __init__(self, why: Message, line: int = 0) -> None:
        super().__init__(str(why))
        self.why = why
        self.line = line


def read_edited(path: Path) -> str:
    """Return the text of a file. Raise OSError and `NotTextError`."""
    return decode_edited(path.read_bytes())


def decode_edited(data: bytes) -> str:
    """Return the text of a file's bytes. Raise `NotTextError`.

    >>> decode_edited(b"\\xef\\xbb\\xbfname")
    'name'
    """
    if data.startswith(_WIDE) or b"\0" in data[:4]:
        raise NotTextError(message("it is in UTF-16; save it as UTF-8"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = message("line {line} is not in UTF-8, perhaps in Latin-1; save the file as UTF-8", line=line)
        raise NotTextError(why, line) from error


def why_unreadable(error: OSError | NotTextError) -> AnyText:
    """Return why a file cannot be read, as the end of a sentence."""
    return error.why if isinstance(error, NotTextError) else error.strerror or str(error)
