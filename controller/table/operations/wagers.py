"""What people enter of bettors and their wagers."""

from __future__ import annotations

from controller.table.operations.base import Operation


class EnterBettor(Operation, frozen=True, tag="enter_bettor"):
    """Somebody bets here. `seat`: the box at which he sits; None: he stands. Entering him again moves him."""

    bettor: str
    seat: int | None = None


class BettorLeaves(Operation, frozen=True, tag="bettor_leaves"):
    """He bets here no more; possible while nothing of his lies on the layout."""

    bettor: str


class PlaceWager(Operation, frozen=True, tag="place_wager"):
    """`amount` more units on a wager of a box. `overlooked`: it lies there although the rules do not allow it."""

    bettor: str
    wager: str
    box: int
    amount: int
    overlooked: bool = False


class ChangeWager(Operation, frozen=True, tag="change_wager"):
    """A bet is of `amount` units in all from now on."""

    bet: int
    amount: int


class TakeBackWager(Operation, frozen=True, tag="take_back_wager"):
    bet: int


class RejectExcess(Operation, frozen=True, tag="reject_excess"):
    """What lies over a maximum is handed back before bets are closed."""


class RestrictBetting(Operation, frozen=True, tag="restrict_betting"):
    """What a pit manager restricts from now on, whole: an empty list lifts a restriction."""

    closed_boxes: tuple[int, ...] = ()
    fewer_wagers: tuple[tuple[int, int], ...] = ()
    one_box: tuple[str, ...] = ()
