"""The bets on a layout: who bet what on which box, and which of them the house should not have taken.

`controller.rules.placing` places, changes and returns bets while bets are open. Amounts are whole numbers of the
smallest unit. A wager is one bettor's stake of one kind on one box: placing there again raises it and keeps its number.
A layout may hold unlawful bets, because a Dealer may overlook one; they are dealt with at settlement
(`controller.rules.apportionment`, `controller.rules.settlement`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import replace

from controller.games.wager_specification import LimitOf, Needs, Viewer, Wager
from controller.rules.law import Law
from firmware_bridge.messages import AnyText, Message, MessageError, message

DEALERS_SPOT: Final = 0  # the box of a wager on the Banker's own spot


class BetRefusal(StrEnum):
    """The reason why a bet is not taken, changed or given back."""

    LATE = "late"
    NO_AMOUNT = "no_amount"
    NO_SUCH_BOX = "no_such_box"
    BOX_CLOSED = "box_closed"
    UNKNOWN_BETTOR = "unknown_bettor"
    SEAT_TAKEN = "seat_taken"
    UNKNOWN_BET = "unknown_bet"
    TWO_STACKS = "two_stacks"
    NO_MAIN = "no_main"
    TOO_MANY_WAGERS = "too_many_wagers"
    ONE_BOX_ONLY = "one_box_only"
    OVER_MAXIMUM = "over_maximum"
    UNDER_MINIMUM = "under_minimum"


class BetRefusedError(MessageError, ValueError):
    """A refused bet, with the reason as a phrase. `clause` is empty where the house refuses without a clause."""

    code: BetRefusal

    def __init__(self, code: BetRefusal, said: Message, clause: str = "") -> None:
        super().__init__(said, code=code)
        self.clause = clause


class Bettor(msgspec.Struct, frozen=True):
    """A person who bets (NC 1.11), by an id that he keeps until he leaves.

    `seat`: the box at which he sits (NC 1.15). None: he stands, and bets on other people's boxes (NC 1.16, 3.8).
    """

    id: str
    seat: int | None = None


class Bet(msgspec.Struct, frozen=True):
    """A bettor's stake of one kind on one box. `number` is the order of placing, from 1.

    `placed_by`: the member of staff who placed it, or its last chips, at the bettor's request (RTP 3.6, NC 5.16). It is
    still the bettor's.
    """

    number: int
    bettor: str
    wager: str
    box: int
    amount: int
    placed_by: str = ""


class TableRulesError(MessageError, ValueError):
    """An impossible setting of a table, or one that its game does not allow, as a phrase."""


class Limit(msgspec.Struct, frozen=True):
    """The minimum and maximum of one kind of wager, in the smallest unit. None: no maximum."""

    minimum: int = 1
    maximum: int | None = None

    def __post_init__(self) -> None:
        if self.minimum < 1 or (self.maximum is not None and self.maximum < self.minimum):
            raise TableRulesError(
                message(
                    "no bet can keep to a limit of {minimum} to {maximum}; set a minimum of 1 or more, and a maximum "
                    "that is not lower",
                    minimum=self.minimum,
                    maximum=str(self.maximum),
                )
            )


class TableRules(msgspec.Struct, frozen=True):
    """The limits and restrictions that the casino and its pit manager set for one table.

    `limits` by wager id; a wager without an entry has none. `fewer_wagers`: the most wagers of a kind on that box (RTP
    3.9.1). `one_box`: bettors who may bet on one position only (RTP 3.8). Raises `TableRulesError` for an impossible
    rule; `check_rules` checks whether the game allows them.
    """

    boxes: int
    limits: Mapping[str, Limit] = {}
    closed_boxes: frozenset[int] = frozenset()
    fewer_wagers: Mapping[int, int] = {}
    one_box: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.boxes < 1:
            raise TableRulesError(message("a layout has at least one box, not {boxes}", boxes=self.boxes))
        strangers = [box for box in (*self.closed_boxes, *self.fewer_wagers) if not DEALERS_SPOT <= box <= self.boxes]
        if strangers:
            raise TableRulesError(
                message("there is no box {box}; boxes are 1 to {boxes}", box=strangers[0], boxes=self.boxes)
            )
        if any(most < 0 for most in self.fewer_wagers.values()):
            raise TableRulesError(message("the most wagers on a box is a number from 0"))


class Layout(msgspec.Struct, frozen=True):
    """Bettors and their bets in the order of placing. `numbered` is the last number given; numbers are never reused."""

    bettors: tuple[Bettor, ...] = ()
    bets: tuple[Bet, ...] = ()
    numbered: int = 0

    def bet(self, number: int) -> Bet:
        """Return a bet by its number. Raises `BetRefusedError`."""
        for bet in self.bets:
            if bet.number == number:
                return bet
        raise BetRefusedError(
            BetRefusal.UNKNOWN_BET, message("bet {number} is not on the layout; look up its number", number=number)
        )

    def bettor(self, bettor_id: str) -> Bettor:
        """Return a bettor by his id. Raises `BetRefusedError`."""
        for bettor in self.bettors:
            if bettor.id == bettor_id:
                return bettor
        raise BetRefusedError(
            BetRefusal.UNKNOWN_BETTOR,
            message("bettor {bettor} is not entered; enter the bettor first", bettor=bettor_id),
        )

    def on(self, box: int, wager_id: str | None = None) -> tuple[Bet, ...]:
        """Return the bets on a box, of one kind or of all, in the order of placing."""
        return tuple(bet for bet in self.bets if bet.box == box and wager_id in (None, bet.wager))

    def find(self, bettor_id: str, wager_id: str, box: int) -> Bet | None:
        return next((bet for bet in self.on(box, wager_id) if bet.bettor == bettor_id), None)

    def holding(self, changed: Bet) -> Layout:
        """Return the layout with that bet changed or added; an amount of 0 takes it off."""
        others = [bet for bet in self.bets if bet.number != changed.number]
        bets = sorted([*others, changed] if changed.amount else others, key=lambda bet: bet.number)
        return replace(self, bets=tuple(bets), numbered=max(self.numbered, changed.number))


class HandedBack(msgspec.Struct, frozen=True):
    """Chips that go back to a bettor while bets are open."""

    number: int
    bettor: str
    amount: int
    clause: str
    because: AnyText


class OutsideLimits(msgspec.Struct, frozen=True):
    """Bets that are under a minimum or over a maximum by `by` units. `numbers`: the bets that count together."""

    code: BetRefusal
    box: int
    wager: str
    numbers: tuple[int, ...]
    by: int
    clause: str


def check_rules(law: Law, rules: TableRules) -> None:
    """Check that a table of this game may have these rules. `Limit` has checked that the limits can be met.

    Raises `TableRulesError` for a number of boxes outside the document's range, a limit on a wager that the game does
    not have, and a restriction of a spot that its layout does not have.
    """
    fewest, most, _ = law.game.boxes
    if not fewest <= rules.boxes <= most:
        raise TableRulesError(
            message(
                "a layout of {game} has {most} boxes, not {boxes}; correct that number"
                if fewest == most
                else "a layout of {game} has {fewest} to {most} boxes, not {boxes}; correct that number",
                game=law.game.id,
                fewest=fewest,
                most=most,
                boxes=rules.boxes,
            )
        )
    known = {wager.id for wager in law.wagers}
    for wager_id in rules.limits:
        if wager_id not in known:
            raise TableRulesError(
                message(
                    "a limit is set for {wager}; the wagers of {game} are {wagers:list}",
                    wager=repr(wager_id),
                    game=law.game.id,
                    wagers=tuple(sorted(known)),
                )
            )
    restricted = (*rules.closed_boxes, *rules.fewer_wagers)
    if DEALERS_SPOT in restricted and not any(wager.on_dealer for wager in law.wagers):
        raise TableRulesError(
            message("there is no box {box}; boxes are 1 to {boxes}", box=DEALERS_SPOT, boxes=rules.boxes)
        )


def enter_bettor(rules: TableRules, layout: Layout, bettor: Bettor) -> Layout:
    """Enter a bettor with his seat, or move him. Raises `BetRefusedError` for an impossible seat."""
    others = tuple(other for other in layout.bettors if other.id != bettor.id)
    if bettor.seat is not None:
        if not 1 <= bettor.seat <= rules.boxes:
            raise BetRefusedError(
                BetRefusal.NO_SUCH_BOX,
                message("there is no box {box}; boxes are 1 to {boxes}", box=bettor.seat, boxes=rules.boxes),
            )
        taken = [other.id for other in others if other.seat == bettor.seat]
        if taken:
            raise BetRefusedError(
                BetRefusal.SEAT_TAKEN,
                message(
                    "{bettor} sits at box {box}; first enter that this bettor left the seat",
                    bettor=taken[0],
                    box=bettor.seat,
                ),
            )
    return replace(layout, bettors=(*others, bettor))


def as_it_lies(law: Law, rules: TableRules, bettors: Iterable[Bettor], bets: Iterable[Bet]) -> Layout:
    """Return the layout as the chips were found at closing, lawful or not; wagers are settled by that (NC 5.13).

    Raises `BetRefusedError` for what cannot be on a layout: an unknown box or bettor, an amount that is not whole, a
    repeated number, two stacks of one bettor for one wager. Raises `UnknownWagerError` for a wager that the game does
    not have, and `TableRulesError`.
    """
    check_rules(law, rules)
    layout = Layout()
    for bettor in bettors:
        layout = enter_bettor(rules, layout, bettor)
    for bet in sorted(bets, key=lambda bet: bet.number):
        layout.bettor(bet.bettor)
        check_possible(law, rules, bet.wager, bet.box, bet.amount)
        if bet.number <= layout.numbered or layout.find(bet.bettor, bet.wager, bet.box):
            raise BetRefusedError(
                BetRefusal.TWO_STACKS,
                message(
                    "bet {number} is entered twice, or {bettor} has the same wager on {box} already; enter both as one "
                    "amount",
                    number=bet.number,
                    bettor=bet.bettor,
                    box=law.game.words.spot(bet.box),
                ),
            )
        layout = layout.holding(bet)
    return layout


def check_possible(law: Law, rules: TableRules, wager_id: str, box: int, amount: int) -> Wager:
    """Return the wager if this layout can have such a bet. Raises `BetRefusedError` or
    `UnknownWagerError`.
    """
    wager = law.wager(wager_id)
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < 1:
        raise BetRefusedError(
            BetRefusal.NO_AMOUNT,
            message(
                "{amount} is not a valid bet; enter a whole number of the smallest unit, 1 or more", amount=repr(amount)
            ),
        )
    if wager.on_dealer and box != DEALERS_SPOT:
        raise BetRefusedError(
            BetRefusal.NO_SUCH_BOX,
            message(
                "{wager} lies on {spot}; enter it on box {box}",
                wager=wager.title,
                spot=law.game.words.spot(DEALERS_SPOT),
                box=DEALERS_SPOT,
            ),
        )
    if not wager.on_dealer and not 1 <= box <= rules.boxes:
        raise BetRefusedError(
            BetRefusal.NO_SUCH_BOX,
            message(
                "{wager} cannot lie on box {box}; boxes are 1 to {boxes}",
                wager=wager.title,
                box=box,
                boxes=rules.boxes,
            ),
        )
    return wager


def has_main(law: Law, layout: Layout, wager: Wager, box: int, bettor_id: str) -> bool:
    """Return whether the main wager that this wager by the bettor needs lies on that box (reading 44)."""
    if wager.needs is Needs.NOTHING:
        return True
    mains = [bet for bet in layout.on(box) if law.wager(bet.wager).main]
    return any(wager.needs is Needs.ANY_MAIN or bet.bettor == bettor_id for bet in mains)


def without_main(law: Law, layout: Layout) -> tuple[Bet, ...]:
    """Return the side bets without the main wager that they need (I23; TP 3.3, RTP 3.5, NC 3.9, P3 3.4)."""
    return tuple(bet for bet in layout.bets if not has_main(law, layout, law.wager(bet.wager), bet.box, bet.bettor))


def counting_together(law: Law, layout: Layout) -> tuple[tuple[Bet, ...], ...]:
    """Group the bets that a minimum or maximum applies to: each alone, or all of a kind on a box."""
    if law.game.betting.limit_of is LimitOf.WAGER:
        return tuple((bet,) for bet in layout.bets)
    groups = dict.fromkeys((bet.box, bet.wager) for bet in layout.bets)
    return tuple(layout.on(box, wager) for box, wager in groups)


def outside_limits(law: Law, rules: TableRules, layout: Layout) -> tuple[OutsideLimits, ...]:
    """Return what the Dealer should notice before bets are closed (RTP 3.4, NC 3.10, 5.1, 5.2)."""
    found = []
    for group in counting_together(law, layout):
        limit = rules.limits.get(group[0].wager, Limit())
        total = sum(bet.amount for bet in group)
        for code, by in (
            (BetRefusal.UNDER_MINIMUM, limit.minimum - total),
            (BetRefusal.OVER_MAXIMUM, 0 if limit.maximum is None else total - limit.maximum),
        ):
            if by > 0:
                numbers = tuple(bet.number for bet in group)
                found.append(OutsideLimits(code, group[0].box, group[0].wager, numbers, by, law.game.betting.limits))
    return tuple(found)


def seated_player(law: Law, layout: Layout, box: int) -> str | None:
    """Return the Seated Player of a box: the bettor who sits there and bet on it, else the highest bettor (NC 1.15).

    The highest Initial Bet counts, or the highest bet of any kind if there is none. Among equal bets the first counts.
    """
    bets = layout.on(box)
    for bet in bets:
        if layout.bettor(bet.bettor).seat == box:
            return bet.bettor
    ranked = sorted(bets, key=lambda bet: (not law.wager(bet.wager).main, -bet.amount, bet.number))
    return ranked[0].bettor if ranked else None


# -- the right to look at a hand that has bets on it (RTP 3.7, 3.10, 3.11, 3.14, NC 1.15, 3.10)

NO_VIEWER_YET: Final[Mapping[str, int]] = {}


class ViewingRefusal(msgspec.Struct, frozen=True):
    """The reason why a bettor may not look at a hand, as a phrase, and its clause."""

    said: Message
    clause: str


def viewer(law: Law, layout: Layout, box: int, viewing: Mapping[str, int] = NO_VIEWER_YET) -> str | None:
    """Return the bettor who looks at the hand of a box, or None if nobody controls it and the Dealer turns it over (RTP
    3.14).

    `viewing` maps each bettor to the box whose hand he has already looked at. Where a bettor may look at one hand only,
    a bettor who has looked at another is passed over and plays this hand blind (RTP 1.1.1, 3.7). If the document does
    not say which of several bettors looks, the first who placed a bet there does.
    """
    if not law.game.examining:
        return None
    for bettor_id in _possible_viewers(law, layout, box):
        if not (law.game.betting.one_hand_viewed and viewing.get(bettor_id, box) != box):
            return bettor_id
    return None


def _possible_viewers(law: Law, layout: Layout, box: int) -> tuple[str, ...]:
    """Return the bettors of a box who may look at its hand, in the order of precedence."""
    bettors = tuple(dict.fromkeys(bet.bettor for bet in layout.on(box)))
    if law.game.betting.seated_to_view:
        bettors = tuple(bettor for bettor in bettors if layout.bettor(bettor).seat is not None)
    if law.game.betting.viewer is Viewer.SEATED_ELSE_HIGHEST:
        seated = seated_player(law, layout, box)
        return () if seated is None else (seated,)
    return bettors


def viewing_refusal(
    law: Law, layout: Layout, bettor_id: str, box: int, viewing: Mapping[str, int] = NO_VIEWER_YET
) -> ViewingRefusal | None:
    """Return why a bettor may not look at the hand of a box, or None if he may. `viewing` is as for `viewer`."""
    betting = law.game.betting
    if not law.game.examining:
        said = message("in this game the Dealer exposes every hand; leave the cards where they lie")
        return ViewingRefusal(said, "")
    name = law.game.words.box
    if all(bet.bettor != bettor_id for bet in layout.on(box)):
        said = message("{bettor} has no bet on {box}; let a bettor of {box} look", bettor=bettor_id, box=name(box))
        return ViewingRefusal(said, betting.viewer_clause)
    if betting.seated_to_view and layout.bettor(bettor_id).seat is None:
        said = message("{bettor} is not seated; only seated players look at cards", bettor=bettor_id)
        return ViewingRefusal(said, betting.seated_to_view)
    elsewhere = viewing.get(bettor_id, box)
    if betting.one_hand_viewed and elsewhere != box:
        said = message(
            "{bettor} looks at {other} and may look at one hand only; the Dealer opens the hand of {box}",
            bettor=bettor_id,
            other=name(elsewhere),
            box=name(box),
        )
        return ViewingRefusal(said, betting.one_hand_viewed)
    named = viewer(law, layout, box, viewing)
    if betting.viewer is Viewer.UNSAID or named == bettor_id:
        return None
    if named:
        said = message("{bettor} looks at the hand of {box}; hand the cards over", bettor=named, box=name(box))
    else:
        said = message("the Dealer opens the hand of {box}; hand the cards over", box=name(box))
    return ViewingRefusal(said, betting.viewer_clause)
