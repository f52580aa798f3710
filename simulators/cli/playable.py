"""Checks that a simulated device can deal a game, before `cardshoe simulate` and `cardshoe demo` begin."""

from __future__ import annotations

from controller.games.specification import Game
from controller.problems import BadInputError


def playable(game_id: str, *, on_removal: bool) -> Game:
    """Return a game that such a device can deal, with its data checked. Raise `BadInputError`."""
    from controller.commands.options import find_game  # takes time, and the demonstration must print something first

    rules = find_game(game_id)
    check_dispensing(rules, on_removal=on_removal)
    return rules


def check_dispensing(rules: Game, *, on_removal: bool) -> None:
    """Raise `BadInputError` if a device that dispenses in this way cannot deal the game."""
    if on_removal and rules.first_card is not None:
        raise BadInputError(
            f"{rules.title} begins with one card, and a shuffler that forms sets by itself cannot yield one.",
            "Leave --on-removal out.",
        )
