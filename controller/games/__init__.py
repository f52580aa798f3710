"""The games, one package a rules document, as data. A game is named by its document's short id (NC).

Every package here whose module `game` has a `GAME` is one: a further game is one more folder (docs/a_new_game.md).
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Final

from controller.games.specification import Game


def _documents() -> dict[str, Game]:
    folders = (found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)
    games = [importlib.import_module(f"{__name__}.{folder}.game").GAME for folder in folders]
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
