"""The words of the pages and of the commands beside them, by key.

A word with a number `n` has a key for each plural form of the language, such as `deal.lay.one` and `deal.lay.other`.
"""

from __future__ import annotations

from collections.abc import Mapping

from controller.language.catalogue import plural_form, texts
from controller.messages import SLOT


def page_words(language: str) -> Mapping[str, str]:
    """Return every word in that language, or in English if the catalogue lacks it."""
    return texts(language).keyed


def page_word(key: str, language: str, args: Mapping[str, str | int]) -> str:
    """Return the words of a key with their arguments, or the last part of the key if it has none.

    >>> page_word("top.tables", "en", {"n": 1}), page_word("top.tables", "zh-Hans", {"n": 1})
    ('1 table', '1张牌桌')
    """
    words, number = page_words(language), args.get("n")
    form = f"{key}.{plural_form(language, number)}" if isinstance(number, int) else key
    pattern = next((words[name] for name in (form, f"{key}.other", key) if name in words), None)
    if pattern is None:
        return key.rpartition(".")[2].replace("_", " ")
    return SLOT.sub(lambda slot: str(args.get(slot[1], slot[0])), pattern)
