"""The words of the pages and of the commands beside them, by key.

English stands in `en.json`. In another language the catalogue has each under its key; a word with a number `n` has a
key for each plural form of the language, such as `deal.lay.one` and `deal.lay.other`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Final

from controller.language.catalogue import ENGLISH, FOLDER
from controller.messages import SLOT

ENGLISH_WORDS: Final = FOLDER / "en.json"


@cache
def page_words(language: str) -> Mapping[str, str]:
    """Return every word in that language, in English where the catalogue lacks it."""
    words: dict[str, str] = json.loads(ENGLISH_WORDS.read_text("utf-8"))
    if language != ENGLISH:
        for folder in ("console", "floor/page"):
            words |= json.loads((FOLDER.parent / folder / "words" / f"{language}.json").read_text("utf-8"))
    return words


def page_word(key: str, language: str, args: Mapping[str, str | int]) -> str:
    """Return the words of a key with their arguments, or the last part of the key if it has none.

    >>> page_word("top.tables", "en", {"n": 1}), page_word("top.tables", "zh-Hans", {"n": 1})
    ('1 table', '1 张牌桌')
    """
    words = page_words(language)
    forms = (f"{key}.{_plural(language, args['n'])}", f"{key}.other", key) if "n" in args else (key,)
    pattern = next((words[form] for form in forms if form in words), None)
    if pattern is None:
        return key.rpartition(".")[2].replace("_", " ")
    return SLOT.sub(lambda slot: str(args.get(slot[1], slot[0])), pattern)


def _plural(language: str, n: str | int) -> str:
    return "one" if n == 1 and language == ENGLISH else "other"
