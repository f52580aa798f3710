"""The next step for a file that is not valid TOML, from the parser's words and the line that it names.

A hint never quotes what stands in the line: that may be a PIN.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from firmware_bridge.messages import Message, message
from firmware_bridge.plain_text import is_hidden

GENERAL: Final = message(
    "Texts stand between quotes, whole numbers without; `cardshoe config example` has each option."
)
_PLACE: Final = re.compile(r"at line (\d+), column (\d+)")
_TABLE: Final = re.compile(r"\('([^()]*)',?\)")
_TRUTH: Final = frozenset({"true", "false", "yes", "no", "on", "off"})
_CURLY: Final = frozenset("\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u2032\u2033")

_EQUALS: Final = message("Write KEY = VALUE, with an equals sign.")
_TRUE: Final = message("Write true or false, in small letters and without quotes.")
_QUOTES: Final = message('Put the text between two quotes, such as name = "NC-01".')
_PLAIN: Final = message('Use plain quotes (") instead of typographic ones.')
_BACKSLASH: Final = message(r"Write \\ for each backslash, or put the text between single quotes.")
_TWICE: Final = message("A section has one heading: write all its keys under that one.")
_KEY_TWICE: Final = message("A key may appear once in its section: remove one of the two lines.")
_HEADING: Final = message("Close the heading with as many brackets as open it: [table], [[people]].")
LIST: Final = message("Put commas between the values of a list and brackets around it: uids = [1000, 1001].")
USERS: Final = message(
    "Write the users' numbers in brackets, with commas between: uids = [1000, 1001]; `id -u NAME` prints a number."
)
_ONE_VALUE: Final = message(
    "A line has one value: a number without leading zeros, spaces or units, or a list in brackets, with commas."
)
_SEMICOLON: Final = message("Leave the semicolon out: a line ends without one.")
_TIME: Final = message('Put the time of day between two quotes: day_begins = "06:00".')
_PIN: Final = message("Write the hash of the PIN between quotes, never the PIN: `cardshoe pin` makes one.")
_VALUE: Final = message("Write a value after the equals sign, or remove the line.")

_BY_KEY: Final = {"uids": USERS, "pin": _PIN, "pin_hash": _PIN}
_CLOCK: Final = re.compile(r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?\s*(?:#.*)?")

_BY_WORDS: Final = (
    ("Cannot declare", _TWICE),
    ("Cannot overwrite", _KEY_TWICE),
    ("Expected '=' after a key", _EQUALS),
    ("Unescaped '\\'", _BACKSLASH),
    ("at the end of a table declaration", _HEADING),
    ("at the end of an array declaration", _HEADING),
    ("Unclosed array", LIST),
    ("Illegal character '\\n'", _QUOTES),
    ("Illegal character '\\r'", _QUOTES),
    ('Expected "\'"', _QUOTES),
    ("Unterminated string", _QUOTES),
    ("Expected newline or end of document after a statement", _ONE_VALUE),
)
"""The next step for words of the parser (`tomllib`)."""


def readable(said: str) -> str:
    """Return the parser's words with a section as it is written, not as a tuple.

    >>> readable("Cannot declare ('api', 'http') twice (at line 3, column 10).")
    'Cannot declare [api.http] twice (at line 3, column 10)'
    """
    return _TABLE.sub(lambda found: f"[{found[1].replace(chr(39), '').replace(', ', '.')}]", said).rstrip(".")


def next_step(text: str, said: str) -> Message:
    """Return what to do about the parser's error `said` in the text."""
    found = _PLACE.search(said)
    lines = text.split("\n")
    line = lines[int(found[1]) - 1] if found and int(found[1]) <= len(lines) else ""
    at = line.removesuffix("\r")[int(found[2]) - 1 :][:1] if found else ""
    if at and (is_hidden(at) or (at.isspace() and at not in " \t")):
        return not_shown(at)
    if _CURLY & set(line):
        return _PLAIN
    key, _, written = (part.strip() for part in line.partition("="))
    if of_key := _BY_KEY.get(key):
        return of_key
    if "Invalid value" in said:
        return _of_value(written)
    if at == ";":
        return _SEMICOLON
    if _CLOCK.fullmatch(written):
        return _TIME
    return next((step for words, step in _BY_WORDS if words in said), GENERAL)


def not_shown(character: str) -> Message:
    """Return what to do about a character that people do not see, or take for another one."""
    return message(
        "Delete the character {code} ({name}), or type the line again.",
        code=f"U+{ord(character):04X}",
        name=unicodedata.name(character, "control character").lower(),
    )


def _of_value(written: str) -> Message:
    word = written.partition("#")[0].strip()
    if not word:
        return _VALUE
    if word.casefold() in _TRUTH:
        return _TRUE
    return _QUOTES if word[0].isalpha() else GENERAL
