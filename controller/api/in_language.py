"""Translation of the table's answers into the reader's language: sentences are translated, everything else stays.

`SENTENCES` names the fields that people read. They are translated from the English sentence alone, so a translation
discloses nothing more. Text that a client or a person wrote (`detail`, `PHRASES`) is not matched with templates, and
all other work is within the budget of a `Translator`.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec
from aiohttp import web

from controller.api import preview, screen_state, view
from controller.api.irregularity_view import ClaimView, IrregularityView
from controller.api.messages import NotInJournal, OperationAnswer
from controller.language import ENGLISH, PARAMETER, TEXTS, Speaker, Translator, known
from controller.messages import Message
from controller.table.offers import Offer

ASKED: Final[ContextVar[Speaker | None]] = ContextVar("speaker", default=None)
"""The speaker for a request, set before any answer or refusal. None: English."""

SENTENCES: Final[dict[type[msgspec.Struct], tuple[str, ...]]] = {
    view.TableView: (
        "title",
        "next_step",
        "next_steps",
        "payments",
        "service_cause",
        "paused",
        "maintenance",
        "warnings",
    ),
    view.DeckView: ("quarantined",),
    view.WaitingDeckView: ("quarantined",),
    view.DeviceView: ("sentence", "hint", "stopped", "shortcomings"),
    view.HandView: ("class_name",),
    IrregularityView: ("because", "questions", "question", "senses", "note", "becomes"),
    ClaimView: ("question",),
    Offer: ("sentence",),
    OperationAnswer: ("sentence",),
    NotInJournal: ("sentence",),
    preview.PreviewAnswer: ("sentence", "sentences", "next_step", "becomes"),
    screen_state.LayoutView: ("labels",),
    screen_state.WagerView: ("name",),
    screen_state.ReportView: ("label",),
    screen_state.LastView: ("sentence",),
}

PHRASES: Final = frozenset({"paused", "maintenance", "quarantined"})
"""Fields that people fill in, often with a phrase that a screen offers. Other text in them stays as it is."""

Said = TypeVar("Said")
IN_ENGLISH: Final = Speaker(Translator(lambda: 0.0), ENGLISH)
WHOLE: Final = IN_ENGLISH._replace(whole=True)
"""For programs: each text in English, with its message."""


def language_of(request: web.Request) -> str:
    """Return the language that the request names, as `?language=zh-Hans`; else English."""
    return known(request.query.get(PARAMETER))


def speaker_for(request: web.Request, translator: Translator, caller: Hashable) -> Speaker:
    """Return the speaker for a request: in its language, and with messages where it has `?texts=messages`."""
    return Speaker(translator, language_of(request), caller, whole=request.query.get(TEXTS) == "messages")


def in_language(value: Said, speaker: Speaker | None) -> Said:
    """Return the same value with its messages and sentences in the speaker's language, or in English."""
    said: Said = _said(value, speaker or IN_ENGLISH)
    return said


def _said(value: Any, speaker: Speaker) -> Any:
    if isinstance(value, Message):
        return speaker.text(value)
    if isinstance(value, tuple):
        return tuple(_said(one, speaker) for one in value)
    if isinstance(value, dict):
        return {key: _said(one, speaker) for key, one in value.items()}
    if not isinstance(value, msgspec.Struct):
        return value
    sentences = SENTENCES.get(type(value), ())
    changed = {}
    for name in dict.fromkeys((*_fields_with_texts(type(value)), *sentences)):
        was = getattr(value, name)
        if name in PHRASES and isinstance(was, str):
            will = speaker.phrase(was)
        else:
            will = _translated(was, speaker) if name in sentences else _said(was, speaker)
        if will is not was and will != was:
            changed[name] = will
    return msgspec.structs.replace(value, **changed) if changed else value


def _translated(value: Any, speaker: Speaker) -> Any:
    """Translate one sentence, several, or one for each place."""
    if isinstance(value, str):
        return speaker.sentence(value)
    if isinstance(value, dict):
        return {key: _translated(one, speaker) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(_translated(one, speaker) for one in value)
    return _said(value, speaker)


@cache
def _fields_with_texts(kind: type) -> tuple[str, ...]:
    """Return the fields of a type that may hold a message, at any depth."""
    hints = get_type_hints(kind)
    return tuple(name for name, hint in hints.items() if _may_hold_text(hint, (kind,)))


def _may_hold_text(hint: Any, within: tuple[type, ...]) -> bool:
    if hint is Message or hint in SENTENCES:
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        if hint in within:
            return False
        return any(_may_hold_text(one, (*within, hint)) for one in get_type_hints(hint).values())
    return any(_may_hold_text(one, within) for one in get_args(hint))
