"""Puts the messages of an answer into the reader's language, and leaves everything else unchanged.

A message is rendered from its own text and arguments, so a translation discloses nothing more. Text that a client, a
device or a person wrote is an argument or a field of its own, and stays as it was written.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import msgspec
from aiohttp import web

from controller.api import view
from controller.language import PARAMETER, TEXTS, Speaker, known
from firmware_bridge.messages import Message

ASKED: Final[ContextVar[Speaker | None]] = ContextVar("speaker", default=None)
"""The speaker for a request, set before any answer or refusal. None: English."""

PHRASES: Final[dict[type[msgspec.Struct], tuple[str, ...]]] = {
    view.TableView: ("maintenance", "paused"),
    view.DeckView: ("quarantined",),
    view.WaitingDeckView: ("quarantined",),
}
"""Fields that people fill in, often with a phrase that a screen offers. Other text in them is not translated."""

WHOLE: Final = Speaker(whole=True)
"""For programs: each text in English, with its message."""


def language_of(request: web.Request) -> str:
    """Return the language that the request names, as `?language=zh-Hans`, or English."""
    return known(request.query.get(PARAMETER))


def speaker_for(request: web.Request) -> Speaker:
    """Return the speaker for a request: in its language, and with messages if it has `?texts=messages`."""
    return Speaker(language_of(request), whole=request.query.get(TEXTS) == "messages")


def in_language(value: Any, speaker: Speaker | None) -> Any:
    """Return the same value with its messages and sentences in the speaker's language, or in English."""
    speaker = speaker or Speaker()
    if isinstance(value, Message):
        return speaker.text(value)
    if isinstance(value, tuple):
        return tuple(in_language(one, speaker) for one in value)
    if isinstance(value, dict):
        return {key: in_language(one, speaker) for key, one in value.items()}
    if not isinstance(value, msgspec.Struct):
        return value
    phrases = PHRASES.get(type(value), ())
    changed = {}
    for name in (*_fields_with_texts(type(value)), *phrases):
        was = getattr(value, name)
        will = speaker.phrase(was) if name in phrases and isinstance(was, str) else in_language(was, speaker)
        if will is not was and will != was:
            changed[name] = will
    return msgspec.structs.replace(value, **changed) if changed else value


@cache
def _fields_with_texts(kind: type) -> tuple[str, ...]:
    """Return the fields of a type that may hold a message, at any depth."""
    hints = get_type_hints(kind)
    return tuple(name for name, hint in hints.items() if _may_hold_text(hint, (kind,)))


def _may_hold_text(hint: Any, within: tuple[type, ...]) -> bool:
    if hint is Message or hint in PHRASES:
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        if hint in within:
            return False
        return any(_may_hold_text(one, (*within, hint)) for one in get_type_hints(hint).values())
    return any(_may_hold_text(one, within) for one in get_args(hint))
