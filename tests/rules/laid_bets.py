"""Short forms of laws, layouts and hands for tests of wagers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final, TypeAlias

import pytest
from hypothesis import strategies as st

from controller.games import GAMES
from controller.games.specification import Game
from controller.rules.law import Law, read_law
from controller.rules.layout import (
    Bet,
    BetRefusal,
    BetRefusedError,
    Bettor,
    Layout,
    Limit,
    TableRules,
    as_it_lies,
)
from controller.rules.payouts import Cards
from controller.rules.placing import Laid, place
from controller.rules.settlement import NOTHING, Settlement
from firmware_bridge.cards import DECK, Card

Lying: TypeAlias = tuple[str, str, int, int]  # bettor, wager, box, amount
Hands: TypeAlias = dict[str, Cards]

CHOSEN: Final = {"tie_on": "ranking"}  # readings that must be chosen; each other reading has its first option


def law_of(document: Game) -> Law:
    must = (setting for setting in document.settings if setting.must_be_chosen)
    return read_law(document, {setting.id: CHOSEN.get(setting.id, setting.words[0]) for setting in must})


LAWS: Final = {game_id: law_of(document) for game_id, document in GAMES.items()}
THREE_BOXES: Final = TableRules(boxes=3)  # of every document here; other games may need another number
TEN_TO_HUNDRED: Final = Limit(10, 100)


def cards(text: str) -> tuple[Card, ...]:
    return tuple(Card.parse(code) for code in text.split())


def hands(**places: str) -> Hands:
    """Read hands, as in `hands(B1="KD 9C 5S", D="2C 3C 4D")`."""
    return {place: cards(text) for place, text in places.items()}


def boxes_of(game_id: str) -> TableRules:
    """Return a layout of three boxes, or the nearest number that the game allows."""
    fewest, most, default = LAWS[game_id].game.boxes
    return THREE_BOXES if fewest <= 3 <= most else TableRules(boxes=default)


def limited(*wagers: str, limit: Limit = TEN_TO_HUNDRED) -> TableRules:
    return TableRules(boxes=3, limits=dict.fromkeys(wagers, limit))


def lay(game_id: str, *bets: Lying, seats: dict[str, int] | None = None) -> Layout:
    """Return a layout with these bets, valid or not, numbered in order. Bettors without a seat stand."""
    names = dict.fromkeys([*(seats or {}), *(bettor for bettor, *_ in bets)])
    bettors = [Bettor(name, (seats or {}).get(name)) for name in names]
    numbered = [Bet(number, *bet) for number, bet in enumerate(bets, start=1)]
    return as_it_lies(LAWS[game_id], boxes_of(game_id), bettors, numbered)


def lying(layout: Layout) -> list[Lying]:
    return [(bet.bettor, bet.wager, bet.box, bet.amount) for bet in layout.bets]


def put(
    game_id: str,
    layout: Layout,
    bettor: str,
    wager: str,
    box: int,
    amount: Any,
    rules: TableRules | None = None,
    *,
    is_open: bool = True,
    noticed: bool = True,
) -> Laid:
    return place(
        LAWS[game_id],
        rules or boxes_of(game_id),
        layout,
        bettor,
        wager,
        box,
        amount,
        betting_open=is_open,
        noticed=noticed,
    )


def refused(*args: Any, **kwargs: Any) -> tuple[BetRefusal, str]:
    with pytest.raises(BetRefusedError) as refusal:
        put(*args, **kwargs)
    return refusal.value.code, refusal.value.clause


def gains(settlement: Settlement) -> dict[str, Fraction]:
    """Return the gain of each bettor, below 0 for a loss."""
    found: dict[str, Fraction] = {}
    for result in settlement.entries:
        found[result.bet.bettor] = found.get(result.bet.bettor, NOTHING) + result.paid - result.collected
    return found


def held_by(settlement: Settlement) -> Fraction:
    """Return the sum that is held until a ruling."""
    return sum((result.held for result in settlement.entries), NOTHING)


def breakage(settlement: Settlement) -> Fraction:
    """Return the amount that rounding kept from all payouts; it is negative if rounding added to them."""
    return sum((result.breakage for result in settlement.entries), NOTHING)


def spots(law: Law) -> list[tuple[str, int]]:
    """Return every wager of the game with up to three boxes on which it may lie."""
    boxes = range(1, min(3, boxes_of(law.game.id).boxes) + 1)
    return [(wager.id, box) for wager in law.wagers for box in ((0,) if wager.on_dealer else boxes)]


@st.composite
def layouts(draw: st.DrawFn, game_id: str, most: int = 300) -> Layout:
    """Draw any bets of four bettors on three boxes, valid or not."""
    law = LAWS[game_id]
    stacks = st.tuples(st.sampled_from(["ann", "bob", "cy", "di"]), st.sampled_from(spots(law)))
    chosen = draw(st.lists(stacks, min_size=1, max_size=12, unique=True))
    amounts = st.integers(1, most)
    return lay(game_id, *((bettor, *spot, draw(amounts)) for bettor, spot in chosen), seats={"ann": 1, "bob": 2})


@st.composite
def table_rules(draw: st.DrawFn, game_id: str) -> TableRules:
    """Draw limits on some of the wagers."""
    minimums, ranges = st.integers(1, 60), st.integers(0, 200)
    limits = {}
    for wager in LAWS[game_id].wagers:
        if draw(st.booleans()):
            minimum = draw(minimums)
            limits[wager.id] = Limit(minimum, minimum + draw(ranges))
    return TableRules(boxes=boxes_of(game_id).boxes, limits=limits)


@st.composite
def dealt(draw: st.DrawFn) -> Hands:
    """Draw hands of three cards for three boxes and the Dealer, from one deck."""
    deck = draw(st.permutations(DECK))
    return {place: deck[3 * index : 3 * index + 3] for index, place in enumerate(("B1", "B2", "B3", "D"))}
