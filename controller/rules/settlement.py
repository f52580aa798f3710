"""The settlement of a whole round: for every bet what is returned, collected or held, and what the house pays.

Money is in the smallest unit and exact. Every settlement sums to zero: what bettors lose the house gains, and the
reverse. The closed layout does not change: a bet withdrawn late is won or lost all the same (TP 5.6, P3 5.6, RTP 5.3),
as is one whose bettor walked away (NC 5.3), and chips count where they lay (NC 5.13).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fractions import Fraction
from math import ceil, floor
from typing import Final

import msgspec

from controller.games.wager_specification import Looks
from controller.rules.apportionment import Share, apportion
from controller.rules.dealing_order import DEALER
from controller.rules.dealing_order import box as place_of
from controller.rules.hands import HAND_SIZE
from controller.rules.law import Law
from controller.rules.layout import Bet, Layout, TableRules, without_main
from controller.rules.payouts import Cards, Verdict, settle
from firmware_bridge.messages import Message, MessageError, message

NOTHING: Final = Fraction(0)


class SettlementError(MessageError, ValueError):
    """A round cannot be settled from what was entered, as a phrase with the next step."""


class Rounding(StrEnum):
    """The house's treatment of a payout that is not a whole unit. This is house procedure, which no clause covers.

    If it rounds payouts either way, shares of a maximum are whole units too.
    """

    NONE = "none"
    DOWN = "down"
    UP = "up"


class BetAction(StrEnum):
    """A person's ruling on one bet for which no clause decides."""

    RETURN = "return"
    SETTLE = "settle"  # it is won or lost like any other


class BetRuling(msgspec.Struct, frozen=True):
    """A ruling on one bet. `authority` names who gave it; `text` is its wording."""

    action: BetAction
    authority: str
    text: str = ""


class BetResult(msgspec.Struct, frozen=True):
    """The result of one bet. `bet.amount` is `returned` + `collected` + `held`; the house adds `paid`.

    `counted` is the part that the hands decided, 0 where they decided nothing. `verdict` None: held until a ruling.
    `breakage` is the amount that rounding kept from the payout; below 0, the amount it added. `clause` is the
    verdict's; `share_clause` and `share` say why the bet counted in part, or why it counted whole.
    """

    bet: Bet
    verdict: Verdict | None
    clause: str
    because: Message
    counted: Fraction = NOTHING
    returned: Fraction = NOTHING
    collected: Fraction = NOTHING
    held: Fraction = NOTHING
    paid: Fraction = NOTHING
    breakage: Fraction = NOTHING
    share_clause: str = ""
    share: Message | None = None


class Settlement(msgspec.Struct, frozen=True):
    """A settled round, with an entry for every bet in the order of placing.

    `settled_under_minimum` is carried to the next round: the bettors whose one time below the minimum is over (RTP
    5.10). Settling a round again starts from the set that it first started from.
    """

    entries: tuple[BetResult, ...]
    settled_under_minimum: frozenset[str] = frozenset()

    @property
    def house(self) -> Fraction:
        """The house's gain. Together with the gains of all bettors it is 0."""
        return sum((each.collected - each.paid for each in self.entries), NOTHING)


def settle_round(
    law: Law,
    rules: TableRules,
    layout: Layout,
    hands: Mapping[str, Cards],
    *,
    removed: Mapping[int, str] | None = None,
    withdrawn: Mapping[tuple[str, int], str] | None = None,
    rulings: Mapping[int, BetRuling] | None = None,
    settled_under_minimum: frozenset[str] = frozenset(),
    rounding: Rounding = Rounding.NONE,
) -> Settlement:
    """Settle the closed layout by the hands at "B1", "B2" ... and "D".

    `removed`: boxes whose hand was removed, with the clause; all wagers there are returned (RTP 5.5, NC 5.9).
    `withdrawn`: (bettor, box) with the clause that let him withdraw; all his wagers there are returned (NC 5.7.3).
    `rulings` by number of bet decide where no clause does: a side bet without its main wager is held until then, and
    any other bet may be ruled to be returned. A bet that a clause returns cannot be settled by a ruling.

    Raises `SettlementError` where a hand is missing that a bet needs, a withdrawal is only partial (RTP 5.13.1), or a
    ruling or clause concerns a bet that is not on the layout; `SettingError` where a reading must be chosen and is not.
    """
    removed, withdrawn, rulings = removed or {}, withdrawn or {}, rulings or {}
    _check_entered(law, layout, removed, withdrawn, rulings)
    side_alone = {bet.number for bet in without_main(law, layout)}
    decided: dict[int, BetResult] = {}
    playing: list[Share] = []
    whole_units = rounding is not Rounding.NONE
    for share in apportion(law, rules, layout, settled_under_minimum, whole_units=whole_units):
        bet = share.bet
        entry = _decided_without_cards(
            law, share, removed, withdrawn, rulings.get(bet.number), bet.number in side_alone
        )
        if entry is None:
            playing.append(share)
        else:
            decided[bet.number] = entry
    _check_hands(law, [share.bet for share in playing], hands)
    for share in playing:
        decided[share.bet.number] = _decided_by_cards(law, share, hands, rounding)
    once = {
        share.bet.bettor
        for share in playing
        if share.once and decided[share.bet.number].verdict in (Verdict.WON, Verdict.LOST)
    }
    return Settlement(tuple(decided[bet.number] for bet in layout.bets), settled_under_minimum | once)


def bets_in_play(
    law: Law,
    rules: TableRules,
    layout: Layout,
    *,
    removed: Mapping[int, str],
    withdrawn: Mapping[tuple[str, int], str],
    rulings: Mapping[int, BetRuling],
    settled_under_minimum: frozenset[str] = frozenset(),
) -> tuple[Bet, ...]:
    """Return the bets that the hands decide: neither returned nor waiting for a ruling. Arguments as `settle_round`."""
    side_alone = {bet.number for bet in without_main(law, layout)}
    return tuple(
        share.bet
        for share in apportion(law, rules, layout, settled_under_minimum)
        if _decided_without_cards(
            law, share, removed, withdrawn, rulings.get(share.bet.number), share.bet.number in side_alone
        )
        is None
    )


def return_every_bet(
    law: Law,
    layout: Layout,
    clause: str,
    settled_under_minimum: frozenset[str] = frozenset(),
    *,
    removed: Mapping[int, str] | None = None,
    withdrawn: Mapping[tuple[str, int], str] | None = None,
    rulings: Mapping[int, BetRuling] | None = None,
) -> Settlement:
    """Return every bet of a void round (NC 5.15, F3 X2; reading 33 for the others). `clause`: why it is void.

    A bet that was returned earlier keeps its own clause, as in `settle_round`, and is not returned twice. A void round
    does not use up a bettor's one time below the minimum. Raises `SettlementError` if neither a clause nor a ruling is
    named.
    """
    if not clause:
        raise SettlementError(message("a round is void by a clause or by a ruling; name which"))
    because = message(
        "the round is void and all bets are returned ({clause})",
        clause=law.game.clauses.void_returns_bets or message("reading {number}", number=33),
    )
    removed, withdrawn, rulings = removed or {}, withdrawn or {}, rulings or {}
    entries = (
        _removed_or_withdrawn(bet, removed, withdrawn)
        or _returned_by_ruling(bet, rulings.get(bet.number))
        or _returned(bet, clause, because)
        for bet in layout.bets
    )
    return Settlement(tuple(entries), settled_under_minimum)


def _returned(bet: Bet, clause: str, because: Message) -> BetResult:
    return BetResult(bet, Verdict.RETURNED, clause, because, returned=Fraction(bet.amount))


def _removed_or_withdrawn(
    bet: Bet, removed: Mapping[int, str], withdrawn: Mapping[tuple[str, int], str]
) -> BetResult | None:
    """Return the result of a bet that a clause took out of the round, or None if no clause did."""
    if bet.box in removed:
        return _returned(bet, removed[bet.box], message("the hand was removed from play"))
    if (bet.bettor, bet.box) in withdrawn:
        return _returned(bet, withdrawn[bet.bettor, bet.box], message("the bettor withdrew"))
    return None


def _returned_by_ruling(bet: Bet, ruling: BetRuling | None) -> BetResult | None:
    """Return the result of a bet that a ruling returned, or None if no ruling did."""
    if ruling is None or ruling.action is not BetAction.RETURN:
        return None
    because = message(
        "ruling by {authority}: {text}",
        authority=ruling.authority,
        text=ruling.text or message("the bet is returned"),
    )
    return _returned(bet, ruling.authority, because)


def _decided_without_cards(
    law: Law,
    share: Share,
    removed: Mapping[int, str],
    withdrawn: Mapping[tuple[str, int], str],
    ruling: BetRuling | None,
    side_alone: bool,
) -> BetResult | None:
    """Return the result of a bet that the cards do not decide, or None if they decide it. Clauses precede rulings."""
    bet, betting = share.bet, law.game.betting
    if (out := _removed_or_withdrawn(bet, removed, withdrawn)) is not None:
        return out
    if side_alone and betting.without_main_returned:
        return _returned(bet, betting.without_main_returned, message("no main wager lies on that box"))
    if (back := _returned_by_ruling(bet, ruling)) is not None:
        return back
    if side_alone and ruling is None:
        because = message("a side wager without its main wager waits for a ruling")
        return BetResult(bet, None, betting.without_main, because, held=Fraction(bet.amount))
    if not share.counts and share.because is not None:
        return _returned(bet, share.clause, share.because)
    return None


def _decided_by_cards(law: Law, share: Share, hands: Mapping[str, Cards], rounding: Rounding) -> BetResult:
    bet, counts = share.bet, share.counts
    settled = settle(law, law.wager(bet.wager), hands.get(place_of(bet.box), ()), hands.get(DEALER, ()))
    lost, won = settled.verdict is Verdict.LOST, settled.verdict is Verdict.WON
    collected = counts if lost else NOTHING
    exact = counts * settled.net if won else NOTHING
    paid = _rounded(exact, rounding)
    return BetResult(
        bet,
        settled.verdict,
        settled.clause,
        law.game.words.own(settled.because),
        counted=counts,
        returned=bet.amount - collected,
        collected=collected,
        paid=paid,
        breakage=exact - paid,
        share_clause=share.clause,
        share=share.because,
    )


def _rounded(amount: Fraction, rounding: Rounding) -> Fraction:
    if rounding is Rounding.NONE:
        return amount
    return Fraction(floor(amount) if rounding is Rounding.DOWN else ceil(amount))


def _check_hands(law: Law, bets: Iterable[Bet], hands: Mapping[str, Cards]) -> None:
    """Check that every bet which the cards decide has the hands that it looks at.

    A bet on the Dealer's hand alone does not need its box's hand: that box may not have been dealt for lack of a main
    wager, and a ruling may still settle the bet (P3 1.1.4, 3.4).
    """
    needed = set()
    for bet in bets:
        looks = law.wager(bet.wager).looks
        if looks is not Looks.DEALER:
            needed.add(place_of(bet.box))
        if looks is not Looks.BOX:
            needed.add(DEALER)
    wrong = sorted(place for place in needed if len(hands.get(place, ())) != HAND_SIZE)
    if wrong:
        raise SettlementError(
            message(
                "bets need hands of {size} cards, and {hands:list}; enter the hand as it lies, or the clause that "
                "removed it",
                size=HAND_SIZE,
                hands=tuple(
                    message("{place} has {count}", place=law.game.words.of(place), count=len(hands.get(place, ())))
                    for place in wrong
                ),
            )
        )


def _check_entered(
    law: Law,
    layout: Layout,
    removed: Mapping[int, str],
    withdrawn: Mapping[tuple[str, int], str],
    rulings: Mapping[int, BetRuling],
) -> None:
    """Check that every return has a clause or a ruling, and that each concerns a bet on the layout."""
    for number, ruling in rulings.items():
        if all(bet.number != number for bet in layout.bets):
            raise SettlementError(
                message("a ruling is about bet {number}, which is not on the layout; look up its number", number=number)
            )
        if not ruling.authority:
            raise SettlementError(message("the ruling on bet {number} names no one; enter who gave it", number=number))
    name = law.game.words.spot
    for box, clause in removed.items():
        if not clause:
            raise SettlementError(
                message("the hand of {box} was removed without a clause; enter the clause or the ruling", box=name(box))
            )
    for (bettor, box), clause in withdrawn.items():
        if not clause:
            raise SettlementError(
                message(
                    "{bettor} withdrew from {box} with no clause that allows it; enter the clause or the ruling",
                    bettor=bettor,
                    box=name(box),
                )
            )
        if all(bet.bettor != bettor for bet in layout.on(box)):
            raise SettlementError(
                message("{bettor} has no bet on {box} to withdraw; look up the box", bettor=bettor, box=name(box))
            )
        if clause in _all_or_none_clauses(law):
            _check_all_withdrawn(law, layout, removed, withdrawn, bettor, clause)


def _all_or_none_clauses(law: Law) -> frozenset[str]:
    """Return the clauses by which a bettor withdraws all his wagers or none (RTP 5.13.1)."""
    return frozenset(option.clause for row in law.rows for option in row.options if option.all_wagers)


def _check_all_withdrawn(
    law: Law,
    layout: Layout,
    removed: Mapping[int, str],
    withdrawn: Mapping[tuple[str, int], str],
    bettor: str,
    clause: str,
) -> None:
    boxes = {bet.box for bet in layout.bets if bet.bettor == bettor and bet.box not in removed}
    left = sorted(box for box in boxes if (bettor, box) not in withdrawn)
    if left:
        raise SettlementError(
            message(
                "{clause}: {bettor} withdraws all wagers or none, and those on {box} are missing; enter them, or take "
                "back the withdrawal",
                clause=clause,
                bettor=bettor,
                box=law.game.words.spot(left[0]),
            )
        )
