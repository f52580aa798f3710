"""The law of one table: a document, the readings that the casino chose, and the rows of its house table.

What a reading turns on or off is decided here once. The other rules ask the law and never name a setting, except where
a reading is not about rows, wagers or prices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple

from msgspec.structs import replace

from controller.games.common import HOUSE_PROCEDURE
from controller.games.specification import (
    ASSUMED_NOT,
    NUMBERS,
    STATED,
    Disposition,
    Facts,
    Game,
    Kind,
    Noticed,
    Row,
    number,
)
from controller.games.wager_specification import Price, Setting, Under, Wager
from controller.roles import Role
from firmware_bridge.messages import Message, MessageError, message


class SettingError(MessageError, ValueError):
    """An unknown setting or option, or a reading that has to be chosen but has not been, as a phrase."""


class UnknownWagerError(MessageError, ValueError):
    """A wager that the game does not have, as a phrase."""


@dataclass(frozen=True)
class Law:
    """A document as one table reads it. `chosen` has every setting of the game; empty: not chosen yet."""

    game: Game
    chosen: Mapping[str, str]
    house: tuple[Row, ...] = ()

    def holds(self, under: Under) -> bool:
        """Return whether data under these options is in force: not before each of those settings is chosen."""
        return all(self.chosen[setting] == option for setting, option in under)

    def option(self, setting_id: str) -> str:
        """Return the option of a setting. Raises `SettingError` if it has to be chosen but has not been."""
        option = self.chosen[setting_id]
        if not option:
            raise SettingError(not_chosen(find_setting(self.game, setting_id)))
        return option

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The irregularity table in force. Rows of the house come first, so that they override the document's.

        House procedure comes last, unless an earlier row always applies before it (F3 X1).
        """
        before = (*self.house, *(row for row in self.game.irregularities if self.holds(row.under)))
        procedure = (last for last in HOUSE_PROCEDURE if not any(_always_before(row, last) for row in before))
        return (*before, *procedure)

    @cached_property
    def wagers(self) -> tuple[Wager, ...]:
        return tuple(wager for wager in self.game.wagers if self.holds(wager.under))

    @cached_property
    def _prices(self) -> dict[str, tuple[Price, ...]]:
        return {wager.id: tuple(price for price in wager.prices if self.holds(price.under)) for wager in self.wagers}

    def prices(self, wager: Wager) -> tuple[Price, ...]:
        """Return the prices of a wager in the order in which they are checked.

        Raises `SettingError` where they depend on a reading that has not been chosen.
        """
        for price in wager.prices:
            for setting_id, _ in price.under:
                self.option(setting_id)
        return self._prices[wager.id]

    def wager(self, wager_id: str) -> Wager:
        """Return a wager by its id. Raises `UnknownWagerError`."""
        for wager in self.wagers:
            if wager.id == wager_id:
                return wager
        raise UnknownWagerError(
            message(
                "{game} has no wager {wager}; it has {wagers:list}",
                game=self.game.id,
                wager=repr(wager_id),
                wagers=tuple(wager.id for wager in self.wagers),
            )
        )

    @property
    def unchosen(self) -> tuple[Setting, ...]:
        """The readings that have to be chosen before a table opens but have not been."""
        return tuple(setting for setting in self.game.settings if not self.chosen[setting.id])


def _always_before(row: Row, other: Row) -> bool:
    """Return whether `row` applies wherever `other` could, whatever facts are known."""
    return row.kind is other.kind and row.when == Facts() and set(other.noticed) <= set(row.noticed)


def read_law(game: Game, chosen: Mapping[str, str] | None = None, house: Sequence[Row] = ()) -> Law:
    """Return the law with these options and the default of every other setting.

    Raises `SettingError` for an unknown setting or option, whether chosen here or named in the document's own data.

    >>> from controller.games import game
    >>> read_law(game("NC")).option("wrong_count")
    'general'
    """
    _check_data(game)
    options = {setting.id: setting.default for setting in game.settings}
    for setting_id, option in (chosen or {}).items():
        _check_option(find_setting(game, setting_id), option)
        options[setting_id] = option
    return Law(game, options, tuple(house))


def _check_option(setting: Setting, option: str) -> None:
    if option not in setting.words:
        raise SettingError(
            message(
                "{setting} is {options:or} ({clause}), not {option}",
                setting=setting.id,
                options=setting.words,
                clause=setting.clause,
                option=repr(option),
            )
        )


def _check_data(game: Game) -> None:
    """Check that the game has every setting and option that its data names."""
    for what, under in conditions_of(game):
        for setting_id, option in under:
            try:
                _check_option(find_setting(game, setting_id), option)
            except SettingError as error:
                raise SettingError(
                    message(
                        "{what} depends on {setting}={option}, but {error}",
                        what=what,
                        setting=setting_id,
                        option=option,
                        error=error.message,
                    )
                ) from error
    if game.first_card is not None:
        find_setting(game, game.first_card.setting)


def conditions_of(game: Game) -> Iterator[tuple[Message, Under]]:
    """Yield each part of the data that depends on settings, in words, with the options that put it in force."""
    for row in game.irregularities:
        yield message("row {row} ({clause})", row=row.id, clause=row.clause), row.under
    for wager in game.wagers:
        yield message("wager {wager} ({clause})", wager=wager.id, clause=wager.clause), wager.under
        for price in wager.prices:
            yield message("a price of {wager} ({clause})", wager=wager.id, clause=price.clause), price.under


def readings_that_matter(game: Game, wagers: Iterable[Wager] | None = None) -> tuple[Setting, ...]:
    """Return the settings on which these wagers or their prices depend; without `wagers`, those of all wagers.

    >>> from controller.games import game
    >>> [setting.id for setting in readings_that_matter(game("P3"))]
    ['tie_against_three_pictures', 'tie_on', 'perfect_tie']
    """
    named = {
        setting
        for wager in (game.wagers if wagers is None else wagers)
        for under in (wager.under, *(price.under for price in wager.prices))
        for setting, _ in under
    }
    return tuple(setting for setting in game.settings if setting.id in named)


def find_setting(game: Game, setting_id: str) -> Setting:
    """Return a setting by its id. Raises `SettingError`, which names the existing ones."""
    for setting in game.settings:
        if setting.id == setting_id:
            return setting
    raise SettingError(
        message(
            "{game} has no setting {setting}; it has {settings:list}" if game.settings else "{game} has no settings",
            game=game.id,
            setting=repr(setting_id),
            settings=tuple(setting.id for setting in game.settings),
        )
    )


def not_chosen(setting: Setting) -> Message:
    return message(
        "{setting} must be chosen ({clause}): {options:or}",
        setting=setting.id,
        clause=setting.clause,
        options=setting.words,
    )


def enters_bettors(law: Law) -> bool:
    """Return whether only bettors whose wagers are entered choose (reading 38)."""
    return law.chosen.get("unentered_bettors") == "entered"


SILENT_DECIDED_BY: Final = Role.SHIFT_MANAGER  # decides what no document provides for


class FoundRow(NamedTuple):
    """The row that applies, or the likeliest one while `asks` names facts that a person must state first."""

    row: Row
    asks: tuple[str, ...]


def find_row(law: Law, kind: Kind, facts: Facts) -> FoundRow:
    """Return the first row whose facts hold, or that might apply once the facts in `asks` are stated."""
    return next(findings(law, kind, facts))


def findings(law: Law, kind: Kind, facts: Facts) -> Iterator[FoundRow]:
    """Yield every row that may apply once more facts are stated, the likeliest first. The last asks for no facts."""
    for row in law.rows:
        if row.kind is not kind or facts.noticed not in row.noticed:
            continue
        asks = _unstated(row.when, facts)
        if asks is None:
            continue
        if not asks:
            yield FoundRow(row if row.authority else replace(row, id=number(kind, facts)), ())
            return
        yield FoundRow(row, asks)
    yield FoundRow(silent_row(law.game, kind, facts), ())


def _unstated(when: Facts, facts: Facts) -> tuple[str, ...] | None:
    """Return the facts that a row needs and that are not stated, or None if a stated fact rules the row out."""
    asks: list[str] = []
    for name in STATED:
        wanted, stated = getattr(when, name), getattr(facts, name)
        if wanted is None or stated is wanted or (stated is None and wanted is False and name in ASSUMED_NOT):
            continue
        if stated is not None or name in ASSUMED_NOT:
            return None
        asks.append(name)
    return tuple(asks)


def silent_row(game: Game, kind: Kind, facts: Facts) -> Row:
    """Return the row to use when no other fits: the document's referring clause if it has one, otherwise a ruling
    by the house.
    """
    return Row(
        id=number(kind, facts),
        kind=kind,
        clause=game.silent_clause,
        disposition=Disposition.REFER if game.silent_clause else Disposition.SILENT,
        because=message("no clause covers it; the {role} decides", role=SILENT_DECIDED_BY.named)
        if game.silent_clause
        else message("the rules are silent; the {role} decides", role=SILENT_DECIDED_BY.named),
        decides=SILENT_DECIDED_BY,
        noticed=tuple(Noticed),
    )


# -- the numbers under which a table shows a row: they follow from the facts, so a row may have several

IMPLIED: Final = (
    (("viewed", True), ("handled", True)),
    (("handled", False), ("viewed", False)),
    (("cannot_tell", True), ("established", False)),
    (("established", True), ("cannot_tell", False)),
)
"""Facts that imply others: a hand that was viewed was handled; if nobody can tell, nothing is established."""


class NumberedRow(NamedTuple):
    """A row under one number. `when`: the facts that hold whenever the table shows the row under that number;
    `noticed`: the moments.
    """

    row: Row
    number: str
    when: Facts
    noticed: tuple[Noticed, ...]


def numbered_rows(law: Law, kind: Kind) -> Iterator[NumberedRow]:
    """Yield the rows of a kind, without the house's own rows, under each number that some facts give them."""
    names = _names(law, kind)
    document = dataclasses.replace(law, house=())
    found: dict[tuple[Row, str], list[Facts]] = {}
    for facts in _every_fact(names):
        row = find_row(document, kind, facts).row
        found.setdefault((replace(row, id=""), row.id), []).append(facts)
    for (row, shown), reaching in found.items():
        if row in law.rows:
            noticed = tuple(moment for moment in Noticed if any(facts.noticed is moment for facts in reaching))
            yield NumberedRow(row, shown, _in_common(row, names, reaching), noticed)


def _names(law: Law, kind: Kind) -> list[str]:
    """Return the facts on which the row or the number depends."""
    whens = [row.when for row in law.rows if row.kind is kind and row not in law.house]
    whens += [when for _, of, when in NUMBERS if of is kind]
    return [name for name in STATED if any(getattr(when, name) is not None for when in whens)]


def _every_fact(names: list[str]) -> Iterator[Facts]:
    for noticed, answers in product(Noticed, product((False, True), repeat=len(names))):
        facts = Facts(**dict(zip(names, answers, strict=True)), noticed=noticed)
        if not any(_is(facts, *one) and _is(facts, name, not value) for one, (name, value) in IMPLIED):
            yield facts


def _is(facts: Facts, name: str, value: bool) -> bool:
    return getattr(facts, name) is value


def _in_common(row: Row, names: list[str], reaching: list[Facts]) -> Facts:
    """Return the facts that the row needs and those that its number (`NUMBERS`) implies, without the ones that follow
    from them.
    """
    of_number = {name for _, of, when in NUMBERS if of is row.kind for name in names if getattr(when, name) is not None}
    values = {name: {getattr(facts, name) for facts in reaching} for name in of_number}
    common = {name: value for name, (value, *others) in values.items() if not others}
    stated = {name: value for name in STATED if (value := getattr(row.when, name)) is not None}
    holds = {**common, **stated}
    implied = {then for one, (then, _) in IMPLIED if one in holds.items()} - set(stated)
    return Facts(**{name: value for name, value in holds.items() if name not in implied})
