"""The data of games in words: facts, dispositions, units and limits as phrases."""

from __future__ import annotations

from typing import Final

from controller.games import GAMES
from controller.games.own_words import OwnWords
from controller.games.specification import FACT_WORDS, FOLLOWS, STATED, Disposition, Facts, Noticed, Order, Unit
from controller.games.wager_specification import Betting, Excess, LimitOf, Shortfall, Viewer
from controller.rules.settlement import Rounding
from controller.table.events.lines import USUAL
from firmware_bridge.link import LinkState
from firmware_bridge.messages import Message, message


def words_of(game_id: str) -> OwnWords:
    """Return the game's words for its places and outcomes; the usual words if there is no such game."""
    return GAMES[game_id].words if game_id in GAMES else USUAL


NOTICED: Final = {
    frozenset({Noticed.IN_ROUND}): message("noticed in the round only"),
    frozenset({Noticed.IN_ROUND, Noticed.CONCLUDED}): message("noticed before the next round begins"),
    frozenset({Noticed.IN_ROUND, Noticed.NEXT_ROUND}): message("noticed in the round, or when the next had begun"),
    frozenset({Noticed.CONCLUDED}): message("noticed between its settlement and the next round"),
    frozenset({Noticed.CONCLUDED, Noticed.NEXT_ROUND}): message("noticed after its settlement"),
    frozenset({Noticed.NEXT_ROUND}): message("noticed when the next round had begun"),
    frozenset(Noticed): message("whenever it is noticed"),
}
"""When an irregularity must have been noticed for a row to apply."""
LINKS: Final = {
    LinkState.ABSENT: message("absent"),
    LinkState.CONNECTING: message("connecting"),
    LinkState.AUTHENTICATING: message("authenticating"),
    LinkState.READY: message("ready"),
    LinkState.STALE: message("stale"),
    LinkState.LOST: message("disconnected"),
    LinkState.REFUSED: message("refused"),
}
OPTIONS: Final = {
    "confirm": message("confirm"),
    "deny": message("deny"),
    "name the order": message("name the order"),
    "put the cards right": message("put the cards right"),
    "withdraw": message("withdraw"),
    "void": message("void"),
    "continue": message("continue"),
    "remove hands": message("remove hands"),
    "return bets": message("return bets"),
    "name order": message("name order"),
    "reconstruct": message("reconstruct"),
}
"""The steps that an irregularity leaves open, as the table calls them."""

UNIT_NAMES: Final = {Unit.SETS: message("sets"), Unit.SINGLES: message("singles")}
UNITS: Final = {Unit.SETS: message("sets of three"), Unit.SINGLES: message("single cards")}
ORDERS: Final = {
    Order.BY_HAND: message("three cards to each place in turn"),
    Order.BY_ROUND: message("one card to each place in turn, three times"),
}
NOT_SAID: Final = Message("")
LIMITS: Final = {
    LimitOf.WAGER: message("minimum and maximum apply to each wager"),
    LimitOf.BOX: message("minimum and maximum apply to all bets of one kind on a box"),
}
EXCESS: Final = {
    Excess.AS_IT_LIES: NOT_SAID,
    Excess.TO_MAXIMUM: message("bets above the maximum are paid and collected up to the maximum"),
    Excess.PRO_RATA: message("the maximum is divided among the bettors at the box"),
}
SHORTFALL: Final = {
    Shortfall.AS_IT_LIES: message("bets below the minimum are settled as placed"),
    Shortfall.ONCE: message("bets below the minimum are settled the first time and returned after that"),
}
ROUNDINGS: Final = {
    Rounding.NONE: message("payouts and shares of a maximum are exact, including parts of a unit"),
    Rounding.DOWN: message("payouts are rounded down to whole units, and a maximum is divided in whole units"),
    Rounding.UP: message("payouts are rounded up to whole units, and a maximum is divided in whole units"),
}
VIEWERS: Final = {
    Viewer.UNSAID: NOT_SAID,
    Viewer.FIRST_SEATED: message("of several bettors, the seated one who placed first looks at the hand"),
    Viewer.SEATED_ELSE_HIGHEST: message(
        "of several bettors, the one seated at the box looks at the hand, else the highest bet"
    ),
}


def follows_in_words(disposition: Disposition, *, chooses: bool) -> Message:
    """Return the disposition in a short phrase. `chooses` means that the row also gives options."""
    if chooses and disposition is Disposition.NAME_ORDER:
        return message("their order is named, then every bettor chooses")
    return FOLLOWS[disposition]


def facts_in_words(when: Facts, words: OwnWords = USUAL) -> tuple[Message, ...]:
    """Return the facts that a row needs, each as a short phrase.

    >>> [str(fact) for fact in facts_in_words(Facts(dealer_hand=True, handled=False))]
    ["the Dealer's hand", 'no Player has handled cards']
    """
    stated = ((name, getattr(when, name)) for name in STATED)
    said = (FACT_WORDS[name][0 if value else 1] for name, value in stated if value is not None)
    return tuple(map(words.own, said))


def limits_in_words(betting: Betting) -> tuple[tuple[str, Message], ...]:
    """Return a document's rules for placing and counting wagers as (clause, words). Rules that it lacks are left
    out.
    """
    limits = (
        (betting.limits, LIMITS[betting.limit_of]),
        (betting.excess_clause, EXCESS[betting.excess]),
        (betting.shortfall_clause, SHORTFALL[betting.shortfall]),
        (betting.late, message('nothing is placed or raised after "No more bets"')),
        (betting.late_withdrawal, message('nothing is withdrawn after "No more bets"')),
        (betting.without_main, message("a side wager needs a main wager")),
        (betting.without_main_returned, message("a side wager without one is returned")),
        (betting.most_wagers_clause, message("at most {number} wagers of a kind on a box", number=betting.most_wagers)),
        (betting.fewer_wagers, message("a pit manager may allow fewer wagers of a kind on a box")),
        (betting.restricting, message("a pit manager may keep a bettor to one box")),
        (betting.one_hand_viewed, message("a bettor looks at one hand only")),
        (betting.seated_to_view, message("only a seated bettor may look at a hand")),
        (betting.viewer_clause, VIEWERS[betting.viewer]),
        (betting.seated_first, message("bets by seated bettors count before those by standing bettors")),
        (betting.walked_away, message("the bets of a bettor who has walked away stand")),
    )
    return tuple((clause, words) for clause, words in limits if clause)
