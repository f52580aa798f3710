"""Placing, changing and taking back wagers while bets are open, within the document's and the table's rules.

A refusal is a `BetRefusedError` with its clause. The closed layout does not change: a withdrawal that a clause permits
later (RTP 5.7, 5.13.1, NC 5.7.3) is passed to the settlement. Any bettor may use the room left under the maximum of a
box, because all bets there count together (NC 3.7, 3.10).
"""

from __future__ import annotations

from itertools import accumulate
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.games.wager_specification import LimitOf, Needs, Wager
from controller.rules.law import Law
from controller.rules.layout import (
    DEALERS_SPOT,
    Bet,
    BetRefusal,
    BetRefusedError,
    HandedBack,
    Layout,
    Limit,
    TableRules,
    check_possible,
    check_rules,
    has_main,
    outside_limits,
    seated_player,
)
from firmware_bridge.messages import message

PLACED_LATE: Final = message('after "No more bets" nothing is placed or raised; give these chips back to the player')
FULL: Final = message("the maximum of the box is reached")
TAKEN_BACK_LATE: Final = message(
    'after "No more bets" nothing is taken back; put the chips back: they are settled as they lay'
)


class Laid(msgspec.Struct, frozen=True):
    """The layout after chips were moved, and the chips that go back to bettors as a result."""

    layout: Layout
    handed_back: tuple[HandedBack, ...] = ()


def place(
    law: Law,
    rules: TableRules,
    layout: Layout,
    bettor_id: str,
    wager_id: str,
    box: int,
    amount: int,
    *,
    betting_open: bool,
    noticed: bool = True,
    placed_by: str = "",
) -> Laid:
    """Add `amount` units of a bettor to a wager of a box.

    Where each wager has its own maximum, a bet over it is refused (RTP 3.4). Where the bettors of a box share it, the
    excess is handed back: the last chips first, and a standing bettor's before the seated bettor's, whose new chips
    thus replace them (NC 5.1). With `noticed=False` the Dealer overlooked what is wrong, so the bet is accepted; only a
    bet that is impossible on the layout is still refused.

    Raises `BetRefusedError`, `UnknownWagerError` for a wager that the game does not have, and `TableRulesError`.
    """
    check_rules(law, rules)
    wager = check_possible(law, rules, wager_id, box, amount)
    layout.bettor(bettor_id)
    if not betting_open:
        raise BetRefusedError(BetRefusal.LATE, PLACED_LATE, law.game.betting.late)
    lies = layout.find(bettor_id, wager_id, box)
    number = lies.number if lies else layout.numbered + 1
    before = lies.amount if lies else 0
    bet = Bet(number, bettor_id, wager_id, box, before + amount, placed_by or (lies.placed_by if lies else ""))
    if not noticed:
        return Laid(layout.holding(bet))
    _check_position(law, rules, layout, wager, bet)
    _check_limits(law, rules, layout.holding(bet), bet)
    return _share_the_maximum(law, rules, layout, bet, before)


def change(
    law: Law,
    rules: TableRules,
    layout: Layout,
    number: int,
    amount: int,
    *,
    betting_open: bool,
    noticed: bool = True,
) -> Laid:
    """Set a bet to `amount` units in all. More is placed as a new bet is; less must keep to the minimum (NC 5.2)."""
    bet = layout.bet(number)
    check_possible(law, rules, bet.wager, bet.box, amount)
    if amount > bet.amount:
        more = amount - bet.amount
        return place(
            law, rules, layout, bet.bettor, bet.wager, bet.box, more, betting_open=betting_open, noticed=noticed
        )
    if not betting_open:
        raise BetRefusedError(BetRefusal.LATE, TAKEN_BACK_LATE, law.game.betting.late_withdrawal)
    lowered = replace(bet, amount=amount)
    changed = layout.holding(lowered)
    if noticed and amount < bet.amount:
        _check_minimum(law, rules, changed, lowered)
    back = HandedBack(number, bet.bettor, bet.amount - amount, "", message("the bettor lowered the bet"))
    return Laid(changed, (back,) if back.amount else ())


def take_back(law: Law, layout: Layout, number: int, *, betting_open: bool) -> Laid:
    """Take a bet off, together with that bettor's own side wagers that would be left without a main wager.

    Other bettors' side wagers stay, because only its own bettor takes a bet back; `without_main` then names them.
    """
    bet = layout.bet(number)
    if not betting_open:
        raise BetRefusedError(BetRefusal.LATE, TAKEN_BACK_LATE, law.game.betting.late_withdrawal)
    layout = layout.holding(replace(bet, amount=0))
    back = [HandedBack(number, bet.bettor, bet.amount, "", message("the bettor took the bet back"))]
    for other in layout.on(bet.box):
        if other.bettor == bet.bettor and not has_main(law, layout, law.wager(other.wager), bet.box, bet.bettor):
            clause = law.game.betting.without_main
            because = message("its main wager is no longer there")
            back.append(HandedBack(other.number, bet.bettor, other.amount, clause, because))
            layout = layout.holding(replace(other, amount=0))
    return Laid(layout, tuple(back))


def reject_excess(law: Law, rules: TableRules, layout: Layout) -> Laid:
    """Hand back chips over a maximum that are noticed before bets are closed (RTP 3.4, NC 5.1).

    The order and the bettors are those of `place`. A bet counts as placed when its number was given.
    """
    back: list[HandedBack] = []
    for over in outside_limits(law, rules, layout):
        if over.code is BetRefusal.OVER_MAXIMUM:
            bets = [layout.bet(number) for number in over.numbers]
            first = _last_to_give_way(law, layout, bets, sum(bet.amount for bet in bets) - over.by)
            chips = [_Chips(bet, bet.amount, bet.number, bet.bettor == first) for bet in bets]
            layout, gone = _take_excess_off(law, layout, chips, over.by)
            back += gone
    return Laid(layout, tuple(back))


def _last_to_give_way(law: Law, layout: Layout, bets: list[Bet], maximum: int) -> str:
    """Return the bettor whose chips go back last when bets of one kind on a box exceed their maximum.

    That is the bettor who sits there, else the Seated Player (NC 1.15) at the moment when the maximum was reached: the
    bet that exceeds it, or a later one, makes nobody the Seated Player.
    """
    box = bets[0].box
    seated = [bet.bettor for bet in layout.on(box) if layout.bettor(bet.bettor).seat == box]
    if seated:
        return seated[0]
    totals = accumulate(bet.amount for bet in bets)
    passing = next(bet for bet, total in zip(bets, totals, strict=True) if total > maximum)
    before = replace(layout, bets=tuple(bet for bet in layout.bets if bet.number < passing.number))
    return seated_player(law, before, box) or passing.bettor


def _check_position(law: Law, rules: TableRules, layout: Layout, wager: Wager, bet: Bet) -> None:
    """Check whether the bettor may bet on the box at all: the box, its main wager, his restriction, the number of
    wagers.
    """
    betting, box = law.game.betting, law.game.words.spot(bet.box)
    if bet.box in rules.closed_boxes:
        raise BetRefusedError(BetRefusal.BOX_CLOSED, message("{box} is closed; bet on another", box=box))
    if not has_main(law, layout, wager, bet.box, bet.bettor):
        raise BetRefusedError(
            BetRefusal.NO_MAIN,
            message(
                "{wager} on {box} needs a main wager of the same bettor there; place that first"
                if wager.needs is Needs.OWN_MAIN
                else "{wager} on {box} needs a main wager there; place that first",
                wager=wager.title,
                box=box,
            ),
            betting.without_main,
        )
    boxes = [other.box for other in layout.bets if other.bettor == bet.bettor]
    positions = [number for number in boxes if number not in (bet.box, DEALERS_SPOT)]
    if bet.bettor in rules.one_box and positions and bet.box != DEALERS_SPOT:
        raise BetRefusedError(
            BetRefusal.ONE_BOX_ONLY,
            message(
                "{bettor} may bet on one position only; bet on {box}",
                bettor=bet.bettor,
                box=law.game.words.box(positions[0]),
            ),
            betting.restricting,
        )
    _check_number_of_wagers(law, rules, layout, bet)


def _check_number_of_wagers(law: Law, rules: TableRules, layout: Layout, bet: Bet) -> None:
    """Check RTP 3.9. A playing area is the spot for one kind of wager at a position (RTP 2.2); a bettor's stake on it
    is one wager.
    """
    betting = law.game.betting
    others = sum(other.number != bet.number for other in layout.on(bet.box, bet.wager))
    if betting.most_wagers and others >= betting.most_wagers:
        most, clause = betting.most_wagers, betting.most_wagers_clause
    else:
        most, clause = rules.fewer_wagers.get(bet.box, others + 1), betting.fewer_wagers
    if others >= most:
        raise BetRefusedError(
            BetRefusal.TOO_MANY_WAGERS,
            message(
                "{box} takes at most {most} wagers of a kind; bet on another",
                box=law.game.words.spot(bet.box),
                most=most,
            ),
            clause,
        )


def _check_limits(law: Law, rules: TableRules, layout: Layout, bet: Bet) -> None:
    _check_minimum(law, rules, layout, bet)
    limit = rules.limits.get(bet.wager, Limit())
    alone = law.game.betting.limit_of is LimitOf.WAGER
    if alone and limit.maximum is not None and bet.amount > limit.maximum:
        raise BetRefusedError(
            BetRefusal.OVER_MAXIMUM,
            message(
                "{amount} is above the maximum of {maximum}; bet that amount or less",
                amount=bet.amount,
                maximum=limit.maximum,
            ),
            law.game.betting.limits,
        )


def _check_minimum(law: Law, rules: TableRules, layout: Layout, bet: Bet) -> None:
    """Check the minimum against the wager, or against all of its kind on the box (NC 5.2)."""
    minimum = rules.limits.get(bet.wager, Limit()).minimum
    alone = law.game.betting.limit_of is LimitOf.WAGER
    counts = bet.amount if alone else sum(other.amount for other in layout.on(bet.box, bet.wager))
    if counts < minimum:
        raise BetRefusedError(
            BetRefusal.UNDER_MINIMUM,
            message(
                "{amount} is below the minimum of {minimum}; bet that amount or more", amount=counts, minimum=minimum
            ),
            law.game.betting.limits,
        )


class _Chips(msgspec.Struct, frozen=True):
    """Chips of a bet that came together. `placed` orders them in time; `first` marks the Seated Player's."""

    bet: Bet
    amount: int
    placed: int
    first: bool


def _share_the_maximum(law: Law, rules: TableRules, layout: Layout, bet: Bet, before: int) -> Laid:
    """Lay the bet, of which `before` units were on the box already, and hand back what exceeds the box's maximum."""
    laid = layout.holding(bet)
    maximum = rules.limits.get(bet.wager, Limit()).maximum
    over = 0 if maximum is None else sum(other.amount for other in laid.on(bet.box, bet.wager)) - maximum
    if over <= 0 or law.game.betting.limit_of is LimitOf.WAGER:
        return Laid(laid)
    # The chips in question do not make a bettor the Seated Player (NC 1.15).
    sits = layout.bettor(bet.bettor).seat == bet.box
    first = bet.bettor if sits else seated_player(law, layout, bet.box) or bet.bettor
    lying = [
        _Chips(laid.bet(other.number), other.amount, other.number, other.bettor == first)
        for other in layout.on(bet.box, bet.wager)
    ]
    new = _Chips(bet, bet.amount - before, laid.numbered + 1, bet.bettor == first)
    result, back = _take_excess_off(law, laid, [*lying, new], over)
    refused = sum(gone.amount for gone in back if gone.number == bet.number)
    if refused >= new.amount:
        raise BetRefusedError(
            BetRefusal.OVER_MAXIMUM,
            message(
                "{box} has its maximum of {maximum} already; bet on another",
                box=law.game.words.spot(bet.box),
                maximum=str(maximum),
            ),
            law.game.betting.seated_first or law.game.betting.limits,
        )
    return Laid(result, back)


def _take_excess_off(law: Law, layout: Layout, chips: list[_Chips], over: int) -> tuple[Layout, tuple[HandedBack, ...]]:
    """Take `over` units off: standing bettors' chips before the Seated Player's, and the last placed first."""
    betting = law.game.betting
    order = sorted(chips, key=lambda some: (some.first and bool(betting.seated_first), -some.placed))
    gone: dict[int, int] = {}
    for some in order:
        taken = min(some.amount, over)
        over -= taken
        if taken:
            gone[some.bet.number] = gone.get(some.bet.number, 0) + taken
    back = []
    for number, taken in gone.items():
        bet = layout.bet(number)
        clause = betting.seated_first or betting.limits
        back.append(HandedBack(number, bet.bettor, taken, clause, FULL))
        layout = layout.holding(replace(bet, amount=bet.amount - taken))
    return layout, tuple(back)
