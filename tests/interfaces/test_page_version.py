"""The version of the console's files changes whenever any of them changes."""

from __future__ import annotations

from pathlib import Path

from controller.api.pages import CONSOLE, ServedFiles, files_of


def folder(path: Path, **more: str) -> Path:
    (path / "js").mkdir(parents=True)
    for name, text in {"index.html": "<p>", "js/main.js": "1;", **more}.items():
        (path / name).write_text(text, "utf-8")
    return path


def version(path: Path) -> str:
    return ServedFiles(files_of(path, CONSOLE), {}).version


def test_every_change_of_a_served_file_changes_the_version(tmp_path: Path) -> None:
    as_it_is = version(folder(tmp_path / "a"))
    assert version(folder(tmp_path / "b")) == as_it_is
    assert version(folder(tmp_path / "c", **{"js/main.js": "2;"})) != as_it_is
    assert version(folder(tmp_path / "d", **{"js/other.js": "1;"})) != as_it_is
    assert version(folder(tmp_path / "e", **{"index.html": "<p>1;", "js/main.js": ""})) != as_it_is
    assert version(folder(tmp_path / "f", **{"notes.txt": "not served"})) == as_it_is
