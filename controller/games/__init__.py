"""The games, one module a rules document, as data. A game is named by its document's short id (NC).

Every module here that has a `GAME` is one: a further game is one more file (docs/a_new_game.md).
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Final

from controller.games.specification import Game


def _documents() -> dict[str, Game]:
    modules = (importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__))
    games = [module.GAME for module in modules if hasattr(module, "GAME")]
    return {game.id: game for game in sorted(games, key=lambda game: game.id)}


GAMES: Final[dict[str, Game]] = _documents()


class UnknownGameError(KeyError):
    """No rules document of that name is built in."""

    def __str__(self) -> str:
        return f"{self.args[0]!r} is no game of this program; it knows {', '.join(GAMES)}"


def game(game_id: str) -> Game:
    """The rules of a game. Raises `UnknownGameError` with a sentence."""
    try:
        return GAMES[game_id]
    except KeyError:
        raise UnknownGameError(game_id) from None
