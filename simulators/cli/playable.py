"""Which games a simulated device can deal: what `cardshoe simulate` and `cardshoe demo` ask before they begin."""

from __future__ import annotations

from controller.commands.options import find_game
from controller.games.specification import Game
from controller.problems import BadInputError


def playable(game_id: str, *, on_removal: bool) -> Game:
    """A game that such a device can deal. Raises `BadInputError`."""
    rules = find_game(game_id)
    if on_removal and rules.first_card is not None:
        raise BadInputError(
            f"{rules.title} begins with one card, and a shuffler that forms sets by itself cannot yield one.",
            "Leave --on-removal out.",
        )
    return rules
