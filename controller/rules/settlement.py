"""What a wager wins, from whole hands. Money is exact: integers of the smallest unit, and fractions of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction

import msgspec

from controller.games.wagers import Price, Setting, Wager
from controller.rules.shapes import Cards, holds


class Verdict(StrEnum):
    WON = "won"
    LOST = "lost"
    RETURNED = "returned"


class Settled(msgspec.Struct, frozen=True):
    """One wager's outcome. `net` is what the bettor gains for each unit staked: -1 when lost, 0 when returned."""

    verdict: Verdict
    net: Fraction
    clause: str


class SettingError(ValueError):
    """A reading was not chosen, or chosen as no option of it. The message is a sentence."""


def choose_settings(settings: tuple[Setting, ...], chosen: Mapping[str, str]) -> dict[str, str]:
    """Every setting with its option. Raises `SettingError` for unknown ones and for one that must be chosen."""
    known = {setting.id: setting for setting in settings}
    for name in chosen:
        if name not in known:
            raise SettingError(f"there is no setting {name!r}; this game has: {', '.join(known) or 'none'}")
    result: dict[str, str] = {}
    for setting in settings:
        option = chosen.get(setting.id, setting.default)
        words = [word for word, _ in setting.options]
        if not option:
            raise SettingError(f"{setting.id} must be chosen ({setting.clause}): {' or '.join(words)}")
        if option not in words:
            raise SettingError(f"{setting.id} is {' or '.join(words)} ({setting.clause}), not {option!r}")
        result[setting.id] = option
    return result


def applies(under: tuple[str, str] | None, settings: Mapping[str, str]) -> bool:
    """Whether what depends on a setting is in force."""
    return under is None or settings[under[0]] == under[1]


def prices_in_force(wager: Wager, settings: Mapping[str, str]) -> tuple[Price, ...]:
    return tuple(price for price in wager.prices if applies(price.under, settings))


def settle(wager: Wager, settings: Mapping[str, str], box: Cards, dealer: Cards) -> Settled:
    """The outcome of one wager on a box (whose hand is `box`) against the Dealer."""
    for price in prices_in_force(wager, settings):
        if holds(price.shape, wager.looks, box, dealer):
            return Settled(Verdict.WON, price.odds, price.clause)
    if wager.returned is not None and holds(wager.returned, wager.looks, box, dealer):
        return Settled(Verdict.RETURNED, Fraction(0), wager.returned_clause)
    return Settled(Verdict.LOST, Fraction(-1), wager.clause)
