"""The values of a game as one table reads it, which `cardshoe rules` prints or writes as JSON.

`say` renders their messages in the language of the command; JSON is in English.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from controller.commands.vocabulary import (
    NOTICED,
    ORDERS,
    UNITS,
    facts_in_words,
    follows_in_words,
    limits_in_words,
)
from controller.games.specification import (
    DECIDED_BY_PEOPLE,
    KINDS,
    UNNUMBERED,
    Choice,
    Game,
    Grammar,
    Kind,
    Noticed,
    Option,
    StepKind,
)
from controller.games.wager_specification import SHAPES, Looks, Needs, Price, Setting, Shape, Under, Wager
from controller.roles import Role
from controller.rules.hands import TEN
from controller.rules.law import SILENT_DECIDED_BY, Law, NumberedRow, numbered_rows
from controller.rules.settlement import Rounding
from controller.table.settings import ChosenReading, Settings, WagerLimit, law_of
from firmware_bridge.cards import RANKS
from firmware_bridge.messages import AnyText, message

Say: TypeAlias = Callable[[AnyText], str]
HALF: Final = Fraction(1, 2)
NEEDED: Final = {
    Needs.NOTHING: message("nothing"),
    Needs.OWN_MAIN: message("a main wager by the same bettor"),
    Needs.ANY_MAIN: message("a main wager by any bettor"),
}


class StepReading(msgspec.Struct, frozen=True):
    """A step of the round. `clause` is empty if the document does not mention it."""

    kind: StepKind
    clause: str
    what: str


class DealingReading(msgspec.Struct, frozen=True):
    """Dealing with devices of one unit. `device` is the only kind that may deal in this way; empty means any."""

    unit: str
    order: str
    device: str
    clause: str
    words: str


class FirstCardReading(msgspec.Struct, frozen=True):
    """The start of the deal by the rank of the First Card. `order` is the order of the places, which wraps around."""

    starts: dict[str, tuple[str, ...]]
    order: tuple[str, ...]
    clause: str


class PriceReading(msgspec.Struct, frozen=True):
    """A price, `net` for each unit staked. `under` are its conditions; `open` are those that are not chosen yet.

    `name` is the document's, empty if it has none; `called` is the name with the fact, as the table shows it.
    """

    name: str
    pays_on: str
    called: str
    net: Fraction
    clause: str
    under: dict[str, str]
    open: dict[str, str]


class WagerReading(msgspec.Struct, frozen=True):
    """A wager in force, or one that would be if the options in `open` were chosen.

    `clause` defines the wager. `returned_by` are those hands of `returned_on` that have their own clause.
    """

    wager: str
    title: str
    main: bool
    clause: str
    looks: Looks
    needs: str
    on_dealer: bool
    prices: tuple[PriceReading, ...]
    returned_on: str
    returned_clause: str
    returned_by: dict[str, str]
    lost_clause: str
    under: dict[str, str]
    open: dict[str, str]


class LimitReading(msgspec.Struct, frozen=True):
    clause: str
    words: str


class SettingReading(msgspec.Struct, frozen=True):
    """A reading that the casino chooses. If `chosen` is empty, it still has to be chosen.

    `configured` means that a table's configuration names it, with `chosen_by` and `chosen_on` (ISO date).
    """

    setting: str
    reading: int
    clause: str
    question: str
    options: dict[str, str]
    default: str
    must_be_chosen: bool
    chosen: str
    configured: bool
    chosen_by: str
    chosen_on: str


class ClauseReading(msgspec.Struct, frozen=True):
    """The program's reading of one clause, or why it does not concern a dealing device (`outside`)."""

    clause: str
    reading: str
    outside: str


class OptionReading(msgspec.Struct, frozen=True):
    """A choice of every bettor. `permitted_by` is the rank that must allow it, or None if it is the bettor's right."""

    choice: Choice
    clause: str
    because: str
    permitted_by: Role | None = None
    all_wagers: bool = False
    reconstructs: bool = False


class RowReading(msgspec.Struct, frozen=True):
    """A row of the irregularity table under one of the numbers that the table shows for it.

    `when` holds the facts that the row and the number require. `reason` is empty if the facts are sufficient, `decides`
    if the clause leaves nothing open. `authority` is empty for the document's own rows; else it says whose rule it is,
    and `clause` is the house's number for it.
    """

    number: str
    kind: str
    what: str
    when: tuple[str, ...]
    noticed: str
    clause: str
    disposition: str
    follows: str
    because: str
    reason: str
    confirms: str
    decides: str
    options: tuple[OptionReading, ...]
    authority: str
    under: dict[str, str]


class TableReading(msgspec.Struct, frozen=True):
    """A table's configuration apart from readings and rows. `limits` are in the smallest unit;
    `maximum` 0 means none.
    """

    name: str
    unit: str
    boxes: int
    count_stub_by_hand: bool
    rounding: Rounding
    limits: tuple[WagerLimit, ...]


class WholeReading(msgspec.Struct, frozen=True):
    """Everything that the program knows of a game.

    A win with `half_pay_points` points pays half; None means that there is no such price. `unprovided` are kinds
    without a row of the document for the time of the round.
    """

    game: str
    title: str
    operator: str
    version: str
    effective: str
    fewest_boxes: int
    most_boxes: int
    default_boxes: int
    every_hand: bool
    tie_word: str
    half_pay_points: int | None
    round: tuple[StepReading, ...]
    dealing: tuple[DealingReading, ...]
    first_card: FirstCardReading | None
    wagers: tuple[WagerReading, ...]
    limits: tuple[LimitReading, ...]
    settings: tuple[SettingReading, ...]
    irregularities: tuple[RowReading, ...]
    unprovided: tuple[str, ...]
    silent_clause: str
    silent_decides: str
    clauses: tuple[ClauseReading, ...]
    table: TableReading | None = None


def reading_of_table(name: str, settings: Settings, say: Say = str) -> WholeReading:
    """Return the law of one table by its configuration."""
    reading = whole_reading(law_of(settings), say)
    configured = {chosen.setting: chosen for chosen in settings.readings}
    table = TableReading(
        name=name,
        unit=settings.unit.value,
        boxes=settings.box_count,
        count_stub_by_hand=settings.count_stub_by_hand,
        rounding=settings.rounding,
        limits=settings.limits,
    )
    chosen = tuple(_chosen(setting, configured.get(setting.setting)) for setting in reading.settings)
    return replace(reading, settings=chosen, table=table)


def _chosen(setting: SettingReading, configured: ChosenReading | None) -> SettingReading:
    if configured is None:
        return setting
    return replace(setting, configured=True, chosen_by=configured.chosen_by, chosen_on=configured.chosen_on)


def whole_reading(law: Law, say: Say = str) -> WholeReading:
    """Return a game under the readings of a law. Parts that depend on a reading not chosen yet are marked."""
    game = law.game
    return WholeReading(
        game=game.id,
        title=say(game.title),
        operator=game.operator,
        version=game.version,
        effective=game.effective,
        fewest_boxes=game.boxes[0],
        most_boxes=game.boxes[1],
        default_boxes=game.boxes[2],
        every_hand=game.every_hand,
        tie_word=say(game.tie_word),
        half_pay_points=_half_pay_points(game.wagers),
        round=tuple(StepReading(step.kind, step.clause, say(step.what)) for step in game.steps),
        dealing=tuple(_dealing(grammar, say) for grammar in game.grammars),
        first_card=_first_card(game),
        wagers=tuple(_wager(law, wager, say) for wager in game.wagers if may_hold(law, wager.under)),
        limits=tuple(LimitReading(clause, say(words)) for clause, words in limits_in_words(game.betting)),
        settings=tuple(_setting(law, setting, say) for setting in game.settings),
        irregularities=tuple(_rows(law, say)),
        unprovided=_unprovided(law, say),
        silent_clause=game.silent_clause,
        silent_decides=say(SILENT_DECIDED_BY.named),
        clauses=tuple(
            ClauseReading(one.clause, say(one.reading or ""), say(one.outside or "")) for one in game.provisions
        ),
    )


def _half_pay_points(wagers: Iterable[Wager]) -> int | None:
    """Return the points of the first price that pays half for a number of points (reading 14)."""
    prices = (price for wager in wagers for price in wager.prices if price.odds == HALF)
    return next((price.points for price in prices if price.points is not None), None)


def _unprovided(law: Law, say: Say) -> tuple[str, ...]:
    """Return the kinds for which the document has no row during a round."""
    provided = {row.kind for row in law.rows if not row.authority and Noticed.IN_ROUND in row.noticed}
    return tuple(say(law.game.words.own(words)) for kind, words in KINDS.items() if kind not in provided)


def may_hold(law: Law, under: Under) -> bool:
    """Return whether the rule is in force, or would be with a choice of settings that are still open."""
    return all(law.chosen[setting] in (option, "") for setting, option in under)


def not_chosen_yet(law: Law, under: Under) -> dict[str, str]:
    """Return the options that are still to be chosen."""
    return {setting: option for setting, option in under if not law.chosen[setting]}


def _dealing(grammar: Grammar, say: Say) -> DealingReading:
    words = say(message("{units}: {order}", units=UNITS[grammar.unit], order=ORDERS[grammar.order]))
    return DealingReading(grammar.unit.value, grammar.order.value, grammar.device, grammar.clause, words)


def _first_card(game: Game) -> FirstCardReading | None:
    first = game.first_card
    if first is None:
        return None
    starts = {place: tuple(map(_rank, ranks)) for place, ranks in first.starts}
    return FirstCardReading(starts, first.order, first.clause)


def _rank(rank: int) -> str:
    return str(TEN) if rank == TEN else RANKS[rank - 1]


def _wager(law: Law, wager: Wager, say: Say) -> WagerReading:
    return WagerReading(
        wager=wager.id,
        title=say(wager.title),
        main=wager.main,
        clause=wager.heading_clause,
        looks=wager.looks,
        needs=say(NEEDED[wager.needs]),
        on_dealer=wager.on_dealer,
        prices=tuple(_price(law, price, say) for price in wager.prices if may_hold(law, price.under)),
        returned_on=_shape(law, wager.returned, say) if wager.returned is not None else "",
        returned_clause=wager.returned_clause,
        returned_by={_shape(law, shape, say): clause for shape, clause in wager.returned_by},
        lost_clause=wager.clause,
        under=dict(wager.under),
        open=not_chosen_yet(law, wager.under),
    )


def _shape(law: Law, shape: Shape, say: Say) -> str:
    return say(law.game.words.own(SHAPES[shape]))


def _price(law: Law, price: Price, say: Say) -> PriceReading:
    return PriceReading(
        name=say(price.name) if price.name is not None else "",
        pays_on=say(law.game.words.own(price.pays_on)),
        called=say(law.game.words.own(price.called)),
        net=price.odds,
        clause=price.clause,
        under=dict(price.under),
        open=not_chosen_yet(law, price.under),
    )


def _setting(law: Law, setting: Setting, say: Say) -> SettingReading:
    return SettingReading(
        setting=setting.id,
        reading=setting.reading,
        clause=setting.clause,
        question=say(setting.question),
        options={word: say(meaning) for word, meaning in setting.options},
        default=setting.default,
        must_be_chosen=setting.must_be_chosen,
        chosen=law.chosen[setting.id],
        configured=False,
        chosen_by="",
        chosen_on="",
    )


def _rows(law: Law, say: Say) -> list[RowReading]:
    """Return rows of the house by their own numbers, then the others under each number that the table shows for them.

    Under one number rows keep the order of the law, because the first that fits applies.
    """
    of_house = [
        replace(_row(law, NumberedRow(row, row.id, row.when, row.noticed), say), reason=say(row.because))
        for row in law.house
    ]
    others = [found for kind in Kind for found in numbered_rows(law, kind)]
    others.sort(key=lambda found: (found.number == UNNUMBERED, found.number, law.rows.index(found.row)))
    return of_house + [_row(law, found, say) for found in others]


def _option(option: Option, say: Say) -> OptionReading:
    return OptionReading(
        option.choice,
        option.clause,
        say(option.because),
        option.permitted_by,
        option.all_wagers,
        option.reconstructs,
    )


def _row(law: Law, found: NumberedRow, say: Say) -> RowReading:
    row = found.row
    return RowReading(
        number=found.number,
        kind=row.kind.value,
        what=say(law.game.words.own(KINDS[row.kind])),
        when=tuple(map(say, facts_in_words(found.when, law.game.words))),
        noticed=say(NOTICED[frozenset(found.noticed)]),
        clause=row.clause,
        disposition=row.disposition.value,
        follows=say(follows_in_words(row.disposition, chooses=bool(row.options))),
        because=say(row.because),
        reason=say(row.reason) if row.reason is not None else "",
        confirms=say(row.confirms.named),
        decides=say(row.decides.named) if row.disposition in DECIDED_BY_PEOPLE else "",
        options=tuple(_option(option, say) for option in row.options),
        authority=row.authority,
        under=dict(row.under),
    )
