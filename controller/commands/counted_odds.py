"""The odds of every wager under every reading that matters to it, as `cardshoe odds` tells them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TypeAlias

import msgspec

from controller.games.specification import Game
from controller.games.wager_specification import Setting
from controller.rules.law import Law, read_law, readings_that_matter
from controller.rules.odds import wager_odds, ways_to_play

Options: TypeAlias = tuple[str, ...]  # one option of each of a wager's settings, in their order


class Chance(msgspec.Struct, frozen=True):
    """A probability or a share of the stake: exactly, as "1/2", and as the nearest float."""

    exact: Fraction
    value: float


class PriceChance(msgspec.Struct, frozen=True):
    """One price. `odds` are net units for each unit staked; `ways` of the wager's total."""

    pays_on: str
    odds: Fraction
    clause: str
    ways: int
    probability: Chance


class CountedReading(msgspec.Struct, frozen=True):
    """A wager's odds under one reading of the document.

    `readings`: the options that it stands for, by setting; those of a setting that makes no difference are left out.
    `default`: its options are the defaults, those apart that must be chosen. `house_edge` is negative where the wager
    favours the player.
    """

    readings: dict[str, tuple[str, ...]]
    default: bool
    total: int
    prices: tuple[PriceChance, ...]
    won: Chance
    returned: Chance
    lost: Chance
    payback: Chance
    house_edge: Chance
    favours_player: bool


class CountedWager(msgspec.Struct, frozen=True):
    """A wager under every reading that changes it. `not_offered`: the options under which the game has no such bet."""

    wager: str
    title: str
    clause: str
    counted: tuple[CountedReading, ...]
    not_offered: tuple[dict[str, tuple[str, ...]], ...]


class FavourablePlay(msgspec.Struct, frozen=True):
    """A wager that favours the player, and the readings under which it does; none: under every one."""

    wager: str
    title: str
    readings: dict[str, tuple[str, ...]]
    default: bool
    house_edge: Chance


class CountedGame(msgspec.Struct, frozen=True):
    """Every wager of a game. `fixed`: the readings that were chosen; the others are told one by one."""

    game: str
    title: str
    fixed: dict[str, str]
    wagers: tuple[CountedWager, ...]
    favours_player: tuple[FavourablePlay, ...]


def chance(value: Fraction) -> Chance:
    return Chance(value, float(value))


def count_game(game: Game, fixed: Mapping[str, str]) -> CountedGame:
    """Counts every wager; settings in `fixed` have that option alone."""
    ids = tuple(dict.fromkeys(wager.id for wager in game.wagers))
    wagers = tuple(_count_wager(game, wager_id, fixed) for wager_id in ids)
    return CountedGame(game.id, game.title, dict(fixed), wagers, tuple(_favourable(wagers)))


def _count_wager(game: Game, wager_id: str, fixed: Mapping[str, str]) -> CountedWager:
    """What a wager comes to under each way of reading it, the ways that come to the same told once."""
    variants = [wager for wager in game.wagers if wager.id == wager_id]
    settings = readings_that_matter(game, variants)
    ways_to_read = {
        play: [_options(law, settings) for law in laws] for play, laws in ways_to_play(game, wager_id, fixed).items()
    }
    absent = ways_to_read.pop((), [])
    counted = tuple(
        _count_reading(game, wager_id, settings, members, fixed)
        for group in ways_to_read.values()
        for members in _whole_products(group)
    )
    not_offered = tuple(_label(settings, members) for members in _whole_products(absent))
    return CountedWager(wager_id, variants[0].title, variants[0].clause, counted, not_offered)


def _options(law: Law, settings: Sequence[Setting]) -> Options:
    return tuple(law.chosen[setting.id] for setting in settings)


def _whole_products(members: Sequence[Options]) -> Sequence[Sequence[Options]]:
    """The members together where they are all combinations of some options of each setting, else each alone.

    Only then can they be told apart from the others by one list of options a setting.
    """
    among = [set(options) for options in zip(*members, strict=True)]
    return [members] if len(members) == prod(map(len, among)) and members else [[options] for options in members]


def _count_reading(
    game: Game, wager_id: str, settings: Sequence[Setting], members: Sequence[Options], fixed: Mapping[str, str]
) -> CountedReading:
    law = read_law(game, dict(zip((setting.id for setting in settings), members[0], strict=True)))
    odds = wager_odds(law, law.wager(wager_id))
    return CountedReading(
        readings=_label(settings, members),
        default=_is_default(settings, members, fixed),
        total=odds.total,
        prices=tuple(
            PriceChance(price.shape, price.odds, price.clause, price.ways, chance(Fraction(price.ways, odds.total)))
            for price in odds.prices
        ),
        won=chance(odds.won),
        returned=chance(odds.returned),
        lost=chance(odds.lost),
        payback=chance(odds.payback),
        house_edge=chance(odds.house_edge),
        favours_player=odds.favours_player,
    )


def _label(settings: Sequence[Setting], members: Sequence[Options]) -> dict[str, tuple[str, ...]]:
    """The options that set these members apart; a setting with every option among them makes no difference."""
    label: dict[str, tuple[str, ...]] = {}
    for number, setting in enumerate(settings):
        among = tuple(dict.fromkeys(options[number] for options in members))
        if len(among) < len(setting.words):
            label[setting.id] = among
    return label


def _is_default(settings: Sequence[Setting], members: Sequence[Options], fixed: Mapping[str, str]) -> bool:
    return any(
        all(
            setting.id in fixed or option == setting.default or setting.must_be_chosen
            for setting, option in zip(settings, options, strict=True)
        )
        for options in members
    )


def _favourable(wagers: Iterable[CountedWager]) -> Iterator[FavourablePlay]:
    for wager in wagers:
        for counted in wager.counted:
            if counted.favours_player:
                yield FavourablePlay(wager.wager, wager.title, counted.readings, counted.default, counted.house_edge)
