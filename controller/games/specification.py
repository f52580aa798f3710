"""The words in which a rules document is written down as data.

A game says in which order and unit it deals, which phases its round has, and what follows from each irregularity: an
ordered table of rows, of which the first that fits applies. Nothing else in the program knows any one game.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Order(StrEnum):
    """In which order places receive their cards."""

    BY_HAND = "by_hand"  # all cards to one place, then the next place
    BY_ROUND = "by_round"  # one card to each place, and again


class Unit(StrEnum):
    """What leaves the device at a time."""

    SETS = "sets"
    SINGLES = "singles"


class Role(StrEnum):
    """Ranks of people at the tables, lowest first."""

    DEALER = "dealer"
    PIT_SUPERVISOR = "pit_supervisor"
    PIT_MANAGER = "pit_manager"
    SHIFT_MANAGER = "shift_manager"

    def reaches(self, needed: Role) -> bool:
        """Whether a person of this rank may do what needs `needed` "or above".

        >>> Role.PIT_MANAGER.reaches(Role.PIT_SUPERVISOR), Role.DEALER.reaches(Role.PIT_SUPERVISOR)
        (True, False)
        """
        ranks = list(Role)
        return ranks.index(self) >= ranks.index(needed)

    @property
    def word(self) -> str:
        return self.value.replace("_", " ")


class Kind(StrEnum):
    """What can go wrong, as it is noticed. Which numbered irregularity (I01 to I28) it is, the row that fits says."""

    FOREIGN_CARD = "foreign_card"
    DECK_COUNT = "deck_count"  # a shortage or excess in the deck
    UNSHUFFLED = "unshuffled"
    COUNT_IN_DOUBT = "count_in_doubt"
    WRONG_COUNT = "wrong_count"  # too many or too few cards to one hand
    EXPOSED_CARD = "exposed_card"  # in dealing, by a person or the device
    FACE_UP_IN_DEVICE = "face_up_in_device"
    SIMULTANEOUS = "simultaneous"
    OTHER_DEALING_ERROR = "other_dealing_error"
    TECHNICAL_STOP = "technical_stop"
    BEFORE_NO_MORE_BETS = "before_no_more_bets"


class Disposition(StrEnum):
    """What a clause says is to be done."""

    VOID = "void"
    CONTINUE = "continue"
    NEXT_CARD = "next_card"  # continue; the card counts as the one that was due
    REMOVE_HAND = "remove_hand"
    OPTIONS = "options"  # every bettor chooses
    NAME_ORDER = "name_order"  # a person names the order, then every bettor chooses
    REFER = "refer"  # the clause names who decides, not what
    SILENT = "silent"  # no clause: hold, alert, and a ruling of the house


class Choice(StrEnum):
    """What a bettor may choose where a clause gives options."""

    CONTINUE = "continue"
    WITHDRAW = "withdraw"


class RulingAction(StrEnum):
    """What a named person may rule where the document is silent or refers."""

    VOID = "void"
    CONTINUE = "continue"


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known about an irregularity when its row is looked up. None: not stated.

    `dealer_hand`: it concerns the Dealer's hand. `handled`: any Player has handled cards. `misplaced`: a place, order
    or number of cards is wrong. `order_known`: of simultaneous cards. `places_certain`: every card's place after a
    stop. `before_close`: noticed before "No more bets". `counted_wrong`: a count by hand did not give what it should.
    """

    dealer_hand: bool | None = None
    handled: bool | None = None
    misplaced: bool | None = None
    order_known: bool | None = None
    places_certain: bool | None = None
    before_close: bool | None = None
    counted_wrong: bool | None = None


FACT_QUESTIONS: dict[str, str] = {
    "dealer_hand": "Is it the Dealer's hand?",
    "handled": "Has any player handled cards?",
    "misplaced": "Is the place, the order or the number of cards wrong?",
    "order_known": "Is the order of the cards known?",
    "places_certain": "Is the place of every card certain?",
    "before_close": 'Was it before "No more bets"?',
    "counted_wrong": "Did the count by hand come out wrong?",
}


class Row(msgspec.Struct, frozen=True):
    """One row of a game's irregularity table.

    `when` names the facts that must hold; a fact that is None there does not matter. `confirms` is the lowest rank
    that may confirm the fact, `decides` the lowest that may decide what the disposition leaves open.
    """

    id: str
    kind: Kind
    clause: str
    disposition: Disposition
    because: str
    when: Facts = Facts()
    confirms: Role = Role.PIT_SUPERVISOR
    decides: Role = Role.PIT_SUPERVISOR


class Grammar(msgspec.Struct, frozen=True):
    """How a round is dealt with devices of one unit. `device`: the only kind that may yield it; empty: any."""

    unit: Unit
    order: Order
    clause: str
    device: str = ""
    cards_each: int = 3


class Clauses(msgspec.Struct, frozen=True):
    """Where the document says what the machine asks of every game."""

    place_your_bets: str
    no_more_bets: str
    exposing: str
    void_returns_bets: str
    option_returns_bet: str


class Game(msgspec.Struct, frozen=True):
    """A rules document. `boxes` is (fewest, most, default) betting boxes of a layout."""

    id: str
    title: str
    version: str
    effective: str
    boxes: tuple[int, int, int]
    grammars: tuple[Grammar, ...]
    examining: bool  # Players look at their cards before the Dealer's are exposed
    half_pay_points: int  # a win with so many points pays half
    clauses: Clauses
    irregularities: tuple[Row, ...]
    silent_clause: str  # who decides what no row provides for; empty where the document names nobody

    def grammar(self, unit: Unit) -> Grammar:
        """How to deal what leaves the device in that unit."""
        return next(grammar for grammar in self.grammars if grammar.unit is unit)
