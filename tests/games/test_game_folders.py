"""A faulty folder of games is named with its file, its line and the remedy, and does not stop other games."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from controller.games import BROKEN, GAMES, GameFolderError, collect, load
from tests.support.skeleton import LEFT_OUT, SKELETON

GAME = "controller/games/sk/game.py"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a package for games, with the skeleton in it."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / tmp_path.name
    folder.mkdir()
    (folder / "__init__.py").touch()
    copy(folder, "sk")
    return folder


def copy(package: Path, name: str) -> Path:
    folder = package / name
    shutil.copytree(SKELETON / "game", folder, ignore=shutil.ignore_patterns(*LEFT_OUT))
    change(folder / "game.py", "controller.games.sk.", f"{package.name}.{name}.")
    return folder


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def line_of(path: Path, word: str) -> int:
    return next(at for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1) if word in line)


def test_the_folders_of_this_program_are_games() -> None:
    assert not BROKEN
    assert list(GAMES) == sorted(GAMES)


@pytest.mark.parametrize(
    ("old", "new", "stands_at", "sentence"),
    [
        ("Shape.SAME_POINTS,", "Shape.SAME_POINT,", "SAME_POINT,", "SAME_POINT is unknown"),
        ('"SK 2.1", points=7), Price', '"SK 2.1", points=7) Price', "points=7", "invalid syntax"),
        ("tie_word=", "tieword=", "= Game(", "Unexpected keyword argument 'tieword'"),
        ('    tie_word=message("tie"),\n', "", "= Game(", "Missing required argument 'tie_word'"),
        ("import Betting,", "import Bettings,", "import Bettings", "cannot import name 'Bettings'"),
        (
            "import IRREGULARITIES, PROVISIONS",
            "import IRREGULARITIES, PROVISION",
            "import IRREGULARITIES, PROVISION",
            "cannot import name 'PROVISION'",
        ),
    ],
    ids=["a shape", "a comma", "a field", "a missing field", "an import", "a name of the folder"],
)
def test_a_mistake_is_named_with_its_line(package: Path, old: str, new: str, stands_at: str, sentence: str) -> None:
    path = package / "sk" / "game.py"
    change(path, old, new)
    with pytest.raises(GameFolderError) as refused:
        load("sk", package.name)
    said = str(refused.value)
    assert said.startswith(f"{GAME}, line {line_of(path, stands_at)}: ")
    assert sentence in said
    assert said.endswith("; correct it there")


def test_a_mistake_in_another_module_of_the_folder_is_named_there(package: Path) -> None:
    change(package / "sk" / "clauses.py", "Disposition.REMOVE_HAND", "Disposition.REMOVE")
    with pytest.raises(
        GameFolderError, match=r"^controller/games/sk/clauses\.py, line \d+: REMOVE is unknown; correct"
    ):
        load("sk", package.name)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("GAME: Final =", "GAMES: Final =", f"{GAME} has no GAME; end it with GAME: Final = Game"),
        ("GAME: Final = Game(", "GAME: Final = dict(", f"GAME of {GAME} is not a Game"),
        ('id="SK"', 'id="sk"', "controller/games/sk has the id 'sk'; write upper-case letters"),
        ('id="SK"', "id=5", "controller/games/sk has the id 5; write upper-case letters"),
        ('id="SK"', 'id="ZZ"', "controller/games/sk has the id ZZ; call the folder zz"),
    ],
    ids=["no GAME", "another GAME", "a lower-case id", "no word", "another folder's id"],
)
def test_a_game_without_its_own_id_is_refused(package: Path, old: str, new: str, sentence: str) -> None:
    change(package / "sk" / "game.py", old, new)
    with pytest.raises(GameFolderError) as refused:
        load("sk", package.name)
    assert sentence in str(refused.value)


def test_a_folder_without_a_game_is_named(package: Path) -> None:
    (package / "sk" / "game.py").unlink()
    with pytest.raises(GameFolderError, match=r"^controller/games/sk has no game\.py; copy it from"):
        load("sk", package.name)


@pytest.mark.parametrize("other", ["aa", "zz"])
def test_the_folder_named_after_an_id_keeps_it_in_any_order(package: Path, other: str) -> None:
    copy(package, other)
    games, broken = collect(("sk", other), package.name)
    assert list(games) == ["SK"]
    assert {folder: str(said) for folder, said in broken.items()} == {
        other: f"controller/games/{other} has the id SK; controller/games/sk has that id; give this one another"
    }


def test_a_broken_folder_stops_no_other(package: Path) -> None:
    change(copy(package, "zz") / "game.py", "GAME: Final =", "GAMES: Final =")
    games, broken = collect(("zz", "sk"), package.name)
    assert (list(games), list(broken)) == (["SK"], ["zz"])
