"""The part of each bet that counts at settlement: minimum and maximum, by the document's data.

Shares are exact fractions of the smallest unit. No clause says how to count out a share that is not a whole unit; a
house that rounds its payouts (`controller.rules.settlement.Rounding`) shares whole units too. The direction of rounding
does not matter here, because the shares of a box add up to its maximum either way: each is cut to whole units, and the
units left over go one each in the order of placing.

Only the closed layout counts. A bet that is returned later leaves the others' shares as they are (NC 5.13), and no
earlier round is computed again (RTP 5.12).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from controller.games.wager_specification import Excess, Shortfall
from controller.rules.law import Law
from controller.rules.layout import Bet, Layout, Limit, TableRules, counting_together
from firmware_bridge.messages import Message, message

PRO_RATA_UNDER_MINIMUM: Final = "pro_rata_under_minimum"
EXEMPT: Final = "exempt"  # the option by which only the bet below the minimum is not shared


class Share(msgspec.Struct, frozen=True):
    """The division of one bet: `counts` is won or lost and `returned` goes back; together they are its amount.

    If the whole bet counts and that needs no clause, `clause` is empty and `because` None. `once`: the bet is under the
    minimum, and paying or collecting it uses up its bettor's one time (RTP 5.10).
    """

    bet: Bet
    counts: Fraction
    clause: str = ""
    because: Message | None = None
    once: bool = False

    @property
    def returned(self) -> Fraction:
        return self.bet.amount - self.counts


Group: TypeAlias = Sequence[Bet]


def apportion(
    law: Law,
    rules: TableRules,
    layout: Layout,
    settled_under_minimum: frozenset[str] = frozenset(),
    *,
    whole_units: bool = False,
) -> tuple[Share, ...]:
    """Return the share of every bet, in the order of placing.

    `settled_under_minimum`: bettors who had a wager below the minimum paid or collected in an earlier round.
    `whole_units`: no part of a unit is counted or returned (house procedure).
    """
    shares: dict[int, Share] = {}
    for group in counting_together(law, layout):
        limit = rules.limits.get(group[0].wager, Limit())
        found = _shares(law, group, limit, settled_under_minimum)
        shares |= {share.bet.number: share for share in (_in_whole_units(found) if whole_units else found)}
    return tuple(shares[bet.number] for bet in layout.bets)


def _in_whole_units(shares: tuple[Share, ...]) -> tuple[Share, ...]:
    """Cut the shares to whole units. Their total stays the same, because it is a whole number."""
    with_parts = [share for share in shares if share.counts % 1]
    over = sum(share.counts % 1 for share in with_parts)
    first = sorted(share.bet.number for share in with_parts)[: int(over)]
    return tuple(replace(share, counts=Fraction(share.counts // 1 + (share.bet.number in first))) for share in shares)


def _shares(law: Law, group: Group, limit: Limit, settled_before: frozenset[str]) -> tuple[Share, ...]:
    total = sum(bet.amount for bet in group)
    if limit.maximum is not None and total > limit.maximum:
        return _EXCESS[law.game.betting.excess](law, group, limit.minimum, limit.maximum)
    if total < limit.minimum:
        return tuple(_SHORTFALL[law.game.betting.shortfall](law, bet, settled_before) for bet in group)
    return tuple(_whole(bet) for bet in group)


def _whole(bet: Bet, clause: str = "", because: Message | None = None) -> Share:
    return Share(bet, Fraction(bet.amount), clause, because)


def _excess_as_it_lies(law: Law, group: Group, minimum: int, maximum: int) -> tuple[Share, ...]:
    because = message("above the maximum; the bet counts as placed")
    return tuple(_whole(bet, law.game.betting.excess_clause, because) for bet in group)


def _to_maximum(law: Law, group: Group, minimum: int, maximum: int) -> tuple[Share, ...]:
    """Pay and collect to the maximum only (RTP 5.11)."""
    clause = law.game.betting.excess_clause
    return tuple(
        Share(bet, Fraction(maximum), clause, message("the bet counts up to the maximum of {maximum}", maximum=maximum))
        if bet.amount > maximum
        else _whole(bet)
        for bet in group
    )


def _pro_rata(law: Law, group: Group, minimum: int, maximum: int) -> tuple[Share, ...]:
    """Divide the maximum of a box among its bettors; none counts for less than the minimum (NC 5.1.1).

    A bet below the minimum counts whole (NC 5.1.2). The others then share the rest of the maximum; by the setting's
    other reading nothing is shared.
    """
    under = [bet for bet in group if bet.amount < minimum]
    option, exempting = _under_minimum(law) if under else (EXEMPT, "")
    if option != EXEMPT:
        because = message("a bet below the minimum lies among them, so nothing is shared")
        return tuple(_whole(bet, exempting, because) for bet in group)
    rest = Fraction(maximum - sum(bet.amount for bet in under))
    counts = share_out(rest, {bet.number: bet.amount for bet in group if bet.amount >= minimum}, minimum)
    return tuple(
        Share(
            bet,
            counts[bet.number],
            law.game.betting.excess_clause,
            message("its share of the maximum of {maximum}", maximum=maximum),
        )
        if bet.number in counts
        else _whole(bet, exempting, message("below the minimum; the bet is not shared"))
        for bet in group
    )


def _under_minimum(law: Law) -> tuple[str, str]:
    """Return the reading for bets below the minimum when a maximum is shared, and its clause; the setting is optional.

    Raises `SettingError` if the reading must be chosen and is not.
    """
    for setting in law.game.settings:
        if setting.id == PRO_RATA_UNDER_MINIMUM:
            return law.option(setting.id), setting.clause
    return EXEMPT, law.game.betting.excess_clause


def share_out(whole: Fraction, stakes: dict[int, int], minimum: int) -> dict[int, Fraction]:
    """Divide `whole` in proportion to stakes of at least the minimum, so that no share falls below the minimum.

    `whole` is less than the sum of the stakes, so no share exceeds its stake. Lifting one share to the minimum leaves
    less for the others, so the division repeats until none is below. If the minimums alone add up to `whole` or more,
    each share is the minimum.

    >>> share_out(Fraction(100), {1: 150, 2: 100, 3: 10}, 10)
    {1: Fraction(54, 1), 2: Fraction(36, 1), 3: Fraction(10, 1)}
    """
    if not stakes or minimum * len(stakes) >= whole:
        return dict.fromkeys(stakes, Fraction(minimum))
    lifted: set[int] = set()
    while True:
        sharing = {number: stake for number, stake in stakes.items() if number not in lifted}
        for_each = (whole - minimum * len(lifted)) / sum(sharing.values())
        falls_under = {number for number, stake in sharing.items() if stake * for_each < minimum}
        if not falls_under:
            return {
                number: Fraction(minimum) if number in lifted else stake * for_each for number, stake in stakes.items()
            }
        lifted |= falls_under


def _shortfall_as_it_lies(law: Law, bet: Bet, settled_before: frozenset[str]) -> Share:
    return _whole(bet, law.game.betting.shortfall_clause, message("below the minimum; the bet counts as placed"))


def _shortfall_once(law: Law, bet: Bet, settled_before: frozenset[str]) -> Share:
    """Settle a bet below the minimum the first time; return that bettor's from the next round on (RTP 5.10)."""
    clause = law.game.betting.shortfall_clause
    if bet.bettor in settled_before:
        return Share(bet, Fraction(0), clause, message("below the minimum again; the bet is returned"))
    return Share(
        bet, Fraction(bet.amount), clause, message("below the minimum for the first time; the bet stands"), once=True
    )


_EXCESS: Final[dict[Excess, Callable[[Law, Group, int, int], tuple[Share, ...]]]] = {
    Excess.AS_IT_LIES: _excess_as_it_lies,
    Excess.TO_MAXIMUM: _to_maximum,
    Excess.PRO_RATA: _pro_rata,
}
_SHORTFALL: Final[dict[Shortfall, Callable[[Law, Bet, frozenset[str]], Share]]] = {
    Shortfall.AS_IT_LIES: _shortfall_as_it_lies,
    Shortfall.ONCE: _shortfall_once,
}
