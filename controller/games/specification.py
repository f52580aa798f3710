"""The types in which a rules document is written down as data.

A game states the order and unit of its deal, the steps of its round, its wagers (see
`controller.games.wager_specification`) and an ordered table of irregularity rows, of which the first that fits applies.
Nothing else in the program knows a particular game. Clauses are cited with the game's id (NC 5.11.1). An open question
of a document is a `Setting`, and data that depends on one says so in `under`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec
from msgspec.structs import force_setattr, replace

from controller.games.own_words import OwnWords
from controller.games.wager_specification import Betting, Setting, Under, Wager
from controller.roles import Role
from firmware_bridge.messages import AnyText, Message, message


class Order(StrEnum):
    """The order in which places receive their cards."""

    BY_HAND = "by_hand"  # all cards to one place, then the next place
    BY_ROUND = "by_round"  # one card to each place, and so on


class Unit(StrEnum):
    """The unit in which cards leave the device."""

    SETS = "sets"
    SINGLES = "singles"


class Kind(StrEnum):
    """A kind of error, as it is noticed. The row that fits determines its number (I01 to I28)."""

    FOREIGN_CARD = "foreign_card"
    DECK_COUNT = "deck_count"  # a shortage or excess in the deck
    UNSHUFFLED = "unshuffled"
    COUNT_IN_DOUBT = "count_in_doubt"
    WRONG_COUNT = "wrong_count"  # too many or too few cards dealt to one hand
    EXPOSED_CARD = "exposed_card"  # in dealing, by a person or the device
    FACE_UP_IN_DEVICE = "face_up_in_device"
    SIMULTANEOUS = "simultaneous"
    OTHER_DEALING_ERROR = "other_dealing_error"
    TECHNICAL_STOP = "technical_stop"
    BEFORE_NO_MORE_BETS = "before_no_more_bets"
    WRONG_DISTRIBUTION = "wrong_distribution"  # cards in the wrong place or order
    POWER_FAILURE = "power_failure"
    CARD_IN_SHUFFLING = "card_in_shuffling"  # dropped or exposed while the deck was shuffled
    DROPPED_CARD = "dropped_card"  # in dealing
    LATE_BET = "late_bet"  # placed, raised or withdrawn after "No more bets"
    SIDE_WITHOUT_MAIN = "side_without_main"
    DEALER_EXPOSED_EARLY = "dealer_exposed_early"
    WRONG_VIEWER = "wrong_viewer"  # a hand viewed by the wrong person, or a second hand
    PLAYER_EXPOSED = "player_exposed"  # a Player exposes or drops a card himself
    OUTSIDE_LIMITS = "outside_limits"  # a wager above the maximum or below the minimum


class Disposition(StrEnum):
    """The consequence that a clause prescribes."""

    VOID = "void"
    CONTINUE = "continue"
    NEXT_CARD = "next_card"  # continue; the card counts as the one that was due
    REMOVE_HAND = "remove_hand"
    OPTIONS = "options"  # every bettor chooses
    NAME_ORDER = "name_order"  # a person names the order; then bettors choose, if the row gives options
    REFER = "refer"  # the clause names who decides, but not what
    RECONSTRUCT = "reconstruct"  # complete hands are moved to where they belong; then the deal goes on
    WITHDRAWALS = "withdrawals"  # a Player may withdraw all his wagers; the others' hands are finished
    STANDS = "stands"  # results and settlement stay as they are
    REFUSE = "refuse"  # a bet is not taken, or its withdrawal is not allowed
    RETURN_BET = "return_bet"  # only that bet is taken off and returned
    RESHUFFLE = "reshuffle"
    SILENT = "silent"  # no clause: hold, alert, and a ruling of the house


FOLLOWS: Final[dict[Disposition, Message]] = {
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
"""What follows from a disposition."""

DECIDED_BY_PEOPLE: Final = frozenset({Disposition.REFER, Disposition.SILENT, Disposition.NAME_ORDER})


class Choice(StrEnum):
    """A bettor's choice where a clause gives options."""

    CONTINUE = "continue"
    WITHDRAW = "withdraw"


class RulingAction(StrEnum):
    """An action that a named person may rule where the document is silent or refers."""

    VOID = "void"
    CONTINUE = "continue"
    RECONSTRUCT = "reconstruct"  # cards are put where they belong, and play goes on
    REMOVE_HANDS = "remove_hands"  # hands go out of play, their bets are returned, and play goes on
    RETURN_BETS = "return_bets"  # bets are returned; the hands stay
    NAME_ORDER = "name_order"  # the order of cards that came together


class Noticed(StrEnum):
    """The time at which an irregularity of a round was noticed.

    A round runs from its announcement to its settlement (TP 1.1.4, RTP 1.1.3, NC 1.14, P3 1.1.5).
    """

    IN_ROUND = "in_round"
    CONCLUDED = "concluded"  # settled, and the next round has not begun
    NEXT_ROUND = "next_round"  # the next round had begun, or a later one


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The known facts of an irregularity, by which its row is found. None: not stated. `FACT_QUESTIONS` defines each.

    The program itself fills in `noticed` and the facts of `ASSUMED_NOT`.
    """

    wrong_number: bool | None = None
    dealer_hand: bool | None = None
    misplaced: bool | None = None
    handled: bool | None = None
    order_known: bool | None = None
    one_hand: bool | None = None
    dealt_before: bool | None = None
    places_certain: bool | None = None
    before_close: bool | None = None
    counted_wrong: bool | None = None
    viewed: bool | None = None
    curable: bool | None = None
    reconstructable: bool | None = None
    first_card: bool | None = None
    affects_play: bool | None = None
    manual: bool | None = None
    established: bool | None = None
    face_seen: bool | None = None
    shuffling: bool | None = None
    dropped: bool | None = None
    withdrawn: bool | None = None
    between_rounds: bool | None = None
    in_stub: bool | None = None
    chosen_before: bool | None = None
    cannot_tell: bool | None = None
    dead_hand: bool | None = None
    noticed: Noticed = Noticed.IN_ROUND


# "Reconstructable" is defined by NC 1.13; "curable" is the narrower test of TP 5.3, RTP 5.4, NC 5.5.4 and P3 5.3.
FACT_QUESTIONS: Final[dict[str, Message]] = {
    "wrong_number": message("Does a hand have a wrong number of cards?"),
    "dealer_hand": message("Is it the {dealer}'s hand?"),
    "misplaced": message("Does a card lie in the wrong place?"),
    "handled": message("Had Players handled cards before you noticed?"),
    "order_known": message("Do you know the order of the cards?"),
    "places_certain": message("Is it certain where every card belongs?"),
    "before_close": message('Was it before "No more bets"?'),
    "counted_wrong": message("Did the count by hand come out wrong?"),
    "viewed": message("Had its Player looked at the cards before?"),
    "curable": message("Would moving whole hands correct it?"),
    "reconstructable": message("Do you know which card belongs where?"),
    "first_card": message("Was it the first card of the round?"),
    "affects_play": message("Does it keep the round from going on?"),
    "manual": message("Does the device deal single cards?"),
    "established": message("Is the result of any wager certain?"),
    "face_seen": message("Did anyone see the face of the card?"),
    "shuffling": message("Did it happen during the shuffle?"),
    "dropped": message("Was the card dropped?"),
    "withdrawn": message("Did a bettor take back a bet?"),
    "between_rounds": message("Did it happen between two rounds?"),
    "in_stub": message("Is the card behind all cards of this round?"),
    "chosen_before": message("Has a bettor already chosen to continue?"),
    "cannot_tell": message("Is it unknown which wagers were placed?"),
    "dealt_before": message("Was the card dealt before the bettors chose?"),
    "one_hand": message("Do all these cards go to one hand?"),
    "dead_hand": message("Is the hand out of play?"),
}


FACT_WORDS: Final = {
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
"""Each fact in words: if it is true, and if it is not."""

KINDS: Final[dict[Kind, Message]] = {
    Kind.FOREIGN_CARD: message("a foreign card"),
    Kind.DECK_COUNT: message("a shortage or excess in the deck"),
    Kind.UNSHUFFLED: message("unshuffled cards"),
    Kind.COUNT_IN_DOUBT: message("the count is in doubt"),
    Kind.WRONG_COUNT: message("a wrong number of cards in a hand"),
    Kind.EXPOSED_CARD: message("a card exposed in dealing"),
    Kind.FACE_UP_IN_DEVICE: message("a card face up in the device"),
    Kind.SIMULTANEOUS: message("cards that came together"),
    Kind.OTHER_DEALING_ERROR: message("another dealing error"),
    Kind.TECHNICAL_STOP: message("a technical stop of the device"),
    Kind.BEFORE_NO_MORE_BETS: message('cards drawn before "No more bets"'),
    Kind.WRONG_DISTRIBUTION: message("cards in the wrong place or order"),
    Kind.POWER_FAILURE: message("a power failure"),
    Kind.CARD_IN_SHUFFLING: message("a card dropped or exposed in shuffling"),
    Kind.DROPPED_CARD: message("a card dropped in dealing"),
    Kind.LATE_BET: message('a bet after "No more bets"'),
    Kind.SIDE_WITHOUT_MAIN: message("a side wager without a main one"),
    Kind.DEALER_EXPOSED_EARLY: message("the {dealer}'s hand exposed too early"),
    Kind.WRONG_VIEWER: message("a hand viewed by the wrong person, or a second hand"),
    Kind.PLAYER_EXPOSED: message("a card that a Player exposed or dropped"),
    Kind.OUTSIDE_LIMITS: message("a wager outside the limits"),
}
"""The usual names of the kinds, as phrases with an article. The slots are filled by `OwnWords.own`."""

ASSUMED_NOT: Final = frozenset({"between_rounds", "in_stub", "chosen_before", "cannot_tell", "dead_hand"})
"""Facts that nobody is asked about. They are false unless stated."""

NUMBERS: Final[tuple[tuple[str, Kind, Facts], ...]] = (
    ("I01", Kind.FOREIGN_CARD, Facts()),
    ("I02", Kind.DECK_COUNT, Facts()),
    ("I03", Kind.UNSHUFFLED, Facts()),
    ("I04", Kind.COUNT_IN_DOUBT, Facts()),
    ("I05", Kind.WRONG_DISTRIBUTION, Facts(handled=False, curable=True)),
    ("I06", Kind.WRONG_DISTRIBUTION, Facts(handled=False)),
    ("I07", Kind.WRONG_DISTRIBUTION, Facts()),
    ("I08a", Kind.WRONG_COUNT, Facts(dealer_hand=True, handled=False)),
    ("I08b", Kind.WRONG_COUNT, Facts(dealer_hand=True)),
    ("I09", Kind.WRONG_COUNT, Facts(handled=False)),
    ("I10", Kind.WRONG_COUNT, Facts(viewed=True)),
    ("I11", Kind.WRONG_COUNT, Facts()),
    ("I13", Kind.EXPOSED_CARD, Facts(first_card=True, manual=True)),
    ("I12", Kind.EXPOSED_CARD, Facts()),
    ("I14", Kind.FACE_UP_IN_DEVICE, Facts()),
    ("I15", Kind.SIMULTANEOUS, Facts()),
    ("I16", Kind.OTHER_DEALING_ERROR, Facts()),
    ("I18", Kind.POWER_FAILURE, Facts(established=True)),
    ("I17", Kind.POWER_FAILURE, Facts()),
    ("I19", Kind.TECHNICAL_STOP, Facts()),
    ("I20", Kind.CARD_IN_SHUFFLING, Facts()),
    ("I21", Kind.DROPPED_CARD, Facts()),
    ("I22", Kind.LATE_BET, Facts()),
    ("I23", Kind.SIDE_WITHOUT_MAIN, Facts()),
    ("I25", Kind.DEALER_EXPOSED_EARLY, Facts()),
    ("I26", Kind.WRONG_VIEWER, Facts()),
    ("I27", Kind.PLAYER_EXPOSED, Facts()),
    ("I28", Kind.BEFORE_NO_MORE_BETS, Facts()),
)
"""The number of an irregularity by its kind and facts; the first that fits. One found a round later is I24."""

UNNUMBERED: Final = "-"  # appears in place of a number

STATED: Final = tuple(name for name in Facts.__struct_fields__ if name != "noticed")  # a separate field in rows


def number(kind: Kind, facts: Facts) -> str:
    """Return the number of the irregularity, I01 to I28, or a dash if it does not have one.

    >>> number(Kind.WRONG_COUNT, Facts(dealer_hand=True, handled=True))
    'I08b'
    """
    if facts.noticed is Noticed.NEXT_ROUND:
        return "I24"
    return next((name for name, of, when in NUMBERS if of is kind and _agrees(when, facts)), UNNUMBERED)


def _agrees(when: Facts, facts: Facts) -> bool:
    return all(getattr(when, name) in (None, getattr(facts, name)) for name in STATED)


class Option(msgspec.Struct, frozen=True):
    """An option of a bettor. `permitted_by`: who must allow it; None: it is his right.

    `all_wagers`: it covers every wager that he placed, not one hand. `reconstructs`: the cards are put in the intended
    order before play goes on (NC 1.13).
    """

    choice: Choice
    clause: str
    because: AnyText
    permitted_by: Role | None = None
    all_wagers: bool = False
    reconstructs: bool = False


def explained(what: Message, reason: Message) -> Message:
    """Return what happened in a row's case, with what the facts do not say."""
    return message("{what}: {reason}", what=what, reason=reason)


class Row(msgspec.Struct, frozen=True):
    """One row of an irregularity table.

    `because` says what happened; `explained` adds what the facts do not say: the reason, or what else is done. In a row
    of the house it is the casino's own text. `when` names the facts that must hold; a fact that is None there does not
    matter. `noticed`: when it must have been noticed for the row to apply. `confirms` is the lowest rank that may
    confirm the fact, `decides` the lowest that may decide what the disposition leaves open. `options`: the choices of
    every bettor. `authority`: whose rule it is; empty: the document's. `id` is the irregularity's number, or the
    house's own; if omitted, `number` finds it. `turned_down`: people turn the card face down before play goes on.
    """

    kind: Kind
    clause: str
    disposition: Disposition
    because: AnyText
    when: Facts = Facts()
    confirms: Role = Role.PIT_SUPERVISOR
    decides: Role = Role.PIT_SUPERVISOR
    options: tuple[Option, ...] = ()
    noticed: tuple[Noticed, ...] = (Noticed.IN_ROUND,)
    under: Under = ()
    authority: str = ""
    id: str = ""
    turned_down: bool = False

    def __post_init__(self) -> None:
        if not self.id:
            facts = replace(self.when, noticed=self.noticed[0]) if self.noticed else self.when
            force_setattr(self, "id", number(self.kind, facts))

    @property
    def reason(self) -> Message | None:
        """The part of `because` that the facts do not say. None: they say everything."""
        reason = self.because.args.get("reason") if isinstance(self.because, Message) else None
        return reason if isinstance(reason, Message) else None


class Grammar(msgspec.Struct, frozen=True):
    """The order of dealing with devices of one unit. `device`: the only kind that may deal this way; empty: any."""

    unit: Unit
    order: Order
    clause: str
    device: str = ""
    cards_each: int = 3


class FirstCard(msgspec.Struct, frozen=True):
    """A card shown before the deal whose rank decides where the deal begins.

    `starts`: for each place, the ranks (1 ace to 13 king) with which it is served first. `order`: all places in the
    order of the deal, which goes round from the start. `setting`: the setting that decides whether the card belongs to
    a hand.
    """

    starts: tuple[tuple[str, tuple[int, ...]], ...]
    order: tuple[str, ...]
    clause: str
    setting: str


class StepKind(StrEnum):
    """A part of a round."""

    BETTING = "betting"
    CLOSING = "closing"
    FIRST_CARD = "first_card"
    DEALING = "dealing"
    EXAMINING = "examining"
    RETURNING = "returning"  # every hand lies face up at its place before the Dealer turns his
    EXPOSING = "exposing"
    SETTLING = "settling"


class RoundStep(msgspec.Struct, frozen=True):
    """One step of the round, in the document's order. `clause` is empty if the document does not mention it."""

    kind: StepKind
    clause: str
    what: Message


class ClassNames(msgspec.Struct, frozen=True):
    """A document's names of hand classes. The slot {n} takes the points as a figure, {word} as a word."""

    three: Message
    two: Message
    one: Message
    none: Message


class Provision(msgspec.Struct, frozen=True):
    """The reading of one clause in the program's own words, or `outside`: why it does not concern a dealing device.

    Exactly one of the two is set.
    """

    clause: str
    reading: Message | None = None
    outside: Message | None = None


class Clauses(msgspec.Struct, frozen=True):
    """The clauses for facts that the program needs of every game; empty where the document is silent."""

    place_your_bets: str
    no_more_bets: str
    exposing: str
    void_returns_bets: str
    option_returns_bet: str = ""


class Game(msgspec.Struct, frozen=True):
    """A rules document. `boxes` is the (fewest, most, default) number of betting boxes on a layout."""

    id: str
    title: Message
    operator: str
    version: str
    effective: str  # ISO date; empty if the document has none
    boxes: tuple[int, int, int]
    grammars: tuple[Grammar, ...]
    steps: tuple[RoundStep, ...]
    names: ClassNames
    tie_word: Message  # the document's word for equal rankings
    clauses: Clauses
    settings: tuple[Setting, ...]
    wagers: tuple[Wager, ...]
    betting: Betting
    irregularities: tuple[Row, ...]
    words: OwnWords = OwnWords()  # the document's words for its places and outcomes
    silent_clause: str = ""  # who decides if no row fits; empty if the document names nobody
    every_hand: bool = False  # all places take cards, whatever was bet
    counter_clockwise: bool = False  # the direction from box to box
    first_card: FirstCard | None = None
    provisions: tuple[Provision, ...] = ()

    def grammar(self, unit: Unit) -> Grammar:
        """Return the way of dealing with a device that yields that unit."""
        return next(grammar for grammar in self.grammars if grammar.unit is unit)

    def step(self, kind: StepKind) -> RoundStep | None:
        return next((step for step in self.steps if step.kind is kind), None)

    @property
    def examining(self) -> bool:
        """True if Players look at their cards before the Dealer exposes his."""
        return self.step(StepKind.EXAMINING) is not None
