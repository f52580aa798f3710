"""`cardshoe simulate` where it cannot start: the sentence names the obstacle and the option that avoids it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from controller.problems import BadInputError
from simulators.cli.simulate import simulate

DEVICES = pytest.mark.parametrize("driver", ["cardlink", "bee_tek", "line_reader"])


def refusal(driver: str, folder: Path, *words: str) -> BadInputError:
    files = {"--link": "device", "--key-file": "device.keys", "--card-table": "cards.csv"}
    named = [word for option, name in files.items() if option not in words for word in (option, str(folder / name))]
    with pytest.raises(BadInputError) as refused:
        simulate.main(["--driver", driver, "--no-console", *named, *words], standalone_mode=False)
    return refused.value


@DEVICES
def test_a_port_that_is_taken(driver: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = refusal(driver, tmp_path, "--tcp", str(port))
    assert f"127.0.0.1:{port}" in str(refused)
    assert "--tcp" in str(refused.hint)


@DEVICES
def test_a_missing_folder(driver: str, tmp_path: Path) -> None:
    refused = refusal(driver, tmp_path, "--link", str(tmp_path / "none" / "device"))
    assert "none/device" in str(refused)
    assert "--link" in str(refused.hint)


@DEVICES
def test_a_log_that_cannot_be_written(driver: str, tmp_path: Path) -> None:
    refused = refusal(driver, tmp_path, "--log", str(tmp_path / "none" / "log"))
    assert "none/log cannot be written" in str(refused)
