"""`cardshoe simulate` writes to the user's state folder or to the path of an option, never to the working directory."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from controller.problems import BadInputError
from simulators.cli.simulate import in_state_folder
from tests.architecture.sources import ROOT


def files_after_start(driver: str, started_in: Path, state: Path) -> set[str]:
    """Return the files in the state folder once the device has appeared."""
    child = subprocess.Popen(
        [sys.executable, "-m", "controller", "simulate", "--no-console", "--driver", driver],
        cwd=started_in,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline().startswith(f"serial://{state}/cardshoe/device")
        return {path.name for path in (state / "cardshoe").iterdir()}
    finally:
        child.terminate()
        child.communicate()


@pytest.mark.parametrize(
    ("driver", "files"),
    [
        ("cardlink", {"device", "device.keys"}),
        ("bee_tek", {"device"}),
        ("line_reader", {"device", "device.cards.csv"}),
    ],
)
def test_the_folder_where_it_is_started_stays_empty(driver: str, files: set[str], tmp_path: Path) -> None:
    started_in, state = tmp_path / "here", tmp_path / "state"
    started_in.mkdir()
    assert files_after_start(driver, started_in, state) == files
    assert list(started_in.iterdir()) == []


@pytest.mark.parametrize("home", ["", "relative"])
def test_the_state_folder_is_in_the_home_folder_unless_an_absolute_one_is_named(
    home: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", home)
    assert in_state_folder("device") == tmp_path / ".local/state/cardshoe/device"
    assert (tmp_path / ".local/state/cardshoe").stat().st_mode & 0o777 == 0o700


def test_a_state_folder_that_cannot_be_made_is_named_with_the_options_that_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cardshoe").write_text("in the way")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    with pytest.raises(BadInputError, match="cannot be made") as refused:
        in_state_folder("device")
    assert "--key-file" in str(refused.value.hint)


@pytest.mark.parametrize(("kind", "word"), [("shuffler", "`lift` takes a set"), ("shoe", "`draw` draws a card")])
def test_a_person_at_a_terminal_is_told_what_to_type(tmp_path: Path, kind: str, word: str) -> None:
    ours, theirs = pty.openpty()
    command = ["simulate", "--kind", kind, "--link", str(tmp_path / "device"), "--key-file", str(tmp_path / "keys")]
    with subprocess.Popen(
        [sys.executable, "-m", "controller", *command], stdin=theirs, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as device:
        assert device.stdout is not None
        device.stdout.readline()
        told = device.stdout.readline()
        device.terminate()
    os.close(ours)
    os.close(theirs)
    assert "`load` puts a deck in" in told
    assert word in told
