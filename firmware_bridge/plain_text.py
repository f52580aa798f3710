"""Makes text from outside safe to show: of bounded length, on one line, without hidden characters.

What a device or a person says reaches journals, logs and terminals. An escape code would act on a supervisor's
terminal; a direction mark or a NUL would make a line read differently.
"""

from __future__ import annotations

import unicodedata
from enum import Enum
from typing import Any, Final

import msgspec

LONGEST: Final = 200  # characters of one text
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories without a visible shape: controls, format and direction marks, surrogates, private and
unassigned code points, line and paragraph separators."""
REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
_CUT: Final = "…"

_TEXTLESS: Final = frozenset({int, bool, float, bytes, type(None)})  # frequent in reports, so skipped


def is_hidden(character: str) -> bool:
    """Return whether a screen does not show this character, or acts on it."""
    return unicodedata.category(character) in _HIDDEN


def plain(text: str, longest: int = LONGEST) -> str:
    """Return the text with hidden characters replaced, cut to `longest` characters.

    >>> plain("jam\\x1b[2J at the exit")
    'jam�[2J at the exit'
    """
    shown = text if len(text) <= longest else text[: longest - 1] + _CUT
    return "".join(REPLACEMENT if is_hidden(character) else character for character in shown)


def is_plain(text: str, longest: int = LONGEST) -> bool:
    """Return whether `plain` would leave the text unchanged."""
    return len(text) <= longest and not any(map(is_hidden, text))


def with_plain_texts(value: Any, longest: int = LONGEST, most: int | None = None) -> Any:
    """Return a copy with every text plain and lists of texts cut to `most`; the value itself if nothing changes.

    >>> with_plain_texts({"stops": ["jam\\0", "door"]}, most=1)
    {'stops': ['jam�']}
    """
    if isinstance(value, str):
        return value if isinstance(value, Enum) or is_plain(value, longest) else plain(value, longest)
    if isinstance(value, msgspec.Struct):
        changed = {}
        for name in value.__struct_fields__:
            before = getattr(value, name)
            if type(before) not in _TEXTLESS and (after := with_plain_texts(before, longest, most)) is not before:
                changed[name] = after
        return msgspec.structs.replace(value, **changed) if changed else value
    if isinstance(value, list | tuple):
        kept = value[:most] if value and isinstance(value[0], str) else value
        texts = [with_plain_texts(one, longest, most) for one in kept]
        same = len(kept) == len(value) and all(map(lambda after, one: after is one, texts, value))
        return value if same else type(value)(texts)
    if isinstance(value, dict):
        return {with_plain_texts(key, longest): with_plain_texts(one, longest, most) for key, one in value.items()}
    return value


def whole_number(text: str, largest: int) -> int | None:
    """Return the number written in ASCII digits, or None for anything else and for more than `largest`.

    `int` would also take the digits of every script, blanks, signs and underscores.

    >>> whole_number("12", 99), whole_number("\\uff11\\uff12", 99), whole_number("1_2", 99), whole_number("100", 99)
    (12, None, None, None)
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(largest)):
        return None
    number = int(text)
    return number if number <= largest else None
