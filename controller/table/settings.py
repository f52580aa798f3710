"""Settings that a casino chooses for its table, journaled with the game; and the law that follows from them."""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from controller.games import game
from controller.games.specification import Row, Unit
from controller.rules.law import Law, read_law
from controller.rules.settlement import Rounding
from firmware_bridge.capabilities import Capabilities

LEAST_MS_BETWEEN_DRAWS: Final = 50


class ChosenReading(msgspec.Struct, frozen=True):
    """An option that a casino chose for a setting of the game, by whom and on which day (ISO date)."""

    setting: str
    option: str
    chosen_by: str = ""
    chosen_on: str = ""


class WagerLimit(msgspec.Struct, frozen=True):
    """Minimum and maximum of one kind of wager, in the smallest unit; `maximum` 0: none."""

    wager: str
    minimum: int = 1
    maximum: int = 0


class Settings(msgspec.Struct, frozen=True):
    """The settings that a casino chooses for its table.

    `box_count`: betting boxes on the layout. `unit`: what leaves the device. `count_stub_by_hand`: if the device cannot
    count the stub, the dealer has to do so before the round is settled (house procedure). `readings`: the options
    chosen. `house`: the rows of the house's own irregularity table. `burn`: how many cards, 0 to 5, are burnt before
    the first is dealt (house procedure). `limits`: those of wagers, if the casino sets any. `rounding`: how parts of a
    unit are rounded in payouts and in shares of a maximum. `least_ms_between_draws`: two cards that leave a shoe closer
    together than this, by its own clock, count as drawn together (I15), if it has no sensor for that; 0: never. 50 ms
    is an assumption: no person draws twice so fast. `hands_by_device`: a hand, or the First Card, may be shown without
    entering its cards: the ones that the device read are used and published. Otherwise people enter what they see.
    `second_counter_signs`: at a screen, the person who counted cards with the dealer enters a PIN (house procedure).
    """

    game: str
    unit: Unit
    box_count: int
    count_stub_by_hand: bool = False
    readings: tuple[ChosenReading, ...] = ()
    house: tuple[Row, ...] = ()
    limits: tuple[WagerLimit, ...] = ()
    rounding: Rounding = Rounding.NONE
    least_ms_between_draws: int = LEAST_MS_BETWEEN_DRAWS
    burn: int = 0
    hands_by_device: bool = False
    second_counter_signs: bool = False

    def can_burn_with(self, capabilities: Capabilities) -> bool:
        """Return whether the device can dispense exactly the cards that are to be burnt."""
        return not self.burn or self.unit is not Unit.SETS or capabilities.yields_one_card


@cache
def law_of(settings: Settings) -> Law:
    """Return the law of a table with these settings."""
    chosen = {reading.setting: reading.option for reading in settings.readings}
    return read_law(game(settings.game), chosen, settings.house)
