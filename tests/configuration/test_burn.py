"""The casino chooses how many cards are burnt before the deal: none by default."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.daemon.configuration import ConfigurationError
from tests.configuration.test_site_settings import read


def test_no_card_is_burnt_by_default(tmp_path: Path) -> None:
    assert read(tmp_path).settings.burn == 0
    assert read(tmp_path, "burn = 5\n").settings.burn == 5


@pytest.mark.parametrize("burn", ["-1", "6", '"one"'])
def test_more_than_five_are_refused(tmp_path: Path, burn: str) -> None:
    with pytest.raises(ConfigurationError, match="burn"):
        read(tmp_path, f"burn = {burn}\n")
