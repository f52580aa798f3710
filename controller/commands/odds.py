"""`cardshoe odds`: the exact chances of every wager of a game, and where a reading favours the player.

The module contains the values that `--json` prints, then their computation for each reading, then their printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Final, TypeAlias

import click
import msgspec

from controller.api.in_language import in_language
from controller.commands.game_options import find_game, law_options, odds_text, print_json, read_options
from controller.commands.text import Page, page
from controller.games.specification import Game
from controller.games.wager_specification import Setting
from controller.rules.law import Law, read_law, readings_that_matter
from controller.rules.odds import wager_odds, ways_to_play
from controller.table.events.lines import under
from firmware_bridge.messages import AnyText, Message, message

Options: TypeAlias = tuple[str, ...]  # one option for each of a wager's settings, in order


class Chance(msgspec.Struct, frozen=True):
    """A probability or a share of the stake: exact, as "1/2", and as the nearest float."""

    exact: Fraction
    value: float


class PriceChance(msgspec.Struct, frozen=True):
    """One price. `odds` are net units for each unit staked; `ways` is the part of the wager's total."""

    pays_on: Message
    odds: Fraction
    clause: str
    ways: int
    probability: Chance


class CountedReading(msgspec.Struct, frozen=True):
    """A wager's odds under one reading of the document.

    `readings` are the options that give these odds, by setting, without settings that make no difference. `default`
    means that they are the defaults, apart from settings that must be chosen. `house_edge` is negative if the wager
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
    """A wager under every reading that changes it. `not_offered` are the options under which the game lacks the bet."""

    wager: str
    title: Message
    clause: str
    counted: tuple[CountedReading, ...]
    not_offered: tuple[dict[str, tuple[str, ...]], ...]


class FavourablePlay(msgspec.Struct, frozen=True):
    """A wager that favours the player, with the readings under which it does. No readings means that it does under
    every reading.
    """

    wager: str
    title: Message
    readings: dict[str, tuple[str, ...]]
    default: bool
    house_edge: Chance


class CountedGame(msgspec.Struct, frozen=True):
    """Every wager of a game. `fixed` are the chosen readings; every other reading is shown."""

    game: str
    title: Message
    fixed: dict[str, str]
    wagers: tuple[CountedWager, ...]
    favours_player: tuple[FavourablePlay, ...]


def chance(value: Fraction) -> Chance:
    return Chance(value, float(value))


def count_game(game: Game, fixed: Mapping[str, str]) -> CountedGame:
    """Count every wager. Each setting in `fixed` is limited to the option given there."""
    ids = tuple(dict.fromkeys(wager.id for wager in game.wagers))
    wagers = tuple(_count_wager(game, wager_id, fixed) for wager_id in ids)
    return CountedGame(game.id, game.title, dict(fixed), wagers, tuple(_favourable(wagers)))


def _count_wager(game: Game, wager_id: str, fixed: Mapping[str, str]) -> CountedWager:
    """Count a wager under each combination of readings. Combinations with the same result are shown once."""
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
    return CountedWager(wager_id, variants[0].title, variants[0].heading_clause, counted, not_offered)


def _options(law: Law, settings: Sequence[Setting]) -> Options:
    return tuple(law.chosen[setting.id] for setting in settings)


def _whole_products(members: Sequence[Options]) -> Sequence[Sequence[Options]]:
    """Return the members in one group if they are all combinations of some options of each setting, else one by one.

    Only such a group can be described by one list of options for each setting.
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
            PriceChance(
                pays_on=game.words.own(price.shape),
                odds=price.odds,
                clause=price.clause,
                ways=price.ways,
                probability=chance(Fraction(price.ways, odds.total)),
            )
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
    """Return the options that distinguish these members. A setting of which all options occur does not make a
    difference.
    """
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


FAVOURS: Final = message("FAVOURS THE PLAYER")


@click.command()
@law_options
def odds(game_id: str, readings: tuple[str, ...], as_json: bool) -> None:
    """Count the chance of every price, of a return and of a loss, and the house edge, of every wager.

    Nothing is sampled: all hands of 52 cards are counted. A wager that a reading changes is shown under each option;
    --reading selects one.
    """
    game = find_game(game_id)
    counted = count_game(game, read_options(game, readings))
    if as_json:
        print_json(in_language(counted, None))
        return
    paper = page()
    write(paper, game, counted)
    paper.show()


def write(paper: Page, game: Game, counted: CountedGame) -> None:
    """Write everything that was counted, in lines."""
    paper.heading(
        message("{title} ({id}): exact odds by counting every hand of 52 cards", title=game.title, id=game.id)
    )
    paper.entry(
        message("Odds are net, to one staked. The house edge is what the house keeps of each unit staked."), indent=0
    )
    for wager in counted.wagers:
        _write_wager(paper, game, wager, counted.fixed)
    paper.heading(message("Where a reading favours the player"))
    if not counted.favours_player:
        paper.entry(message("Nowhere: every wager counted here favours the house."))
    for play in counted.favours_player:
        paper.entry(
            message(
                "{title} {under} favours the player: of each unit staked the house loses {share} on average.",
                title=play.title,
                under=_under(play.readings) or message("under every reading"),
                share=percent(play.house_edge).removeprefix("-"),
            )
        )


def _write_wager(paper: Page, game: Game, wager: CountedWager, fixed: Mapping[str, str]) -> None:
    paper.heading(message("{title} ({id}, {clause})", title=wager.title, id=wager.wager, clause=wager.clause))
    for counted in wager.counted:
        indent = 2
        if counted.readings:
            readings, standing = _under(counted.readings), _standing(game, counted, fixed)
            paper.entry(message("{under} ({standing})", under=readings, standing=standing) if standing else readings)
            indent = 4
        _write_reading(paper, counted, indent)
    for options in wager.not_offered:
        paper.entry(message("{under}: there is no such wager", under=_under(options)))


def _standing(game: Game, counted: CountedReading, fixed: Mapping[str, str]) -> Message | None:
    """Say whether a table plays by this reading without further choices."""
    open_settings = [s for s in game.settings if s.id in counted.readings and s.id not in fixed]
    undecided = tuple(setting.id for setting in open_settings if setting.must_be_chosen)
    if not open_settings:
        return message("chosen")
    if not undecided:
        return message("default") if counted.default else None
    if counted.default and len(undecided) < len(open_settings):
        return message("{settings:list} must be chosen; the rest default", settings=undecided)
    return message("{settings:list} must be chosen", settings=undecided)


def _write_reading(paper: Page, counted: CountedReading, indent: int) -> None:
    lines: list[tuple[AnyText, Chance, AnyText]] = [
        *(
            (message("wins {odds}", odds=odds_text(p.odds)), p.probability, under(p.pays_on, p.clause))
            for p in counted.prices
        ),
        (message("wins at all"), counted.won, ""),
        (message("is returned"), counted.returned, ""),
        (message("loses"), counted.lost, ""),
        (message("house edge"), counted.house_edge, FAVOURS if counted.favours_player else ""),
    ]
    if len(counted.prices) < 2:
        del lines[len(counted.prices)]
    for what, chance, text in lines:
        paper.entry(text, (what, 13), (f"{percent(chance):>11}", 12), indent=indent)


def percent(chance: Chance) -> str:
    """Return a share in per cent, to four decimals.

    >>> from fractions import Fraction
    >>> percent(Chance(Fraction(1, 3), 1 / 3))
    '33.3333 %'
    """
    return f"{float(chance.exact * 100):.4f} %"


def _under(readings: Mapping[str, Sequence[str]]) -> Message | str:
    """Return the options in the form that `--reading` takes, or "" without any."""
    chosen = tuple(
        message("{setting}={options:or}", setting=setting, options=tuple(options))
        for setting, options in readings.items()
    )
    return message("with {readings:list}", readings=chosen) if chosen else ""
