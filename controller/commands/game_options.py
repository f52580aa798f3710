"""Shared parts of `rules`, `evaluate` and `odds`: the game, its readings as options, and refusals in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeVar

import click
import msgspec

from controller.commands.text import write_out
from controller.games import BROKEN, GAMES, UnknownGameError, game
from controller.games.specification import Game
from controller.games.wager_specification import Setting, Wager
from controller.problems import BadInputError
from controller.rules.law import Law, SettingError, find_setting, not_chosen, read_law, readings_that_matter
from controller.rules.validation import problems
from firmware_bridge.messages import Message, message

QUOTED: Final = 60  # the most characters of a person's input in a sentence
Command = TypeVar("Command", bound=Callable[..., Any])


def law_options(command: Command) -> Command:
    """Add the argument GAME and the options `--reading` and `--json`."""
    return click.argument("game_id", metavar="GAME")(reading_options(command))


def reading_options(command: Command) -> Command:
    """Add the options `--reading` and `--json`."""
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")(command)
    return click.option(
        "--reading",
        "readings",
        metavar="ID=OPTION",
        multiple=True,
        help="Choose a reading of the document; may be repeated. `cardshoe rules GAME` lists them.",
    )(command)


def shortened(written: str) -> str:
    """Shorten a person's input for quoting. The program's own names are all shorter.

    >>> shortened("tie=5"), shortened("9" * 100_000) == "9" * 60 + "..."
    ('tie=5', True)
    """
    return written if len(written) <= QUOTED else f"{written[:QUOTED]}..."


def find_game(game_id: str) -> Game:
    """Return a game by its id, in upper or lower case. Raise `BadInputError`, also if its data has problems."""
    try:
        document = game(game_id.strip().upper())
    except UnknownGameError:
        known = message("Its games are {games:list}.", games=tuple(f"{one.id} ({one.title})" for one in GAMES.values()))
        broken = (message("{broken}.", broken=wrong) for wrong in BROKEN.values())
        hint = message("{parts:lines}", parts=(*broken, known))
        raise BadInputError(
            message("GAME {given} is not a game of this program.", given=repr(shortened(game_id))), hint
        ) from None
    if wrong := problems(document):
        listed = tuple(wrong)
        raise BadInputError(
            message("The data of {id} is wrong.", id=document.id),
            message("Correct it in controller/games:\n  {listed:lines}", listed=listed),
        )
    return document


def read_options(game: Game, readings: Sequence[str]) -> dict[str, str]:
    """Return the readings that a person chose, by setting. Raise `BadInputError` for one that the game lacks."""
    chosen: dict[str, str] = {}
    for written in readings:
        setting_id, separator, option = (shortened(part.strip()) for part in written.partition("="))
        where = f"--reading {shortened(written)!r}"
        if not separator:
            raise BadInputError(message("{where} is not written as ID=OPTION.", where=where), _readings_hint(game))
        try:
            setting = find_setting(game, setting_id)
            read_law(game, {setting_id: option})
        except SettingError as error:
            raise BadInputError(
                message("{where}: {why}.", where=where, why=error.message), _readings_hint(game)
            ) from error
        if chosen.get(setting.id, option) != option:
            raise BadInputError(
                message(
                    "--reading chooses {setting} twice: {first} and {second}.",
                    setting=setting.id, first=chosen[setting.id], second=option,
                )
            )  # fmt: skip
        chosen[setting.id] = option
    return chosen


def find_law(game_id: str, readings: Sequence[str]) -> Law:
    """Return the law of a game with the readings that a person chose. Raise `BadInputError` if one does not exist."""
    document = find_game(game_id)
    return read_law(document, read_options(document, readings))


def _readings_hint(game: Game) -> Message:
    return message("`cardshoe rules {id} --section settings` lists the readings and their options.", id=game.id)


def require_chosen(law: Law, wagers: Sequence[Wager]) -> None:
    """Raise `BadInputError` if a wager depends on a reading that must be chosen and is not."""
    for setting in readings_that_matter(law.game, wagers):
        if not law.chosen[setting.id]:
            raise BadInputError(message("{what}.", what=not_chosen(setting)), _choose_hint(setting))


def _choose_hint(setting: Setting) -> Message:
    ways = tuple(
        message("--reading {setting}={word} ({meaning})", setting=setting.id, word=word, meaning=meaning)
        for word, meaning in setting.options
    )
    return message("{question} Add {ways:or}.", question=setting.question, ways=ways)


def odds_text(odds: Fraction) -> Message:
    """Return odds as documents print them.

    >>> str(odds_text(Fraction(8))), str(odds_text(Fraction(1, 2)))
    ('8 to 1', '1 to 2')
    """
    return message("{gain} to {stake}", gain=odds.numerator, stake=odds.denominator)


def in_units(value: Fraction) -> str:
    """Return an exact gain with its sign, whole units first.

    >>> in_units(Fraction(15, 2)), in_units(Fraction(-5)), in_units(Fraction(1, 2)), in_units(Fraction(0))
    ('+7 1/2', '-5', '+1/2', '0')
    """
    sign = "-" if value < 0 else "+" if value > 0 else ""
    whole, rest = divmod(abs(value), 1)
    parts = [str(whole)] * bool(whole or not rest) + [str(rest)] * bool(rest)
    return sign + " ".join(parts)


def print_json(view: msgspec.Struct) -> None:
    """Print one JSON object on one line. Fractions are strings such as "1/2"."""
    write_out(msgspec.json.encode(view, enc_hook=_fraction).decode())


def _fraction(value: object) -> str:
    if isinstance(value, Fraction):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no JSON form")
