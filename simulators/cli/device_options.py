"""Options of `cardshoe simulate` and `cardshoe demo` that depend on the device: how its deck is shuffled, who puts it
in again, and which game it can deal.

A `sim:` URL names the shuffle in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TypeAlias

from controller.commands.found_commands import of_extra
from controller.games.specification import Game
from controller.problems import BadInputError
from firmware_bridge.messages import message
from simulators.devices.mechanism import DeckShuffle, UniformShuffle

Shuffles: TypeAlias = Callable[[Random], DeckShuffle]
UNIFORM = "uniform"


def read_shuffle(text: str) -> Shuffles:
    """Return the shuffle that `--shuffle` or `shuffle=` names.

    Raise `BadInputError`, and `ProblemError` if numpy is needed and missing.
    """
    if text == UNIFORM:
        return UniformShuffle
    with of_extra("audit", message("The shuffle {shuffle} cannot be simulated", shuffle=text)):
        from shuffle_audit.models.named import model_named
        from simulators.devices.modelled_shuffle import ModelledShuffle
    try:
        model = model_named(text)
    except ValueError as error:
        raise BadInputError(str(error), message("Write it as one of them, with other numbers.")) from error
    return lambda random: ModelledShuffle(model, random)


def check_shuffler_options(text: str, person: bool, device: tuple[str, str], dealer: Path | None) -> None:
    """Raise `BadInputError` if `--shuffle` or `--person` does not go with the device or the people.

    `device` is its driver and its kind.
    """
    if device != ("cardlink", "shuffler") and (text != UNIFORM or person):
        option = "--person" if person else "--shuffle"
        raise BadInputError(
            message("{option} is only for a shuffler that speaks cardlink.", option=option),
            message("Leave {option} out.", option=option),
        )
    if dealer is not None and person:
        raise BadInputError(
            message("The simulated people of --dealer lift the sets themselves."),
            message("Leave {option} out.", option="--person"),
        )


def playable(game_id: str, *, on_removal: bool) -> Game:
    """Return a game that such a device can deal, with its data checked. Raise `BadInputError`."""
    from controller.commands.game_options import (
        find_game,  # takes time, and the demonstration must print something first
    )

    rules = find_game(game_id)
    check_dispensing(rules, on_removal=on_removal)
    return rules


def check_dispensing(rules: Game, *, on_removal: bool) -> None:
    """Raise `BadInputError` if a device that dispenses in this way cannot deal the game."""
    if on_removal and rules.first_card is not None:
        raise BadInputError(
            message(
                "{game} begins with one card, and a shuffler that forms sets by itself cannot yield one.",
                game=rules.title,
            ),
            message("Leave {option} out.", option="--on-removal"),
        )
