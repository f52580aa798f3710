"""What the table answers, in the language of who asks: sentences are translated, everything else stays.

`SENTENCES` names the fields that people read. They are translated from the English sentence alone, so that nothing that
is not in it can be told from the translation.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, TypeVar

import msgspec
from aiohttp import web

from controller.api import preview, screen_state, view
from controller.api.irregularity_view import IrregularityView
from controller.api.messages import NotInJournal, OperationAnswer
from controller.language import ENGLISH, PARAMETER, known, translated, translated_whole
from controller.table.offers import Offer

ASKED: Final[ContextVar[str]] = ContextVar("language", default=ENGLISH)
"""Set for each request, before anything of it is answered or refused."""

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
    IrregularityView: ("because", "questions", "question", "claim", "senses", "note"),
    Offer: ("sentence",),
    OperationAnswer: ("sentence",),
    NotInJournal: ("sentence",),
    preview.PreviewAnswer: ("sentence", "sentences", "next_step"),
    screen_state.LayoutView: ("labels",),
    screen_state.WagerView: ("name",),
    screen_state.ReportView: ("label",),
    screen_state.LastView: ("sentence",),
}

WRITTEN: Final = frozenset({"paused", "maintenance", "quarantined"})
"""Fields of these that people write: translated whole, or not at all."""

Said = TypeVar("Said")


def language_of(request: web.Request) -> str:
    """The one that the request names, as `?language=zh-Hans`; English otherwise."""
    return known(request.query.get(PARAMETER))


def in_language(value: Said, language: str) -> Said:
    """The same with its sentences in that language."""
    return value if language == ENGLISH else _walked(value, language)


def _walked(value: Any, language: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_walked(one, language) for one in value)
    if not isinstance(value, msgspec.Struct):
        return value
    sentences = SENTENCES.get(type(value), ())
    changed = {}
    for name in value.__struct_fields__:
        was = getattr(value, name)
        if name in sentences and name in WRITTEN:
            will = translated_whole(was, language)
        else:
            will = _said(was, language) if name in sentences else _walked(was, language)
        if will is not was and will != was:
            changed[name] = will
    return msgspec.structs.replace(value, **changed) if changed else value


def _said(value: Any, language: str) -> Any:
    """One sentence, several, or one for each place."""
    if isinstance(value, str):
        return translated(value, language)
    if isinstance(value, dict):
        return {key: translated(one, language) for key, one in value.items()}
    return tuple(translated(one, language) for one in value)
