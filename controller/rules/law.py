"""The law of one table: a document, the readings that the casino chose of it, and the rows of its house table.

Everything that a reading turns on or off is settled here once; the other rules ask the law and never a setting's name,
save where a reading is not about rows, wagers or prices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from controller.games.common import HOUSE_PROCEDURE
from controller.games.specification import Game, Row
from controller.games.wagers import Price, Setting, Under, Wager


class SettingError(ValueError):
    """A reading was chosen as no option of it, or one was not chosen that must be. The message is a sentence."""


class UnknownWagerError(ValueError):
    """The game knows no such wager. The message is a sentence."""


@dataclass(frozen=True)
class Law:
    """A document as one table reads it. `chosen` holds every setting of the game; empty: not chosen yet."""

    game: Game
    chosen: Mapping[str, str]
    house: tuple[Row, ...] = ()

    def holds(self, under: Under) -> bool:
        """Whether what depends on those options is in force. With a setting that is not chosen nothing is."""
        return all(self.chosen[setting] == option for setting, option in under)

    def option(self, setting_id: str) -> str:
        """The option of a setting. Raises `SettingError` where it must be chosen and is not."""
        option = self.chosen[setting_id]
        if not option:
            raise SettingError(not_chosen(find_setting(self.game, setting_id)))
        return option

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The irregularity table in force: a row of the house stands first, so that it overrides the document's."""
        document = (row for row in self.game.irregularities if self.holds(row.under))
        return (*self.house, *document, *HOUSE_PROCEDURE)

    @cached_property
    def wagers(self) -> tuple[Wager, ...]:
        return tuple(wager for wager in self.game.wagers if self.holds(wager.under))

    @cached_property
    def _prices(self) -> dict[str, tuple[Price, ...]]:
        return {wager.id: tuple(price for price in wager.prices if self.holds(price.under)) for wager in self.wagers}

    def prices(self, wager: Wager) -> tuple[Price, ...]:
        """What the wager may win, in the order in which it is asked.

        Raises `SettingError` where they depend on a reading that is not chosen.
        """
        for price in wager.prices:
            for setting_id, _ in price.under:
                self.option(setting_id)
        return self._prices[wager.id]

    def wager(self, wager_id: str) -> Wager:
        """Raises `UnknownWagerError` with a sentence."""
        for wager in self.wagers:
            if wager.id == wager_id:
                return wager
        known = ", ".join(wager.id for wager in self.wagers)
        raise UnknownWagerError(f"{self.game.id} has no wager {wager_id!r}; it has {known}")

    @property
    def unchosen(self) -> tuple[Setting, ...]:
        """The readings that must be chosen before a table opens, and are not."""
        return tuple(setting for setting in self.game.settings if not self.chosen[setting.id])


def read_law(game: Game, chosen: Mapping[str, str] | None = None, house: Sequence[Row] = ()) -> Law:
    """The law with those options, and the default of every other setting.

    Raises `SettingError` for a setting that the game has not and for an option that the setting has not.

    >>> from controller.games import game
    >>> read_law(game("NC")).option("wrong_count")
    'general'
    """
    options = {setting.id: setting.default for setting in game.settings}
    for setting_id, option in (chosen or {}).items():
        setting = find_setting(game, setting_id)
        if option not in setting.words:
            raise SettingError(f"{setting.id} is {' or '.join(setting.words)} ({setting.clause}), not {option!r}")
        options[setting_id] = option
    return Law(game, options, tuple(house))


def find_setting(game: Game, setting_id: str) -> Setting:
    """Raises `SettingError` with a sentence that names those there are."""
    for setting in game.settings:
        if setting.id == setting_id:
            return setting
    known = ", ".join(setting.id for setting in game.settings) or "none"
    raise SettingError(f"{game.id} has no setting {setting_id!r}; it has {known}")


def not_chosen(setting: Setting) -> str:
    return f"{setting.id} must be chosen ({setting.clause}): {' or '.join(setting.words)}"
