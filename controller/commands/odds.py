"""`cardshoe odds`: the exact chances of every wager of a game, and where a reading favours the player."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import click

from controller.commands.counted_odds import Chance, CountedGame, CountedReading, CountedWager, count_game
from controller.commands.options import find_game, law_options, odds_text, print_json, read_options
from controller.commands.text import Page, page
from controller.games.specification import Game

FAVOURS: Final = "FAVOURS THE PLAYER"


@click.command()
@law_options
def odds(game_id: str, readings: tuple[str, ...], as_json: bool) -> None:
    """Count the chance of every price, of a return and of a loss, and the house edge, of every wager.

    Nothing is sampled: all hands of 52 cards are counted. A wager that a reading changes is shown under each of its
    options; --reading keeps to one.
    """
    game = find_game(game_id)
    counted = count_game(game, read_options(game, readings))
    if as_json:
        print_json(counted)
        return
    paper = page()
    write(paper, game, counted)
    paper.show()


def write(paper: Page, game: Game, counted: CountedGame) -> None:
    """Everything that was counted, in lines."""
    paper.heading(f"{game.title} ({game.id}): exact odds by counting every hand of 52 cards")
    paper.entry("Odds are net, to one staked. The house edge is what the house keeps of each unit staked.", indent=0)
    for wager in counted.wagers:
        _write_wager(paper, game, wager, counted.fixed)
    paper.heading("Where a reading favours the player")
    if not counted.favours_player:
        paper.entry("Nowhere: every wager counted here favours the house.")
    for play in counted.favours_player:
        paper.entry(
            f"{play.title} {_under(play.readings, 'under every reading')} favours the player: of each unit staked"
            f" the house loses {percent(play.house_edge).removeprefix('-')} on average."
        )


def _write_wager(paper: Page, game: Game, wager: CountedWager, fixed: Mapping[str, str]) -> None:
    paper.heading(f"{wager.title} ({wager.wager}, {wager.clause})")
    for counted in wager.counted:
        indent = 2
        if counted.readings:
            paper.entry(f"{_under(counted.readings, '')}{_standing(game, counted, fixed)}")
            indent = 4
        _write_reading(paper, counted, indent)
    for options in wager.not_offered:
        paper.entry(f"{_under(options, '')}: there is no such wager")


def _standing(game: Game, counted: CountedReading, fixed: Mapping[str, str]) -> str:
    """Whether a table plays it so when it chooses nothing more."""
    open_settings = [s for s in game.settings if s.id in counted.readings and s.id not in fixed]
    undecided = [setting.id for setting in open_settings if setting.must_be_chosen]
    if not open_settings:
        return " (chosen)"
    if not undecided:
        return " (default)" if counted.default else ""
    rest = "; the rest default" if counted.default and len(undecided) < len(open_settings) else ""
    return f" ({', '.join(undecided)} must be chosen{rest})"


def _write_reading(paper: Page, counted: CountedReading, indent: int) -> None:
    lines = [
        *((f"wins {odds_text(p.odds)}", p.probability, f"{p.pays_on} ({p.clause})") for p in counted.prices),
        ("wins at all", counted.won, ""),
        ("is returned", counted.returned, ""),
        ("loses", counted.lost, ""),
        ("house edge", counted.house_edge, FAVOURS if counted.favours_player else ""),
    ]
    if len(counted.prices) < 2:
        del lines[len(counted.prices)]
    for what, chance, text in lines:
        paper.entry(text, (what, 13), (f"{percent(chance):>11}", 12), indent=indent)


def percent(chance: Chance) -> str:
    """A share in hundredths, to four decimals.

    >>> from fractions import Fraction
    >>> percent(Chance(Fraction(1, 3), 1 / 3))
    '33.3333 %'
    """
    return f"{float(chance.exact * 100):.4f} %"


def _under(readings: Mapping[str, Sequence[str]], without: str) -> str:
    """The options that it stands for, as `--reading` takes them."""
    if not readings:
        return without
    return "with " + ", ".join(f"{setting}={' or '.join(options)}" for setting, options in readings.items())
