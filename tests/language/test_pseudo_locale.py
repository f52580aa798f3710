"""Every text is in the catalogue: in the pseudo-locale nothing is left in plain letters but what people wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import msgspec
import pytest

from controller.api.preview import preview
from controller.api.screen_state import LastView, MessageKind, table_message
from controller.api.view import LinkView, view_of
from controller.language import Speaker, languages
from controller.language.catalogue import texts
from controller.table.offers import decisions, offers
from controller.table.state import TableState
from firmware_bridge.messages import Message, message
from tests.language.pseudo import ACCENTED, OPENING, PARTS, pseudo, pseudo_locale
from tests.table.every_state import every_state

WORD: Final = re.compile(r"[A-Za-z]{2,}")
WRITTEN: Final = ("as entered", "dispute", "drop", "The cable was pulled.", "Another device is connected.")
"""What people and devices wrote in these states."""
NAMES: Final = frozenset({"ann", "bob", "dealer", "pit", "supervisor", "manager", "shift"})
"""The ids of people."""
JOINTS: Final = frozenset({"and", "or"})
"""CLDR's between the parts of a list. It has no such locale, and its English stands in for it."""
CODE: Final = re.compile(r"[A-Z]{1,4}\d?")  # the code of a game, a clause, a card or a device


hints_of: Final = cache(get_type_hints)


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pseudo_locale(tmp_path_factory.mktemp("languages")) as code:
        yield code


def texts_in(value: Any, hint: Any = None) -> Iterator[str | Message]:
    """Yield the texts of an answer: its messages, and plain texts in the place of a message."""
    if isinstance(value, Message) or (isinstance(value, str) and Message in get_args(hint)):
        yield value
    elif isinstance(value, msgspec.Struct):
        for name, kind in hints_of(type(value)).items():
            yield from texts_in(getattr(value, name), kind)
    elif isinstance(value, tuple | dict):
        of = next((one for one in get_args(hint)[::-1] if one is not Ellipsis), None)
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one, of)


def texts_of_state(state: TableState) -> Iterator[str | Message]:
    """Yield what a screen shows of a table: its state, every refusal, and the preview of each decision."""
    view = view_of(state, LinkView("ready"))
    yield from texts_in(table_message(state, view, offers(state), LastView(state.entry, 0, ""), MessageKind(True)))
    for group in decisions(state):
        for sample in group.samples:
            yield from texts_in(preview(state, sample))


def plain_words(text: str) -> set[str]:
    for written in WRITTEN:
        text = text.replace(written, "")
    return {word for word in WORD.findall(text) if not CODE.fullmatch(word)} - NAMES - JOINTS


def test_no_text_of_any_state_is_left_in_plain_letters(language: str) -> None:
    said = {str(text): text for _, state in every_state() for text in texts_of_state(state)}
    assert len(said) > 500
    left = {}
    for english, text in said.items():
        shown = Speaker(language)(text)
        if words := plain_words(shown):
            left[english] = words
    assert left == {}


def test_every_word_of_the_pages_is_in_brackets(language: str) -> None:
    words = texts(language).keyed
    assert {key: text for key, text in words.items() if WORD.search(PARTS.sub("", text))} == {}
    assert all(OPENING in text for text in words.values() if set(text) & set(ACCENTED))


def test_the_pseudo_locale_is_found_as_any_language(language: str) -> None:
    assert language in languages()
    said = Speaker(language)(message("Turn over {hands}.", hands="KD"))
    assert said == pseudo("Turn over {hands}.").replace("{hands}", "KD")
