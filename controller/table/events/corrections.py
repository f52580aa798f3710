"""Corrections: nothing is erased; each tells what was entered, what is so instead, and what that undoes."""

from __future__ import annotations

from controller.games.specification import Choice, Facts, Row
from controller.roles import Role
from controller.rules.dealing_order import Place
from controller.rules.layout import Bet
from controller.table.events.base import Event
from controller.table.model import Stage
from controller.table.operations.corrections import Correctable


class EntryCorrected(Event, frozen=True, tag="entry_corrected"):
    """`corrected` was wrong. `instead` None: it is struck out; otherwise that stands, under this event's number."""

    corrected: int
    was: Correctable
    instead: Correctable | None
    reason: str
    by: str
    role: Role


class HandlingCorrected(Event, frozen=True, tag="handling_corrected"):
    """Whether the cards of a place were handled and viewed, after all. `viewing`: who looked at which box so far."""

    place: Place
    handled: bool
    viewed: bool
    viewing: tuple[tuple[str, int], ...] = ()


class OrderCorrected(Event, frozen=True, tag="order_corrected"):
    """The deal should have gone in this order; cards that were dealt in another lie elsewhere than they belong."""

    places: tuple[Place, ...]
    clause: str


class JudgementTakenBack(Event, frozen=True, tag="judgement_taken_back"):
    """These hands have no outcome any more; they get one anew."""

    places: tuple[Place, ...]


class ClosingTakenBack(Event, frozen=True, tag="closing_taken_back"):
    """The round is not concluded after all. `chips`: nor are its chips paid."""

    chips: bool


class LayoutCorrected(Event, frozen=True, tag="layout_corrected"):
    """How the bets lay at "No more bets"; `was`: how they were entered."""

    was: tuple[Bet, ...]
    bets: tuple[Bet, ...]
    numbered: int
    reason: str
    by: str


class IrregularityReopened(Event, frozen=True, tag="irregularity_reopened"):
    """What was decided of it rested on an entry that was corrected: it is decided anew.

    `outcome`: how it had ended; empty: it was open still. `hands` play again, `withdrawals` (bettor and box) and
    rulings on `bets` are undone. `because_of`: the entry that was corrected.
    """

    irregularity: int
    because_of: int
    outcome: str
    row: Row
    facts: Facts
    asks: tuple[str, ...]
    stage: Stage
    choices: tuple[tuple[Place, str, Choice], ...] = ()
    hands: tuple[Place, ...] = ()
    withdrawals: tuple[tuple[str, int], ...] = ()
    bets: tuple[int, ...] = ()


class VoidLifted(Event, frozen=True, tag="void_lifted"):
    """The round is not void after all: what made it void is decided anew."""

    irregularity: int
    because_of: int
