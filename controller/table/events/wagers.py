"""Wagers: what lies on the layout, and what it came to. Money is exact: fractions stand as text, "15/2"."""

from __future__ import annotations

from controller.rules.layout import Bet, HandedBack
from controller.table.events.base import Event
from controller.table.model import SettledBet


class BettorEntered(Event, frozen=True, tag="bettor_entered"):
    """Somebody bets here, by a token that he keeps until he leaves. `seat`: the box at which he sits; None: stands."""

    bettor: str
    seat: int | None = None


class BettorLeft(Event, frozen=True, tag="bettor_left"):
    bettor: str


class LayoutChanged(Event, frozen=True, tag="layout_changed"):
    """The bets that lie there now, and the chips that went back. `numbered`: the last number given to a bet."""

    bets: tuple[Bet, ...]
    numbered: int
    handed_back: tuple[HandedBack, ...] = ()
    overlooked: bool = False  # it lies there although the rules do not allow it


class BettingRestricted(Event, frozen=True, tag="betting_restricted"):
    """What a pit manager restricts: boxes that take no bets, boxes that take fewer, bettors with one box only."""

    closed_boxes: tuple[int, ...]
    fewer_wagers: tuple[tuple[int, int], ...]
    one_box: tuple[str, ...]


class BettorWithdrew(Event, frozen=True, tag="bettor_withdrew"):
    """All that a bettor bet on a box is returned; the hand plays on for those who are left."""

    bettor: str
    box: int
    clause: str
    irregularity: int


class WagersSettled(Event, frozen=True, tag="wagers_settled"):
    """Every bet of the round, and what the house gained. `under_minimum`: whose one time is used up (RTP 5.10)."""

    bets: tuple[SettledBet, ...]
    house: str
    under_minimum: tuple[str, ...] = ()


class SettlementReversed(Event, frozen=True, tag="settlement_reversed"):
    """What was settled is taken back, bet by bet: the round was voided, or a hand removed, after it was settled."""

    irregularity: int
    clause: str
    bets: tuple[SettledBet, ...]
