"""A pseudo-locale: every text of the catalogues in accented letters, 40 % longer, between brackets.

It shows what a translation meets: a text that no catalogue has stays in plain letters, and a text that is longer than
English must still fit. Arguments, which people and devices wrote, keep their letters.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from babel.messages.catalog import Catalog

from controller.language import catalogue
from tools import catalogue as tool

PSEUDO: Final = "en-XA"  # what CLDR calls accented English
LONGER: Final = 0.4  # the growth as a share of the letters, including the brackets
OPENING, CLOSING = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}", "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
PLAIN: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
ACCENTED: Final = "àƀçđèƒĝĥìĵķļɱñòþǫŕšţùṽŵẋýžÀƁÇĐÈƑĜĤÌĴĶĻṀÑÒÞǪŔŠŢÙṼŴẊÝŽ"
TABLE: Final = str.maketrans(PLAIN, ACCENTED)
VOWELS: Final = frozenset("àèìòùÀÈÌÒÙ")
PARTS: Final = re.compile(r"(\{\w+(?::\w+)?\})")
MARK: Final = re.compile(r"[.?!:,;\s]*$")


def pseudo(text: str) -> str:
    """Return a text of the pseudo-locale with the same slots. A text without letters is a mark, and stays.

    >>> pseudo("Turn over {hands}.")[1:-2], pseudo("{a}, {b:list}")
    ('Ţùùŕñ òṽèŕ {hands}', '{a}, {b:list}')
    """
    if not re.search("[A-Za-z]", PARTS.sub("", text)):
        return text
    end = MARK.search(text)
    assert end is not None
    body = text[: end.start()]
    lead = body[: len(body) - len(body.lstrip())]
    letters = sum(one.isalpha() for one in PARTS.sub("", body))
    due = round(letters * LONGER) - len(OPENING + CLOSING)
    parts = PARTS.split(body.lstrip())
    made = [part if PARTS.fullmatch(part) else part.translate(TABLE) for part in parts]
    while due > 0:
        before = due
        for at, part in enumerate(made):
            if not PARTS.fullmatch(part):
                made[at], due = _longer(part, due)
        if due == before:
            break
    return f"{lead}{OPENING}{''.join(made)}{CLOSING}{end[0]}"


def _longer(part: str, due: int) -> tuple[str, int]:
    """Double vowels, or other letters if there are no vowels, until the text is long enough."""
    doubled = ""
    some = VOWELS if VOWELS & set(part) else frozenset(ACCENTED)
    for letter in part:
        twice = letter in some and due > 0
        doubled += letter + letter.lower() * twice
        due -= twice
    return doubled, due


@contextmanager
def pseudo_locale(folder: Path) -> Iterator[str]:
    """Write the pseudo-locale into a folder and let the program read its catalogues there. Yields its code."""
    for path in catalogue.FOLDER.iterdir():
        if path.suffix in (catalogue.SUFFIX, ".json"):
            shutil.copy(path, folder)
    (folder / f"{PSEUDO}{catalogue.SUFFIX}").write_bytes(_file())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue, "FOLDER", folder)
        _forget()
        yield PSEUDO
    _forget()


def _file() -> bytes:
    made = Catalog(locale="en")
    for text in tool.texts():
        id_: Any = (text.id, text.many) if text.many else text.id
        said: Any = (pseudo(text.id), pseudo(text.many)) if text.many else pseudo(text.id)
        made.add(id_, said, context=text.key or None)
    return tool.written(made)


def _forget() -> None:
    found = (catalogue.codes, catalogue.languages, catalogue.english_of_pages, catalogue.texts, catalogue._phrases)
    for cached in found:
        cached.cache_clear()
