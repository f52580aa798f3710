"""The games, one module a rules document, as data. A game is named by its document's short id (NC)."""

from __future__ import annotations

from typing import Final

from controller.games import non_commission
from controller.games.specification import Game

GAMES: Final[dict[str, Game]] = {game.id: game for game in (non_commission.GAME,)}


class UnknownGameError(KeyError):
    """No rules document of that name is built in."""

    def __str__(self) -> str:
        return f"{self.args[0]!r} is no game of this program; it knows {', '.join(sorted(GAMES))}"


def game(game_id: str) -> Game:
    """The rules of a game. Raises `UnknownGameError` with a sentence."""
    try:
        return GAMES[game_id]
    except KeyError:
        raise UnknownGameError(game_id) from None
