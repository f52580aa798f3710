"""Renders what was heard in the short words of docs/other_devices.md. Only here are cards shown."""

from __future__ import annotations

from collections.abc import Iterable

from firmware_bridge import observations
from firmware_bridge.drivers.base import Heard, Reported
from firmware_bridge.observations import AnyObservation


def plain(seen: AnyObservation) -> str:
    match seen:
        case observations.CardDrawn(card=card, foreign=foreign):
            if card is not None:
                return f"card {card.expose().code}"
            return "foreign card" if foreign else "unread card"
        case observations.Jammed(zone=zone):
            return f"stop: {zone}"
        case observations.JamCleared(zone=zone):
            return f"freed: {zone}"
        case observations.Alarmed(alarm=alarm):
            return f"alarm: {alarm}"
        case observations.Noted(what=what):
            return f"noted: {what}"
        case observations.GapSuspected():
            return "gap suspected"
        case observations.NotUnderstood():
            return "not understood"
        case observations.Started():
            return "started"
    raise AssertionError(f"none of these drivers reports {type(seen).__name__}")


def reports(heard: Iterable[Heard]) -> list[Reported]:
    return [thing for thing in heard if isinstance(thing, Reported)]


def texts_of(heard: Iterable[Heard]) -> list[str]:
    return [plain(report.observation) for report in reports(heard)]


def cards(heard: Iterable[Heard]) -> list[str]:
    """Return the cards alone, an unread one as "?"."""
    drawn = [report.observation for report in reports(heard)]
    return [
        "?" if one.card is None else one.card.expose().code for one in drawn if isinstance(one, observations.CardDrawn)
    ]
