"""Translation of the table's answers into the reader's language: sentences are translated, everything else stays.

`SENTENCES` names the fields that people read. They are translated from the English sentence alone, so a translation
discloses nothing more. Text that a client or a person wrote (`detail`, `PHRASES`) is not matched with templates, and
all other work is within the budget of a `Translator`.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from controller.api import preview, screen_state, view
from controller.api.irregularity_view import ClaimView, IrregularityView
from controller.api.messages import NotInJournal, OperationAnswer
from controller.language import ENGLISH, PARAMETER, Speaker, known
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


def language_of(request: web.Request) -> str:
    """Return the language that the request names, as `?language=zh-Hans`; else English."""
    return known(request.query.get(PARAMETER))


def in_language(value: Said, speaker: Speaker | None) -> Said:
    """Return the same value with its sentences in the speaker's language."""
    return value if speaker is None or speaker.language == ENGLISH else _translated(value, speaker)


def _translated(value: Any, speaker: Speaker) -> Any:
    if isinstance(value, tuple):
        return tuple(_translated(one, speaker) for one in value)
    if not isinstance(value, msgspec.Struct):
        return value
    sentences = SENTENCES.get(type(value), ())
    changed = {}
    for name in value.__struct_fields__:
        will: Any
        was = getattr(value, name)
        if name == "sentence" and isinstance(said := getattr(value, "message", None), Message):
            will = speaker.sentence(said)
        elif name == "sentences" and (said := getattr(value, "messages", ())):
            will = tuple(map(speaker.sentence, said))
        elif name in sentences and name in PHRASES:
            will = speaker.phrase(was)
        else:
            will = _translated_texts(was, speaker) if name in sentences else _translated(was, speaker)
        if will is not was and will != was:
            changed[name] = will
    return msgspec.structs.replace(value, **changed) if changed else value


def _translated_texts(value: Any, speaker: Speaker) -> Any:
    """Translate one sentence, several, or one for each place."""
    if isinstance(value, str):
        return speaker.sentence(value)
    if isinstance(value, dict):
        return {key: speaker.sentence(one) for key, one in value.items()}
    return tuple(map(speaker.sentence, value))
