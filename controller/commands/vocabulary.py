"""The data of games in words: facts, dispositions, units and limits as phrases."""

from __future__ import annotations

from typing import Final

from controller.games import game
from controller.games.own_words import OwnWords
from controller.games.specification import STATED, Disposition, Facts, Noticed, Order, Unit
from controller.games.wager_specification import Betting, Excess, LimitOf, Shortfall, Viewer
from controller.rules.settlement import Rounding
from firmware_bridge.link import LinkState
from firmware_bridge.messages import Message, message

USUAL: Final = OwnWords()  # without a named game


def words_of(game_id: str) -> OwnWords:
    """Return the game's words for its places and outcomes; the usual words if `game_id` is empty."""
    return game(game_id).words if game_id else USUAL


FACTS: Final = {  # fact -> (if true, if false)
    "wrong_number": (
        message("a hand has too many or too few cards"),
        message("every hand has the right number of cards"),
    ),
    "dealer_hand": (message("the {dealer}'s hand"), message("a Player's hand")),
    "handled": (message("cards were handled"), message("no Player has handled cards")),
    "misplaced": (message("place, order or number is wrong"), message("place, order and number are right")),
    "order_known": (message("their order is known"), message("their order is not known")),
    "places_certain": (message("every card's place is certain"), message("not every card's place is certain")),
    "before_close": (message('before "No more bets"'), message('after "No more bets"')),
    "counted_wrong": (
        message("a count by hand gives the wrong number"),
        message("a count by hand gives the right number"),
    ),
    "viewed": (message("its Player has viewed it"), message("its Player has not viewed it")),
    "curable": (message("moving complete hands corrects it"), message("moving complete hands does not correct it")),
    "reconstructable": (
        message("the intended order can be restored"),
        message("the intended order cannot be restored"),
    ),
    "first_card": (message("the first card of the round"), message("not the first card of the round")),
    "affects_play": (message("the round cannot go on as it was"), message("the round can go on as it was")),
    "manual": (message("the device yields single cards"), message("the device yields sets")),
    "established": (message("a wager has won or lost for certain"), message("no wager has won or lost for certain")),
    "face_seen": (message("its face was seen"), message("its face was not seen")),
    "shuffling": (message("while the deck was shuffled"), message("not while the deck was shuffled")),
    "dropped": (message("it was dropped"), message("it was not dropped")),
    "withdrawn": (message("withdrawn"), message("placed or raised")),
    "between_rounds": (message("between rounds"), message("in a round")),
    "in_stub": (message("in the stub and not to be dealt"), message("to be dealt in this round")),
    "cannot_tell": (message("it is unknown which wagers were placed"), message("the wagers placed are known")),
    "dealt_before": (message("about a card dealt before that choice"), message("about a card dealt after that choice")),
    "one_hand": (message("all of them go to one hand"), message("they go to several hands")),
    "dead_hand": (message("the hand is out of play"), message("the hand is in play")),
    "chosen_before": (
        message("a bettor has chosen to go on after an earlier error"),
        message("no bettor has had to choose before"),
    ),
}

NOTICED: Final = {
    (Noticed.IN_ROUND,): "noticed in the round only",
    (Noticed.IN_ROUND, Noticed.CONCLUDED): "noticed before the next round begins",
    (Noticed.CONCLUDED,): "noticed between its settlement and the next round",
    (Noticed.NEXT_ROUND,): "noticed when the next round had begun",
    tuple(Noticed): "whenever it is noticed",
}
MOMENTS: Final = {
    Noticed.IN_ROUND: "while the round lasts",
    Noticed.CONCLUDED: "between its settlement and the next round",
    Noticed.NEXT_ROUND: "when the next round had begun",
}

FOLLOWS: Final = {
    Disposition.VOID: message("the round is void; all bets are returned"),
    Disposition.CONTINUE: message("play continues"),
    Disposition.NEXT_CARD: message("it is the next card; play continues"),
    Disposition.REMOVE_HAND: message("that hand is removed and its bets are returned"),
    Disposition.OPTIONS: message("every bettor chooses"),
    Disposition.NAME_ORDER: message("their order is named"),
    Disposition.REFER: message("the matter is referred to a higher authority"),
    Disposition.RECONSTRUCT: message("the dealer moves the cards as the screen shows, then play continues"),
    Disposition.WITHDRAWALS: message("every bettor may withdraw; the others' hands are finished"),
    Disposition.STANDS: message("results and settlement stand"),
    Disposition.REFUSE: message("it is refused; wagers count as they lay"),
    Disposition.RETURN_BET: message("that bet is returned"),
    Disposition.RESHUFFLE: message("the deck is shuffled again"),
    Disposition.SILENT: message("the rules are silent: the shift manager decides"),
}
DECIDED_BY_PEOPLE: Final = frozenset({Disposition.REFER, Disposition.SILENT, Disposition.NAME_ORDER})

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
    str(option): option
    for option in (
        message("confirm"),
        message("deny"),
        message("name the order"),
        message("put the cards right"),
        message("withdraw"),
        message("void"),
        message("continue"),
        message("remove hands"),
        message("return bets"),
        message("name order"),
        message("reconstruct"),
    )
}
"""The possible outcomes of an irregularity, as the table calls them."""

UNIT_NAMES: Final = {Unit.SETS: message("sets"), Unit.SINGLES: message("singles")}
UNITS: Final = {Unit.SETS: message("sets of three"), Unit.SINGLES: message("single cards")}
ORDERS: Final = {
    Order.BY_HAND: message("three cards to each place in turn"),
    Order.BY_ROUND: message("one card to each place in turn, three times"),
}
LIMITS: Final = {
    LimitOf.WAGER: "minimum and maximum apply to each wager",
    LimitOf.BOX: "minimum and maximum apply to all bets of one kind on a box",
}
EXCESS: Final = {
    Excess.AS_IT_LIES: "",
    Excess.TO_MAXIMUM: "bets above the maximum are paid and collected up to the maximum",
    Excess.PRO_RATA: "the maximum is divided among the bettors at the box",
}
SHORTFALL: Final = {
    Shortfall.AS_IT_LIES: "bets below the minimum are settled as placed",
    Shortfall.ONCE: "bets below the minimum are settled the first time and returned after that",
}
ROUNDINGS: Final = {
    Rounding.NONE: "payouts and shares of a maximum are exact, including parts of a unit",
    Rounding.DOWN: "payouts are rounded down to whole units, and a maximum is divided in whole units",
    Rounding.UP: "payouts are rounded up to whole units, and a maximum is divided in whole units",
}
VIEWERS: Final = {
    Viewer.UNSAID: "",
    Viewer.FIRST_SEATED: "of several bettors, the seated one who placed first looks at the hand",
    Viewer.SEATED_ELSE_HIGHEST: "of several bettors, the one seated at the box looks at the hand, else the highest bet",
}


def follows_in_words(disposition: Disposition, *, chooses: bool) -> str:
    """Return the disposition in a short phrase. `chooses` means that the row also gives options."""
    if chooses and disposition is Disposition.NAME_ORDER:
        return "their order is named, then every bettor chooses"
    return str(FOLLOWS[disposition])


def facts_in_words(when: Facts, words: OwnWords = USUAL) -> tuple[Message, ...]:
    """Return the facts that a row needs, each as a short phrase.

    >>> [str(fact) for fact in facts_in_words(Facts(dealer_hand=True, handled=False))]
    ["the Dealer's hand", 'no Player has handled cards']
    """
    stated = ((name, getattr(when, name)) for name in STATED)
    said = (FACTS[name][0 if value else 1] for name, value in stated if value is not None)
    return tuple(map(words.own, said))


def noticed_in_words(noticed: tuple[Noticed, ...]) -> str:
    """Return when it must have been noticed for the row to apply."""
    if noticed in NOTICED:
        return NOTICED[noticed]
    return f"noticed {' or '.join(MOMENTS[moment] for moment in noticed)}"


def limits_in_words(betting: Betting) -> tuple[tuple[str, str], ...]:
    """Return a document's rules for placing and counting wagers as (clause, words). Rules that it lacks are left
    out.
    """
    limits = (
        (betting.limits, LIMITS[betting.limit_of]),
        (betting.excess_clause, EXCESS[betting.excess]),
        (betting.shortfall_clause, SHORTFALL[betting.shortfall]),
        (betting.late, 'nothing is placed or raised after "No more bets"'),
        (betting.late_withdrawal, 'nothing is withdrawn after "No more bets"'),
        (betting.without_main, "a side wager needs a main wager"),
        (betting.without_main_returned, "a side wager without one is returned"),
        (betting.most_wagers_clause, f"at most {betting.most_wagers} wagers of a kind on a box"),
        (betting.fewer_wagers, "a pit manager may allow fewer wagers of a kind on a box"),
        (betting.restricting, "a pit manager may keep a bettor to one box"),
        (betting.one_hand_viewed, "a bettor looks at one hand only"),
        (betting.seated_to_view, "only a seated bettor may look at a hand"),
        (betting.viewer_clause, VIEWERS[betting.viewer]),
        (betting.seated_first, "bets by seated bettors count before those by standing bettors"),
        (betting.walked_away, "the bets of a bettor who has walked away stand"),
    )
    return tuple((clause, words) for clause, words in limits if clause)
