"""Irregularities that people can report now, and the details that each report needs."""

from __future__ import annotations

from typing import NamedTuple

from controller.games.specification import Kind
from controller.roles import Role
from controller.rules.dealing_order import DEALER, Place
from controller.table.inputs import PersonActed
from controller.table.irregularities.reporting import AT_A_CARD, SEVERAL
from controller.table.model import Hand
from controller.table.operations import ReportIrregularity
from controller.table.perform import can
from controller.table.state import TableState


class Reportable(NamedTuple):
    """An irregularity that can be reported. `place`, `card`, `counted`: whether it is asked for.

    `places`: those that may be named. `now`: it may be about this round; `earlier`: about the previous one.
    """

    kind: Kind
    place: bool
    card: bool
    counted: bool
    places: tuple[Place, ...]
    now: bool
    earlier: bool


def reportable(state: TableState) -> tuple[Reportable, ...]:
    """Return them in the order of the kinds, without those that cannot be reported now."""
    return tuple(found for kind in Kind if (found := _reportable(state, kind)) is not None)


def _reportable(state: TableState, kind: Kind) -> Reportable | None:
    """Return how a kind is reported.

    Kinds of which several may be open at the same time are told apart by their place; a wrong count requires one.
    """
    counted = kind is Kind.WRONG_COUNT
    places: tuple[Place, ...] = ()
    if kind in SEVERAL:
        places = tuple(place for place in _places(state) if _may(state, _at(state, kind, place)))
    now = bool(places) or _may(state, ReportIrregularity(kind))
    earlier = _may(state, _earlier(kind))
    if not now and not earlier:
        return None
    at_a_card = kind in AT_A_CARD and kind in SEVERAL
    return Reportable(kind, kind in SEVERAL, at_a_card, counted, places, now, earlier)


def _places(state: TableState) -> tuple[Place, ...]:
    assert state.settings is not None
    return (*(f"B{box}" for box in range(1, state.settings.box_count + 1)), DEALER)


def _at(state: TableState, kind: Kind, place: Place) -> ReportIrregularity:
    """Return the sample at a place. A reported count differs from what was dealt there."""
    size = state.round.hands.get(place, Hand()).size
    return ReportIrregularity(kind, place, counted=size + 1 if kind is Kind.WRONG_COUNT else None)


def _earlier(kind: Kind) -> ReportIrregularity:
    of_count = kind is Kind.WRONG_COUNT
    return ReportIrregularity(kind, "B1" if of_count else None, counted=4 if of_count else None, earlier=True)


def _may(state: TableState, report: ReportIrregularity) -> bool:
    return can(state, PersonActed("", "", Role.DEALER, state.round.number, report))
