"""docs/scenarios.md, made from the packaged scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from controller.games import GAMES
from controller.table.settings import ChosenReading
from simulators.scenarios import packaged
from simulators.scenarios.format import Scenario

COLUMNS: Final = tuple(GAMES)

CELLS: Final = {
    "I01": "foreign card",
    "I02": "card missing, or one too many",
    "I03": "unshuffled cards",
    "I04": "doubt about the count",
    "I05": "wrong deal, no one has handled cards, moving complete hands cures it",
    "I06": "wrong deal, no one has handled cards, moving complete hands does not cure it",
    "I07": "wrong distribution noted after handling",
    "I08a": "wrong count to the Dealer, no one has handled cards",
    "I08b": "wrong count to the Dealer, after handling",
    "I09": "wrong count to a Player, no one has handled cards",
    "I10": "wrong count to a Player who viewed",
    "I11": "wrong count to a Player who did not view, after handling",
    "I12": "a card exposed in dealing",
    "I13": "the first card out of a shoe exposed",
    "I14": "a card face up in the device",
    "I15": "cards that came together",
    "I16": "another dealing error",
    "I17": "power failure, nothing established",
    "I18": "power failure, an outcome established",
    "I19": "jam, other technical stop",
    "I20": "dropped or exposed in shuffling",
    "I21": "dropped in dealing",
    "I22": "bet placed, raised or withdrawn late",
    "I23": "side bet without a main one",
    "I24": "an earlier round's error",
    "I25": "Dealer's hand exposed too early",
    "I26": "a hand viewed by the wrong person, or a second one",
    "I27": "a Player exposes or drops a card himself",
    "I28": 'cards out before "No more bets"',
}

INTRODUCTION: Final = """\
# Scenarios

This page is for contributors and for people who test the rules: what the packaged scenarios show, and how they are
written. `python -m tools.generate` makes it from `simulators/scenarios`; do not edit it here.

A scenario is a text file that plays one irregularity at a table: who does what, what the device does, and how the table
must react.

    cardshoe demo --scenario list                    # the names: game, situation, what happens
    cardshoe demo --scenario nc/i12-exposed          # one of these, by its name
    cardshoe demo --scenario my.scenario             # one of your own
    cardshoe demo --scenario words                   # every word of the header, the steps and the expectations

The exit code is 0 if everything happened as the file expects, 1 with the line that did not, 2 for a file that cannot be
read.

## By situation and game

The clauses by which the scenarios end, with any [reading](readings.md) that is not the default in brackets. *silent*:
the table holds the deal, calls a shift manager and proposes nothing. *house procedure*: no clause requires it, and it
voids nothing.
"""

WORDS: Final = """\
## How a file is written

Each line is one step; `#` begins a comment, and the first comment says what the file shows. The header comes first,
then steps and expectations as they happen. Your own file needs only `game` and a step: `begin` and `finish` play a
whole round.

    # A card is exposed in dealing; every bettor chooses.
    game NC
    device sets
    cell I12
    clause NC 5.7

    begin
    deal 2
    report exposed_card B3
    expect I12 NC 5.7 options
    confirm by pit supervisor
    choose all continue
    finish
    next round

Places are B1 to B9 and D, the Dealer or Banker. A card is named by its face (KD, 10C) or by the number under which it
left the device. `hand` lines arrange the deck of the first round for the boxes with main wagers in the header, or those
of `boxes`. `by ROLE` and `because TEXT` may end a step of a person; the default is the dealer, a pit supervisor for
confirming, denying and ordering, and a shift manager for a ruling. A step that the table refuses must be followed by
`expect refused CODE`; the demo names the code. At the end nothing may be open.
"""


def page() -> str:
    """Return the whole page."""
    scenarios = tuple(packaged())
    return "\n".join([INTRODUCTION, _table(("", "situation", *COLUMNS), _cells(scenarios)), WORDS])


def _cells(scenarios: Sequence[Scenario]) -> Iterator[tuple[str, ...]]:
    for cell, what in CELLS.items():
        shown = [[one for one in scenarios if (one.setting.game, one.cell) == (game, cell)] for game in COLUMNS]
        yield cell, what, *map(_cell, shown)


def _order(scenario: Scenario) -> tuple[bool, str]:
    return bool(_unusual(scenario)), scenario.name


def _cell(files: Sequence[Scenario]) -> str:
    """Return the clauses of one cell with their readings, a line for each."""
    return "<br>".join(dict.fromkeys(map(_clause, sorted(files, key=_order))))


def _clause(scenario: Scenario) -> str:
    """Return the clause of a scenario without its document, and the readings that it needs."""
    clause = scenario.clause.removeprefix(f"{scenario.setting.game} ")
    clause = " ".join(filter(None, ("silent" if scenario.silent else "", clause)))
    chosen = ", ".join(f"{one.setting}={one.option}" for one in _unusual(scenario))
    return f"{clause} (`{chosen}`)" if chosen else clause


def _unusual(scenario: Scenario) -> tuple[ChosenReading, ...]:
    """Return the readings that are not the default. Without a default any reading will do."""
    defaults = {setting.id: setting.default for setting in GAMES[scenario.setting.game].settings}
    return tuple(one for one in scenario.setting.readings if defaults[one.setting])


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"
