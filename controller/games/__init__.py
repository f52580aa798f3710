"""The games as data, one package for each rules document. A game is named by its document's short id (NC).

Each package here whose module `game` has a `GAME` is a game and is named as its id in lower case. To add a game, add a
folder (docs/a_new_game.md). A broken folder does not stop the other games: `BROKEN` says what is wrong with it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import traceback
from collections.abc import Iterable
from typing import Final

from controller.games.specification import Game
from firmware_bridge.messages import Message, MessageError, message

ID: Final = re.compile(r"[A-Z][A-Z0-9]*")


class GameFolderError(MessageError):
    """A folder of games that is not one game under its own id. The message is a sentence with a next step."""

    message: Message


def load(folder: str, package: str = __name__, taken: Iterable[str] = ()) -> Game:
    """Import the game of a folder of that package. `taken`: the names of all its folders.

    Raises `GameFolderError` for an error in its modules, a missing `GAME`, or an id that does not match the folder.
    """
    try:
        document = importlib.import_module(f"{package}.{folder}.game").GAME
    except Exception as error:  # any mistake in the folder must stop this game only
        raise GameFolderError(_mistake(folder, error)) from error
    if not isinstance(document, Game):
        raise GameFolderError(
            message(
                "GAME of controller/games/{folder}/game.py is not a Game(...); write it as the skeleton does",
                folder=folder,
            )
        )
    if not isinstance(document.id, str) or not ID.fullmatch(document.id):
        raise GameFolderError(
            message(
                "controller/games/{folder} has the id {id}; write upper-case letters and figures, as NC",
                folder=folder,
                id=repr(document.id),
            )
        )
    own = document.id.lower()
    if folder != own:
        has = (
            message("controller/games/{own} has that id; give this one another", own=own)
            if own in taken
            else message("call the folder {own}", own=own)
        )
        raise GameFolderError(
            message("controller/games/{folder} has the id {id}; {has}", folder=folder, id=document.id, has=has)
        )
    return document


def _mistake(folder: str, error: Exception) -> Message:
    """Describe an import error and its place: the innermost line that is in the folder itself."""
    path = f"controller/games/{folder}/game.py"
    if isinstance(error, AttributeError) and error.name == "GAME":
        return message("{path} has no GAME; end it with GAME: Final = Game(...)", path=path)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").endswith(f".{folder}.game"):
        return message(
            "controller/games/{folder} has no game.py; copy it from docs/skeleton_game/game, or remove the folder",
            folder=folder,
        )
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.split("/")[-2:-1] == [folder]
    ]
    place: tuple[str, int | None] = (frames[-1].filename, frames[-1].lineno) if frames else (path, None)
    if isinstance(error, SyntaxError) and error.filename:
        place = error.filename, error.lineno
    what = str(error) if " " in str(error) else message("{name} is unknown", name=str(error))
    file = f"controller/games/{folder}/{place[0].rpartition('/')[2]}"
    if place[1]:
        return message("{file}, line {line}: {what}; correct it there", file=file, line=place[1], what=what)
    return message("{file}: {what}; correct it there", file=file, what=what)


def collect(folders: Iterable[str], package: str = __name__) -> tuple[dict[str, Game], dict[str, Message]]:
    """Return the games of these folders by id, and the problem of each other folder."""
    games: dict[str, Game] = {}
    broken: dict[str, Message] = {}
    folders = sorted(folders)
    for folder in folders:
        try:
            found = load(folder, package, folders)
        except GameFolderError as error:
            broken[folder] = error.message
        else:
            games[found.id] = found
    return games, broken


_FOUND: Final = collect(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg)
GAMES: Final[dict[str, Game]] = _FOUND[0]
BROKEN: Final[dict[str, Message]] = _FOUND[1]


class UnknownGameError(MessageError):
    """An id that no built-in rules document has."""


def game(game_id: str) -> Game:
    """Return the rules of a game. Raises `UnknownGameError` with a sentence."""
    try:
        return GAMES[game_id]
    except KeyError:
        raise UnknownGameError(
            message("{id} is not a game of this program; it has {games:list}", id=repr(game_id), games=tuple(GAMES))
        ) from None
