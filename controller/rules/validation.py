"""Checks of a rules document's data. Each problem is a sentence that names the place and the remedy.

`cardshoe rules`, `evaluate` and `odds` refuse a game with problems, and the tests check every game. A game that passes
can be dealt, settled and counted under each of its readings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import EnumMeta
from fractions import Fraction
from functools import cache
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from controller.games import ID
from controller.games.own_words import DEALER, OwnWords
from controller.games.specification import Game, Kind, Order, StepKind, Unit
from controller.games.wager_specification import COMPARING, Excess, Looks, Needs, Price, Shortfall, Viewer, Wager
from controller.rules.apportionment import EXEMPT, PRO_RATA_UNDER_MINIMUM
from controller.rules.dependence import CountingError
from controller.rules.established import COMPLETE_HANDS, ESTABLISHED_BY, Sight
from controller.rules.hands import HAND_SIZE, class_name
from controller.rules.law import Law, SettingError, read_law
from controller.rules.odds import every_reading, wager_odds
from controller.rules.payouts import OF_BOTH, OF_ONE
from controller.rules.row_validation import KNOWN_CARDS, conditions, readings_of, rows_are_reached, rows_are_right
from firmware_bridge.cards import DECK
from firmware_bridge.messages import Message

ASKED_BY_THE_PROGRAM: Final = {
    ESTABLISHED_BY: ("mathematically", COMPLETE_HANDS),
    KNOWN_CARDS: tuple(Sight),
    "unentered_bettors": ("box", "entered"),
    "examining_entered": ("offered", "required"),
    "exposed_card": ("down", "up"),
    PRO_RATA_UNDER_MINIMUM: (EXEMPT, "none"),
}
"""The settings that the program reads by name, in whichever game has them, with the options that it knows."""

FIRST_CARD_OPTIONS: Final = ("separate", "in_hand")
DEVICES: Final = ("", "shuffler", "shoe")
STEPS_OF_EVERY_ROUND: Final = (
    StepKind.BETTING,
    StepKind.CLOSING,
    StepKind.DEALING,
    StepKind.EXPOSING,
    StepKind.SETTLING,
)
DATE: Final = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])", re.ASCII)
WORD: Final = re.compile(r"[a-z][a-z0-9_]*")  # an id that appears in configurations and journals
CLASSES: Final = 31  # classes of hands, by ranking
RANKS: Final = range(1, 14)


def problems(game: Game) -> tuple[str, ...]:
    """Return every problem in a game's data, or an empty result if there are none.

    Checks run only on data that passed the earlier ones: types first, then settings, wagers and rows, then what depends
    on readings.
    """
    return _distinct(mistyped(game, Game, "")) or _problems(game)


@cache
def _problems(game: Game) -> tuple[str, ...]:
    found = _distinct(sentence for check in CHECKS for sentence in check(game))
    return found or _distinct(sentence for check in CHECKS_OF_LAWS for sentence in check(game))


def _distinct(sentences: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentences))


def _identity(game: Game) -> Iterator[str]:
    ids = [wager.id for wager in game.wagers]
    ids += [word for setting in game.settings for word in (setting.id, *setting.words)]
    for word in ids:
        if not WORD.fullmatch(word):
            yield f"the id {word!r} of a wager, setting or option: write lower-case letters, figures and _, as tie_on"
    if not ID.fullmatch(game.id):
        yield f"the id is {game.id!r}; write upper-case letters and figures, a letter first, as NC or F3"
    for field in ("title", "tie_word"):
        if not str(getattr(game, field)).strip():
            yield f"{field} is empty; enter the document's own"
    if game.effective and not DATE.fullmatch(game.effective):
        yield f"effective is {game.effective!r}; write the date as 2026-01-31, or leave it empty"


def _layout(game: Game) -> Iterator[str]:
    fewest, most, default = game.boxes
    if not 1 <= fewest <= default <= most:
        yield f"boxes are {game.boxes}; write them as (fewest, most, default), 1 or more, the default between the two"
    needed = HAND_SIZE * (most + 1) + (game.first_card is not None)
    if needed > len(DECK):
        yield f"{most} boxes and the Dealer need {needed} cards, and a deck has {len(DECK)}; allow fewer boxes"
    units = Counter(grammar.unit for grammar in game.grammars)
    for unit in Unit:
        if units[unit] != 1:
            yield f"{unit} have {units[unit]} grammars; give each unit exactly one"
    for grammar in game.grammars:
        if grammar.cards_each != HAND_SIZE:
            yield f"cards_each of {grammar.unit} is {grammar.cards_each}; a hand has {HAND_SIZE} cards"
        if grammar.unit is Unit.SETS and grammar.order is not Order.BY_HAND:
            yield "sets are dealt hand by hand; give their grammar Order.BY_HAND"
        if grammar.device not in DEVICES:
            yield f"the device of {grammar.unit} is {grammar.device!r}; it is 'shuffler', 'shoe' or empty for any"


def _round(game: Game) -> Iterator[str]:
    kinds = [step.kind for step in game.steps]
    order = list(StepKind)
    if kinds != sorted(kinds, key=order.index):
        yield f"the steps are {', '.join(kinds)}; put them in the order {', '.join(order)}"
    for kind, count in Counter(kinds).items():
        if count > 1:
            yield f"the step {kind} stands {count} times; give it once"
    for kind in STEPS_OF_EVERY_ROUND:
        if kind not in kinds:
            yield f"the round has no step {kind}; add it"
    if StepKind.RETURNING in kinds and StepKind.EXAMINING not in kinds:
        yield "hands are returned that no one examines; add the step examining, or leave out returning"
    if (StepKind.FIRST_CARD in kinds) is not (game.first_card is not None):
        yield "the step first_card and `first_card` belong together; give both or neither"
    yield from _first_card(game)


def _first_card(game: Game) -> Iterator[str]:
    first = game.first_card
    if first is None:
        return
    if not game.every_hand or len(set(game.boxes)) > 1:
        yield "the First Card's order names every place; set every_hand=True and three equal numbers of boxes"
    places = {DEALER, *(f"B{number}" for number in range(1, game.boxes[2] + 1))}
    if sorted(first.order) != sorted(places):
        yield f"the First Card's order is {', '.join(first.order)}; name each of {', '.join(sorted(places))} once"
    if {place for place, _ in first.starts} - set(first.order):
        yield "the First Card starts with a place that is not in its order"
    if sorted(rank for _, ranks in first.starts for rank in ranks) != list(RANKS):
        yield "the First Card's starts do not name each rank from 1 to 13 once"
    options = next((setting.words for setting in game.settings if setting.id == first.setting), None)
    if options is None or sorted(options) != sorted(FIRST_CARD_OPTIONS):
        yield f"the First Card needs the setting {first.setting!r} with the options {' and '.join(FIRST_CARD_OPTIONS)}"


def _names(game: Game) -> Iterator[str]:
    try:
        named = {class_name(key, game.names) for key in range(CLASSES)}
    except KeyError as error:
        yield f"a name of a hand class cannot be written ({error!r}); use {{word}} and {{n}} alone"
        return
    if len(named) != CLASSES:
        yield f"the {CLASSES} classes of hands have {len(named)} names; put {{word}} or {{n}} into each pattern"


def _settings(game: Game) -> Iterator[str]:
    for setting_id, count in Counter(setting.id for setting in game.settings).items():
        if count > 1:
            yield f"the setting {setting_id} stands {count} times; give each question once"
    for setting in game.settings:
        if len(set(setting.words)) != len(setting.words) or len(setting.words) < 2:
            yield f"the setting {setting.id} needs two options or more, each once"
        if setting.default and setting.default not in setting.words:
            yield f"the default of {setting.id} is {setting.default!r}; it is one of {', '.join(setting.words)}"
        if not setting.question.id.endswith("?"):
            yield f"the question of {setting.id} does not end with a question mark"
        known = ASKED_BY_THE_PROGRAM.get(setting.id, setting.words)
        if set(setting.words) - set(known):
            yield f"the options of {setting.id} are {', '.join(setting.words)}; the program knows {', '.join(known)}"
    named = {setting_id for under in conditions(game) for setting_id, _ in under} | set(ASKED_BY_THE_PROGRAM)
    named |= {game.first_card.setting} if game.first_card is not None else set()
    for setting in game.settings:
        if setting.id not in named:
            yield f"nothing depends on the setting {setting.id}; name it in `under`, or leave it out"
    try:
        read_law(game)
    except SettingError as error:
        yield str(error)


def _wagers(game: Game) -> Iterator[str]:
    mains = [wager for wager in game.wagers if wager.main]
    if not mains:
        yield "no wager is the main one; mark it with main=True"
    if len({wager.id for wager in mains}) > 1 and any(wager.needs is not Needs.NOTHING for wager in game.wagers):
        yield f"{' and '.join(wager.id for wager in mains)} are both main, and a side wager needs one: mark one only"
    for wager in mains:
        if wager.looks is not Looks.BOTH or wager.needs is not Needs.NOTHING or wager.on_dealer or wager.under:
            yield f"the main wager {wager.id} looks at both hands, lies on a box, needs nothing and is always in force"
    for wager in game.wagers:
        yield from (f"wager {wager.id}: {problem}" for problem in _wager(wager))


def _wager(wager: Wager) -> Iterator[str]:
    if not wager.prices:
        yield "it has no price; enter what it pays on"
    if (wager.returned is None) is not (not wager.returned_clause):
        yield "`returned` and `returned_clause` belong together; give both or neither"
    if wager.returned_by and wager.returned is None:
        yield "`returned_by` names hands among those of `returned`; give that too"
    if not wager.clause:
        yield "its clause is empty; name the one by which it is lost"
    if wager.on_dealer and (wager.looks is not Looks.DEALER or wager.needs is not Needs.NOTHING):
        yield "what lies on the Dealer's spot looks at the Dealer's hand alone and needs no other wager"
    shapes = {price.shape for price in wager.prices} | ({wager.returned} if wager.returned is not None else set())
    shapes |= {shape for shape, _ in wager.returned_by}
    for shape in sorted(shapes):
        if shape not in OF_ONE and shape not in OF_BOTH:
            yield f"{shape.name} has no predicate; enter it in OF_ONE or OF_BOTH of controller/rules/payouts.py"
        elif shape not in OF_ONE and wager.looks is not Looks.BOTH:
            yield f"it looks at one hand and names a fact of two ({shape.name}); give it Looks.BOTH"
    if wager.looks is Looks.BOTH and shapes and all(shape in OF_ONE for shape in shapes):
        yield "it looks at both hands and names facts of one alone; give it Looks.BOX or Looks.DEALER"
    for price in wager.prices:
        yield from _price(price)


def _price(price: Price) -> Iterator[str]:
    if price.odds <= 0:
        yield f"the price on {price.shape.name} is {price.odds}; odds are net units won, above 0"
    if not price.clause:
        yield f"the price on {price.shape.name} has no clause"
    if price.points is not None and (price.shape not in COMPARING or not 0 <= price.points <= 9):
        yield f"the price on {price.shape.name} names points; only HIGHER and LOWER may, from 0 to 9"


def _betting(game: Game) -> Iterator[str]:
    betting = game.betting
    for what, is_said, clause in (
        ("excess", betting.excess is not Excess.AS_IT_LIES, betting.excess_clause),
        ("shortfall", betting.shortfall is not Shortfall.AS_IT_LIES, betting.shortfall_clause),
        ("most_wagers", betting.most_wagers > 0, betting.most_wagers_clause),
        ("viewer", betting.viewer is not Viewer.UNSAID, betting.viewer_clause),
        ("a side wager that needs a main one", _needs_main(game), betting.without_main),
    ):
        if is_said and not clause:
            yield f"betting: {what} has no clause; enter it"
    if (betting.late or betting.late_withdrawal) and not any(row.kind is Kind.LATE_BET for row in game.irregularities):
        yield "betting: nothing is placed or withdrawn late, and no row says what follows; add rows of late_bet"
    if betting.without_main_returned and not betting.without_main:
        yield "betting: `without_main_returned` needs `without_main`, the clause that asks for a main wager"


def _needs_main(game: Game) -> bool:
    return any(wager.needs is not Needs.NOTHING for wager in game.wagers)


def _clauses(game: Game) -> Iterator[str]:
    provided = Counter(provision.clause for provision in game.provisions)
    for clause, count in provided.items():
        if count > 1:
            yield f"{clause} stands {count} times in the provisions; give each clause once"
        if not clause.startswith(f"{game.id} "):
            yield f"the provision {clause!r} does not begin with {game.id}; cite clauses with the document's id"
    for provision in game.provisions:
        if bool(provision.reading) is bool(provision.outside):
            yield f"{provision.clause} has a reading and is outside, or neither; fill in exactly one"
    for clause in sorted(cited(game) - set(provided)):
        yield f"{clause} is cited and is not among the provisions; correct the number, or add it there"


def cited(game: Game) -> frozenset[str]:
    """Return every clause that the data cites."""
    clauses = {row.clause for row in game.irregularities} | {step.clause for step in game.steps}
    clauses |= {option.clause for row in game.irregularities for option in row.options}
    clauses |= {price.clause for wager in game.wagers for price in wager.prices}
    clauses |= {clause for wager in game.wagers for clause in (wager.clause, wager.defined, wager.returned_clause)}
    clauses |= {clause for wager in game.wagers for _, clause in wager.returned_by}
    clauses |= {setting.clause for setting in game.settings} | {grammar.clause for grammar in game.grammars}
    clauses |= set(msgspec.structs.asdict(game.clauses).values()) | {game.silent_clause}
    clauses |= {game.first_card.clause} if game.first_card is not None else set()
    words = {"limit_of", "excess", "shortfall", "viewer", "most_wagers"}
    clauses |= {value for name, value in msgspec.structs.asdict(game.betting).items() if name not in words}
    return frozenset(clauses - {""})


def _prices_reached(game: Game) -> Iterator[str]:
    """Check that each wager is in force once, and that each price is paid on some hands."""
    for law in every_reading(game):
        for wager_id, count in Counter(wager.id for wager in law.wagers).items():
            if count > 1:
                yield f"wager {wager_id} is in force {count} times under {readings_of(law)}; give each its own `under`"
                return
        for wager in law.wagers:
            yield from (f"wager {wager.id}: {problem}" for problem in _counted(law, wager, law.prices(wager)))


def _counted(law: Law, wager: Wager, prices: tuple[Price, ...]) -> Iterator[str]:
    if not prices:
        yield f"it has no price in force under {readings_of(law)}"
        return
    twice = Counter((price.shape, price.points) for price in prices)
    for (shape, _), count in twice.items():
        if count > 1:
            yield f"{shape.name} has {count} prices in force under {readings_of(law)}; the first alone is ever paid"
    alike = Counter((price.name, price.odds, price.clause) for price in prices if price.name)
    for (name, _, clause), count in alike.items():
        if count > 1:
            yield f"{count} prices in force are called {str(name)!r} ({clause}); give each the document's own name"
    try:
        counted = wager_odds(law, wager)
    except CountingError as error:
        yield str(error)
        return
    for price in counted.prices:
        if not price.ways:
            on = str(law.game.words.own(price.shape))
            yield f"no hand is paid for {on!r} ({price.clause}): an earlier price takes them all, or none is"
    if wager.returned is not None and not counted.ways_returned:
        yield f"it is never returned on {wager.returned.name}: a price takes all those hands"
    if not counted.ways_lost:
        yield "no hand loses it; check what it is paid and returned on"


# -- types of fields
#
# The data is written by hand, and loading it checks no types: a string in place of an enum member compares equal to
# that member but fails the `is` comparisons in the rules.

WRITTEN: Final[dict[object, str]] = {
    Fraction: "odds(win, stake)",
    Message: 'message("...")',
    tuple: "(one,), with the comma",
    str: "a text",
}


@cache
def _declared(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def mistyped(value: object, kind: Any, place: str) -> Iterator[str]:
    """Yield a problem for each field that does not have its declared type, with its place:
    `wagers[0].prices[1].odds`.
    """
    if kind == str | Message:  # a casino writes its own text in a row; a document's text is translated
        kind = Message
    if get_origin(kind) is tuple and isinstance(value, tuple):
        yield from _in_tuple(value, get_args(kind), place)
    elif get_origin(kind) not in (None, tuple):  # the vocabulary's only union is "X or None"
        if value is not None:
            yield from mistyped(value, get_args(kind)[0], place)
    elif not isinstance(value, get_origin(kind) or kind) or (kind is int and isinstance(value, bool)):
        yield f"{place or 'GAME'} is {value!r:.60}; write {_written(kind)}"
    elif isinstance(value, msgspec.Struct | OwnWords) and not isinstance(value, Message):
        for name, declared in _declared(kind).items():
            yield from mistyped(getattr(value, name), declared, f"{place}.{name}".lstrip("."))


def _in_tuple(values: tuple[object, ...], kinds: tuple[Any, ...], place: str) -> Iterator[str]:
    if kinds[1:] != (...,) and len(values) != len(kinds):
        yield f"{place} has {len(values)} entries; give {len(kinds)}"
        return
    for at, value in enumerate(values):
        yield from mistyped(value, kinds[0 if kinds[1:] == (...,) else at], f"{place}[{at}]")


def _written(kind: Any) -> str:
    """Return the notation of a value of this type, for the message."""
    plain = get_origin(kind) or kind
    if isinstance(plain, EnumMeta):
        return f"one of {plain.__name__}, as {plain.__name__}.{next(iter(plain.__members__))}"
    return WRITTEN.get(plain, f"{plain.__name__}(...)" if issubclass(plain, msgspec.Struct) else str(plain.__name__))


CHECKS: Final[tuple[Callable[[Game], Iterator[str]], ...]] = (
    _identity,
    _layout,
    _round,
    _names,
    _settings,
    _wagers,
    _betting,
    rows_are_right,
    _clauses,
)
CHECKS_OF_LAWS: Final[tuple[Callable[[Game], Iterator[str]], ...]] = (_prices_reached, rows_are_reached)
