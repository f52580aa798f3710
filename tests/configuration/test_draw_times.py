"""The least time between two cards: a number of milliseconds that the casino may set."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.configuration import ConfigurationError, read_configuration
from tests.configuration.test_site_settings import REST, TABLE


def write(folder: Path, line: str) -> Path:
    path = folder / "table.toml"
    path.write_text(TABLE.format(simulated="true") + line + REST)
    return path


@pytest.mark.parametrize(
    ("line", "expected"), [("", 50), ("least_ms_between_draws = 0\n", 0), ("least_ms_between_draws = 120\n", 120)]
)
def test_the_least_time_between_draws_enters_the_journal_with_the_game(
    tmp_path: Path, line: str, expected: int
) -> None:
    assert read_configuration(write(tmp_path, line)).settings.least_ms_between_draws == expected


@pytest.mark.parametrize("value", ["-1", "1.5", '"50"'])
def test_only_milliseconds_from_0_on_are_accepted(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigurationError, match="least_ms_between_draws"):
        read_configuration(write(tmp_path, f"least_ms_between_draws = {value}\n"))
