"""The games, one package a rules document, as data. A game is named by its document's short id (NC).

Every package here whose module `game` has a `GAME` is one, named as its id in lower case: a further game is one more
folder (docs/a_new_game.md).
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterable
from typing import Final

from controller.games.specification import Game

ID: Final = re.compile(r"[A-Z][A-Z0-9]*")


class GameFolderError(ImportError):
    """A folder of games is not one game under its own id. The message is a sentence with a next step."""


def collect(found: Iterable[tuple[str, Game]]) -> dict[str, Game]:
    """The games of those (folder, game), by id in alphabetical order.

    Raises `GameFolderError` for an id that is not written as one, or not as its folder, or that two folders have.
    """
    folders: dict[str, str] = {}
    games: dict[str, Game] = {}
    for folder, document in found:
        if not ID.fullmatch(document.id):
            raise GameFolderError(
                f"controller/games/{folder} has the id {document.id!r}; write upper-case letters and figures, as NC"
            )
        if document.id in folders:
            raise GameFolderError(
                f"controller/games/{folders[document.id]} and controller/games/{folder} both have the id"
                f" {document.id}; give one of them another"
            )
        if folder != document.id.lower():
            raise GameFolderError(
                f"controller/games/{folder} has the id {document.id}; call the folder {document.id.lower()}"
            )
        folders[document.id], games[document.id] = folder, document
    return dict(sorted(games.items()))


def _documents() -> dict[str, Game]:
    folders = (found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)
    return collect((folder, importlib.import_module(f"{__name__}.{folder}.game").GAME) for folder in folders)


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
